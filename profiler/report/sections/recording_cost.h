// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The cost of recording, as reports show it. It is measured only with record --measure-cost.
#pragma once

#include <cstddef>
#include <string>

#include "analysis/usage/cost_windows.h"
#include "trace/read/reader.h"

namespace streamscope::report {

struct RecordingCost {
  std::string text;  ///< for the headline; "" in virtual time, where recording costs nothing
  analysis::MeasuredCost measured;
  /// The windows say nothing: device times of graphs were recorded in all of them.
  bool has_graphs = false;
  size_t off_windows = 0;
  /// What ran in the windows without recording too, so that its cost is not measured. CUPTI: it was
  /// loaded and recorded no times.
  enum class NotMeasured { kNothing, kCallbacks, kCupti } not_measured = NotMeasured::kNothing;

  bool is_measured() const { return measured.is_known() && !has_graphs; }
};

/// "recording cost +1.2 % (0.4 to 2.0 %, 58 windows)", or why it is not known.
/// `graph_launches`: of the whole trace.
RecordingCost recording_cost(const trace::Trace& trace, uint64_t graph_launches);

/// What was measured, or why it was not: a line of `info`. "" if the run had no windows.
std::string cost_remark(const RecordingCost& cost);

}  // namespace streamscope::report
