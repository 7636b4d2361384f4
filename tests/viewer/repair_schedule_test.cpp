// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// How the median iteration would have run with a finding fixed.

#include "model/repair_schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "analysis/analyses.h"
#include "analysis/delay/replay.h"
#include "support/mistakes.h"
#include "window/view.h"

namespace streamscope::viewer {
namespace {

std::shared_ptr<const TraceModel> host_bound() {
  return std::make_shared<const TraceModel>(test::host_bound_trace(20).trace());
}

std::vector<size_t> repairs_of(const TraceModel& model) {
  std::vector<size_t> result;
  for (const Repair& repair : model.diagnosis().repairs) {
    if (can_schedule(model, repair.finding)) result.push_back(repair.finding);
  }
  std::ranges::sort(result);
  return result;
}

RepairSchedule scheduled(const TraceModel& model, size_t finding) {
  analysis::Analyses analyses(model.trace());
  return schedule_of(model, analyses.replay(), finding);
}

TEST(RepairSchedule, HasTheWorkOfTheMedianIterationEarlier) {
  const auto model = host_bound();
  ASSERT_FALSE(repairs_of(*model).empty());
  const RepairSchedule schedule = scheduled(*model, repairs_of(*model).front());
  const TimeRange recorded = model->diagnosis().range(model->diagnosis().opening());
  EXPECT_EQ(schedule.recorded, recorded);
  EXPECT_LT(schedule.end_ns, recorded.end_ns);
  size_t count = 0;
  Ns last_end = 0;
  for (const Row& row : schedule.rows) {
    count += row.size();
    for (size_t i = 0; i < row.size(); ++i) {
      const Item item = unpack(row.item[i]);
      const Ns start = model->items().time(item)->begin_ns;
      EXPECT_GE(start, recorded.begin_ns);
      EXPECT_LT(start, recorded.end_ns);
      EXPECT_LE(row.start_ns[i], start) << "a repair delays nothing here";
      last_end = std::max(last_end, row.end_ns[i]);
    }
  }
  EXPECT_EQ(count, 21u) << "a copy and 20 kernels";
  EXPECT_EQ(schedule.end_ns, last_end) << "the last work ends the iteration";
}

// The lane shows what the diagnosis says, but for the overhead of recording.
TEST(RepairSchedule, SavesWhatTheFindingSays) {
  const auto model = host_bound();
  for (const size_t finding : repairs_of(*model)) {
    const RepairSchedule schedule = scheduled(*model, finding);
    const auto& gain = model->insights().findings[finding].advice.finding.iteration;
    ASSERT_TRUE(gain.has_value());
    const Ns most = gain->before_ns / 20;
    EXPECT_NEAR(static_cast<double>(schedule.predicted_ns()), static_cast<double>(gain->after_ns),
                static_cast<double>(most));
  }
}

TEST(RepairSchedule, NeedsIterations) {
  const TraceModel model(test::needless_sync_trace(2).trace());
  ASSERT_FALSE(model.diagnosis().has_iterations());
  for (size_t i = 0; i < model.insights().findings.size(); ++i)
    EXPECT_FALSE(can_schedule(model, i));
}

TEST(RepairScheduler, AnswersForAllOfThem) {
  const auto model = host_bound();
  const std::vector<size_t> wanted = repairs_of(*model);
  RepairScheduler scheduler;
  EXPECT_TRUE(scheduler.ask(model, {}).empty());
  EXPECT_FALSE(scheduler.is_busy());
  while (scheduler.ask(model, wanted).size() < wanted.size() || scheduler.is_busy())
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const auto answers = scheduler.ask(model, wanted);
  for (size_t i = 0; i < wanted.size(); ++i) EXPECT_EQ(answers[i]->finding, wanted[i]);
  EXPECT_TRUE(scheduler.ask(std::make_shared<const TraceModel>(trace::Trace{}), {}).empty());
}

TEST(ToggleRepairLane, ShowsTheMedianIterationAndSaysWhyItCannot) {
  const auto model = host_bound();
  ViewState state;
  state.nav.window.resize(1000);
  fit(*model, state);
  toggle_repair_lanes(*model, state);
  EXPECT_EQ(state.repair_lanes, repairs_of(*model));
  EXPECT_EQ(current_iteration(*model, state), model->diagnosis().opening());
  toggle_repair_lane(*model, state, state.repair_lanes.front());
  EXPECT_EQ(state.repair_lanes.size(), repairs_of(*model).size() - 1);
  toggle_repair_lane(*model, state, model->insights().findings.size());
  EXPECT_EQ(state.repair_lanes.size(), repairs_of(*model).size() - 1);
  const TraceModel once(test::needless_sync_trace(2).trace());
  ViewState other;
  toggle_repair_lanes(once, other);
  EXPECT_TRUE(other.repair_lanes.empty());
  EXPECT_THAT(other.status, testing::HasSubstr("no iterations"));
}

}  // namespace
}  // namespace streamscope::viewer
