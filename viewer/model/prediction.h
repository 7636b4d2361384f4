// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// How a run would have gone with some findings fixed: the work of every stream at its predicted
// time, drawn below the recorded one, and the total duration. Replayed by profiler/analysis on a
// separate thread so that the window stays responsive.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "background.h"
#include "trace_model.h"

namespace streamscope::viewer {

struct Prediction {
  std::vector<size_t> repaired;   ///< findings, as Insights lists them, ascending
  std::vector<Row> by_lane;       ///< work of streams; items as in the lane
  Ns recorded_ns = 0;             ///< from the first call or work to the end of the last
  Ns gain_ns = 0;                 ///< how much shorter it would be; negative if longer
  Ns end_ns = trace::kUnknownNs;  ///< end of the last work, if fixed
};

/// "2 findings fixed: 11.98 ms -> 9.80 ms (-18 %)"
std::string describe(const Prediction& prediction);

/// True if the run can be replayed with the finding fixed.
bool can_predict(const TraceModel& model, size_t finding);

/// Ignores findings that cannot be replayed. `replay` is of the model's trace. O(ops + calls).
Prediction predict(const TraceModel& model, const analysis::Replay& replay,
                   std::vector<size_t> repaired);

/// UI thread only.
class Predictor {
 public:
  /// The last prediction for this model; starts a new one if other findings are requested. Null
  /// if no finding is fixed. Does not block.
  std::shared_ptr<const Prediction> ask(const std::shared_ptr<const TraceModel>& model,
                                        const std::vector<size_t>& repaired);
  /// True while the last request is not answered.
  bool is_busy() const { return next_.is_busy(); }

 private:
  struct Replayed;  // what a replay of one model needs; made on the first request

  std::shared_ptr<const TraceModel> model_;
  std::shared_ptr<const Prediction> answer_;
  std::shared_ptr<Replayed> replayed_;  // of model_; the thread's until it is done
  Background<std::shared_ptr<const Prediction>> next_;
};

}  // namespace streamscope::viewer
