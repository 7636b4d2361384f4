// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/analyses.h"
#include "report/formats/exporter.h"
#include "report/html/page_lanes.h"
#include "report/html/pictures.h"
#include "samples.h"
#include "support/mistakes.h"

namespace streamscope::report {
namespace {

using analysis::StreamOps;
using testing::HasSubstr;
using testing::Not;
using trace::Trace;

constexpr Ns kUs = 1000;

TEST(PageLanes, HoldEveryOpOfASmallTrace) {
  const Trace trace = test::pipeline().trace();
  const PageLanes lanes = page_lanes(trace, StreamOps(trace));
  EXPECT_FALSE(lanes.folded);
  size_t ops = 0;
  for (const Json& lane : lanes.data["lanes"]) ops += lane["ops"].size() / 4;
  EXPECT_EQ(ops, trace.op.size());
  EXPECT_FALSE(lanes.data["edges"].empty());
}

TEST(PageLanes, FoldALargeTraceWithoutLosingAnOp) {
  test::TraceBuilder builder;
  constexpr Ns kPairs = 70'000;
  test::StreamBuilder copies = builder.stream("copies"), math = builder.stream("math");
  for (Ns i = 0; i < kPairs; ++i) {
    builder.at(i * 10 * kUs);
    copies.memcpy(test::kHtoD, i * 10 * kUs + 100, i * 10 * kUs + 3'000);
    if (i % 1000 == 0) copies.record("loaded");
    if (i % 1000 == 0) math.wait("loaded");
    math.kernel("gemm", i * 10 * kUs + 3'100, i * 10 * kUs + 9'000);
  }
  const Trace trace = builder.trace();
  const PageLanes lanes = page_lanes(trace, StreamOps(trace));
  EXPECT_TRUE(lanes.folded);
  size_t ops = 0, boxes = 0;
  for (const Json& lane : lanes.data["lanes"]) {
    for (size_t i = 3; i < lane["ops"].size(); i += 4) ops += lane["ops"][i].get<size_t>();
    boxes += lane["ops"].size() / 4;
  }
  EXPECT_EQ(ops, trace.op.size());
  EXPECT_LT(boxes, 120'001u);
  ASSERT_EQ(lanes.data["edges"].size(), 70u);
  // The ends of each are in the boxes that contain them: the copy starts before the kernel does.
  for (const Json& edge : lanes.data["edges"]) {
    const auto start = [&](size_t lane, size_t box) {
      return lanes.data["lanes"][lane]["ops"][4 * box].get<Ns>();
    };
    EXPECT_LE(start(edge[0], edge[1]), start(edge[2], edge[3]) + 10 * kUs);
  }
}

TEST(Pictures, MarkTheOpsOfAFindingAmongTheirNeighbors) {
  test::TraceBuilder builder;
  test::StreamBuilder stream = builder.stream("<b>math</b>");
  for (Ns i = 0; i < 5; ++i) stream.kernel("k<int>", i * kUs, i * kUs + 900);
  const Trace trace = builder.trace();
  const std::string picture =
      picture_of(trace, StreamOps(trace), {.title = "a \"title\"", .first_op = 2});
  EXPECT_THAT(picture, HasSubstr("aria-label=\"Where: a &quot;title&quot;\""));
  EXPECT_THAT(picture, HasSubstr("&lt;b&gt;math"));
  EXPECT_THAT(picture, Not(HasSubstr("<b>")));
  size_t meant = 0;
  for (size_t at = 0; (at = picture.find("kernel meant", at)) != picture.npos; ++at) ++meant;
  EXPECT_EQ(meant, 1u);
  EXPECT_EQ(picture_of(trace, StreamOps(trace), {.title = "about nothing with times"}), "");
}

TEST(Page, HasALineForEveryFindingThatDoesNotFit) {
  test::TraceBuilder builder;
  for (int i = 0; i < 57; ++i) {
    builder.stream("s" + std::to_string(i)).wait("never " + std::to_string(i));
    builder.stream("s" + std::to_string(i)).kernel("k", 100, 200);
  }
  const Trace trace = builder.trace();
  const Summary summary = summarize(trace);
  ASSERT_EQ(summary.advice.size(), 57u);
  const std::string page = write_html(trace, summary, {});
  EXPECT_THAT(page, HasSubstr("<summary>7 more findings</summary>"));
  size_t lines = 0;
  for (size_t at = 0; (at = page.find("<li>", at)) != page.npos; ++at) ++lines;
  EXPECT_EQ(lines, 7u);
  EXPECT_THAT(write_html(test::pipeline().trace(), summarize(test::pipeline().trace()), {}),
              Not(HasSubstr("more finding")));
}

TEST(Pictures, ShowTheHighWaterMarkOfAPool) {
  analysis::PoolUsage pool{.name = "events", .capacity = 8, .high_water = 6};
  for (Ns i = 0; i < 6; ++i) pool.steps.push_back({i * kUs, i + 1, 0});
  const std::string picture = picture_of(pool);
  EXPECT_THAT(picture, HasSubstr("events: at most 6 in use"));
  EXPECT_THAT(picture, HasSubstr("class=\"limit\""));
  EXPECT_EQ(picture_of(analysis::PoolUsage{.name = "unused"}), "");
}

TEST(Pictures, DrawWhoWaitsForWhomInADeadlock) {
  const Trace trace = test::deadlock_trace().trace();
  const Summary summary = summarize(trace);
  ASSERT_EQ(summary.hang.cycles.size(), 1u);
  const std::string picture = picture_of(trace, summary.hang);
  size_t in_cycle = 0;
  for (size_t at = 0; (at = picture.find("\"link cycle\"", at)) != picture.npos; ++at) ++in_cycle;
  EXPECT_EQ(in_cycle, 4u);
  EXPECT_THAT(write_html(trace, summary, {}), HasSubstr("<h2>Who waits for whom</h2>"));
  EXPECT_THAT(write_html(test::pipeline().trace(), summarize(test::pipeline().trace()), {}),
              Not(HasSubstr("Who waits for whom")));
}

}  // namespace
}  // namespace streamscope::report
