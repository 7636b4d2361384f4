// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "model/loader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/derive.h"
#include "model/sketch.h"
#include "support/trace_builder.h"

namespace streamscope::viewer {
namespace {

using ::testing::HasSubstr;

class LoadedFile : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::filesystem::path operator/(const char* name) const { return folder_ / name; }

  // Two streams with this many kernels each, one of which is idle half of the time.
  std::filesystem::path write_dense(int kernels, bool with_derived_tables) const {
    test::TraceBuilder builder;
    test::StreamBuilder full = builder.stream("full"), half = builder.stream("half");
    for (int i = 0; i < kernels; ++i) {
      full.kernel("tick", i * 100, i * 100 + 100);
      half.memcpy(test::kHtoD, i * 100, i * 100 + 50);
    }
    std::filesystem::path file = folder_ / "dense.sqlite";
    builder.write(file);
    if (with_derived_tables) {
      const trace::Trace trace = trace::read(file);
      analysis::Analyses analyses(trace);
      analysis::write_derived_tables(analyses);
    }
    return file;
  }

 private:
  const std::filesystem::path folder_ =
      std::filesystem::path(::testing::TempDir()) /
      ::testing::UnitTest::GetInstance()->current_test_info()->name();
};

using Loading = LoadedFile;
using Sketch = LoadedFile;

TEST_F(Loading, RunsOnItsOwnThreadAndReportsErrorsOfTheReader) {
  std::atomic<int> calls = 0;
  Loader good(write_dense(1, false), 1000, [&] { ++calls; });
  good.wait();
  ASSERT_NE(good.model(), nullptr);
  EXPECT_EQ(good.model()->trace().op.size(), 2u);
  EXPECT_GT(calls, 0);
  Loader bad(*this / "absent.sqlite", 1000, [] {});
  bad.wait();
  EXPECT_EQ(bad.model(), nullptr);
  EXPECT_THAT(bad.error(), HasSubstr("absent.sqlite"));
}

TEST_F(Loading, ShowsASketchOfALargeTraceFirst) {
  std::vector<size_t> seen;
  Loader* loader = nullptr;
  std::mutex made;
  made.lock();
  Loader loading(write_dense(30'000, true), 200, [&] {
    const std::lock_guard wait(made);
    if (const auto model = loader->model()) seen.push_back(model->trace().op.size());
  });
  loader = &loading;
  made.unlock();
  loading.wait();
  ASSERT_GE(seen.size(), 2u);
  EXPECT_LT(seen.front(), 10'000u);
  EXPECT_EQ(seen.back(), 60'000u);
  EXPECT_FALSE(loading.model()->is_sketch());
}

TEST_F(Loading, WaitsUntilTheFileHasArrived) {
  std::atomic<int> asked = 0;
  Loader loading(
      write_dense(30'000, true), 200, [] {}, [&] { return ++asked < 5 ? 0.2 * asked : 1; });
  loading.wait();
  EXPECT_EQ(asked, 5);
  ASSERT_NE(loading.model(), nullptr);
  EXPECT_FALSE(loading.model()->is_sketch());
  EXPECT_FALSE(loading.is_only_sketched());
}

TEST_F(Loading, EndsWhileTheFileArrives) {
  Loader loading(
      write_dense(1, false), 200, [] {}, [] { return 0.5; });
}

TEST_F(Loading, StaysWithAFinerSketchOfWhatNeverArrives) {
  const std::filesystem::path file = write_dense(30'000, true);
  Loader loading(
      file, 200, [] {}, [] { return -1; });
  loading.wait();
  EXPECT_TRUE(loading.is_only_sketched());
  ASSERT_NE(loading.model(), nullptr);
  EXPECT_TRUE(loading.model()->is_sketch());
  EXPECT_GT(loading.model()->trace().op.size(), read_sketch(file, 200)->op.size()) << "to zoom in";
  EXPECT_EQ(loading.error(), "");
  std::filesystem::remove(file);
  Loader without(
      write_dense(1, false), 200, [] {}, [] { return -1; });
  without.wait();
  EXPECT_THAT(without.error(), HasSubstr("has no overview"));
}

TEST_F(Loading, IsTheSameTableByTable) {
  test::TraceBuilder builder;
  const std::filesystem::path file = *this / "events.sqlite";
  test::StreamBuilder copies = builder.stream("copies"), math = builder.stream("math");
  for (int i = 0; i < 300; ++i) {
    const std::string event = "loaded " + std::to_string(i);
    copies.memcpy(test::kHtoD, i * 100, i * 100 + 60).record(event);
    math.wait(event).kernel("gemm", i * 100 + 65, i * 100 + 90);
  }
  builder.range("all of it", 0, 30'000).synchronize_device(20'000, 30'010);
  builder.write(file);
  const trace::Trace trace = trace::read(file);
  analysis::Analyses analyses(trace);
  analysis::write_derived_tables(analyses);

  const auto whole = read_model(file), in_parts = read_model(file, {}, 100);
  EXPECT_FALSE(whole->waits().groups().empty());
  EXPECT_TRUE(in_parts->waits().groups().empty()) << "was analyzed, not read from derived tables";
  ASSERT_EQ(in_parts->lanes().size(), whole->lanes().size());
  for (size_t lane = 0; lane < whole->lanes().size(); ++lane) {
    const Lane &a = whole->lanes()[lane], &b = in_parts->lanes()[lane];
    EXPECT_EQ(a.title, b.title);
    EXPECT_EQ(a.waits.start_ns, b.waits.start_ns);
    const TimeWindow window{.begin_ns = whole->extent().begin_ns,
                            .ns_per_px = whole->extent().span_ns() / 64,
                            .width_px = 64};
    std::vector<Counter::Column> columns_a(64), columns_b(64);
    a.counter.in_pixels(window, columns_a);
    b.counter.in_pixels(window, columns_b);
    EXPECT_EQ(columns_a, columns_b) << a.title;
    ASSERT_EQ(a.bands.size(), b.bands.size());
    for (size_t band = 0; band < a.bands.size(); ++band) {
      EXPECT_EQ(a.bands[band].row.start_ns, b.bands[band].row.start_ns);
      EXPECT_EQ(a.bands[band].row.item, b.bands[band].row.item);
    }
  }
  EXPECT_EQ(in_parts->edges().size(), whole->edges().size());
  const auto longest = [](const TraceModel& model) {
    std::vector<std::pair<Id, Ns>> waits;
    for (const analysis::WaitPart& wait : model.waits().longest(5))
      waits.emplace_back(wait.op, wait.duration_ns);
    return waits;
  };
  EXPECT_FALSE(longest(*whole).empty());
  EXPECT_EQ(longest(*in_parts), longest(*whole));
  EXPECT_EQ(report::info_json(in_parts->info()), report::info_json(whole->info()));
  EXPECT_EQ(in_parts->insights().findings.size(), whole->insights().findings.size());
  EXPECT_EQ(in_parts->insights().on_path, whole->insights().on_path);
  EXPECT_EQ(in_parts->trace().op.end_ns, trace.op.end_ns);
  EXPECT_EQ(in_parts->trace().event_wait.record_id, trace.event_wait.record_id);
}

TEST_F(Sketch, KeepsStreamsKindsAndBusyTime) {
  const auto sketch = read_sketch(write_dense(30'000, true), 200);
  ASSERT_TRUE(sketch);
  EXPECT_LT(sketch->op.size(), 10'000u);
  const TraceModel model(*sketch, true);
  std::vector<std::string> titles;
  for (const Lane& lane : model.lanes()) {
    if (lane.kind != LaneKind::kStream) continue;
    titles.push_back(lane.title);
    EXPECT_NEAR(lane.busy_share, lane.title == "full" ? 1 : 0.5, 0.01);
    // The same holds for what is drawn: a pixel is as bright as the stream was busy.
    TimeWindow window{.width_px = 100};
    window.show(model.extent());
    std::vector<DrawItem> bars;
    fold(lane.bands.at(0).row, window, 1, bars);
    double shown = 0;
    for (const DrawItem& bar : bars) shown += (bar.x1 - bar.x0) * bar.coverage / 100;
    EXPECT_NEAR(shown, lane.busy_share, 0.05);
    const Item first = unpack(lane.bands.at(0).row.item[0]);
    EXPECT_EQ(model.items().category(first),
              lane.title == "full" ? Category::kKernel : Category::kCopyToDevice);
  }
  EXPECT_THAT(titles, ::testing::ElementsAre("full", "half"));
}

TEST_F(Sketch, IsAbsentWithoutAPyramid) {
  EXPECT_FALSE(read_sketch(write_dense(30'000, false), 200));
}

TEST_F(Sketch, IsAbsentForASmallTrace) { EXPECT_FALSE(read_sketch(write_dense(10, true), 200)); }

}  // namespace
}  // namespace streamscope::viewer
