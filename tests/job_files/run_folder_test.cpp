// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "job/files/run_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>

#include "trace/error.h"
#include "trace/loss.h"
#include "trace/write/writer.h"

namespace streamscope::job {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

class RunFolderTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "streamscope-run-XXXXXX");
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  trace::Writer begin(const std::string& name) { return trace::Writer::create(folder_ / name); }
  static void add_process(trace::Writer& writer, trace::Small rank, trace::Small world_size,
                          const char* source = "RANK") {
    const trace::Id process = writer.append(
        trace::Process{.os_pid = 1,
                       .host_id = writer.intern("node1"),
                       .rank = rank,
                       .world_size = world_size,
                       .local_rank = rank,
                       .rank_source_id = source ? writer.intern(source) : trace::kNoId});
    const trace::Id device =
        writer.append(trace::Device{.uuid_id = writer.intern("GPU-" + std::to_string(rank))});
    writer.append(trace::Context{.process_id = process, .device_id = device});
  }
  void add_rank(const std::string& name, trace::Small rank, trace::Small world_size,
                const char* source = "RANK") {
    trace::Writer writer = begin(name);
    add_process(writer, rank, world_size, source);
    writer.finish(true);
  }
  RunFolder read() { return read_run_folder(folder_); }

  std::filesystem::path folder_;
};

TEST_F(RunFolderTest, ListsTheRanksByNumber) {
  add_rank("a.sqlite", 1, 2);
  add_rank("b.sqlite", 0, 2);
  const RunFolder run = read();
  EXPECT_EQ(run.world_size, 2);
  ASSERT_THAT(run.ranks, SizeIs(2));
  EXPECT_EQ(run.ranks[0].trace, "b.sqlite");
  EXPECT_EQ(run.ranks[1].rank, 1);
  EXPECT_EQ(run.ranks[1].local_rank, 1);
  EXPECT_EQ(run.ranks[1].host, "node1");
  EXPECT_EQ(run.ranks[1].gpu, "GPU-1");
  EXPECT_EQ(run.ranks[1].told_by, "RANK");
  EXPECT_THAT(run.others, IsEmpty());
  EXPECT_THAT(run.problems, IsEmpty());
}

TEST_F(RunFolderTest, NamesMissingRanks) {
  add_rank("rank-00000.sqlite", 0, 8);
  for (const trace::Small rank : {1, 2, 4}) add_rank(std::to_string(rank) + ".sqlite", rank, 8);
  EXPECT_THAT(read().problems, ElementsAre("ranks 3, 5-7 of 8 have no trace"));
  for (const trace::Small rank : {5, 6, 7}) add_rank(std::to_string(rank) + ".sqlite", rank, 8);
  EXPECT_THAT(read().problems, ElementsAre("rank 3 of 8 has no trace"));
}

TEST_F(RunFolderTest, NamesARankWithTwoTraces) {
  add_rank("a.sqlite", 0, 2);
  add_rank("b.sqlite", 1, 2);
  add_rank("c.sqlite", 1, 2);
  EXPECT_THAT(read().problems, ElementsAre("rank 1 has 2 traces: b.sqlite, c.sqlite"));
}

TEST_F(RunFolderTest, NamesContradictorySizes) {
  add_rank("a.sqlite", 0, 1);
  add_rank("b.sqlite", 1, 2);
  EXPECT_THAT(read().problems, ElementsAre("the job has 1 ranks by a.sqlite, but 2 by b.sqlite"));
  add_rank("c.sqlite", 2, 2);
  EXPECT_THAT(read().problems, testing::Contains("c.sqlite is rank 2 of only 2"));
}

TEST_F(RunFolderTest, ALauncherInATaskOfSlurmIsNoRank) {
  add_rank("a.sqlite", 0, 2);
  add_rank("b.sqlite", 1, 2);
  add_rank("c.sqlite", 1, 2, "SLURM_PROCID");
  const RunFolder run = read();
  EXPECT_THAT(run.problems, IsEmpty());
  ASSERT_THAT(run.others, SizeIs(1));
  EXPECT_EQ(run.others[0].trace, "c.sqlite");
}

TEST_F(RunFolderTest, SlurmAloneTellsRanks) {
  add_rank("a.sqlite", 0, 2, "SLURM_PROCID");
  add_rank("b.sqlite", 1, 2, "SLURM_PROCID");
  EXPECT_THAT(read().ranks, SizeIs(2));
  EXPECT_THAT(read().problems, IsEmpty());
}

TEST_F(RunFolderTest, ProcessesWithoutARankAreOthers) {
  add_rank("a.sqlite", 0, 1);
  add_rank("b.sqlite", trace::kNoSmall, trace::kNoSmall, nullptr);
  EXPECT_THAT(read().ranks, SizeIs(1));
  EXPECT_THAT(read().others, SizeIs(1));
  EXPECT_THAT(read().problems, IsEmpty());
}

TEST_F(RunFolderTest, OneTraceMayHaveSeveralRanks) {
  trace::Writer writer = begin("merged.sqlite");
  for (const trace::Small rank : {0, 1, 2}) add_process(writer, rank, 3);
  writer.finish(true);
  EXPECT_THAT(read().ranks, SizeIs(3));
  EXPECT_THAT(read().problems, IsEmpty());
}

TEST_F(RunFolderTest, PassesOnWhatTracesReport) {
  trace::Writer writer = begin("a.sqlite");
  add_process(writer, 0, 1);
  writer.append(trace::Loss{.name_id = writer.intern(trace::kRankContradiction),
                            .detail_id = writer.intern("RANK is 0, but PMIX_RANK is 5")});
  writer.finish(true);
  EXPECT_THAT(read().problems, ElementsAre("a.sqlite: RANK is 0, but PMIX_RANK is 5"));
}

TEST_F(RunFolderTest, NamesUnfinishedAndUnreadableTraces) {
  add_rank("a.sqlite", 0, 2);
  std::ofstream(folder_ / "z.sqlite") << "no database, but long enough to be one";
  trace::Writer writer = begin("b.sqlite");
  add_process(writer, 1, 2);
  writer.flush();
  const RunFolder run = read();
  EXPECT_THAT(run.problems, ElementsAre(HasSubstr("z.sqlite cannot be read: ")));
  EXPECT_THAT(run.unfinished, ElementsAre("b.sqlite"));
}

TEST_F(RunFolderTest, RefusesAFolderWithoutTraces) {
  EXPECT_THROW(read(), Error);
  EXPECT_THROW(read_run_folder(folder_ / "none"), Error);
}

}  // namespace
}  // namespace streamscope::job
