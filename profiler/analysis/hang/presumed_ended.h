// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Work that has most likely ended, though nothing says so. CUPTI keeps the times of what ended as
// long as later work in the same buffer runs, and without an event between two ops of a stream no
// query tells them apart.
#pragma once

#include <map>

#include "analysis/stream_ops.h"

namespace streamscope::analysis {

/// True for copies, memsets, and kernels that took at most a tenth of the time that something has
/// waited whenever they ran before. Collectives, host functions and memory waits wait for others,
/// so nothing is presumed of them. Keeps a reference to the trace; thread-compatible.
class PresumedEnded {
 public:
  PresumedEnded(const Trace& trace, Ns waited_ns) : trace_(trace), waited_ns_(waited_ns) {}
  bool operator()(Id op) const;

 private:
  const Trace& trace_;
  Ns waited_ns_;
  mutable std::map<Id, bool> kernels_;  // by name
};

}  // namespace streamscope::analysis
