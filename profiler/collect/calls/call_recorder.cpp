// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "collect/calls/call_recorder.h"

#include <atomic>
#include <mutex>
#include <new>

#include "collect/calls/accesses.h"
#include "collect/calls/captures.h"
#include "collect/calls/objects.h"
#include "collect/process/asking.h"
#include "collect/process/gate.h"
#include "collect/process/session.h"
#include "collect/stacks/stacks.h"

namespace streamscope::collect {
namespace {

[[gnu::noinline]] ring::TextHash send_kernel_name(ThreadState& thread, const char* name) {
  const ring::TextHash hash = send_text(thread, name);
  keep_kernel(thread, name, hash);
  return hash;
}

// Our queries must be finished when a handle is destroyed, even by a thread without a ring.
[[gnu::noinline]] void before_end(CallKind kind, const CallValues& values) {
  if (kind == CallKind::kEventDestroy) return about_to_end(values.object);
  session.handles_epoch.fetch_add(1, std::memory_order_relaxed);
  if (kind == CallKind::kStreamDestroy) return about_to_end(values.stream);
  session.names_epoch.fetch_add(1, std::memory_order_relaxed);
  about_to_end(kAllHandles);
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
                                       const SeenCall& call, const CallValues& values,
                                       int32_t result) {
  constexpr uint64_t kExternal = 1;  // cudaEventRecordExternal, cudaEventWaitExternal
  const Captures::Stream stream = Captures::stream(
      values.stream, (entry.flags & kEntryPerThread) != 0, call.context_id, thread.tid);
  const bool succeeded = result == 0;
  bool contained = false;
  change_captures([&](Captures& all) {
    switch (entry.kind) {
      case CallKind::kCaptureBegin:
        if (succeeded) all.begin(stream, call.context_id);
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

// True if the exit of the thread's open call only has to record it, which is nearly always so.
bool ends_plainly(const ThreadState& thread, const SeenCall& call, int32_t result) {
  constexpr uint16_t kMore = kEntryOutput | kEntryAccesses | kEntryPerThread | kEntryAllocates;
  const CallEntry& entry = *thread.open_entry;
  return (entry.flags & kMore) == 0 && result != ring::kNotReady && !needs_following(entry.kind) &&
         call.end == 0 && collects(thread.begin) &&
         session.clock == ring::ClockKind::kTimeStampCounter &&
         session.active_captures.load(std::memory_order_relaxed) == 0 &&
         !session.attached_late.load(std::memory_order_relaxed) && thread.ring.has_room() &&
         thread.open_call().stream.load(std::memory_order_relaxed) !=
             reinterpret_cast<uintptr_t>(CU_STREAM_PER_THREAD);
}

// Records the thread's open call. `kPlainly`: ends_plainly() is true for it.
template <bool kPlainly>
[[gnu::always_inline]] inline void record_end(ThreadState& thread, const SeenCall& call,
                                              int32_t result) {
  const CallEntry& entry = *thread.open_entry;
  ring::OpenCall& open = thread.open_call();
  // The writer orders calls by their end. From here until the record is published, it must not
  // assume that this thread will report nothing older than now.
  open.leaving.store(1, std::memory_order_relaxed);
  std::atomic_signal_fence(std::memory_order_seq_cst);

  // A single thread needs no stamp that orders its calls against those of other threads.
  const ring::ClockKind clock = kPlainly ? ring::ClockKind::kTimeStampCounter : session.clock;
  const uint64_t end = !kPlainly && call.end != 0 ? call.end
                       : session.several_threads.load(std::memory_order_relaxed)
                           ? ring::read_clock_after(clock)
                           : ring::read_clock(clock);
  uint64_t stream = open.stream.load(std::memory_order_relaxed);
  uint64_t object = open.object.load(std::memory_order_relaxed);
  uint8_t flags = open.flags.load(std::memory_order_relaxed);
  bool collected = true;
  if constexpr (!kPlainly) {
    if ((entry.flags & kEntryOutput) != 0 && result == 0) {
      CallValues values;
      entry.read(call.parameters, true, values);
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
    collected = collects(thread.begin);
    if (!collected && (entry.flags & kEntryWork) != 0 && !call.own_number)
      note_paused_correlation(call.number);
  }
  thread.count_call();
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
    record->call_number = call.number;
    record->begin = thread.begin;
    record->end = end;
    record->stream = stream;
    record->object = object;
    record->value = open.value.load(std::memory_order_relaxed);
    record->context = call.context_id;
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
      report_accesses(thread, entry, call.parameters, *record);
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
        report_per_thread_stream(thread, call.context, call.context_id);
      if (session.attached_late.load(std::memory_order_relaxed))
        report_used(thread, call.context, call.context_id, stream);
    }
  }
}

[[gnu::noinline]] void end_call_with_more(ThreadState& thread, const SeenCall& call,
                                          int32_t result) {
  record_end<false>(thread, call, result);
}

}  // namespace

void prepare_call_recorder(bool late) {
  session.stack_calls = session.control->stacks == ring::StackMode::kAll     ? kEntryTraced
                        : session.control->stacks == ring::StackMode::kSyncs ? kEntryStack
                                                                             : 0;
  if (session.stack_calls != 0) prepare_stacks();
  session.tells_arguments = (session.control->with & ring::kWithArgs) != 0;
  if (!late) return;
  session.attached_late.store(true, std::memory_order_relaxed);
  report_loss(ring::Loss::kLateAttach, 1);
  distrust_allocations();
}

ring::TextHash kernel_name(ThreadState& thread, const char* name) {
  if (name == nullptr) return 0;
  const KernelNameSlot* const known = find_kernel(thread, name);
  return known != nullptr ? known->hash : send_kernel_name(thread, name);
}

ThreadState* begin_call(ThreadState* thread, const CallEntry& entry, CallValues values,
                        const SeenCall& call) {
  if (__builtin_expect((entry.flags & kEntryEnds) != 0, 0)) before_end(entry.kind, values);
  if (__builtin_expect(thread == nullptr, 0)) thread = make_thread_state();
  if (thread == nullptr || thread->in_collector) return nullptr;
  if (__builtin_expect(entry.kind == CallKind::kCaptureBegin, 0)) {
    session.active_captures.fetch_add(1);
    about_to_capture();
  }
  if (entry.kind == CallKind::kLaunch) values.object = call.kernel;
  thread->open_entry = &entry;
  const bool legacy = (entry.flags & kEntryWork) != 0 && values.stream <= 1 &&
                      (values.stream == 1 || (entry.flags & kEntryPerThread) == 0);
  const uint16_t stack_calls = session.stack_calls;
  const bool stack = (entry.flags & stack_calls) != 0 ||
                     (legacy && stack_calls != 0 && is_early_legacy_call(*thread));
  thread->open_stack = stack ? take_stack(*thread) : 0;
  thread->open_number = call.number;

  ring::OpenCall& open = thread->open_call();
  open.stream.store(values.stream, std::memory_order_relaxed);
  open.object.store(values.object, std::memory_order_relaxed);
  open.value.store(values.value, std::memory_order_relaxed);
  open.context.store(call.context_id, std::memory_order_relaxed);
  open.call_number.store(call.number, std::memory_order_relaxed);
  open.operation.store(thread->operation(), std::memory_order_relaxed);
  open.stack.store(thread->open_stack, std::memory_order_relaxed);
  open.call.store(entry.id, std::memory_order_relaxed);
  open.flags.store(
      static_cast<uint8_t>(((entry.flags & kEntryPerThread) != 0 ? ring::kPerThread : 0) |
                           ((entry.flags & kEntryDriver) != 0 ? ring::kDriverCall : 0) |
                           (call.own_number ? ring::kOwnNumber : 0)),
      std::memory_order_relaxed);
  thread->begin = ticks();
  open.begin.store(thread->begin, std::memory_order_release);
  return thread;
}

// Calls nothing in most cases, so it saves no registers.
void end_call(ThreadState& thread, const SeenCall& call, int32_t result) {
  if (__builtin_expect(!ends_plainly(thread, call, result), 0))
    return end_call_with_more(thread, call, result);
  record_end<true>(thread, call, result);
}

uint64_t stamp_end(ThreadState& thread) {
  thread.open_call().leaving.store(1, std::memory_order_relaxed);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  return session.several_threads.load(std::memory_order_relaxed)
             ? ring::read_clock_after(session.clock)
             : ring::read_clock(session.clock);
}

// At the exit of the driver's call its parameters still exist, and success means that the function
// was valid.
void report_launch(ThreadState& thread, const CallEntry& entry, const void* parameters) {
  if (!is_inside_a_call(&thread) || thread.in_collector ||
      thread.open_entry->kind != CallKind::kLaunch || !collects(thread.begin))
    return;
  report_arguments(thread, entry.id, parameters, thread.open_call());
}

void end_captured_stream(uint64_t handle) {
  if (session.active_captures.load() > 0)
    change_captures([&](Captures& all) { all.end_stream(handle); });
}

void forget_calls_after_fork() {
  session.attached_late.store(false, std::memory_order_relaxed);
  session.active_captures.store(0, std::memory_order_relaxed);
  new (&captures_mutex) std::mutex;
  captures = nullptr;
}

}  // namespace streamscope::collect
