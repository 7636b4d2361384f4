// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// How the median iteration would have run with one finding fixed, to draw beside the recorded one.
// Replayed by profiler/analysis on a separate thread so that the window stays responsive.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "background.h"
#include "trace_model.h"

namespace streamscope::viewer {

struct RepairSchedule {
  size_t finding = 0;     ///< as Insights lists them
  TimeRange recorded;     ///< of the iteration
  Ns end_ns = 0;          ///< when it would end if it began when it did
  std::vector<Row> rows;  ///< its work, if it began when it did; items as in lanes

  Ns predicted_ns() const { return distance_ns(recorded.begin_ns, end_ns); }
};

/// True if the median iteration can be replayed with the finding fixed.
bool can_schedule(const TraceModel& model, size_t finding);

/// `replay` is of the model's trace; the finding can be scheduled. O(ops + calls).
RepairSchedule schedule_of(const TraceModel& model, const analysis::Replay& replay, size_t finding);

/// UI thread only.
class RepairScheduler {
 public:
  using Answer = std::shared_ptr<const RepairSchedule>;

  /// The schedules of these findings, as far as they are known; computes the next one that is not.
  /// Does not block.
  std::vector<Answer> ask(const std::shared_ptr<const TraceModel>& model,
                          const std::vector<size_t>& findings);
  /// True while a schedule is computed.
  bool is_busy() const { return next_.is_busy(); }

 private:
  std::shared_ptr<const TraceModel> model_;
  std::shared_ptr<analysis::Analyses> analyses_;  // of model_; the thread's until it is done
  std::map<size_t, Answer> known_;                // by finding
  Background<Answer> next_;
};

}  // namespace streamscope::viewer
