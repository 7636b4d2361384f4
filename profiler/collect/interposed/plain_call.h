// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A call through a wrapper that only has to be recorded, as most of a program that is under way:
// both ends are code of the wrapper itself.
//
// What a recorded call costs on a GPU machine, beside two readings of the clock, is not what it
// executes, but the lines of code and memory that the driver's calls have displaced from the
// caches.
#pragma once

#include <cuda.h>

#include "collect/interposed/interposed_calls.h"

namespace streamscope::collect {

/// Nothing but a record follows from such a call on a stream that is known. Beside what asks for
/// more at an exit (ends_plainly()), a stack is more, which is taken at the entry; per-thread
/// variants are not, as a stream that is known has a handle.
constexpr bool may_be_plain(CallFacts facts) {
  constexpr uint16_t kMore = kEntryOutput | kEntryIdentity | kEntryStack | kEntryAccesses |
                             kEntryEnds | kEntryAllocates | kEntryFollowed;
  const bool on_stream = (facts.flags & kEntryWork) != 0 || facts.kind == CallKind::kEventRecord ||
                         facts.kind == CallKind::kStreamWait;
  return on_stream && (facts.flags & kMore) == 0;
}

// What few of these calls need.

/// The context of a call on the legacy default stream, if no stack is to be taken at it and all
/// calls were in one context so far; else kNone32. is_in_known_context() says later if it is true.
uint32_t guess_context(const ThreadState& thread, CallFacts facts, uint64_t stream);
bool is_in_known_context(const ThreadState& thread);
/// What leave_plainly() does with a call that has become more than plain.
void leave_otherwise(const WrapperFrame& frame, ThreadState& thread, const CallEntry& entry,
                     int32_t result);

/// Before a function of these facts, which may_be_plain(). Null: nothing has happened, as the call
/// is not plain, or not recorded. Else it is open in the returned thread's `frame`, which is the
/// wrapper's. `values` and `named` as for InterposedCall.
template <CallFacts kFacts>
[[gnu::always_inline]] inline ThreadState* enter_plainly(WrapperFrame& frame,
                                                         const CallEntry& entry, CallValues values,
                                                         const void* named) {
  ThreadState* const thread = existing_thread();
  if (__builtin_expect(thread == nullptr || thread->open_entry != nullptr || thread->in_collector ||
                           !session.records_only.load(std::memory_order_relaxed) || !running() ||
                           !collecting() ||
                           session.active_captures.load(std::memory_order_relaxed) != 0,
                       0))
    return nullptr;
  if (__builtin_expect(thread->next_number == thread->end_of_numbers, 0)) return nullptr;
  const ContextSlot& slot = stream_slot(*thread, values.stream);
  uint32_t context = slot.id;
  if (__builtin_expect(!is_created(values.stream), 0)) {
    context = guess_context(*thread, kFacts, values.stream);
    if (context == ring::kNone32) return nullptr;
  } else if (__builtin_expect(!has_context_of(slot, values.stream), 0)) {
    return nullptr;
  }
  if constexpr (kFacts.kind == CallKind::kLaunch) {
    const KernelNameSlot* const known = find_kernel(*thread, named);
    if (__builtin_expect(known == nullptr, 0)) return nullptr;
    values.object = known->hash;
  }
  const SeenCall call{.context_id = context, .number = thread->next_number++, .own_number = true};
  frame.open(*thread);  // from here on a call of a signal handler is inside this one
  thread->open_entry = &entry;
  open_call(*thread, kFacts, values, call, 0, ring::ClockKind::kTimeStampCounter);
  frame.open(*thread);  // one may have been before it
  return thread;
}

/// After it; `thread` is what enter_plainly() returned.
template <CallFacts kFacts>
[[gnu::always_inline]] inline void leave_plainly(WrapperFrame& frame, ThreadState& thread,
                                                 const CallEntry& entry, int32_t result) {
  const bool is_whole = thread.open_entry == &entry && thread.interposed == &frame && running() &&
                        result != CUDA_ERROR_DEINITIALIZED;
  if (__builtin_expect(is_whole, 1) && __builtin_expect(may_only_record(thread), 1) &&
      (__builtin_expect(is_created(thread.open_call().stream()), 1) ||
       is_in_known_context(thread))) {
    only_record(thread, kFacts, result);
    frame.close(thread);
  } else {
    leave_otherwise(frame, thread, entry, result);
  }
}

}  // namespace streamscope::collect
