// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "collect/cupti/callbacks.h"

#include <cuda.h>
#include <cupti.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <new>

#include "collect/calls/accesses.h"
#include "collect/calls/call_table.h"
#include "collect/calls/captures.h"
#include "collect/cupti/activities.h"
#include "collect/cupti/cupti_library.h"
#include "collect/cupti/resources.h"
#include "collect/process/asking.h"
#include "collect/process/session.h"
#include "collect/process/thread_state.h"
#include "collect/stacks/stacks.h"

namespace streamscope::collect {
namespace {

constinit CUpti_SubscriberHandle subscriber = nullptr;

// CUPTI gives entry and exit of a call one shared word. It holds the thread's state, tagged with
// the call, so that the exit needs no thread-local lookup and recognizes a word we did not write.
constexpr uint64_t kAddressBits = (uint64_t{1} << 48) - 1;

uint64_t pack(ThreadState* thread, uint32_t correlation_id) {
  return reinterpret_cast<uintptr_t>(thread) |
         static_cast<uint64_t>((correlation_id ^ 0x5353) & 0xffff) << 48;
}

ThreadState* unpack(uint64_t word, uint32_t correlation_id) {
  if ((word & kAddressBits) == 0 || word >> 48 != ((correlation_id ^ 0x5353) & 0xffff))
    return nullptr;
  return reinterpret_cast<ThreadState*>(word & kAddressBits);
}

[[gnu::noinline]] void remember(ThreadState& thread, KernelNameSlot& slot, const char* name) {
  slot = {name, send_text(thread, name), session.names_epoch.load(std::memory_order_relaxed)};
}

ring::TextHash kernel_name(ThreadState& thread, const char* name) {
  if (name == nullptr) return 0;
  KernelNameSlot& slot =
      thread
          .kernel_names[(reinterpret_cast<uintptr_t>(name) >> 4) % std::size(thread.kernel_names)];
  if (slot.text != name || slot.epoch != session.names_epoch.load(std::memory_order_relaxed))
    remember(thread, slot, name);
  return slot.hash;
}

// The table's size is checked too: a newer libcupti knows more ids.
const CallEntry* entry_of(CUpti_CallbackDomain domain, CUpti_CallbackId id) {
  const auto table = domain == CUPTI_CB_DOMAIN_RUNTIME_API ? runtime_calls : driver_calls;
  return id < table.size() && table[id].read != nullptr ? &table[id] : nullptr;
}

// Our queries must be finished when a handle is destroyed, even by a thread without a ring.
[[gnu::noinline]] void before_end(CallKind kind, const CallValues& values) {
  if (kind == CallKind::kEventDestroy) return about_to_end(values.object);
  if (kind == CallKind::kStreamDestroy) return about_to_end(values.stream);
  session.names_epoch.fetch_add(1, std::memory_order_relaxed);
  about_to_end(kAllHandles);
}

// The entry of an outermost call. `thread`: null if it has no state yet.
[[gnu::noinline]] void on_enter(ThreadState* thread, CUpti_CallbackDomain domain,
                                CUpti_CallbackId id, const CUpti_CallbackData& call) {
  const CallEntry* found = entry_of(domain, id);
  if (found == nullptr) return;
  const CallEntry& entry = *found;
  CallValues values;
  entry.read(call.functionParams, false, values);
  if (__builtin_expect((entry.flags & kEntryEnds) != 0, 0)) before_end(entry.kind, values);
  if (__builtin_expect(thread == nullptr, 0)) thread = make_thread_state();
  if (thread == nullptr || thread->in_collector) return;
  if (__builtin_expect(entry.kind == CallKind::kCaptureBegin, 0)) {
    session.active_captures.fetch_add(1);
    about_to_capture();
  }
  if (entry.kind == CallKind::kLaunch) values.object = kernel_name(*thread, call.symbolName);
  thread->open_entry = &entry;
  const bool legacy = (entry.flags & kEntryWork) != 0 && values.stream <= 1 &&
                      (values.stream == 1 || (entry.flags & kEntryPerThread) == 0);
  const uint16_t stack_calls = session.stack_calls;
  const bool stack = (entry.flags & stack_calls) != 0 ||
                     (legacy && stack_calls != 0 && is_early_legacy_call(*thread));
  thread->open_stack = stack ? take_stack(*thread) : 0;
  thread->open_correlation = call.correlationId;
  *call.correlationData = pack(thread, call.correlationId);

  ring::OpenCall& open = thread->open_call();
  open.stream.store(values.stream, std::memory_order_relaxed);
  open.object.store(values.object, std::memory_order_relaxed);
  open.value.store(values.value, std::memory_order_relaxed);
  open.context.store(call.context != nullptr ? call.contextUid : ring::kNone32,
                     std::memory_order_relaxed);
  open.correlation_id.store(call.correlationId, std::memory_order_relaxed);
  open.operation.store(thread->operation(), std::memory_order_relaxed);
  open.stack.store(thread->open_stack, std::memory_order_relaxed);
  open.call.store(entry.id, std::memory_order_relaxed);
  open.flags.store(
      static_cast<uint8_t>(((entry.flags & kEntryPerThread) != 0 ? ring::kPerThread : 0) |
                           ((entry.flags & kEntryDriver) != 0 ? ring::kDriverCall : 0)),
      std::memory_order_relaxed);
  thread->begin = ticks();
  open.begin.store(thread->begin, std::memory_order_release);
}

// The parameters of a kernel are known only to the driver's call, which may be inside the
// runtime's. At its exit they still exist, and success means that the function was valid.
[[gnu::noinline]] void on_driver_launched(CUpti_CallbackId id, const CUpti_CallbackData& call) {
  const CallEntry* entry = entry_of(CUPTI_CB_DOMAIN_DRIVER_API, id);
  if (entry == nullptr || entry->kind != CallKind::kLaunch) return;
  if (call.functionReturnValue == nullptr ||
      *static_cast<const int32_t*>(call.functionReturnValue) != 0)
    return;
  ThreadState* thread = existing_thread();
  if (thread == nullptr || thread->open_entry == nullptr || thread->in_collector ||
      thread->open_entry->kind != CallKind::kLaunch || !collecting())
    return;
  report_arguments(*thread, entry->id, call.functionParams, thread->open_call());
}

bool is_inside_a_call(const ThreadState* thread) {
  return thread != nullptr && thread->open_entry != nullptr;
}

// Never destroyed: calls may arrive while the process exits.
alignas(Captures) constinit unsigned char captures_memory[sizeof(Captures)] = {};
constinit Captures* captures = nullptr;
constinit std::mutex captures_mutex;

template <class Change>
void change_captures(Change change) {
  std::lock_guard lock(captures_mutex);
  if (captures == nullptr) captures = new (captures_memory) Captures;
  const auto before = static_cast<int32_t>(captures->count());
  change(*captures);
  session.active_captures.fetch_add(static_cast<int32_t>(captures->count()) - before);
}

// Applies a call that returned to the captures of the process. Returns whether its stream is being
// captured. Off the hot path: only while a capture is in progress.
[[gnu::noinline]] bool follow_captures(const ThreadState& thread, const CallEntry& entry,
                                       const CUpti_CallbackData& call, const CallValues& values,
                                       int32_t result) {
  constexpr uint64_t kExternal = 1;  // cudaEventRecordExternal, cudaEventWaitExternal
  const Captures::Stream stream = Captures::stream(
      values.stream, (entry.flags & kEntryPerThread) != 0, call.contextUid, thread.tid);
  const bool succeeded = result == 0;
  bool contained = false;
  change_captures([&](Captures& all) {
    switch (entry.kind) {
      case CallKind::kCaptureBegin:
        if (succeeded) all.begin(stream, call.contextUid);
        return;
      case CallKind::kCaptureEnd:
        all.end(stream, result);
        break;
      case CallKind::kEventRecord:
        if (succeeded && (values.value & kExternal) == 0) all.record(stream, values.object);
        break;
      case CallKind::kContextRecord:
      case CallKind::kEventCreate:
        if (succeeded) all.end_event(values.object);
        break;
      case CallKind::kStreamWait:
        if (succeeded && (values.value & kExternal) == 0) all.wait(stream, values.object);
        break;
      case CallKind::kStreamCreate:
        if (succeeded) all.end_stream(stream);
        break;
      case CallKind::kDeviceReset:
        if (succeeded) all.end_context(thread.open_call().context.load(std::memory_order_relaxed));
        break;
      default:
        break;
    }
    contained = all.contains(stream);
  });
  // Its entry has counted it as well, so that the count was never too low.
  if (entry.kind == CallKind::kCaptureBegin) session.active_captures.fetch_sub(1);
  return contained;
}

// What a call triggers in the collector itself.
void follow(CallKind kind) {
  if (session.control->capture_range != ring::CaptureRange::kCudaProfilerApi) return;
  if (kind == CallKind::kProfilerStart) capture_range_opened();
  if (kind == CallKind::kProfilerStop) capture_range_closed();
}

bool needs_following(CallKind kind) {
  return kind == CallKind::kProfilerStart || kind == CallKind::kProfilerStop;
}

int32_t result_of(const CUpti_CallbackData& call) {
  return call.functionReturnValue != nullptr
             ? *static_cast<const int32_t*>(call.functionReturnValue)
             : 0;
}

// True if the exit of the thread's open call only has to record it, which is nearly always so.
bool ends_plainly(const ThreadState& thread, int32_t result) {
  constexpr uint16_t kMore = kEntryOutput | kEntryAccesses | kEntryPerThread | kEntryAllocates;
  const CallEntry& entry = *thread.open_entry;
  return (entry.flags & kMore) == 0 && result != ring::kNotReady && !needs_following(entry.kind) &&
         collecting() && session.clock == ring::ClockKind::kTimeStampCounter &&
         session.active_captures.load(std::memory_order_relaxed) == 0 &&
         !session.attached_late.load(std::memory_order_relaxed) && thread.ring.has_room() &&
         thread.open_call().stream.load(std::memory_order_relaxed) !=
             reinterpret_cast<uintptr_t>(CU_STREAM_PER_THREAD);
}

// Records the thread's open call. `kPlainly`: ends_plainly() is true for it.
template <bool kPlainly>
[[gnu::always_inline]] inline void end_call(ThreadState& thread, const CUpti_CallbackData& call,
                                            int32_t result) {
  const CallEntry& entry = *thread.open_entry;
  ring::OpenCall& open = thread.open_call();
  // The writer orders calls by their end. From here until the record is published, it must not
  // assume that this thread will report nothing older than now.
  open.leaving.store(1, std::memory_order_relaxed);
  std::atomic_signal_fence(std::memory_order_seq_cst);

  // A single thread needs no stamp that orders its calls against those of other threads.
  const ring::ClockKind clock = kPlainly ? ring::ClockKind::kTimeStampCounter : session.clock;
  const uint64_t end = session.several_threads.load(std::memory_order_relaxed)
                           ? ring::read_clock_after(clock)
                           : ring::read_clock(clock);
  uint64_t stream = open.stream.load(std::memory_order_relaxed);
  uint64_t object = open.object.load(std::memory_order_relaxed);
  uint8_t flags = open.flags.load(std::memory_order_relaxed);
  bool collected = true;
  if constexpr (!kPlainly) {
    if ((entry.flags & kEntryOutput) != 0 && result == 0) {
      CallValues values;
      entry.read(call.functionParams, true, values);
      stream = values.stream;
      object = values.object;
    }
    if (session.active_captures.load(std::memory_order_relaxed) > 0 &&
        follow_captures(thread, entry, call,
                        {stream, object, open.value.load(std::memory_order_relaxed)}, result))
      flags |= ring::kCapturing;
    if (session.tells_arguments && (entry.flags & kEntryAllocates) != 0 && result == 0)
      note_allocation(object, open.value.load(std::memory_order_relaxed));
    if (needs_following(entry.kind)) follow(entry.kind);
    collected = collecting();
    if (!collected && (entry.flags & kEntryWork) != 0) note_paused_correlation(call.correlationId);
  }
  ++thread.calls;
  ring::CallRecord* record = nullptr;
  ring::CallRecord polled;
  const bool is_poll =
      !kPlainly && collected && result == ring::kNotReady && ring::is_query(entry.kind);
  if constexpr (kPlainly) {
    record = thread.ring.claim_room<ring::CallRecord>();
  } else if (is_poll) {
    record = &polled;
  } else if (collected || (entry.flags & kEntryIdentity) != 0) {
    record = thread.ring.claim<ring::CallRecord>();
  }
  if (kPlainly || record != nullptr) {
    record->kind = ring::RecordKind::kCall;
    record->flags = flags;
    record->call = entry.id;
    record->correlation_id = call.correlationId;
    record->begin = thread.begin;
    record->end = end;
    record->stream = stream;
    record->object = object;
    record->value = open.value.load(std::memory_order_relaxed);
    record->context = call.context != nullptr ? call.contextUid : ring::kNone32;
    record->result = result;
    record->operation = open.operation.load(std::memory_order_relaxed);
    record->stack = thread.open_stack;
    if (is_poll) {
      thread.ring.push_poll(*record);
    } else {
      thread.ring.publish(record);
    }
    // The writer only reads the record, and only this thread can overwrite its place.
    if (!kPlainly && (entry.flags & kEntryAccesses) != 0 && result == 0 && collected)
      report_accesses(thread, entry, call.functionParams, *record);
  }
  if ((entry.flags & kEntryWork) != 0) note_work();
  open.begin.store(0, std::memory_order_release);
  open.leaving.store(0, std::memory_order_release);
  thread.open_entry = nullptr;

  if constexpr (!kPlainly) {
    // Success means that context and stream were valid when the call began.
    if (result == 0 && call.context != nullptr && (entry.flags & kEntryEnds) == 0) {
      if (((flags & ring::kPerThread) != 0 ||
           stream == reinterpret_cast<uintptr_t>(CU_STREAM_PER_THREAD)) &&
          stream <= 2)
        report_per_thread_stream(thread, call.context, call.contextUid);
      if (session.attached_late.load(std::memory_order_relaxed))
        report_used(thread, call.context, call.contextUid, stream);
    }
  }
}

[[gnu::noinline]] void end_call_with_more(ThreadState& thread, const CUpti_CallbackData& call,
                                          int32_t result) {
  end_call<false>(thread, call, result);
}

// The exit of a call whose entry was recorded. Calls nothing in most cases, so it saves no
// registers.
[[gnu::noinline]] void on_exit(const CUpti_CallbackData& call) {
  ThreadState* thread = unpack(*call.correlationData, call.correlationId);
  if (thread == nullptr || thread->open_entry == nullptr ||
      thread->open_correlation != call.correlationId)
    return;
  const int32_t result = result_of(call);
  if (__builtin_expect(!ends_plainly(*thread, result), 0))
    return end_call_with_more(*thread, call, result);
  end_call<true>(*thread, call, result);
}

void on_state(CUpti_CallbackId id, const CUpti_StateData& data) {
  if (id != CUPTI_CBID_STATE_FATAL_ERROR) return;
  // CUPTI has finalized itself: it must not be called again.
  abandon_activities();
  subscriber = nullptr;
  const char* message =
      data.notification.message != nullptr ? data.notification.message : "no message";
  report_loss(ring::Loss::kCuptiFatal, 1, message);
  report_to_user("recording is incomplete from here on: CUPTI stopped", message,
                 "the program goes on");
}

[[gnu::noinline]] void on_other(CUpti_CallbackDomain domain, CUpti_CallbackId id,
                                const void* data) {
  if (domain == CUPTI_CB_DOMAIN_RESOURCE) {
    const auto& resource = *static_cast<const CUpti_ResourceData*>(data);
    if (id == CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING && session.active_captures.load() > 0)
      change_captures([&](Captures& all) {
        all.end_stream(reinterpret_cast<uintptr_t>(resource.resourceHandle.stream));
      });
    on_resource(id, resource);
  }
  if (domain == CUPTI_CB_DOMAIN_STATE) on_state(id, *static_cast<const CUpti_StateData*>(data));
}

// Most callbacks are of driver calls inside a runtime call: those return here, without even a stack
// frame.
void CUPTIAPI on_callback(void*, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                          const void* data) {
  if (!running()) return;
  if (domain != CUPTI_CB_DOMAIN_RUNTIME_API && domain != CUPTI_CB_DOMAIN_DRIVER_API)
    return on_other(domain, id, data);
  const auto& call = *static_cast<const CUpti_CallbackData*>(data);
  if (call.callbackSite == CUPTI_API_EXIT) {
    if (__builtin_expect(session.tells_arguments, 0) && domain == CUPTI_CB_DOMAIN_DRIVER_API)
      on_driver_launched(id, call);
    if (*call.correlationData != 0) on_exit(call);
    return;
  }
  *call.correlationData = 0;  // nested, ours, or not recorded
  ThreadState* thread = existing_thread();
  if (!is_inside_a_call(thread)) on_enter(thread, domain, id, call);
}

// An older libcupti rejects ids that it does not know; their calls do not exist there either.
CUptiResult switch_callbacks(bool enable) {
  const uint32_t on = enable ? 1 : 0;
  for (CUpti_CallbackId id = 0; id < runtime_calls.size(); ++id) {
    if (runtime_calls[id].read != nullptr)
      cupti.cuptiEnableCallback(on, subscriber, CUPTI_CB_DOMAIN_RUNTIME_API, id);
  }
  for (CUpti_CallbackId id = 0; id < driver_calls.size(); ++id) {
    if (driver_calls[id].read != nullptr)
      cupti.cuptiEnableCallback(on, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, id);
  }
  cupti.cuptiEnableCallback(on, subscriber, CUPTI_CB_DOMAIN_STATE, CUPTI_CBID_STATE_FATAL_ERROR);
  return switch_resource_callbacks(subscriber, enable);
}

const char* error_text(CUptiResult result) {
  const char* text = nullptr;
  if (cupti.cuptiGetResultString(result, &text) != CUPTI_SUCCESS || text == nullptr)
    text = "unknown CUPTI error";
  return text;
}

CuptiStart refuse(CUptiResult result, const char* what, const char* other) {
  if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED) {
    char cause[160];
    std::snprintf(cause, sizeof cause, "%s already uses CUPTI in this process",
                  other[0] != '\0' ? other : "another profiling tool");
    report_to_user("CUDA calls and GPU times are not recorded", cause,
                   "run the program without it");
    report_loss(ring::Loss::kOtherSubscriber, 1, other[0] != '\0' ? other : "unnamed");
    return CuptiStart::kOtherSubscriber;
  }
  char cause[160];
  std::snprintf(cause, sizeof cause, "%s: %s", what, error_text(result));
  report_to_user("CUDA calls and GPU times are not recorded", cause, "run `streamscope doctor`");
  report_loss(ring::Loss::kNoCupti, 1, cause);
  return CuptiStart::kFailed;
}

}  // namespace

CuptiStart start_cupti(bool late) {
  find_cuda();
  char other[128];
  CUptiResult result = subscribe(&subscriber, on_callback, other, sizeof other);
  if (result != CUPTI_SUCCESS) {
    subscriber = nullptr;
    return refuse(result, "cuptiSubscribe", other);
  }
  if (late) {
    session.attached_late.store(true, std::memory_order_relaxed);
    report_loss(ring::Loss::kLateAttach, 1);
  }
  session.stack_calls = session.control->stacks == ring::StackMode::kAll     ? kEntryTraced
                        : session.control->stacks == ring::StackMode::kSyncs ? kEntryStack
                                                                             : 0;
  if (session.stack_calls != 0) prepare_stacks();
  session.tells_arguments = (session.control->with & ring::kWithArgs) != 0;
  if (late) distrust_allocations();
  const char* step = "cuptiActivityRegisterCallbacks";
  // Subscribing alone does not protect the buffers: a second copy of libcupti refuses only here.
  if (session.control->tier > Tier::kStructure || session.control->with != 0)
    result = static_cast<CUptiResult>(start_activities(*session.control, late));
  if (result == CUPTI_SUCCESS) {
    step = "cuptiEnableCallback";
    result = switch_callbacks(true);
  }
  if (result == CUPTI_SUCCESS) return CuptiStart::kOk;
  stop_cupti();
  return refuse(result, step, other);
}

bool holds_cupti() { return running() && subscriber != nullptr; }

void stop_cupti() {
  if (subscriber == nullptr) return;
  // Unsubscribing with callbacks enabled would leave their cost in every call of the program.
  stop_activities();
  switch_callbacks(false);
  cupti.cuptiUnsubscribe(subscriber);
  subscriber = nullptr;
}

const char* collector_text() {
  static constinit char text[64] = {};
  std::snprintf(text, sizeof text, "cupti %u", cupti.version);
  return text;
}

void forget_cupti_after_fork() {
  subscriber = nullptr;
  session.attached_late.store(false, std::memory_order_relaxed);
  session.active_captures.store(0, std::memory_order_relaxed);
  new (&captures_mutex) std::mutex;
  captures = nullptr;
}

}  // namespace streamscope::collect
