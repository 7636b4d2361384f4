// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "model/prediction.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "analysis/delay/replay.h"
#include "support/mistakes.h"
#include "window/view.h"

namespace streamscope::viewer {
namespace {

std::shared_ptr<const TraceModel> needless_sync() {
  return std::make_shared<const TraceModel>(test::needless_sync_trace(4).trace());
}

std::optional<size_t> repairable(const TraceModel& model) {
  for (size_t i = 0; i < model.insights().findings.size(); ++i) {
    if (can_predict(model, i) && model.insights().findings[i].gain_ns() > 0) return i;
  }
  return std::nullopt;
}

Prediction predicted(const TraceModel& model, std::vector<size_t> repaired) {
  const trace::Trace& trace = model.trace();
  const analysis::IssueOrder order(trace);
  return predict(model, analysis::Replay(order), std::move(repaired));
}

TEST(Prediction, MovesTheWorkThatAFixReleases) {
  const auto model = needless_sync();
  const auto finding = repairable(*model);
  ASSERT_TRUE(finding);
  const Prediction prediction = predicted(*model, {*finding});
  EXPECT_EQ(prediction.gain_ns, model->insights().findings[*finding].gain_ns());
  const auto moved = [&](Id op) {
    const auto lane = model->lanes().of(Item{ItemKind::kOp, op});
    const Row& row = prediction.by_lane.at(*lane);
    const auto at = std::ranges::find(row.item, pack({ItemKind::kOp, op})) - row.item.begin();
    return model->items().time({ItemKind::kOp, op})->begin_ns -
           row.start_ns[static_cast<size_t>(at)];
  };
  EXPECT_EQ(moved(0), 0);
  EXPECT_GT(moved(static_cast<Id>(model->trace().op.size() - 1)), 100'000);
  EXPECT_LT(prediction.end_ns, model->work().end_ns - 100'000);
}

TEST(Prediction, EqualsTheRecordingIfNothingIsFixed) {
  const auto model = needless_sync();
  const Prediction prediction = predicted(*model, {});
  EXPECT_EQ(prediction.gain_ns, 0);
  EXPECT_EQ(prediction.end_ns, model->work().end_ns);
  for (size_t lane = 0; lane < model->lanes().size(); ++lane) {
    if (model->lanes()[lane].kind != LaneKind::kStream) continue;
    EXPECT_EQ(prediction.by_lane[lane].start_ns, model->lanes()[lane].bands[0].row.start_ns);
    EXPECT_EQ(prediction.by_lane[lane].end_ns, model->lanes()[lane].bands[0].row.end_ns);
  }
}

TEST(Predictor, AnswersTheLastRequest) {
  const auto model = needless_sync();
  const auto finding = repairable(*model);
  ASSERT_TRUE(finding);
  Predictor predictor;
  EXPECT_EQ(predictor.ask(model, {}), nullptr);
  std::shared_ptr<const Prediction> answer;
  while ((answer = predictor.ask(model, {*finding})) == nullptr || predictor.is_busy())
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_GT(answer->gain_ns, 0);
  EXPECT_EQ(predictor.ask(model, {}), nullptr);
}

TEST(ToggleRepaired, AcceptsOnlyWhatCanBePredicted) {
  const auto model = needless_sync();
  ViewState state;
  toggle_repaired(*model, state, model->insights().findings.size());
  EXPECT_TRUE(state.repaired.empty());
  const auto finding = repairable(*model);
  ASSERT_TRUE(finding);
  toggle_repaired(*model, state, *finding);
  EXPECT_EQ(state.repaired, std::vector<size_t>{*finding});
  toggle_repaired(*model, state, *finding);
  EXPECT_TRUE(state.repaired.empty());
}

}  // namespace
}  // namespace streamscope::viewer
