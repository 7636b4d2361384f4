// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "report/metrics/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "samples.h"
#include "support/golden.h"

namespace streamscope::report {
namespace {

using testing::HasSubstr;
using testing::Not;

const trace::Trace& sample(std::string_view name) {
  static const std::vector<test::Sample> samples = test::samples();
  return std::ranges::find(samples, name, &test::Sample::name)->trace;
}

trace::Trace hung() {
  test::TraceBuilder builder = test::pipeline();
  builder.add(trace::Hang{.process_id = 0,
                          .start_ns = 960'000,
                          .verdict_id = builder.intern("deadlock"),
                          .text_id = builder.intern("two streams wait for each other")});
  return builder.trace();
}

ProcessMetrics metrics_of_sample(std::string_view name) {
  return metrics_of(sample(name), std::string(name), {});
}

size_t occurrences(const std::string& text, std::string_view part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(GoldenMetrics, AreAsApproved) {
  Metrics metrics{
      .version = "1.2.3", .left_out = 2, .unreadable = 1, .analyzed_at_s = 1.8e9, .took_s = 0.25};
  for (const char* name : {"pipeline", "losses", "structure"})
    metrics.processes.push_back(metrics_of_sample(name));
  metrics.processes.push_back(metrics_of(hung(), "hung", {}));
  metrics.processes[0].rank = 3;
  metrics.processes[0].cost = 0.012;
  metrics.processes[0].caused_ns = 2.5e6;
  test::expect_golden("metrics/processes.prom", to_prometheus(metrics));
}

TEST(Metrics, AgreeWithTheTrace) {
  const ProcessMetrics pipeline = metrics_of_sample("pipeline");
  ASSERT_TRUE(pipeline.iteration);
  EXPECT_GE(pipeline.iteration->count, analysis::kFewestIterations);
  EXPECT_TRUE(std::ranges::is_sorted(pipeline.iteration->quantiles_ns));
  EXPECT_GT(pipeline.iteration->quantiles_ns[0], 0);
  const auto& shares = pipeline.iteration->shares;
  EXPECT_NEAR(std::accumulate(shares.begin(), shares.end(), 0.0), 1, 1e-9);
  EXPECT_GT(pipeline.iteration->busy, 0.5);
  EXPECT_LE(pipeline.iteration->busy, 1);
  EXPECT_GT(pipeline.waited_ns[static_cast<size_t>(WaitCause::kEvent)], 0);
  EXPECT_EQ(pipeline.losses[static_cast<size_t>(Severity::kDataLoss)], 0U);

  const ProcessMetrics losses = metrics_of_sample("losses");
  EXPECT_GE(losses.losses[static_cast<size_t>(Severity::kDataLoss)], 1234U);
  EXPECT_EQ(metrics_of(hung(), "hung", {}).state, job::RankState::kHangs);
  EXPECT_NE(pipeline.state, job::RankState::kHangs);
  EXPECT_FALSE(metrics_of_sample("structure").iteration);
}

TEST(Metrics, SeriesOfAProcessHaveABound) {
  Metrics one{.processes = {metrics_of_sample("pipeline")}};
  Metrics two = one;
  two.processes.push_back(metrics_of_sample("losses"));
  const size_t of_one = occurrences(to_prometheus(one), "\n"),
               of_two = occurrences(to_prometheus(two), "\n");
  EXPECT_LT(of_two - of_one, 200U);
}

TEST(Metrics, NamesOfProcessesAreEscaped) {
  ProcessMetrics process{.run = "a\"b\\c\n0\xff", .host = "h{}", .pid = 7};
  const std::string text = to_prometheus({.processes = {process}});
  EXPECT_THAT(text, HasSubstr("streamscope_recording_finished{run=\"a\\\"b\\\\c "
                              "0\xEF\xBF\xBD\",host=\"h{}\",pid=\"7\"} 0\n"));
}

TEST(Metrics, ProcessesOfEqualNameAreIncludedOnce) {
  ProcessMetrics process{.run = "run", .host = "h", .pid = 7};
  ProcessMetrics rank = process;
  rank.rank = 0;
  const std::string text = to_prometheus({.processes = {process, process, rank}});
  EXPECT_EQ(occurrences(text, "\nstreamscope_recording_finished{"), 2U);
  EXPECT_THAT(text, HasSubstr("\nstreamscope_processes 2\n"));
  EXPECT_THAT(text, HasSubstr("\nstreamscope_processes_left_out 1\n"));
}

TEST(Metrics, WithoutAnAnalysisOnlyTheProgramIsKnown) {
  const std::string text = to_prometheus({.version = "1.2.3"});
  EXPECT_THAT(text, HasSubstr("\nstreamscope_build_info{version=\"1.2.3\"} 1\n"));
  EXPECT_THAT(text, Not(HasSubstr("streamscope_analysis_timestamp_seconds")));
}

}  // namespace
}  // namespace streamscope::report
