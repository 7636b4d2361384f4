// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The last samples of a process that hung and has not resumed since: the rows of thread_sample and
// probe that are still valid.
#pragma once

#include <vector>

#include "analysis/stream_ops.h"

namespace streamscope::analysis {

struct HangSnapshot {
  Ns at_ns = kUnknownNs;    ///< kUnknownNs: it was not sampled, or it has resumed
  std::vector<Id> samples;  ///< rows of thread_sample, one per thread
  std::vector<Id> probes;   ///< rows of probe
  bool known() const { return at_ns != kUnknownNs; }
};

/// Indexed by process.
std::vector<HangSnapshot> hang_snapshots(const Trace& trace);

/// True if the thread is working: it used much CPU time while it was sampled, or was runnable.
bool is_busy(const Trace& trace, Id thread_sample);

/// True if the thread runs a callback of the program for the driver: the driver's frames are
/// further out than the program's.
bool serves_the_driver(const Trace& trace, Id thread_sample);

}  // namespace streamscope::analysis
