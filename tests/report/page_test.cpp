// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/analyses.h"
#include "report/formats/exporter.h"
#include "report/html/iteration_pictures.h"
#include "report/html/page_lanes.h"
#include "report/html/pictures.h"
#include "samples.h"
#include "support/mistakes.h"
#include "support/units.h"

namespace streamscope::report {
namespace {

using analysis::StreamOps;
using test::kUs;
using testing::HasSubstr;
using testing::Not;
using trace::Trace;

size_t count_of(const std::string& text, std::string_view part) {
  size_t count = 0;
  for (size_t at = 0; (at = text.find(part, at)) != text.npos; at += part.size()) ++count;
  return count;
}

// A start-up of 40 ms, then iterations of 1 ms + i µs, of which one takes twice as long.
IterationSummary iterations_of(size_t count) {
  IterationSummary summary;
  analysis::Iterations& iterations = summary.iterations;
  iterations.source = analysis::IterationSource::kRange;
  iterations.name = "step";
  Ns at = 0;
  for (size_t i = 0; i < count; ++i) {
    const Ns duration = i == 0 ? 40'000 * kUs : i == 7 ? 2'000 * kUs : (1'000 + Ns(i)) * kUs;
    iterations.all.push_back({.start_ns = at, .end_ns = at + duration, .issued_ns = at});
    at += duration;
  }
  iterations.steady_from = 1;
  iterations.steady_to = count - 2;
  iterations.median_ns = (1'000 + Ns(count) / 2) * kUs;
  iterations.outlier_count = 1;
  return summary;
}

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

TEST(PageLanes, KeepTheOpsOfTheIterationThatIsShownFirst) {
  test::TraceBuilder builder;
  constexpr Ns kOps = 130'000;
  test::StreamBuilder math = builder.stream("math");
  for (Ns i = 0; i < kOps; ++i) math.kernel("gemm", i * 10 * kUs, i * 10 * kUs + 5'000);
  const Trace trace = builder.trace();
  const StreamOps stream_ops(trace);
  const std::pair shown{500'000 * kUs, 510'000 * kUs};
  const PageLanes lanes = page_lanes(trace, stream_ops, shown);
  EXPECT_TRUE(lanes.folded);
  const Json& boxes = lanes.data["lanes"][0]["ops"];
  size_t ops = 0, inside = 0;
  Ns before = -1;
  for (size_t i = 0; i < boxes.size(); i += 4) {
    const Ns start = boxes[i].get<Ns>();
    EXPECT_LT(before, start);
    before = start;
    ops += boxes[i + 3].get<size_t>();
    if (start < shown.first || start >= shown.second) continue;
    ++inside;
    EXPECT_EQ(boxes[i + 3], 1);
  }
  EXPECT_EQ(ops, static_cast<size_t>(kOps));
  EXPECT_EQ(inside, 1'000u);
  EXPECT_FALSE(lanes.folded_first);
  // Not if these would be too many.
  const PageLanes all = page_lanes(trace, stream_ops, std::pair{Ns{0}, kOps * 10 * kUs});
  EXPECT_EQ(all.data, page_lanes(trace, stream_ops).data);
  EXPECT_TRUE(all.folded_first);
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

TEST(IterationStrip, NumbersAreOneTwoOrFiveTimesAPowerOfTenApart) {
  EXPECT_EQ(number_step(16, 16), 1u);
  EXPECT_EQ(number_step(17, 16), 2u);
  EXPECT_EQ(number_step(60, 16), 5u);
  EXPECT_EQ(number_step(160, 16), 10u);
  EXPECT_EQ(number_step(1'000'000, 10), 100'000u);
  EXPECT_EQ(number_step(0, 1), 1u);
}

TEST(IterationStrip, ReportsItsParts) {
  const analysis::Iterations iterations = iterations_of(20).iterations;
  EXPECT_EQ(part_of(iterations, 0), IterationPart::kStartUp);
  EXPECT_EQ(part_of(iterations, 1), IterationPart::kSteady);
  EXPECT_EQ(part_of(iterations, 7), IterationPart::kOutlier);
  EXPECT_EQ(part_of(iterations, 18), IterationPart::kAfter);
  EXPECT_EQ(column_title(iterations, {0, 3, 0}),
            "iteration 1: 40.0 ms, start-up, the longest of 1 to 4");
  const std::vector<IterationKey> keys = strip_keys(iterations);
  ASSERT_EQ(keys.size(), 4u);
  EXPECT_EQ(keys[0].text, "start-up: 1");
  EXPECT_EQ(keys[1].text, "steady part: 2 to 18");
}

TEST(IterationSentences, SayWhatARepairGainsWithAndWithoutIterations) {
  analysis::Finding finding;
  EXPECT_EQ(gain_text(finding, 1'000), "");
  finding.gain_ns = 220 * kUs;
  EXPECT_EQ(gain_text(finding, 1'000 * kUs), "220 µs (22 %)");
  EXPECT_EQ(gain_text(finding, 0), "220 µs");
  finding.iteration = {8'500 * kUs, 1'520 * kUs};
  EXPECT_EQ(gain_text(finding, 1'000 * kUs), "8.50 ms → 1.52 ms (−82 %)");
}

TEST(IterationPictures, ShowTheSharesByTheirMeaning) {
  IterationSummary summary = iterations_of(12);  // 9 of them are steady
  const auto share = [&](analysis::TimeShare which) -> Ns& {
    return summary.shares.total[static_cast<size_t>(which)];
  };
  share(analysis::TimeShare::kLaunching) = 9 * 800 * kUs;
  share(analysis::TimeShare::kKernels) = 9 * 197 * kUs;
  share(analysis::TimeShare::kCopies) = 9 * 3 * kUs;  // less than 0.5 %
  std::ranges::fill(summary.without_ns, trace::kUnknownNs);
  summary.without_ns[static_cast<size_t>(analysis::TimeShare::kKernels)] = 853 * kUs;
  const std::string picture = shares_picture(summary);
  EXPECT_THAT(picture, HasSubstr("role=\"img\" aria-label=\"Shares of an iteration: host launching "
                                 "80 %, kernels 20 %, other 0.3 %\""));
  EXPECT_THAT(picture, HasSubstr("class=\"share host-launching\" x=\"0.00%\" width=\"80.00%\""));
  EXPECT_THAT(picture, HasSubstr("<title>kernels: 20 %, 197 µs</title>"));
  EXPECT_THAT(picture,
              AllOf(HasSubstr("kernels <strong>20 %</strong> 197 µs, without it 853 µs</li>"),
                    HasSubstr("host launching <strong>80 %</strong> 800 µs</li>")));
  EXPECT_THAT(picture, HasSubstr("class=\"share rest\" x=\"99.70%\" width=\"0.30%\""));
  EXPECT_THAT(picture, Not(HasSubstr("share copies")));
  EXPECT_EQ(count_of(picture, "<li "), 3u);
  EXPECT_EQ(count_of(picture, "<text"), 2u);  // the third part is too small for a label
  EXPECT_EQ(shares_picture(iterations_of(12)), "");
}

TEST(IterationPictures, HaveAColumnForEachIteration) {
  const IterationSummary summary = iterations_of(20);
  const std::string picture = strip_picture(summary);
  EXPECT_EQ(count_of(picture, "data-from"), 20u);
  EXPECT_THAT(picture, HasSubstr("aria-label=\"Durations of 20 iterations, median 1.01 ms\""));
  EXPECT_THAT(picture, HasSubstr("<g class=\"before\" data-from=\"0\" data-to=\"40000000\"><title>"
                                 "iteration 1: 40.0 ms, start-up</title>"));
  EXPECT_THAT(picture, HasSubstr("<title>iteration 2: 1.00 ms</title>"));
  EXPECT_THAT(picture, HasSubstr("<title>iteration 8: 2.00 ms, 2 times the median</title>"));
  EXPECT_THAT(picture, HasSubstr("<title>iteration 20: 1.02 ms, after the steady part</title>"));
  EXPECT_EQ(count_of(picture, "<g class=\"outlier\""), summary.iterations.outlier_count);
  EXPECT_EQ(count_of(picture, "<g class=\"steady\""), 16u);
  EXPECT_EQ(count_of(picture, "class=\"cut\""), 1u);
  EXPECT_THAT(picture, HasSubstr(">40.0 ms</text>"));
  EXPECT_THAT(picture, HasSubstr("steady part: 2 to 18"));
}

TEST(IterationPictures, HaveNoColumnForTheOnlyIteration) {
  IterationSummary summary = iterations_of(20);
  summary.iterations.all.resize(1);
  summary.iterations.steady_from = 0;
  summary.iterations.steady_to = 1;
  EXPECT_EQ(strip_picture(summary), "");
  EXPECT_EQ(opening_iteration(summary.iterations)["title"], "the only iteration: 40.0 ms");
}

TEST(IterationPictures, MergeNeighborsOfManyIterations) {
  const IterationSummary summary = iterations_of(4'001);
  const std::vector<IterationColumn> columns = iteration_columns(summary.iterations, kMostColumns);
  ASSERT_EQ(columns.size(), 364u);  // of 11
  EXPECT_EQ(columns.front().longest, 0u);
  EXPECT_EQ(columns[1].first, 11u);
  EXPECT_EQ(columns[1].longest, 21u);
  EXPECT_EQ(columns.back().last, 4'000u);
  const std::string picture = strip_picture(summary);
  EXPECT_EQ(count_of(picture, "data-from"), 364u);
  EXPECT_THAT(picture, HasSubstr(", the longest of 12 to 22</title>"));
  EXPECT_THAT(picture, HasSubstr("Each column is the longest of 11 iterations"));
  EXPECT_LT(picture.size(), 100'000u);
}

TEST(IterationPictures, OpenAtTheMedianOfTheSteadyPart) {
  for (const size_t count : {size_t{20}, size_t{4'001}}) {
    const IterationSummary summary = iterations_of(count);
    const Json opening = opening_iteration(summary.iterations);
    const size_t i = median_iteration(summary.iterations);
    EXPECT_EQ(summary.iterations.all[i].duration_ns(), summary.iterations.median_ns);
    EXPECT_EQ(opening["from"], summary.iterations.all[i].start_ns);
    EXPECT_EQ(opening["to"], summary.iterations.all[i].end_ns);
    const IterationColumn column =
        iteration_columns(summary.iterations, kMostColumns)[opening["column"].get<size_t>()];
    EXPECT_LE(column.first, i);
    EXPECT_GE(column.last, i);
  }
}

TEST(Page, BeginsWithTheIteration) {
  test::TraceBuilder builder;
  for (Ns i = 0; i < 12; ++i) {
    builder.at(i * 1'000 * kUs);
    for (Ns k = 0; k < 5; ++k)
      builder.stream("math").kernel("gemm", (i * 1'000 + 10 + k * 150) * kUs,
                                    (i * 1'000 + 100 + k * 150) * kUs);
    builder.range("step <img src=x>&\"1\"", i * 1'000 * kUs, (i * 1'000 + 900) * kUs);
  }
  const Trace trace = builder.trace();
  Summary summary = summarize(trace);
  ASSERT_TRUE(summary.iteration.found());
  ASSERT_EQ(summary.iteration.iterations.source, analysis::IterationSource::kRange);
  const analysis::Detector* detector = &analysis::detectors().front();
  analysis::Finding finding{.title = "a finding", .gain_ns = 5 * kUs};
  finding.iteration = {8'500 * kUs, 1'520 * kUs};
  summary.advice.assign(1, {.detector = detector, .finding = finding});
  finding.iteration = {8'500 * kUs, 8'450 * kUs};
  summary.small.assign(2, {.detector = detector, .finding = finding});
  const std::string page = write_html(trace, summary, {});
  EXPECT_EQ(page.find("<section>"), page.find("<section><h2>Iteration</h2>"));
  EXPECT_EQ(count_of(page, "<h2>Iteration</h2>"), 1u);
  EXPECT_THAT(page, HasSubstr("<p class=\"bound\">Bound by "));
  EXPECT_THAT(page, HasSubstr("step &lt;img src=x&gt;&amp;&quot;1&quot;"));
  EXPECT_THAT(page, Not(HasSubstr("<img")));
  EXPECT_THAT(page, HasSubstr("<strong class=\"gain\">iteration 8.50 ms → 1.52 ms (−82 %)"));
  EXPECT_THAT(page, HasSubstr("2 smaller findings, "));
  EXPECT_THAT(page, HasSubstr("id=\"median\""));
  const std::string without = write_html(trace, summarize(trace, {.off = true}), {});
  EXPECT_THAT(without, Not(HasSubstr("<h2>Iteration</h2>")));
  EXPECT_THAT(without, Not(HasSubstr("id=\"median\"")));
  EXPECT_THAT(without, Not(HasSubstr("class=\"strip\"")));
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
