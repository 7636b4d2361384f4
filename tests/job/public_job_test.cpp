// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The 8 ranks of PARAM's DLRM job, which other people published: $STREAMSCOPE_RANKS names the
// folder.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "analysis/usage/collectives.h"
#include "chain.h"
#include "import/importer.h"
#include "job/clocks.h"
#include "job/files/summary_file.h"
#include "job/summarize.h"
#include "job/waiting.h"
#include "trace/read/reader.h"

namespace streamscope::job {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::SizeIs;

class PublicJob : public testing::Test {
 protected:
  void SetUp() override {
    const char* ranks = std::getenv("STREAMSCOPE_RANKS");
    const fs::path archive =
        fs::path(ranks != nullptr ? ranks : "") / "dlrm-8-ranks/dlrm_kineto.tar.gz";
    if (!fs::exists(archive)) GTEST_SKIP() << "STREAMSCOPE_RANKS names no folder of public jobs";
    std::string name = (fs::path(testing::TempDir()) / "job-XXXXXX").string();
    folder_ = mkdtemp(name.data());
    const std::string unpack = "tar -xzf '" + archive.string() + "' -C '" + folder_.string() + "'";
    ASSERT_EQ(std::system(unpack.c_str()), 0);
    for (const auto& entry : fs::recursive_directory_iterator(folder_)) {
      if (entry.path().extension() == ".json") profiles_.push_back(entry.path());
    }
    std::ranges::sort(profiles_);
    ASSERT_THAT(profiles_, SizeIs(8));
  }
  void TearDown() override {
    if (!folder_.empty()) fs::remove_all(folder_);
  }

  trace::Trace import(const fs::path& profile) {
    const fs::path file = folder_ / "trace.sqlite";
    import::import_file(import::importer_of(profile), profile, file, true);
    return trace::read(file);
  }

  /// Of all ranks, as if each had a host of its own. They have one clock.
  Steps steps_of_all() {
    StepReader reader;
    for (int rank = 0; rank < 8; ++rank) {
      const trace::Trace trace = import(profiles_[static_cast<size_t>(rank)]);
      analysis::Analyses analyses(trace);
      reader.add(summarize(analyses,
                           {.rank = rank, .world_size = 8, .host = "node" + std::to_string(rank)}));
    }
    return reader.take();
  }

  fs::path folder_;
  std::vector<fs::path> profiles_;
};

std::string output_of(const std::string& command) {
  std::string output;
  FILE* pipe = popen(command.c_str(), "r");
  for (int byte = 0; pipe != nullptr && (byte = std::fgetc(pipe)) != EOF;)
    output.push_back(static_cast<char>(byte));
  if (pipe != nullptr) pclose(pipe);
  return output;
}

TEST_F(PublicJob, HasTheSameCollectivesOnAllRanks) {
  for (const fs::path& profile : profiles_) {
    std::vector<std::string> found;
    for (const analysis::Collective& one : analysis::collectives(import(profile))) {
      found.push_back(one.communicator + " " + std::to_string(one.sequence) + " " +
                      std::string(streamscope::name_of(kCollectiveKinds, one.kind)));
      EXPECT_GT(one.bytes, 0);
      EXPECT_LT(one.issued_ns, one.start_ns);
    }
    EXPECT_THAT(found,
                ElementsAre("default 0 all-to-all", "default 1 all-to-all", "default 2 all-to-all",
                            "default 3 all-to-all", "default 4 all-reduce", "default 5 all-to-all",
                            "default 6 all-reduce", "default 7 all-reduce"))
        << profile;
  }
}

TEST_F(PublicJob, IsSummarizedSoThatTheTimesAddUp) {
  size_t waited_for_first = 0;
  for (const fs::path& profile : profiles_) {
    const trace::Trace trace = import(profile);
    analysis::Analyses analyses(trace);
    const RankSummary summary = summarize(analyses, {});
    expect_sums(summary, profile.filename());
    EXPECT_EQ(unpack(pack(summary), profile), summary);
    ASSERT_THAT(summary.iterations, SizeIs(1));  // one step was profiled
    const RankIteration& step = summary.iterations[0];
    EXPECT_THAT(step.collectives, SizeIs(8));
    EXPECT_LT(pack(summary).size(), 4000u);  // a sixth of it names operators as places
    // In the collectives the ranks wait for each other up to 7.6 ms, their hosts with them. None of
    // it is in their own work.
    for (const Segment& segment : step.segments)
      EXPECT_LT(segment.shares[static_cast<size_t>(analysis::TimeShare::kSynchronizing)], 100'000)
          << profile;
    waited_for_first += step.segments[1].after == 0;
  }
  EXPECT_EQ(waited_for_first, 5u);  // three were late themselves
}

TEST_F(PublicJob, HasClocksThatDifferByNothing) {
  const Steps steps = steps_of_all();
  const std::vector<RankClock> clocks = clocks_of(steps);
  ASSERT_THAT(clocks, SizeIs(8));
  constexpr double kPublishedNs = 1'500;  // the most by which ends were off, with stamps of 1 us
  for (uint32_t step = 0; step < steps.count(); ++step) {
    const RankClock& clock = clocks[steps.rank_of(step)];
    ASSERT_TRUE(clock.known()) << clock.refused;
    const ClockKnot knot = clock.at(steps.end_ns[step]);
    EXPECT_LE(knot.lower_ns, 0) << "rank " << steps.rank_number(step);
    EXPECT_GE(knot.upper_ns, 0) << "rank " << steps.rank_number(step);
    EXPECT_LE(std::abs(knot.offset_ns), kPublishedNs) << "rank " << steps.rank_number(step);
  }
}

TEST_F(PublicJob, WaitsForTheRankThatStartsLast) {
  if (std::system("python3 -c pass") != 0) GTEST_SKIP() << "there is no python3";
  const std::string second_opinion =
      output_of("python3 '" STREAMSCOPE_LATEST_RANK "' '" + folder_.string() + "'");
  const Steps steps = steps_of_all();
  const Matching matching = matching_of(steps);
  const Waiting waiting = waiting_of(steps, peers_of(steps));
  std::map<uint32_t, int32_t> late;  // by sequence
  for (const Wait& wait : waiting.waits) {
    ASSERT_NE(wait.late, kNone);
    if (!steps.ends_iteration(wait.late))
      late[steps.sequence[wait.late]] = steps.rank_number(wait.late);
  }
  ASSERT_THAT(late, SizeIs(8));
  std::string ours;
  for (const auto& [sequence, rank] : late) ours += std::to_string(rank) + "\n";
  EXPECT_EQ(ours, second_opinion);
}

}  // namespace
}  // namespace streamscope::job
