// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Turns the marks of a process that measures what recording costs into rows of table cost_window.
#pragma once

#include "record/drain/run_state.h"
#include "ring/record.h"

namespace streamscope::record {

/// Thread-compatible.
class CostWindows {
 public:
  CostWindows(RunState& run, trace::Id process) : run_(run), process_(process) {}

  /// Recording was switched on or off, or a window began, in the order of the records. False if it
  /// is on or off as before.
  bool describe(const ring::CollectingRecord& record);
  /// The process has ended.
  void finish();

 private:
  void add(trace::Ns end_ns, trace::Int progress);

  RunState& run_;
  trace::Id process_;
  ring::CollectingRecord last_{};  // the mark that began the current window
  bool open_ = false;
};

}  // namespace streamscope::record
