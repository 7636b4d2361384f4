// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What was seen of a process when it stood still for the last time, and has not gone on since: the
// rows of thread_sample and probe that still hold.
#pragma once

#include <vector>

#include "trace/reader.h"

namespace streamscope::analysis {

using trace::Id;
using trace::kNoId;
using trace::kUnknownNs;
using trace::Ns;
using trace::Trace;

struct HangSnapshot {
  Ns at_ns = kUnknownNs;    ///< kUnknownNs: it was not looked at, or it has gone on
  std::vector<Id> samples;  ///< rows of thread_sample, one per thread
  std::vector<Id> probes;   ///< rows of probe
  bool known() const { return at_ns != kUnknownNs; }
};

/// By process.
std::vector<HangSnapshot> hang_snapshots(const Trace& trace);

/// True if the thread does something: it used much of the processor while it was looked at, or was
/// ready to.
bool is_busy(const Trace& trace, Id thread_sample);

/// True if the thread runs a callback of the program for the driver: the driver's own code stands
/// further out than the program's.
bool serves_the_driver(const Trace& trace, Id thread_sample);

}  // namespace streamscope::analysis
