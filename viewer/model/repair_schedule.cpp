// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "repair_schedule.h"

#include <algorithm>

#include "analysis/delay/replay.h"
#include "intervals.h"
#include "prediction.h"

namespace streamscope::viewer {
namespace {

constexpr size_t kMostRows = 3;  // for work of several streams at once

// When the iteration would begin: when the one before it would be done.
Ns begin_of(const Diagnosis& diagnosis, size_t iteration,
            const std::vector<analysis::PredictedRun>& runs) {
  const Id last = iteration > 0 ? diagnosis.iterations.all[iteration - 1].last_op : kNoId;
  return last < runs.size() ? runs[last].end_ns : trace::kUnknownNs;
}

}  // namespace

bool can_schedule(const TraceModel& model, size_t finding) {
  return model.diagnosis().has_iterations() && can_predict(model, finding);
}

RepairSchedule schedule_of(const TraceModel& model, const analysis::Replay& replay,
                           size_t finding) {
  const Diagnosis& diagnosis = model.diagnosis();
  const size_t iteration = diagnosis.opening();
  RepairSchedule schedule{.finding = finding, .recorded = diagnosis.range(iteration), .rows = {}};
  schedule.end_ns = schedule.recorded.end_ns;
  const std::vector<analysis::PredictedRun> runs =
      replay.predict(*model.insights().findings[finding].advice.finding.repair);
  const Ns begin = begin_of(diagnosis, iteration, runs);
  const Id last = diagnosis.iterations.all[iteration].last_op;
  // It is drawn as if it began when it was recorded to.
  const auto shifted = [&](Ns at) {
    return begin == trace::kUnknownNs
               ? at
               : add_ns(schedule.recorded.begin_ns, static_cast<double>(distance_ns(begin, at)));
  };
  if (last < runs.size() && runs[last].end_ns != trace::kUnknownNs)
    schedule.end_ns = std::max(shifted(runs[last].end_ns), schedule.recorded.begin_ns);
  std::vector<Interval> work;
  for (Id op = 0; op < runs.size(); ++op) {
    const Ns start = model.trace().op.start_ns[op];
    if (start < schedule.recorded.begin_ns || start >= schedule.recorded.end_ns ||
        runs[op].start_ns == trace::kUnknownNs)
      continue;
    work.push_back({{shifted(runs[op].start_ns), shifted(runs[op].end_ns)}, {ItemKind::kOp, op}});
  }
  sort_by_start(work);
  Lane lane{.kind = LaneKind::kStream};
  add_bands(model.items(), lane, BandKind::kOps, work, kMostRows);
  for (Band& band : lane.bands) schedule.rows.push_back(std::move(band.row));
  return schedule;
}

std::vector<RepairScheduler::Answer> RepairScheduler::ask(
    const std::shared_ptr<const TraceModel>& model, const std::vector<size_t>& findings) {
  if (const std::optional<Answer> answer = next_.take()) known_[(*answer)->finding] = *answer;
  if (model != model_) {
    if (is_busy()) return {};
    known_.clear();
    analyses_.reset();
    model_ = model;
  }
  std::vector<Answer> answers;
  for (const size_t finding : findings) {
    if (const auto known = known_.find(finding); known != known_.end()) {
      answers.push_back(known->second);
    } else if (!is_busy()) {
      next_.start([this, finding] {
        if (!analyses_) analyses_ = std::make_shared<analysis::Analyses>(model_->trace());
        return std::make_shared<const RepairSchedule>(
            schedule_of(*model_, analyses_->replay(), finding));
      });
    }
  }
  return answers;
}

}  // namespace streamscope::viewer
