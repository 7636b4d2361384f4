// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Wrapped functions as the source of calls: no CUPTI.
//
// What CUPTI's resource callbacks tell otherwise (contexts, streams, kernels, graphs) follows from
// the calls, and from questions to the driver about handles that a call has just used with success.
#pragma once

#include "collect/calls/call_recorder.h"
#include "collect/calls/objects.h"

namespace streamscope::collect {

/// One call through a wrapper; lives in the wrapper's stack frame.
class InterposedCall {
 public:
  /// Before the function itself. Launches: `named` is the address that stands for the kernel in the
  /// program, `kernel` the driver's handle, null in the runtime. If false, the call is not recorded
  /// and leave() must not be called. `top`: where the frame of the wrapper begins, its
  /// __builtin_dwarf_cfa().
  bool enter(const void* top, const CallEntry& entry, const void* parameters, const void* named,
             void* kernel);
  /// After it.
  void leave(const CallEntry& entry, const void* parameters, int32_t result);

 private:
  bool contains(const void* top) const;
  void note_stream() const;
  void learn(const CallEntry& entry, bool new_context);

  ThreadState* thread_;
  const void* alive_;  // `this`, as long as the frame is in use
  const void* named_;
  SeenCall call_;
  bool inside_another_;
};

/// libcuda is in the process and has the functions that recording needs. Thread-safe.
bool can_be_recorded();
/// Records the calls through wrappers from now on. `by_cupti`: the numbers that its activities
/// have; null: there are none. Needs a running session and can_be_recorded().
void start_interposed(const Numbering* by_cupti);
/// Wrappers only pass calls on.
void stop_interposed();

void forget_interposed_after_fork();

}  // namespace streamscope::collect
