// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "model/counters.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <variant>

#include "model/trace_model.h"
#include "support/trace_builder.h"
#include "trace/read/query.h"

namespace streamscope::viewer {
namespace {

using testing::ElementsAre;

std::vector<Counter::Column> columns_of(const Counter& counter, Ns from, double ns_per_px,
                                        size_t count) {
  const TimeWindow window{
      .begin_ns = from, .ns_per_px = ns_per_px, .width_px = static_cast<double>(count)};
  std::vector<Counter::Column> columns(count);
  counter.in_pixels(window, columns);
  return columns;
}

// The maxima of this many pixels from an instant on.
std::vector<int64_t> pixels(const Counter& counter, Ns from, double ns_per_px, size_t count) {
  std::vector<int64_t> most;
  for (const Counter::Column& column : columns_of(counter, from, ns_per_px, count))
    most.push_back(column.most);
  return most;
}

std::vector<double> means(const Counter& counter, Ns from, double ns_per_px, size_t count) {
  std::vector<double> means;
  for (const Counter::Column& column : columns_of(counter, from, ns_per_px, count))
    means.push_back(column.mean);
  return means;
}

const Lane* counter_lane(const TraceModel& model, std::string_view title) {
  for (const Lane& lane : model.lanes()) {
    if (lane.kind == LaneKind::kCounter && lane.title == title) return &lane;
  }
  return nullptr;
}

TEST(Counter, HoldsEachValueUntilTheNextStep) {
  Counter counter;
  counter.push(10, 2);
  counter.push(15, 2);  // no step
  counter.push(20, 5);
  counter.push(30, 0);
  counter.finish();
  EXPECT_EQ(counter.size(), 3u);
  EXPECT_EQ(counter.value_at(9), 0);
  EXPECT_EQ(counter.value_at(10), 2);
  EXPECT_EQ(counter.value_at(29), 5);
  EXPECT_EQ(counter.value_at(1'000), 0);
  EXPECT_EQ(counter.most(), 5);
}

TEST(Counter, CountsOpenIntervalsAndNotOneThatEndsAsAnotherBegins) {
  const Counter counter = count_open({0, 10, 20, 25}, {10, 20, 30});
  EXPECT_EQ(counter.most(), 2);
  EXPECT_EQ(counter.value_at(10), 1);
  EXPECT_EQ(counter.value_at(25), 2);
  EXPECT_EQ(counter.value_at(30), 1);  // one never ends
}

TEST(Counter, ShowsTheMaximumOfEachPixel) {
  Counter counter;
  counter.push(10, 1);
  counter.push(14, 7);
  counter.push(15, 2);
  counter.push(40, 0);
  counter.finish();
  EXPECT_THAT(pixels(counter, 0, 10, 6), ElementsAre(0, 7, 2, 2, 0, 0));
  EXPECT_THAT(pixels(counter, 13, 1, 4), ElementsAre(1, 7, 2, 2));
  EXPECT_THAT(pixels(counter, 14, 0.5, 4), ElementsAre(7, 7, 2, 2));
}

TEST(Counter, ShowsTheMeanOverTimeOfEachPixel) {
  Counter counter;
  counter.push(10, 1);
  counter.push(14, 7);
  counter.push(15, 2);
  counter.push(40, 0);
  counter.finish();
  EXPECT_THAT(means(counter, 0, 10, 6), ElementsAre(0, (4 * 1 + 7 + 5 * 2) / 10.0, 2, 2, 0, 0));
  EXPECT_THAT(means(counter, 13, 1, 4), ElementsAre(1, 7, 2, 2));
  EXPECT_THAT(means(counter, 14, 0.5, 4), ElementsAre(7, 7, 2, 2));
  EXPECT_THAT(means(counter, 5, 100, 1), ElementsAre((4 * 1 + 7 + 25 * 2) / 100.0));
}

// A device that runs a kernel a third of the time, at every scale.
TEST(Counter, OfADeviceThatIsIdleTwoThirdsIsAThird) {
  std::vector<Ns> begins, ends;
  for (Ns at = 0; at < 30'000'000; at += 300) {
    begins.push_back(at);
    ends.push_back(at + 100);
  }
  const Counter counter = count_open(begins, ends);
  for (const double ns_per_px : {300.0, 3'000.0, 30'000.0, 300'000.0}) {
    for (const Counter::Column& column : columns_of(counter, 0, ns_per_px, 100)) {
      EXPECT_NEAR(column.mean, 1.0 / 3, 1e-9) << ns_per_px;
      EXPECT_EQ(column.most, 1) << ns_per_px;
    }
  }
}

// The same from the steps one by one, at odd scales and positions.
TEST(Counter, ShowsTheMeanOfManyUnevenSteps) {
  Counter counter;
  std::vector<int64_t> each;  // by ns
  uint64_t random = 1;
  while (each.size() < 200'000) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    const auto value = static_cast<int64_t>(random >> 60);
    counter.push(static_cast<Ns>(each.size()), value);
    each.insert(each.end(), 1 + (random >> 40) % 7, value);
  }
  counter.finish();
  for (const auto& [from, scale] :
       {std::pair<Ns, double>{0, 977}, {333, 16}, {4'711, 1'001}, {9, 3}}) {
    const std::vector<double> shown = means(counter, from, scale, 190);
    for (size_t column = 0; column < shown.size(); ++column) {
      double sum = 0;
      const auto begin = static_cast<size_t>(from) + column * static_cast<size_t>(scale);
      for (size_t i = 0; i < static_cast<size_t>(scale); ++i)
        sum += static_cast<double>(each[begin + i]);
      ASSERT_NEAR(shown[column], sum / scale, 1e-9) << column << " at " << scale;
    }
  }
}

TEST(Counter, ShowsPeaksOfManySteps) {
  constexpr Ns kSteps = 100'000;
  Counter counter;
  for (Ns at = 0; at < kSteps; ++at) counter.push(at, at == 77'777 ? 1'000 : 1 + at % 2);
  counter.finish();
  const std::vector<int64_t> columns = pixels(counter, 0, 1'000, 100);
  for (size_t column = 0; column < columns.size(); ++column)
    EXPECT_EQ(columns[column], column == 77 ? 1'000 : 2) << column;
}

// Two streams whose kernels overlap: busy is not counted twice.
TEST(Counter, OfWhatIsBusyIsAShareOfTime) {
  const Counter busy = any_open({0, 50, 200}, {100, 150, 300});
  EXPECT_TRUE(busy.is_share());
  EXPECT_EQ(busy.most(), 1);
  EXPECT_EQ(busy.value_at(75), 1);
  EXPECT_EQ(busy.value_at(175), 0);
  EXPECT_THAT(means(busy, 0, 100, 3), ElementsAre(1, 0.5, 1));
  EXPECT_THAT(means(busy, 0, 400, 1), ElementsAre(0.625));
  EXPECT_EQ(busy.text(busy.top()), "100\u00a0%");
  EXPECT_EQ(busy.text_of_mean(0.625), "62\u00a0%");
  EXPECT_FALSE(count_open({0}, {1}).is_share());
}

TEST(Counter, ReportsItsScale) {
  Counter counter(64);
  counter.push(0, 3);
  counter.finish();
  EXPECT_EQ(counter.top(), 64);
  EXPECT_EQ(counter.text_of_capacity(3), "3 of 64");
  EXPECT_EQ(counter.text_of_mean(1.0 / 3), "0.33");
  EXPECT_EQ(counter.text_of_mean(33.33), "33.3");
  EXPECT_EQ(Counter().top(), 1);
  EXPECT_EQ(Counter(trace::kNoInt, Counter::Unit::kBytes).text_of_capacity(4096), "4\u00a0KiB");
}

TEST(CounterLanes, OfADeviceCountKernelsOfAllItsStreams) {
  test::TraceBuilder builder;
  builder.stream("a").kernel("k", 0, 100).memcpy(test::kHtoD, 100, 200);
  builder.stream("b").kernel("k", 50, 150);
  const TraceModel model(builder.trace());
  const Lane* lane = counter_lane(model, "Concurrent kernels");
  ASSERT_NE(lane, nullptr);
  EXPECT_EQ(model.lanes()[static_cast<size_t>(lane->parent)].kind, LaneKind::kDevice);
  EXPECT_THAT(pixels(lane->counter, 0, 50, 4), ElementsAre(1, 2, 1, 0));
  EXPECT_EQ(counter_lane(model, "Queue depth"), nullptr);
}

TEST(CounterLanes, AreAbsentInASketch) {
  test::TraceBuilder builder;
  builder.stream("a").kernel("k", 0, 100);
  EXPECT_EQ(counter_lane(TraceModel(builder.trace(), true), "Concurrent kernels"), nullptr);
}

TEST(CounterLanes, OfQueuesAreTheSumOfTheQueueDepthView) {
  test::TraceBuilder builder;
  const auto submit = [&](const test::StreamBuilder& stream, Ns from, Ns to) {
    const Id id = builder.operation("step", stream);
    builder.columns().operation.submitted_ns[id] = from;
    builder.columns().operation.completed_ns[id] = to;
  };
  const test::StreamBuilder a = builder.stream("a"), b = builder.stream("b");
  submit(a, 10, 100);
  submit(a, 20, 110);
  submit(b, 20, 50);
  submit(b, 60, trace::kUnknownNs);
  const TraceModel model(builder.trace());
  const Lane* lane = counter_lane(model, "Queue depth");
  ASSERT_NE(lane, nullptr);
  const std::filesystem::path file =
      std::filesystem::path(testing::TempDir()) / "counters_test.sqlite";
  std::filesystem::remove(file);
  builder.write(file);
  trace::Query query(file,
                     "SELECT DISTINCT outer.at_ns, (SELECT sum(depth) FROM (SELECT depth, "
                     "row_number() OVER (PARTITION BY stream ORDER BY at_ns DESC, depth) AS n "
                     "FROM v_queue_depth WHERE at_ns <= outer.at_ns) WHERE n = 1) "
                     "FROM v_queue_depth AS outer");
  size_t instants = 0;
  for (; query.next(); ++instants) {
    EXPECT_EQ(lane->counter.value_at(std::get<int64_t>(query.cell(0))),
              std::get<int64_t>(query.cell(1)));
  }
  EXPECT_EQ(instants, 6u);
  EXPECT_EQ(lane->counter.most(), 3);
}

TEST(CounterLanes, OfPoolsAreUnderTheirProcess) {
  test::TraceBuilder builder;
  builder.stream("a").kernel("k", 0, 100);
  const Id pool =
      builder.add(trace::Pool{.process_id = 0, .name_id = builder.intern("events"), .capacity = 8});
  for (const auto& [at, in_use] : {std::pair<Ns, trace::Int>{10, 2}, {10, 3}, {60, 1}})
    builder.add(trace::PoolSample{.pool_id = pool, .start_ns = at, .in_use = in_use});
  const TraceModel model(builder.trace());
  const Lane* lane = counter_lane(model, "events");
  ASSERT_NE(lane, nullptr);
  EXPECT_EQ(model.lanes()[static_cast<size_t>(lane->parent)].kind, LaneKind::kProcess);
  EXPECT_EQ(lane->detail, "in use, at most 3 of 8");
  EXPECT_EQ(lane->counter.top(), 8);
  EXPECT_THAT(pixels(lane->counter, 0, 20, 4), ElementsAre(3, 3, 3, 1));
}

TEST(CounterLanes, ShowHowBusyADeviceIsWithAllItsWork) {
  test::TraceBuilder builder;
  builder.stream("copies").memcpy(test::kHtoD, 0, 100);
  builder.stream("math").kernel("gemm", 50, 150).memory_wait(0x10, 1, 150, 900);
  builder.stream("math").kernel("gemm", 900, 1'000);
  const TraceModel model(builder.trace());
  const Lane* busy = counter_lane(model, "Busy");
  ASSERT_NE(busy, nullptr);
  EXPECT_THAT(means(busy->counter, 0, 1'000, 1), ElementsAre(0.25));
  // One kernel at a time is no lane of its own.
  EXPECT_EQ(counter_lane(model, "Concurrent kernels"), nullptr);
  builder.stream("other").kernel("relu", 950, 990);
  EXPECT_NE(counter_lane(TraceModel(builder.trace()), "Concurrent kernels"), nullptr);
}

}  // namespace
}  // namespace streamscope::viewer
