// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "job/nccl_dumps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "job/pickle.h"
#include "support/sanitized.h"
#include "support/scratch.h"
#include "trace/error.h"

namespace streamscope::job {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// As PyTorch's pickler writes values: protocol 2, texts are remembered.
class Pickler {
 public:
  std::string dump(const json& value) {
    bytes_ = "\x80\x02";
    put(value);
    return bytes_ + ".";
  }

 private:
  template <class Number>
  void raw(Number number) {
    bytes_.append(reinterpret_cast<const char*>(&number), sizeof number);
  }
  void put(const json& value) {
    if (value.is_null()) bytes_ += 'N';
    if (value.is_boolean()) bytes_ += value.get<bool>() ? '\x88' : '\x89';
    if (value.is_number_integer()) put_number(value.get<int64_t>());
    if (value.is_string()) put_text(value.get<std::string>());
    if (value.is_array()) {
      bytes_ += "](";
      for (const json& one : value) put(one);
      bytes_ += 'e';
    }
    if (value.is_object()) {
      bytes_ += "}(";
      for (const auto& [key, one] : value.items()) {
        put_text(key);
        put(one);
      }
      bytes_ += 'u';
    }
  }
  void put_number(int64_t number) {
    if (number >= 0 && number < 256) {
      bytes_ += 'K';
      raw(static_cast<uint8_t>(number));
    } else if (number >= 0 && number < 65536) {
      bytes_ += 'M';
      raw(static_cast<uint16_t>(number));
    } else {
      bytes_ += "\x8a\x08";
      raw(number);
    }
  }
  void put_text(const std::string& text) {
    if (const auto known = memo_.find(text); known != memo_.end()) {
      bytes_ += 'h';
      raw(known->second);
      return;
    }
    bytes_ += 'X';
    raw(static_cast<uint32_t>(text.size()));
    bytes_ += text + "q";
    const auto next = static_cast<uint8_t>(memo_.size());
    raw(next);
    memo_[text] = next;
  }

  std::string bytes_;
  std::map<std::string, uint8_t> memo_;
};

json entry(int number, const char* state, const char* call = "nccl:all_reduce") {
  return {
      {"process_group", {"0", "default_pg"}},
      {"collective_seq_id", number},
      {"p2p_seq_id", 0},
      {"profiling_name", call},
      {"input_sizes", {{1024, 2}, {16}}},
      {"input_dtypes", {"Float", "BFloat16"}},
      {"state", state},
      {"time_discovered_started_ns", std::string(state) == "scheduled" ? json(nullptr) : json(5)},
      {"is_p2p", false},
      {"frames",
       {{{"name", "all_reduce"}, {"filename", "/x/torch/distributed/d.py"}, {"line", 3}},
        {{"name", "step"}, {"filename", "/home/me/train.py"}, {"line", 88}}}}};
}

json dump_of(const std::vector<json>& entries) {
  return {{"version", "2.4"},
          {"pg_config", {{"0", {{"name", "0"}, {"desc", "default_pg"}, {"ranks", "[0, 1, 2]"}}}}},
          {"pg_status", {{"0", {{"last_enqueued_collective", 7}}}}},
          {"entries", entries}};
}

// Ranks 0 and 2 are in the all-reduce 7, which rank 1 has not called.
json waits() {
  return dump_of({entry(6, "completed"), entry(7, "started"), entry(8, "scheduled")});
}
json behind() { return dump_of({entry(5, "completed"), entry(6, "completed")}); }

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

TEST(RasReport, RefusesOtherText) {
  EXPECT_THROW((void)read_ras_report("NCCL version 2.28.3 compiled with CUDA 13", "ras"), Error);
  EXPECT_THROW((void)read_ras_report("{}", "ras"), Error);
  (void)read_ras_report(R"({"communicators": [1, {"ranks": 3}, {"ranks": [4, []]}]})", "ras");
}

}  // namespace
}  // namespace streamscope::job
