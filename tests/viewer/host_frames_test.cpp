// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What samples of threads become in the timeline.

#include "model/host_frames.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>

#include "model/sample_facts.h"
#include "model/trace_model.h"
#include "support/trace_builder.h"

namespace streamscope::viewer {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

constexpr TimeRange kAlways{0, 1'000'000};
const std::string kMain = "/src/train.py:9 <module>";

// A row as "label from-to".
std::vector<std::string> texts(const HostFrames& frames, const HostFrames::RunRow& row) {
  std::vector<std::string> result;
  for (Id run = row.begin; run < row.end; ++run)
    result.push_back(frames.label(run) + " " + std::to_string(frames.time(run).begin_ns) + "-" +
                     std::to_string(frames.time(run).end_ns));
  return result;
}

// Every 100 ns: three samples in step, at two lines and one of them in a function of its own;
// later, after a gap, one more.
test::TraceBuilder sampled() {
  test::TraceBuilder builder;
  builder.range("step", 0, 2000);
  builder.sample(100, {"/src/train.py:41 step", kMain})
      .sample(200, {"/src/data.py:7 load", "/src/train.py:43 step", kMain}, SYS_read)
      .sample(300, {"/src/train.py:41 step", kMain})
      .sample(1000, {"/src/train.py:41 step", kMain});
  return builder;
}

TEST(HostFrames, AreLeftOutWhereTheRangesThatSamplesAreMadeOfHaveLanes) {
  EXPECT_TRUE(
      HostFrames(sampled().meta("imported_from", "kineto").trace(), kAlways).rows().empty());
}

TEST(HostFrames, JoinsNeighborsInTheSameFunctionAndLeavesGaps) {
  const trace::Trace trace = sampled().trace();
  const HostFrames frames(trace, kAlways);
  ASSERT_EQ(frames.rows().size(), 4u);
  EXPECT_TRUE(frames.rows()[0].is_state);
  EXPECT_THAT(texts(frames, frames.rows()[0]),
              ElementsAre("runs 50-150", "waits for input (read) 150-250", "runs 250-350",
                          "runs 950-1050"));
  EXPECT_THAT(texts(frames, frames.rows()[1]),
              ElementsAre("<module> (train.py) 50-350", "<module> (train.py) 950-1050"));
  EXPECT_THAT(texts(frames, frames.rows()[2]),
              ElementsAre("step (train.py) 50-350", "step (train.py) 950-1050"));
  EXPECT_THAT(texts(frames, frames.rows()[3]), ElementsAre("load (data.py) 150-250"));
  const Id step = frames.rows()[2].begin;
  EXPECT_THAT(frames.lines(step), ElementsAre("train.py:41", "train.py:43"));
  EXPECT_THAT(frames.states(step),
              ElementsAre(Pair("runs", 2u), Pair("waits for input (read)", 1u)));
  EXPECT_EQ(frames.share(step).of, 4u);
  EXPECT_EQ(frames.share(step).samples, 4u);
  EXPECT_EQ(frames.share(frames.rows()[3].begin).samples, 1u);
}

TEST(HostFrames, TellRunningWaitingAndWaitsForPythonsLockApart) {
  test::TraceBuilder builder;
  builder.range("step", 0, 2000);
  builder.sample(100, {kMain})
      .sample(200, {kMain}, SYS_futex)
      .sample(300, {"PyEval_RestoreThread", kMain}, SYS_futex);
  const TraceModel model(builder.trace());
  std::vector<Category> categories;
  const HostFrames::RunRow& row = model.items().host_frames().rows()[0];
  for (Id run = row.begin; run < row.end; ++run)
    categories.push_back(model.items().category({ItemKind::kSamples, run}));
  EXPECT_THAT(categories, ElementsAre(Category::kRuns, Category::kWaits, Category::kWaitsForLock));
}

TEST(HostFrames, ASampleWithoutAStackEndsAllFunctions) {
  test::TraceBuilder builder;
  builder.sample(100, {kMain}).sample(200, {}).sample(300, {kMain});
  builder.columns().host_sample.stack_id[1] = kNoId;
  const trace::Trace trace = builder.trace();
  const HostFrames frames(trace, kAlways);
  ASSERT_EQ(frames.rows().size(), 2u);
  EXPECT_THAT(texts(frames, frames.rows()[0]), ElementsAre("runs 50-350"));
  EXPECT_THAT(texts(frames, frames.rows()[1]),
              ElementsAre("<module> (train.py) 50-150", "<module> (train.py) 250-350"));
}

TEST(HostFrames, HasRowsForUsualStacksAndTheInnermostFunctionOfDeeperOnes) {
  test::TraceBuilder builder;
  std::vector<std::string> deep;
  for (int i = 40; i > 0; --i) deep.push_back("/src/a.py:1 import" + std::to_string(i));
  builder.sample(100, deep).sample(200, {"/src/b.py:2 inner", "/src/b.py:3 outer"});
  const trace::Trace trace = builder.trace();
  const HostFrames few(trace, {150, 1000});
  ASSERT_EQ(few.rows().size(), 3u);
  EXPECT_THAT(texts(few, few.rows()[1]),
              ElementsAre("import1 (a.py) 50-150", "outer (b.py) 150-250"));
  EXPECT_THAT(texts(few, few.rows()[2]),
              ElementsAre("import40 (a.py) 50-150", "inner (b.py) 150-250"));
  EXPECT_EQ(HostFrames(trace, {0, 150}).rows().size(), 1 + kMostFrameRows);
}

TEST(HostFrames, CountFramesOfALibraryWithoutSymbolsAsOne) {
  test::TraceBuilder builder;
  builder.sample(100, {"", "", kMain});
  for (const Id frame : {0, 1}) {
    builder.columns().stack_frame.kind[frame] = trace::kNativeFrame;
    builder.columns().stack_frame.symbol_id[frame] = kNoId;
    builder.columns().stack_frame.module_id[frame] = builder.intern("/usr/lib/libstdc++.so.6");
  }
  const trace::Trace trace = builder.trace();
  const HostFrames frames(trace, kAlways);
  ASSERT_EQ(frames.rows().size(), 3u);
  EXPECT_EQ(frames.label(frames.rows()[2].begin), "libstdc++.so.6");
}

TEST(HostFrames, SurviveFramesAndSamplesThatBelongToNothing) {
  test::TraceBuilder builder = sampled();
  trace::StackFrameColumns& frames = builder.columns().stack_frame;
  frames.stack_id[0] = frames.symbol_id[0] = frames.module_id[0] = kNoId;
  builder.columns().host_sample.thread_id[1] = kNoId;
  builder.columns().host_sample.at_ns[2] = trace::kUnknownNs;
  const TraceModel model(builder.trace());
  size_t samples = 0;
  const HostFrames::RunRow& row = model.items().host_frames().rows()[0];
  for (Id run = row.begin; run < row.end; ++run)
    samples += model.items().host_frames().samples(run).size();
  EXPECT_EQ(samples, 2u);
}

TEST(HostFrames, AreALaneBelowTheirThread) {
  const TraceModel model(sampled().trace());
  const LaneSet& lanes = model.lanes();
  ASSERT_EQ(lanes[lanes.size() - 1].kind, LaneKind::kSamples);
  EXPECT_EQ(lanes[lanes.size() - 1].title, "Samples of main");
  EXPECT_EQ(lanes[lanes.size() - 1].detail, "4 samples");
  EXPECT_EQ(lanes[lanes.size() - 1].parent, static_cast<int>(lanes.size() - 2));
  const Item load{ItemKind::kSamples, model.items().host_frames().rows()[3].begin};
  EXPECT_EQ(model.items().label(load), "load (data.py)");
  EXPECT_EQ(model.items().category(load), Category::kPythonFunction);
  const auto place = lanes.place(load);
  ASSERT_TRUE(place.has_value());
  EXPECT_EQ(place->lane, lanes.size() - 1);
  EXPECT_EQ(lanes.at(*place), load);
  // Found by name, and not counted twice in sums.
  EXPECT_THAT(lanes.items_with(model.items().names_with("data.py"), 10), ElementsAre(load));
  const Sums sums = lanes.sums({0, 2000});
  EXPECT_EQ(sums.by_category[static_cast<size_t>(Category::kPythonFunction)].count, 0);
  EXPECT_EQ(sums.by_category[static_cast<size_t>(Category::kRuns)].busy_ns, 300);
  EXPECT_FALSE(lanes.place({ItemKind::kSamples, 1000}).has_value());
}

TEST(HostFrames, SaysWhereAndHowLong) {
  const TraceModel model(sampled().trace());
  std::map<std::string, std::string> facts;
  for (const Fact& fact : sample_facts(model, model.items().host_frames().rows()[2].begin))
    facts[fact.name] = fact.text;
  EXPECT_EQ(facts["at"], "train.py:41, 43");
  EXPECT_EQ(facts["samples"], "3");
  EXPECT_EQ(facts["the thread"], "runs in 2, waits for input (read) in 1");
  EXPECT_EQ(facts["whole run"], "100\u00a0% of the thread's samples");
}

TEST(HostFrames, AreNotThereWithoutSamples) {
  test::TraceBuilder builder;
  builder.stream("math").kernel("gemm", 10, 20);
  const TraceModel model(builder.trace());
  EXPECT_THAT(model.items().host_frames().rows(), IsEmpty());
  for (const Lane& lane : model.lanes()) EXPECT_NE(lane.kind, LaneKind::kSamples);
  EXPECT_FALSE(model.items().time({ItemKind::kSamples, 0}).has_value());
}

}  // namespace
}  // namespace streamscope::viewer
