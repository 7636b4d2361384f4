// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "prediction.h"

#include <algorithm>

#include "analysis/delay/replay.h"
#include "analysis/units.h"
#include "labels.h"

namespace streamscope::viewer {

std::string describe(const Prediction& prediction) {
  const Ns before = prediction.recorded_ns;
  return format_count(prediction.repaired.size(), "finding") +
         " fixed: " + analysis::format_gain(before, before - prediction.gain_ns);
}

bool can_predict(const TraceModel& model, size_t finding) {
  const std::vector<FindingLine>& findings = model.insights().findings;
  return finding < findings.size() && findings[finding].advice.finding.repair != nullptr;
}

Prediction predict(const TraceModel& model, const analysis::Replay& replay,
                   std::vector<size_t> repaired) {
  Prediction prediction{.repaired = std::move(repaired), .recorded_ns = replay.recorded_ns()};
  analysis::Change change;
  for (const size_t finding : prediction.repaired) {
    if (can_predict(model, finding))
      change.add(*model.insights().findings[finding].advice.finding.repair);
  }
  prediction.gain_ns = replay.gain_ns(change);
  const std::vector<analysis::PredictedRun> runs = replay.predict(change);
  std::vector<std::vector<Id>> by_lane(model.lanes().size());
  for (Id op = 0; op < runs.size(); ++op) {
    if (runs[op].start_ns == trace::kUnknownNs) continue;
    prediction.end_ns = std::max(prediction.end_ns, runs[op].end_ns);
    if (const auto lane = model.lanes().of({ItemKind::kOp, op})) by_lane[*lane].push_back(op);
  }
  prediction.by_lane.resize(by_lane.size());
  for (size_t lane = 0; lane < by_lane.size(); ++lane) {
    std::ranges::stable_sort(by_lane[lane], {}, [&](Id op) { return runs[op].start_ns; });
    for (const Id op : by_lane[lane]) {
      const Item item{ItemKind::kOp, op};
      prediction.by_lane[lane].push(runs[op].start_ns, runs[op].end_ns, pack(item),
                                    static_cast<uint8_t>(model.items().category(item)));
    }
    prediction.by_lane[lane].finish();
  }
  return prediction;
}

struct Predictor::Replayed {
  explicit Replayed(const trace::Trace& trace) : order(trace), replay(order) {}
  analysis::IssueOrder order;
  analysis::Replay replay;
};

std::shared_ptr<const Prediction> Predictor::ask(const std::shared_ptr<const TraceModel>& model,
                                                 const std::vector<size_t>& repaired) {
  if (const auto answer = next_.take()) answer_ = *answer;
  if (is_busy()) return model == model_ ? answer_ : nullptr;
  if (model != model_) {
    answer_.reset();
    replayed_.reset();
    model_ = model;
  }
  if (repaired.empty()) {
    answer_.reset();
  } else if (answer_ == nullptr || answer_->repaired != repaired) {
    next_.start([this, repaired] {
      if (!replayed_) replayed_ = std::make_shared<Replayed>(model_->trace());
      return std::make_shared<const Prediction>(predict(*model_, replayed_->replay, repaired));
    });
  }
  return answer_;
}

}  // namespace streamscope::viewer
