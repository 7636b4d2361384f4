// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// All ranks of a job in one file of Perfetto.

#include "report/export/export_job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "export/perfetto.pb.h"
#include "job/small_job.h"
#include "support/trace_builder.h"

namespace streamscope::report {
namespace {

using testing::ElementsAre;
using testing::SizeIs;
using trace::Ns;

constexpr Ns kAhead = 1'000'000;  // the clock of node1, before that of node0

// Two ranks on two hosts and their traces. The first trace to begin is that of rank 1.
class ExportJob : public testing::Test {
 protected:
  ExportJob() {
    job::SmallJob small(2);
    for (int iteration = 0; iteration < 6; ++iteration) {
      for (int rank : {0, 1}) small.work(rank, 90'000);
      small.all_reduce(10'000);
      small.end_iteration();
    }
    summaries_ = small.complete();
    for (int rank : {0, 1}) {
      summaries_[rank].identity.host = "node" + std::to_string(rank);
      summaries_[rank].identity.trace = std::to_string(rank);
    }
    job::shift(summaries_[1], kAhead);
  }

  static trace::Trace trace_of(int rank) {
    test::TraceBuilder builder;
    const Ns at = 100'000 + (rank == 1 ? kAhead : 0);
    builder.at(at).stream("math").kernel("gemm", at, at + 80'000);
    builder.range("step", at, at + 90'000);
    return builder.trace();
  }

  perfetto::Trace exported(const ExportOptions& options = {}) {
    const job::Job job = job::analyze(job::SmallJob::steps_of(summaries_));
    const job::CommonClock clock(job);
    PerfettoJob out(job, clock, options);
    std::string bytes;
    for (uint32_t row : {0, 1}) bytes += out.rank(row, trace_of(static_cast<int>(row)));
    perfetto::Trace parsed;
    EXPECT_TRUE(parsed.ParseFromString(bytes));
    return parsed;
  }

  static std::vector<uint64_t> op_starts(const perfetto::Trace& trace) {
    std::vector<uint64_t> starts;
    for (const auto& packet : trace.packet()) {
      if (packet.has_gpu_render_stage_event()) starts.push_back(packet.timestamp());
    }
    return starts;
  }
  static std::vector<std::string> process_names(const perfetto::Trace& trace) {
    std::vector<std::string> names;
    for (const auto& packet : trace.packet()) {
      if (packet.track_descriptor().has_process())
        names.push_back(packet.track_descriptor().process().process_name());
    }
    return names;
  }

  std::vector<job::RankSummary> summaries_;
};

TEST_F(ExportJob, PutsRanksOfSeveralHostsOnOneClock) {
  const perfetto::Trace trace = exported();
  EXPECT_THAT(op_starts(trace), ElementsAre(100'000 + kAhead, 100'000 + kAhead));
  EXPECT_THAT(process_names(trace), ElementsAre("rank 0 (node0)", "rank 1 (node1)"));
}

TEST_F(ExportJob, ShowsUnixTimeWhereTracesKnowIt) {
  for (job::RankSummary& summary : summaries_) summary.clock_start_ns = 5'000'000'000;
  // Of rank 0; the trace of rank 1 began earlier.
  EXPECT_THAT(op_starts(exported()), ElementsAre(5'000'100'000, 5'000'100'000));
}

TEST_F(ExportJob, AddsWhenTheTracesBegan) {
  for (job::RankSummary& summary : summaries_) {
    summary.identity.host = "node0";
    summary.clock_start_ns = 5'000'000'000;
  }
  // The trace of rank 1 began so much earlier that its times are larger.
  summaries_[1].clock_start_ns -= kAhead;
  const std::vector<uint64_t> starts = op_starts(exported());
  ASSERT_THAT(starts, SizeIs(2));
  EXPECT_EQ(starts[0], starts[1]);
}

TEST_F(ExportJob, LeavesARankWhoseClockIsRefusedOnTheClockOfItsHost) {
  for (job::RankSummary& summary : summaries_) {
    for (job::RankIteration& iteration : summary.iterations) {
      iteration.collectives.clear();
      iteration.segments.resize(1);
      iteration.segments[0].after = -1;
    }
  }
  const perfetto::Trace trace = exported();
  EXPECT_THAT(op_starts(trace), ElementsAre(100'000, 100'000 + kAhead));
  EXPECT_THAT(process_names(trace),
              ElementsAre("rank 0 (node0)", "rank 1 (node1), clock of its host"));
}

TEST_F(ExportJob, JoinsTheCollectivesOfAllRanks) {
  std::map<uint64_t, std::set<uint64_t>> tracks_of_flow;
  std::map<uint64_t, std::string> names;
  const perfetto::Trace trace = exported();
  for (const auto& packet : trace.packet()) {
    for (const uint64_t flow : packet.track_event().flow_ids())
      tracks_of_flow[flow].insert(packet.track_event().track_uuid());
    if (packet.track_descriptor().has_parent_uuid())
      names[packet.track_descriptor().uuid()] = packet.track_descriptor().name();
  }
  EXPECT_THAT(tracks_of_flow, SizeIs(6));
  for (const auto& [flow, tracks] : tracks_of_flow) EXPECT_THAT(tracks, SizeIs(2));
  EXPECT_THAT(names, SizeIs(2));
  for (const auto& [track, name] : names) EXPECT_EQ(name, "dp0");
}

TEST_F(ExportJob, NumbersEverythingApart) {
  std::set<uint64_t> tracks, events;
  std::set<int32_t> pids, gpus;
  const perfetto::Trace trace = exported();
  for (const auto& packet : trace.packet()) {
    if (packet.has_track_descriptor()) {
      EXPECT_TRUE(tracks.insert(packet.track_descriptor().uuid()).second);
    }
    if (packet.track_descriptor().has_process()) {
      EXPECT_TRUE(pids.insert(packet.track_descriptor().process().pid()).second);
    }
    if (packet.has_gpu_render_stage_event()) {
      EXPECT_TRUE(events.insert(packet.gpu_render_stage_event().event_id()).second);
      EXPECT_TRUE(gpus.insert(packet.gpu_render_stage_event().gpu_id()).second);
    }
  }
  EXPECT_THAT(events, SizeIs(2));
}

TEST_F(ExportJob, CutsTheRangeOnTheCommonClock) {
  EXPECT_THAT(op_starts(exported({.range = std::pair(90'000, 200'000)})), SizeIs(0));
  EXPECT_THAT(op_starts(exported({.range = std::pair(1'000'000, 2'000'000)})), SizeIs(2));
}

}  // namespace
}  // namespace streamscope::report
