// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "job/files/nccl_dumps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "job/files/pickle.h"
#include "support/sanitized.h"
#include "support/scratch.h"
#include "trace/error.h"
#include "written_dumps.h"

namespace streamscope::job {
namespace {

using nlohmann::json;
using ::testing::SizeIs;

TEST(FlightDump, SaysHowFarARankCame) {
  for (const std::string& bytes : {waits().dump(), Pickler().dump(waits())}) {
    const RankHang rank = read_flight_dump(bytes, 2, "dump");
    EXPECT_EQ(rank.identity.rank, 2);
    EXPECT_EQ(rank.reason, "waits in what train.py:88 step called");
    ASSERT_THAT(rank.calls, SizeIs(1));
    const LastCall expected{.communicator = "0 (default_pg)",
                            .size = 3,
                            .sequence = 7,
                            .issued = 8,
                            .kind = CollectiveKind::kAllReduce,
                            .bytes = 1024 * 2 * 4 + 16 * 2,
                            .started = true};
    EXPECT_EQ(rank.calls[0], expected);
  }
}

TEST(FlightDump, TakesTheFirstCollectiveAsStartedWherePyTorchDoesNotNoticeStarts) {
  const json noticed =
      dump_of({entry(6, "completed"), entry(7, "scheduled"), entry(8, "scheduled")});
  EXPECT_FALSE(read_flight_dump(noticed.dump(), 0, "dump").calls[0].started);
  const json not_noticed = dump_of({entry(7, "scheduled"), entry(8, "scheduled")});
  EXPECT_TRUE(read_flight_dump(not_noticed.dump(), 0, "dump").calls[0].started);
}

TEST(FlightDumps, AreLeftAloneWhereRanksWereRecorded) {
  const test::Scratch scratch;
  std::ofstream(scratch.path() / "nccl_trace_rank_0") << Pickler().dump(waits());
  std::vector<RankHang> ranks(1);
  ranks[0].identity = {.rank = 0, .world_size = 1};
  ranks[0].calls = {{.communicator = "0xd0"}};
  const std::vector<RankHang> before = ranks;
  std::vector<std::string> problems;
  add_foreign_ranks(scratch.path(), ranks, problems);
  EXPECT_EQ(ranks, before);
}

TEST(Pickle, RefusesObjectsAndDamage) {
  const std::string good = Pickler().dump(waits());
  EXPECT_EQ(read_pickle(good, "p"), waits());
  for (size_t length = 0; length < good.size(); ++length)
    EXPECT_THROW((void)read_pickle(good.substr(0, length), "p"), Error);
  EXPECT_THROW((void)read_pickle("\x80\x02"
                                 "cos\nsystem\n(X\x02\x00\x00\x00lstR.",
                                 "p"),
               Error);
  // Each doubles what the one before refers to.
  std::string bomb = "\x80\x02]q";
  bomb += std::string(1, '\0');
  for (int i = 0; i < 60; ++i)
    bomb += "h" + std::string(1, '\0') + "a" + "q" + std::string(1, '\0');
  EXPECT_THROW((void)read_pickle(bomb + ".", "p"), Error);
  EXPECT_THROW((void)read_pickle("\x80\x02" + std::string(2'000'000, '(') + ".", "p"), Error);
  std::mt19937 random(1);
  for (int i = 0; i < test::sample_of(5000); ++i) {
    std::string bad = good;
    for (int changes = 1 + static_cast<int>(random() % 4); changes > 0; --changes)
      bad[random() % bad.size()] = static_cast<char>(random());
    try {
      (void)read_flight_dump(bad, 0, "p");
    } catch (const Error&) {
    }
  }
}

// A list of one text again and again.
std::string repeating(size_t references) {
  std::string list = std::string("\x80\x02](X\xb8\x0b\x00\x00", 9) + std::string(3000, 't');
  list += std::string("q\0", 2);
  for (size_t i = 0; i < references; ++i) list += std::string("h\0", 2);
  return list + "e.";
}

TEST(Pickle, CopiesNoMoreThanInProportionToTheFile) {
  EXPECT_EQ(read_pickle(repeating(2000), "p").size(), 2001);
  EXPECT_THROW((void)read_pickle(repeating(6000), "p"), Error) << "18 MB from 15 KB";
}

TEST(RasReport, RefusesOtherText) {
  EXPECT_THROW((void)read_ras_report("NCCL version 2.28.3 compiled with CUDA 13", "ras"), Error);
  EXPECT_THROW((void)read_ras_report("{}", "ras"), Error);
  (void)read_ras_report(R"({"communicators": [1, {"ranks": 3}, {"ranks": [4, []]}]})", "ras");
}

}  // namespace
}  // namespace streamscope::job
