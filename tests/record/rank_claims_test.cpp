// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "record/rows/rank_claims.h"

#include <gtest/gtest.h>

namespace streamscope::record {
namespace {

std::string contradiction(std::initializer_list<std::string_view> entries) {
  std::string environment;
  for (const std::string_view entry : entries)
    environment += (environment.empty() ? "" : std::string(1, '\0')) + std::string(entry);
  return rank_contradiction(environment);
}

TEST(RankContradiction, IsFoundBetweenTwoSourcesOfOneJob) {
  EXPECT_EQ(contradiction({"OMPI_COMM_WORLD_RANK=3", "OMPI_COMM_WORLD_SIZE=8", "PMIX_RANK=5"}),
            "OMPI_COMM_WORLD_RANK is 3, but PMIX_RANK is 5");
  EXPECT_EQ(
      contradiction({"RANK=1", "WORLD_SIZE=4", "OMPI_COMM_WORLD_RANK=2", "OMPI_COMM_WORLD_SIZE=4"}),
      "RANK is 1, but OMPI_COMM_WORLD_RANK is 2");
}

TEST(RankContradiction, IsFoundInANumberBeyondTheNumberOfRanks) {
  EXPECT_EQ(contradiction({"RANK=8", "WORLD_SIZE=8"}), "RANK is 8, but WORLD_SIZE is 8");
  EXPECT_EQ(contradiction({"PMIX_RANK=4", "SLURM_PROCID=4", "SLURM_NTASKS=2"}),
            "PMIX_RANK is 4, but the number of ranks is 2");
}

TEST(RankContradiction, NestedLaunchersAreNone) {
  EXPECT_EQ(contradiction({"SLURM_PROCID=1", "SLURM_NTASKS=2", "RANK=11", "WORLD_SIZE=16"}), "");
  EXPECT_EQ(contradiction(
                {"OMPI_COMM_WORLD_RANK=1", "OMPI_COMM_WORLD_SIZE=2", "RANK=11", "WORLD_SIZE=16"}),
            "");
  // One rank per node: torchrun numbers the nodes as they arrive.
  EXPECT_EQ(
      contradiction({"PMIX_RANK=1", "RANK=0", "WORLD_SIZE=2", "TORCHELASTIC_RESTART_COUNT=0"}), "");
  // A task of the batch script has started mpirun.
  EXPECT_EQ(contradiction({"SLURM_PROCID=0", "SLURM_NTASKS=8", "PMIX_RANK=3"}), "");
}

TEST(RankContradiction, AgreementAndAbsenceAreNone) {
  EXPECT_EQ(contradiction({}), "");
  EXPECT_EQ(contradiction({"RANK=1", "WORLD_SIZE=4", "OMPI_COMM_WORLD_RANK=1", "PMIX_RANK=1"}), "");
}

TEST(RankContradiction, AValueIsThatOfTheWholeName) {
  EXPECT_EQ(value_in(std::string_view("PMIX_RANK=1\0RANK=2", 18), "RANK"), "2");
  EXPECT_EQ(value_in("WORLD_SIZE=", "WORLD_SIZE"), "");
  EXPECT_EQ(value_in("", "RANK"), "");
}

trace::Process process(trace::Small pid, trace::Small parent, trace::Small rank,
                       trace::Small world_size) {
  return {.os_pid = pid,
          .parent_os_pid = parent,
          .clock = trace::kMonotonicClock,
          .start_ns = 10,
          .end_ns = 20,
          .rank = rank,
          .world_size = world_size,
          .rank_source_id = 1};
}

TEST(RankConflict, TwoProcessesCannotBeTheSameRank) {
  const auto conflicts = rank_conflicts({process(100, 1, 3, 8), process(101, 1, 3, 8)});
  ASSERT_EQ(conflicts.size(), 1u);
  EXPECT_EQ(conflicts[0].process, 1u);
  EXPECT_EQ(conflicts[0].text, "process 100 and process 101 are both rank 3");
}

TEST(RankConflict, TheSizeOfTheJobIsOne) {
  const auto conflicts = rank_conflicts({process(100, 1, 3, 8), process(101, 1, 4, 16)});
  ASSERT_EQ(conflicts.size(), 1u);
  EXPECT_EQ(conflicts[0].text, "the job has 8 ranks by process 100, but 16 by process 101");
}

TEST(RankConflict, AProcessAndThoseItStartsAreOneRank) {
  EXPECT_TRUE(rank_conflicts({process(100, 1, 3, 8), process(101, 100, 3, 8)}).empty());
}

TEST(RankConflict, OneAfterTheOtherMayBeTheSameRank) {
  trace::Process later = process(101, 1, 3, 8);
  later.start_ns = 20;
  later.end_ns = 30;
  EXPECT_TRUE(rank_conflicts({process(100, 1, 3, 8), later}).empty());
}

TEST(RankConflict, ALauncherHasItsNumberFromAnotherVariable) {
  trace::Process launcher = process(100, 1, 0, 2);
  launcher.rank_source_id = 2;
  EXPECT_TRUE(rank_conflicts({launcher, process(101, 7, 0, 16)}).empty());
}

TEST(RankConflict, ProcessesWithoutARankHaveNone) {
  EXPECT_TRUE(rank_conflicts({process(100, 1, trace::kNoSmall, trace::kNoSmall),
                              process(101, 1, trace::kNoSmall, trace::kNoSmall)})
                  .empty());
}

}  // namespace
}  // namespace streamscope::record
