// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "vocabulary/rank.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace streamscope {
namespace {

RankClaim read(const std::map<std::string, std::string, std::less<>>& environment) {
  static std::map<std::string, std::string, std::less<>> kept;  // the claim refers to no value
  kept = environment;
  return read_rank([](std::string_view name) -> std::string_view {
    const auto found = kept.find(name);
    return found == kept.end() ? std::string_view() : found->second;
  });
}

void expect(const RankClaim& claim, int32_t rank, int32_t world_size, int32_t local_rank,
            std::string_view source) {
  EXPECT_EQ(claim.rank, rank);
  EXPECT_EQ(claim.world_size, world_size);
  EXPECT_EQ(claim.local_rank, local_rank);
  EXPECT_EQ(claim.source, source);
}

TEST(Rank, IsReadFromTheVariablesOfEachLauncher) {
  expect(read({{"RANK", "11"}, {"WORLD_SIZE", "16"}, {"LOCAL_RANK", "3"}}), 11, 16, 3, "RANK");
  expect(read({{"OMPI_COMM_WORLD_RANK", "2"},
               {"OMPI_COMM_WORLD_SIZE", "4"},
               {"OMPI_COMM_WORLD_LOCAL_RANK", "0"}}),
         2, 4, 0, "OMPI_COMM_WORLD_RANK");
  expect(read({{"PMIX_RANK", "5"}}), 5, -1, -1, "PMIX_RANK");
  expect(read({{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}, {"MPI_LOCALRANKID", "1"}}), 1, 2, 1,
         "PMI_RANK");
  expect(read({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "1"}, {"SLURM_LOCALID", "0"}}), 0, 1, 0,
         "SLURM_PROCID");
}

TEST(Rank, IsUnknownWithoutVariables) {
  expect(read({}), -1, -1, -1, "");
  EXPECT_FALSE(read({{"HOME", "/root"}}).is_known());
}

TEST(Rank, TheInnermostLauncherDecides) {
  std::map<std::string, std::string, std::less<>> environment = {{"SLURM_PROCID", "1"},
                                                                 {"SLURM_NTASKS", "2"}};
  EXPECT_EQ(read(environment).rank, 1);
  environment.insert({{"PMI_RANK", "3"}, {"PMI_SIZE", "4"}});
  EXPECT_EQ(read(environment).rank, 3);
  environment.insert({"PMIX_RANK", "5"});
  EXPECT_EQ(read(environment).rank, 5);
  environment.insert({{"OMPI_COMM_WORLD_RANK", "7"}, {"OMPI_COMM_WORLD_SIZE", "8"}});
  EXPECT_EQ(read(environment).rank, 7);
  environment.insert({{"RANK", "9"}, {"WORLD_SIZE", "16"}, {"LOCAL_RANK", "1"}});
  expect(read(environment), 9, 16, 1, "RANK");
}

TEST(Rank, ARankWithoutNumberOfRanksMayMeanAnything) {
  EXPECT_FALSE(read({{"RANK", "3"}}).is_known());
  EXPECT_EQ(read({{"RANK", "3"}, {"SLURM_PROCID", "1"}}).source, "SLURM_PROCID");
}

TEST(Rank, WhatIsNoNumberIsNoClaim) {
  for (const char* text : {"", "one", "-1", "3x", " 3", "99999999999"})
    EXPECT_FALSE(read({{"PMIX_RANK", text}}).is_known()) << text;
  expect(read({{"PMI_RANK", "0"}, {"PMI_SIZE", "0"}, {"MPI_LOCALRANKID", "?"}}), 0, -1, -1,
         "PMI_RANK");
}

TEST(Rank, WhatAClaimLeavesOpenComesFromTheNextOneOfTheSameRank) {
  expect(read({{"PMIX_RANK", "3"},
               {"SLURM_PROCID", "3"},
               {"SLURM_NTASKS", "8"},
               {"SLURM_LOCALID", "1"}}),
         3, 8, 1, "PMIX_RANK");
  expect(read({{"PMIX_RANK", "3"}, {"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "8"}}), 3, -1, -1,
         "PMIX_RANK");
}

TEST(Rank, OnlyItsVariablesAreRecorded) {
  for (const char* name : {"RANK", "WORLD_SIZE", "LOCAL_RANK", "PMIX_RANK", "SLURM_LOCALID"})
    EXPECT_TRUE(is_rank_variable(name)) << name;
  for (const char* name : {"", "RANKS", "SLURM_JOB_ACCOUNT", "HOME"})
    EXPECT_FALSE(is_rank_variable(name)) << name;
}

}  // namespace
}  // namespace streamscope
