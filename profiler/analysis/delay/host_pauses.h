// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Long pauses between the CUDA calls of threads, and who worked meanwhile: in PyTorch the thread of
// a program issues the forward pass, and a thread of the library the backward pass.
#pragma once

#include <span>
#include <vector>

#include "host_time.h"

namespace streamscope::analysis {

/// The shortest pause that is looked at.
inline constexpr Ns kLeastPauseNs = 50'000;

struct HostPause {
  Ns start_ns, end_ns;
  /// The thread of the process whose call was the last to end in the pause, if that was shortly
  /// before the pause ended; kNoId if there is none.
  Id by_thread;
  Ns handed_over_ns;  ///< the end of that call

  /// Since when it is the thread's own: what precedes is the work of the other thread.
  Ns own_start_ns() const { return by_thread == kNoId ? start_ns : handed_over_ns; }
};

/// Immutable, thread-safe. O(calls), and O(threads log calls) for each pause.
class HostPauses {
 public:
  HostPauses(const Trace& trace, const HostTime& host_time);

  /// By time.
  std::span<const HostPause> of(Id thread) const { return threads_[thread]; }
  /// The pause of a thread that ended at an instant; nullptr if there is none.
  const HostPause* ended_at(Id thread, Ns at) const;
  /// The last pause with another thread's work that began before `at`; nullptr if there is none.
  const HostPause* last_handed_over(Id thread, Ns at) const;
  /// How much of [from, to) a thread spent in pauses of at least `least`.
  Ns paused_ns(Id thread, Ns from, Ns to, Ns least) const;

 private:
  std::vector<std::vector<HostPause>> threads_;
};

}  // namespace streamscope::analysis
