// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// When the collector records: while it is paused, in windows that measure the cost, between marks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <set>

#include "observed.h"

namespace streamscope::collect {
namespace {

using ring::RecordKind;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(Process, WhilePausedReportsOnlyWhatIdentitiesNeed) {
  Observed run;
  run.control().collecting.store(0);
  const std::filesystem::path go = run.folder() / "go";
  run.start_child("paused", {go});
  run.wait_for_line("one");
  run.control().collecting.store(1);
  ring::announce_change(run.control());
  std::ofstream(go) << "go";
  ASSERT_EQ(run.finish(), 0) << run.error_text();
  EXPECT_EQ(run.call_names(), "cudaEventCreateWithFlags cudaLaunchKernel");
  EXPECT_EQ(run.text(run.calls()[1].object), "while collecting");
  const auto kernels = run.all<ring::OpRecord>(RecordKind::kKernel);
  ASSERT_THAT(kernels, SizeIs(1));  // the device's work of the pause comes later and is omitted
  EXPECT_EQ(run.text(kernels[0].name), "while collecting");
  std::vector<int> switches;
  for (const auto& each : run.all<ring::CollectingRecord>(RecordKind::kCollecting))
    switches.push_back(each.on);
  EXPECT_THAT(switches, ElementsAre(0, 1));
}

/// How many windows of each kind, off and on, the program made progress in. On a busy machine it
/// may not run for a whole one.
std::array<size_t, 2> windows_with_progress(const std::vector<ring::CollectingRecord>& marks) {
  std::array<size_t, 2> count{};
  for (size_t i = 1; i < marks.size(); ++i) {
    EXPECT_GE(marks[i].progress, marks[i - 1].progress);
    count[marks[i - 1].on != 0] += marks[i].progress > marks[i - 1].progress;
  }
  return count;
}

TEST(Process, SwitchesRecordingOffAndOnToMeasureItsCost) {
  for (const std::string range : {"", "step"}) {
    Observed run;
    run.control().measure_cost_window_ms = 20;
    range.copy(run.control().measure_cost_range, range.size());
    ASSERT_EQ(run.run_child("cost-windows"), 0) << run.error_text();
    const uint64_t steps = std::stoull(run.output_text());

    const auto switches = run.all<ring::CollectingRecord>(RecordKind::kCollecting);
    ASSERT_GE(switches.size(), 6u);
    for (size_t i = 0; i < switches.size(); ++i) {
      EXPECT_EQ(switches[i].on, i % 2) << "the first window is recorded";
      EXPECT_EQ(switches[i].measuring, 1);
      if (i == 0) continue;
      EXPECT_GT(switches[i].begin, switches[i - 1].begin);
    }
    const auto [off, on] = windows_with_progress(switches);
    EXPECT_GE(off + on, switches.size() / 2);
    EXPECT_GT(off, 0u);
    EXPECT_GT(on, 0u);
    EXPECT_LE(switches.back().progress, (range.empty() ? 2 : 1) * steps);

    size_t created = 0;
    std::set<uint32_t> launches;
    for (const ring::CallRecord& call : run.calls()) {
      created += ring::call_info(call.call).kind == CallKind::kEventCreate;
      if (ring::call_info(call.call).kind == CallKind::kLaunch) launches.insert(call.call_number);
    }
    EXPECT_EQ(created, steps) << "handles are always followed";
    EXPECT_LT(launches.size(), steps);
    EXPECT_GT(launches.size(), 0u);
    for (const auto& kernel : run.all<ring::OpRecord>(RecordKind::kKernel))
      EXPECT_TRUE(launches.contains(kernel.correlation_id)) << "work without its call";
    EXPECT_THAT(run.losses(), IsEmpty());
  }
}

// In steps of 20 ms a window of 5 ms is over soon: it ends with the step, unless the machine is
// busy.
TEST(Process, EndsWindowsWithTheRangeThatShowsProgress) {
  Observed run;
  run.control().measure_cost_window_ms = 5;
  std::string_view("step").copy(run.control().measure_cost_range, 4);
  ASSERT_EQ(run.run_child("cost-of-steps"), 0) << run.error_text();
  const auto steps = run.all<ring::RangeRecord>(RecordKind::kRangePop);
  const auto switches = run.all<ring::CollectingRecord>(RecordKind::kCollecting);
  size_t windows = 0, whole = 0;
  for (size_t i = 2; i < switches.size(); i += 2) {
    ASSERT_EQ(switches[i].on, 0);
    const uint64_t begin = switches[i - 1].begin, end = switches[i].begin;
    const auto next = std::ranges::upper_bound(steps, end, {}, &ring::RangeRecord::begin);
    ASSERT_NE(next, steps.begin());
    const uint64_t step_end = std::prev(next)->begin;
    ++windows;
    whole += step_end > begin && end - step_end < (step_end - begin) / 2;
  }
  EXPECT_GE(windows, 8u);
  EXPECT_GE(whole, windows - windows / 4);
}

TEST(Process, GoesOnWithWindowsWhereNoSuchRangeEnds) {
  Observed run;
  run.control().measure_cost_window_ms = 5;
  std::string_view("never").copy(run.control().measure_cost_range, 5);
  run.start_child("cost-windows");
  EXPECT_EQ(run.finish(), 0) << run.error_text();
  EXPECT_GE(run.all<ring::CollectingRecord>(RecordKind::kCollecting).size(), 6u);
}

TEST(Process, MarksTheWindowsOfARunThatIsRecordedOrNot) {
  for (const bool recorded : {false, true}) {
    Observed run;
    run.control().measure_cost_window_ms = 20;
    run.control().measured_windows =
        recorded ? ring::MeasuredWindows::kRecorded : ring::MeasuredWindows::kNotRecorded;
    ASSERT_EQ(run.run_child("cost-of-run"), 0) << run.error_text();
    const uint64_t steps = std::stoull(run.output_text());
    const auto marks = run.all<ring::CollectingRecord>(RecordKind::kCollecting);
    ASSERT_GE(marks.size(), 6u);
    for (const ring::CollectingRecord& mark : marks) {
      EXPECT_EQ(mark.on, recorded ? 1 : 0);
      EXPECT_EQ(mark.measuring, 1);
    }
    EXPECT_GE(windows_with_progress(marks)[recorded], marks.size() / 2);
    size_t created = 0, launched = 0;
    for (const ring::CallRecord& call : run.calls()) {
      created += ring::call_info(call.call).kind == CallKind::kEventCreate;
      launched += ring::call_info(call.call).kind == CallKind::kLaunch;
    }
    EXPECT_EQ(created, steps) << "handles are always followed";
    if (recorded) {
      EXPECT_EQ(launched, steps);
      EXPECT_THAT(run.all<ring::OpRecord>(RecordKind::kKernel), SizeIs(steps));
    } else {
      EXPECT_LT(launched, steps / 4) << "those before the first window";
    }
    EXPECT_THAT(run.losses(), IsEmpty());
  }
}

TEST(Process, SwitchesNoDeviceTimesWhileCudaEnds) {
  Observed run;
  run.control().measure_cost_window_ms = 20;
  run.set("FAKE_SLOW_END", "1");
  EXPECT_EQ(run.run_child("cost-windows"), 0) << run.error_text();
}

std::vector<std::string> launched(const Observed& run) {
  std::vector<std::string> names;
  for (const ring::CallRecord& call : run.calls()) {
    if (ring::call_info(call.call).kind == CallKind::kLaunch)
      names.push_back(run.text(call.object));
  }
  return names;
}

TEST(Process, RecordsBetweenTheProfilerCallsOnRequest) {
  Observed run;
  run.control().capture_range = ring::CaptureRange::kCudaProfilerApi;
  ASSERT_EQ(run.run_child("profiler-range"), 0) << run.error_text();
  EXPECT_THAT(launched(run), ElementsAre("inside"));
}

TEST(Process, RecordsInsideTheNamedRangeOnRequest) {
  Observed run;
  run.control().capture_range = ring::CaptureRange::kNvtx;
  std::strcpy(run.control().capture_range_name, "step");
  ASSERT_EQ(run.run_child("nvtx-range"), 0) << run.error_text();
  EXPECT_THAT(launched(run), ElementsAre("inside", "still inside", "inside again"));
}

TEST(Process, StoppedOnRequestDetachesCompletely) {
  Observed run;
  const std::filesystem::path go = run.folder() / "go";
  run.start_child("stopped", {go});
  run.wait_for_line("one");
  run.control().stop.store(1);
  std::ofstream(go) << "go";
  ASSERT_EQ(run.finish(), 0) << run.error_text();
  EXPECT_THAT(run.calls(), SizeIs(1));
  EXPECT_THAT(run.output_text(), HasSubstr("unsubscribe:0"));  // no callback was enabled any more
}

}  // namespace
}  // namespace streamscope::collect
