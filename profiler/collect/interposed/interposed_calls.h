// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Wrapped functions as the source of calls: no CUPTI.
//
// What CUPTI's resource callbacks tell otherwise (contexts, streams, kernels, graphs) follows from
// the calls, and from questions to the driver about handles that a call has just used with success.
#pragma once

#include <cstdint>
#include <iterator>

#include "collect/calls/call_recorder.h"
#include "collect/calls/objects.h"
#include "collect/process/driver.h"
#include "vocabulary/call_place.h"

namespace streamscope::collect {

/// Gives the thread numbers for its next calls.
void take_numbers(ThreadState& thread);

/// The parameters of such a call are read again at its exit.
inline bool needs_parameters(CallFacts facts) {
  return (facts.flags & (kEntryOutput | kEntryAccesses | kEntryIdentity)) != 0 ||
         (facts.kind == CallKind::kLaunch && session.reads_parameters);
}

/// Nothing follows from such a call that must be known later, so it may go to the driver as if
/// nothing were loaded while recording is off.
constexpr bool may_pass(CallFacts facts) {
  constexpr uint16_t kSeen =
      kEntryOutput | kEntryIdentity | kEntryEnds | kEntryStack | kEntryAllocates | kEntryFollowed;
  return (facts.flags & kSeen) == 0 && facts.kind != CallKind::kCaptureBegin;
}

/// The stack frame of a wrapper whose call is open.
class WrapperFrame {
 public:
  void open(ThreadState& thread) {
    thread.interposed = this;
    alive_ = this;
  }
  void close(ThreadState& thread) {
    thread.interposed = nullptr;
    alive_ = nullptr;
  }
  /// True if a frame that begins at `top` is below this one, which has not been overwritten. Else
  /// the open call was left by longjmp or an exception.
  bool contains(const void* top) const {
    return reinterpret_cast<uintptr_t>(top) <= reinterpret_cast<uintptr_t>(this) && alive_ == this;
  }

 private:
  const void* alive_;  // `this`, as long as the frame is in use; anything before
};

/// One call through a wrapper; lives in the wrapper's stack frame.
class InterposedCall {
 public:
  /// `facts` are those of `entry`, and `values` what it reads at entry; `parameters` if
  /// needs_parameters(). Launches: `named` is the address that stands for the kernel in the
  /// program, `kernel` the driver's handle, null in the runtime. enter() finds the context.
  InterposedCall(const CallEntry& entry, CallFacts facts, const void* parameters,
                 const CallValues& values, const void* named, void* kernel)
      : entry_(&entry),
        facts_(facts),
        values_(values),
        named_(named),
        kernel_(kernel),
        call_{.parameters = parameters, .context_id = 0, .own_number = true} {}

  /// The thread's open call, which enter_plainly() began in this frame.
  InterposedCall(const CallEntry& entry, ThreadState& thread, const WrapperFrame& begun_in);

  /// Before the function itself. If false, the call is not recorded and leave() must not be called.
  /// `top`: where the frame of the wrapper begins, its __builtin_dwarf_cfa().
  bool enter(const void* top);
  /// After it.
  void leave(int32_t result);

  /// True for what the runtime calls inside a recorded call, of which at most the kernel is of
  /// interest. enter() would find the same, with more code: each line of it that is not in the
  /// caches costs as much as a record.
  static bool is_nested(const void* top, void* kernel) {
    ThreadState* const thread = existing_thread();
    if (thread == nullptr || thread->open_entry == nullptr || thread->interposed == nullptr ||
        thread->in_collector || session.reads_parameters || !thread->interposed->contains(top))
      return false;
    if (kernel != nullptr) thread->launched = kernel;
    return true;
  }

 private:
  bool is_inside_another(ThreadState& thread, const void* top);
  bool can_pass() const;
  void pass();
  void find_context();
  void find_current_context();
  void leave_unrecorded(int32_t result);
  void learn_more();
  void note_stream() const;
  void learn(bool new_context);
  void report_objects();
  uint64_t own_stream() const;
  void before_work() const;
  void after_work(int32_t result) const;

  const CallEntry* entry_;
  CallFacts facts_;
  bool inside_another_ = false;
  bool passes_ = false;         // it is only counted
  bool stream_is_new_ = false;  // no call has shown its context yet
  bool needs_context_ = false;  // `call_` has only a guess
  CallValues values_;
  const void* named_;
  void* kernel_;
  ThreadState* thread_ = nullptr;
  WrapperFrame frame_;
  SeenCall call_;
};

/// Number of the thread's next call.
inline uint32_t take_number(ThreadState& thread) {
  if (__builtin_expect(thread.next_number == thread.end_of_numbers, 0)) take_numbers(thread);
  return thread.next_number++;
}

inline uint32_t handles_epoch() { return session.handles_epoch.load(std::memory_order_relaxed); }

/// Where the thread keeps the context of a stream.
inline ContextSlot& stream_slot(ThreadState& thread, uint64_t stream) {
  return thread.stream_contexts[(stream >> 4) % std::size(thread.stream_contexts)];
}
/// True if calls have shown it.
inline bool has_context_of(const ContextSlot& slot, uint64_t stream) {
  return slot.stream == stream && slot.epoch == handles_epoch();
}

/// libcuda is in the process and has the functions that recording needs. Thread-safe.
bool can_be_recorded();
/// Records the calls through wrappers from now on. `by_cupti`: the numbers that its activities
/// have; null: there are none. Needs a running session and can_be_recorded().
void start_interposed(const Numbering* by_cupti);
/// Wrappers only pass calls on.
void stop_interposed();

void forget_interposed_after_fork();

}  // namespace streamscope::collect
