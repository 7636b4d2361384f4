// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "collect/calls/call_recorder.h"

#include <atomic>
#include <mutex>
#include <new>
#include <utility>

#include "collect/calls/accesses.h"
#include "collect/calls/captures.h"
#include "collect/calls/launch_parameters.h"
#include "collect/calls/objects.h"
#include "collect/confirm/chosen_order.h"
#include "collect/observed/kernel_code.h"
#include "collect/observed/observer.h"
#include "collect/observed/tensor_maps.h"
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
  count_captures(static_cast<int32_t>(captures->count()) - before);
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
        if (succeeded) all.end_context(thread.open_call().call().context);
        break;
      default:
        break;
    }
    contained = all.contains(stream);
  });
  // Its entry has counted it as well, so that the count was never too low.
  if (entry.kind == CallKind::kCaptureBegin) count_captures(-1);
  return contained;
}

// What a copy or memset without "Async" promises when it returns depends on the kinds of its
// memory. CUPTI's records of device work have them; without these the driver is asked.
bool must_ask_for_memory(const CallEntry& entry) {
  return (entry.kind == CallKind::kMemcpy || entry.kind == CallKind::kMemset) &&
         (entry.flags & kEntryAccesses) != 0 && session.control->tier == Tier::kStructure;
}

// What a call triggers in the collector itself.
void follow(CallKind kind) {
  if (session.control->capture_range != ring::CaptureRange::kCudaProfilerApi) return;
  if (kind == CallKind::kProfilerStart) capture_range_opened();
  if (kind == CallKind::kProfilerStop) capture_range_closed();
}

}  // namespace

// Our queries must be finished when a handle is destroyed, even by a thread without a ring.
void before_end(CallKind kind, const CallValues& values) {
  if (kind == CallKind::kEventDestroy) return about_to_end(values.object);
  session.handles_epoch.fetch_add(1, std::memory_order_relaxed);
  if (kind == CallKind::kStreamDestroy) {
    if (session.observes) observe_stream_end(values.stream);
    return about_to_end(values.stream);
  }
  if (session.observes) report_touched();
  session.names_epoch.fetch_add(1, std::memory_order_relaxed);
  about_to_end(kAllHandles);
}

void before_capture() {
  count_captures(1);
  about_to_capture();
}

void end_call_with_more(ThreadState& thread, const SeenCall& call, int32_t result) {
  const CallEntry& entry = *thread.open_entry;
  thread.open_call().begin_leaving();
  ring::CallRecord record = thread.open_call().call();
  record.end = call.end != 0 ? call.end : exit_ticks(session.clock);
  record.context = call.context_id;
  record.result = result;
  CallValues values{record.stream, record.object, record.value};
  if ((entry.flags & kEntryOutput) != 0 && result == 0) {
    CallValues stored;
    entry.read(call.parameters, true, stored);
    values.stream = stored.stream;
    values.object = stored.object;
  }
  if (must_ask_for_memory(entry) && result == 0)
    values.object = ring::with_memory_kinds(values.object, memory_kinds(entry, call.parameters));
  if (session.active_captures.load(std::memory_order_relaxed) > 0 &&
      follow_captures(thread, entry, call, values, result))
    record.flags |= ring::kCapturing;
  record.stream = values.stream;
  record.object = values.object;
  if (session.reads_parameters && (entry.flags & kEntryAllocates) != 0 && result == 0)
    note_allocation(values.object, values.value);
  if (session.orders_calls && (entry.flags & kEntryAllocates) != 0 && result == 0)
    order_allocated(entry.kind, values.object);
  if ((entry.flags & kEntryFollowed) != 0) follow(entry.kind);
  const bool collected = collects(thread.begin);
  if (!collected && (entry.flags & kEntryWork) != 0 && !call.own_number)
    note_paused_correlation(call.number);
  thread.count_call();
  if (collected && result == ring::kNotReady && ring::is_query(entry.kind)) {
    thread.ring.push_poll(record);
  } else if (collected || (entry.flags & kEntryIdentity) != 0) {
    if (thread.ring.push(record) && (entry.flags & kEntryAccesses) != 0 && result == 0 && collected)
      report_accesses(thread, entry, call.parameters, record);
  }
  close_call(thread, entry);

  // Success means that context and stream were valid when the call began.
  if (result != 0 || call.context == nullptr || (entry.flags & kEntryEnds) != 0) return;
  if (((record.flags & ring::kPerThread) != 0 ||
       values.stream == reinterpret_cast<uintptr_t>(CU_STREAM_PER_THREAD)) &&
      values.stream <= 2)
    report_per_thread_stream(thread, call.context, call.context_id);
  if (session.attached_late.load(std::memory_order_relaxed))
    report_used(thread, call.context, call.context_id, values.stream);
}

void prepare_call_recorder(bool late) {
  session.stack_calls = session.control->stacks == ring::StackMode::kAll     ? kEntryTraced
                        : session.control->stacks == ring::StackMode::kSyncs ? kEntryStack
                                                                             : 0;
  if (session.stack_calls != 0) prepare_stacks();
  session.reads_parameters = (session.control->with & ring::kWithArgs) != 0 || session.observes;
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

uint64_t stamp_end(ThreadState& thread) {
  thread.open_call().begin_leaving();
  return exit_ticks(session.clock);
}

// At the exit of the driver's call its parameters still exist, and success means that the function
// was valid.
void report_launch(ThreadState& thread, const CallEntry& entry, const void* parameters) {
  if (!is_inside_a_call(&thread) || thread.in_collector ||
      thread.open_entry->kind != CallKind::kLaunch || !collects(thread.begin))
    return;
  const LaunchParameters launch = launch_parameters(entry.id, parameters);
  if (launch.function == nullptr) return;
  bool scans = (session.control->with & ring::kWithArgs) != 0;
  const uint8_t code = std::exchange(thread.launched_code, uint8_t{0});
  if ((code & kByTensorMap) != 0) {
    thread.in_collector = true;
    // Libraries make maps of their own, in which the address is a word like any other.
    scans |= !report_tensor_maps(thread, launch, code);
    thread.in_collector = false;
  }
  if (scans) report_arguments(thread, launch, thread.open_call().call());
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
