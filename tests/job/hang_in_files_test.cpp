// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What a job hangs in, from the files of its ranks, and from those that others wrote.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>

#include "job/files/hang_note.h"
#include "job/files/nccl_dumps.h"
#include "job/job_hang.h"
#include "job_files/written_dumps.h"
#include "support/scratch.h"

namespace streamscope::job {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(HangNotes, OfAThousandRanksAreJoinedInASecond) {
  const test::Scratch scratch;
  for (int32_t rank = 0; rank < 1000; ++rank) {
    HangNote note;
    note.rank.identity.rank = rank;
    note.rank.identity.world_size = 1000;
    note.rank.state = RankState::kQuiet;
    const uint32_t sequence = rank == 577 ? 11 : 12;
    note.rank.calls = {{.communicator = "0xd0",
                        .size = 1000,
                        .sequence = sequence,
                        .issued = sequence,
                        .started = true,
                        .ended = rank == 577}};
    write_note(note, scratch.path() / fmt::format("rank-{:05}.hang", rank));
  }
  const auto begin = std::chrono::steady_clock::now();
  const JobHang hang = explain(ranks_in(scratch.path(), read_notes(scratch.path())));
  const auto took = std::chrono::steady_clock::now() - begin;
  fmt::print("1000 notes: {:.1f} ms\n", std::chrono::duration<double, std::milli>(took).count());
  EXPECT_EQ(hang.culprits, std::vector<int32_t>{577});
  EXPECT_LT(took, 1s);
}

TEST(FlightDumps, NameTheRankThatOthersWaitFor) {
  const test::Scratch scratch;
  std::ofstream(scratch.path() / "nccl_trace_rank_0") << Pickler().dump(waits());
  std::ofstream(scratch.path() / "nccl_trace_rank_1") << Pickler().dump(behind());
  std::ofstream(scratch.path() / "nccl_trace_rank_2.json") << waits().dump();
  std::ofstream(scratch.path() / "notes_on_rank_3.txt") << "nothing";
  std::ofstream(scratch.path() / "rank_4") << "nothing";
  std::vector<RankHang> ranks;
  std::vector<std::string> problems;
  add_foreign_ranks(scratch.path(), ranks, problems);
  ASSERT_THAT(ranks, SizeIs(3));
  EXPECT_THAT(problems, testing::ElementsAre("rank_4 is neither JSON nor a pickle"));
  EXPECT_EQ(explain(ranks).headline,
            "rank 1 has not called all-reduce 7 of communicator 0 (default_pg): it has ended all "
            "collectives that it called");
}

TEST(FlightDumps, ReplaceCallsOfRecordedRanksWhereOneWasNot) {
  const test::Scratch scratch;
  for (const char* name : {"nccl_trace_rank_0", "nccl_trace_rank_2"})
    std::ofstream(scratch.path() / name) << Pickler().dump(waits());
  std::ofstream(scratch.path() / "nccl_trace_rank_1") << Pickler().dump(behind());
  std::vector<RankHang> ranks(2);
  ranks[0].identity.rank = 0;
  ranks[0].calls = {{.communicator = "0xd0", .size = 3, .started = true}};
  ranks[1].identity.rank = 1;
  ranks[1].state = RankState::kQuiet;
  ranks[1].reason = "is outside CUDA and was at loader.py:12 load";
  std::vector<std::string> problems;
  add_foreign_ranks(scratch.path(), ranks, problems);
  EXPECT_EQ(explain(ranks).headline,
            "rank 1 has not called all-reduce 7 of communicator 0 (default_pg): it is outside CUDA "
            "and was at loader.py:12 load");
}

json ras_rank(int rank, int calls) {
  return {{"rank", rank},
          {"host", "10.0.0.1"},
          {"pid", 100 + rank},
          {"status", {{"init_state", 0}, {"async_error", 0}}},
          {"collective_counts", {{"AllReduce", calls}, {"AllGather", 2}, {"SendRecv", 7}}}};
}
json ras_report(const std::vector<json>& ranks, const std::vector<json>& missing = {}) {
  return {{"nccl_version", "2.28.3"},
          {"communicators",
           {{{"hash", "0xd0"},
             {"size", ranks.size() + missing.size()},
             {"ranks", ranks},
             {"missing_ranks", missing}}}}};
}
JobHang explained(const json& report) {
  const test::Scratch scratch;
  std::ofstream(scratch.path() / "ras.json") << report.dump();
  std::vector<RankHang> ranks;
  std::vector<std::string> problems;
  add_foreign_ranks(scratch.path(), ranks, problems);
  EXPECT_THAT(problems, IsEmpty());
  return explain(ranks);
}

TEST(RasReport, NamesTheRankThatCalledLess) {
  const JobHang hang = explained(ras_report({ras_rank(0, 5), ras_rank(1, 4), ras_rank(2, 5)}));
  EXPECT_EQ(hang.headline,
            "rank 1 has not called collective 6 of communicator 0xd0: it answers NCCL's RAS");
}

TEST(RasReport, NamesTheRankThatDoesNotAnswer) {
  const JobHang hang = explained(
      ras_report({ras_rank(0, 5), ras_rank(1, 4)},
                 {{{"rank", 2}, {"status", {{"unresponsive", true}, {"considered_dead", true}}}}}));
  EXPECT_THAT(hang.headline, HasSubstr("rank 2 is missing in collective 6"));
  EXPECT_THAT(hang.headline, HasSubstr("it is considered dead by NCCL's RAS"));
}

TEST(RasReport, IsSilentWhereAllRanksCalledAsMuch) {
  const JobHang hang = explained(ras_report({ras_rank(0, 5), ras_rank(1, 5)}));
  EXPECT_EQ(hang.kind, JobHangKind::kNone) << hang.headline;
}

}  // namespace
}  // namespace streamscope::job
