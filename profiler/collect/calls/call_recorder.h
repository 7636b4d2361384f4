// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Calls as a source sees them -> CallRecords: one per outermost traced call of a thread, pushed at
// its exit.
//
// There are two sources: CUPTI's callbacks (cupti/callbacks.h) and wrappers around the functions
// themselves (interposed/wrappers.h). A call inside a traced call is part of it and not recorded.
// Order across threads follows from the exit stamps alone (entry order is unreliable).
#pragma once

#include <cuda.h>

#include <cstdint>

#include "collect/calls/call_table.h"
#include "collect/process/session.h"
#include "collect/process/thread_state.h"
#include "collect/stacks/stacks.h"

namespace streamscope::collect {

/// A call, as its source sees it at entry and again at exit.
struct SeenCall {
  const void* parameters = nullptr;     // laid out as CUPTI's parameter structs
  ring::TextHash kernel = 0;            // launches: the kernel's name, 0 if not known yet
  CUcontext context = nullptr;          // current in the thread; null: none
  uint32_t context_id = ring::kNone32;  // kNone32: none, or not known yet
  uint32_t number = 0;                  // unique in the process
  bool own_number = false;              // not CUPTI's
  uint64_t end = 0;                     // exit only: its stamp, by stamp_end(); 0: take it
};

/// Settings of the recorder that depend on the run. Call before the first call.
void prepare_call_recorder(bool late);

/// The calling thread is inside a traced call.
inline bool is_inside_a_call(const ThreadState* thread) {
  return thread != nullptr && thread->open_entry != nullptr;
}

/// Entry of an outermost call with these values; `facts` are those of `entry`. `thread`: null if it
/// has no state yet. Returns the state in which the call is open now, null if it is not recorded.
ThreadState* begin_call(ThreadState* thread, const CallEntry& entry, CallFacts facts,
                        CallValues values, const SeenCall& call);

/// Exit of the thread's open call, which is `call`.
void end_call(ThreadState& thread, CallFacts facts, const SeenCall& call, int32_t result);

/// Stamp for the exit of the thread's open call, for a source that has more to do before
/// end_call().
uint64_t stamp_end(ThreadState& thread);

/// The thread's open call launched a kernel with this successful call of the driver, itself or
/// inside: reports its parameters, with --with args.
void report_launch(ThreadState& thread, const CallEntry& entry, const void* parameters);

/// Hash of a kernel's name, sent once. `name` stays valid as long as its code is loaded.
ring::TextHash kernel_name(ThreadState& thread, const char* name);

/// Where the thread keeps the name of the kernel that this address stands for.
inline KernelNameSlot* kernel_set(ThreadState& thread, const void* address) {
  static_assert(kKernelSets == 256);
  const uint64_t hash = reinterpret_cast<uintptr_t>(address) * 0x9e3779b97f4a7c15ull;
  return &thread.kernel_names[hash >> 56 << 1];
}
/// The name as far as it is known, null if not.
inline const KernelNameSlot* find_kernel(ThreadState& thread, const void* address) {
  const KernelNameSlot* const set = kernel_set(thread, address);
  const uint32_t epoch = session.names_epoch.load(std::memory_order_relaxed);
  if (__builtin_expect(set->text == address && set->epoch == epoch, 1)) return set;
  const KernelNameSlot* const older = set + 1;
  return older->text == address && older->epoch == epoch ? older : nullptr;
}
/// Keeps a name, in place of the older one of its set.
inline void keep_kernel(ThreadState& thread, const void* address, ring::TextHash hash) {
  KernelNameSlot* const set = kernel_set(thread, address);
  set[1] = set[0];
  set[0] = {static_cast<const char*>(address), hash,
            session.names_epoch.load(std::memory_order_relaxed)};
}

/// A stream is about to be destroyed.
void end_captured_stream(uint64_t handle);

void forget_calls_after_fork();

// Both ends of a call follow here, so that each source has them in one piece: between two calls of
// a program the driver uses the caches, and every line of code and memory less is some ns.

/// The parts of begin_call() and end_call() that few calls need.
void before_end(CallKind kind, const CallValues& values);
void before_capture();
void end_call_with_more(ThreadState& thread, const SeenCall& call, int32_t result);

/// Shows the thread's call, of which nothing but its stack (0: none) is known to the recorder yet,
/// as open.
[[gnu::always_inline]] inline void open_call(ThreadState& thread, CallFacts facts,
                                             const CallValues& values, const SeenCall& call,
                                             uint32_t stack, ring::ClockKind clock) {
  const uint8_t flags =
      static_cast<uint8_t>(((facts.flags & kEntryPerThread) != 0 ? ring::kPerThread : 0) |
                           ((facts.flags & kEntryDriver) != 0 ? ring::kDriverCall : 0) |
                           (call.own_number ? ring::kOwnNumber : 0));
  thread.open_number = call.number;
  ring::OpenCall& open = thread.open_call();
  open.prepare(facts.id, flags, call.number, values.stream, values.object, values.value,
               call.context_id, thread.operation(), stack);
  thread.begin = ring::read_clock(clock);
  open.open(thread.begin);
}

[[gnu::always_inline]] inline ThreadState* begin_call(ThreadState* thread, const CallEntry& entry,
                                                      CallFacts facts, CallValues values,
                                                      const SeenCall& call) {
  if (__builtin_expect((facts.flags & kEntryEnds) != 0, 0)) before_end(facts.kind, values);
  if (__builtin_expect(thread == nullptr, 0)) thread = make_thread_state();
  if (__builtin_expect(thread == nullptr || thread->in_collector, 0)) return nullptr;
  if (__builtin_expect(facts.kind == CallKind::kCaptureBegin, 0)) before_capture();
  if (facts.kind == CallKind::kLaunch) values.object = call.kernel;
  thread->open_entry = &entry;
  const bool legacy = (facts.flags & kEntryWork) != 0 && values.stream <= 1 &&
                      (values.stream == 1 || (facts.flags & kEntryPerThread) == 0);
  const uint16_t stack_calls = session.stack_calls;
  const bool stack = (facts.flags & stack_calls) != 0 ||
                     (legacy && stack_calls != 0 && is_early_legacy_call(*thread));
  open_call(*thread, facts, values, call, __builtin_expect(stack, 0) ? take_stack(*thread) : 0,
            session.clock);
  return thread;
}

/// The exit stamp. A single thread needs none that orders its calls against those of other threads.
inline uint64_t exit_ticks(ring::ClockKind clock) {
  return __builtin_expect(session.several_threads.load(std::memory_order_relaxed), 0)
             ? ring::read_clock_after(clock)
             : ring::read_clock(clock);
}

/// The open call is recorded, or is not to be.
inline void close_call(ThreadState& thread, CallFacts facts) {
  if ((facts.flags & kEntryWork) != 0) note_work();
  thread.open_call().close();
  thread.open_entry = nullptr;
}

/// True if nothing but the facts of a call can make its exit do more than record it.
inline bool may_only_record(const ThreadState& thread) {
  return __builtin_expect(collects(thread.begin), 1) &&
         __builtin_expect(session.active_captures.load(std::memory_order_relaxed) == 0, 1) &&
         __builtin_expect(thread.ring.has_room(), 1);
}

/// Stamps the exit of the thread's open call and records it as its slot has it, where
/// may_only_record() and the clock is the time stamp counter.
[[gnu::always_inline]] inline void only_record(ThreadState& thread, CallFacts facts,
                                               int32_t result) {
  auto* const record = thread.ring.claim_room<ring::CallRecord>();
  thread.open_call().copy_to(*record);  // before begin_leaving(), whose store would delay it
  thread.open_call().begin_leaving();
  record->end = exit_ticks(ring::ClockKind::kTimeStampCounter);
  record->result = result;
  thread.count_call();
  thread.ring.publish(record);
  close_call(thread, facts);
}

/// True if the exit of the thread's open call only has to record it, which is nearly always so.
inline bool ends_plainly(const ThreadState& thread, CallFacts facts, const SeenCall& call,
                         int32_t result) {
  constexpr uint16_t kMore =
      kEntryOutput | kEntryAccesses | kEntryPerThread | kEntryAllocates | kEntryFollowed;
  return (facts.flags & kMore) == 0 && result != ring::kNotReady && call.end == 0 &&
         may_only_record(thread) && session.clock == ring::ClockKind::kTimeStampCounter &&
         !session.attached_late.load(std::memory_order_relaxed) &&
         thread.open_call().stream() != reinterpret_cast<uintptr_t>(CU_STREAM_PER_THREAD);
}

[[gnu::always_inline]] inline void end_call(ThreadState& thread, CallFacts facts,
                                            const SeenCall& call, int32_t result) {
  if (__builtin_expect(!ends_plainly(thread, facts, call, result), 0))
    return end_call_with_more(thread, call, result);
  thread.open_call().set_context(call.context_id);
  only_record(thread, facts, result);
}

}  // namespace streamscope::collect
