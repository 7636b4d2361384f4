// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Commands that take the folder of a run of many ranks wherever they take a trace.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "program.h"

namespace streamscope::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

class RunFolderCommand : public CommandLine {
 protected:
  void SetUp() override { write_run("run"); }

  // Ranks whose steps are a kernel, an all-reduce that waits for it, and a synchronization.
  // `kernel_us`: by rank; a rank of which it is 0 has no trace.
  void write_run(const std::string& name, std::vector<trace::Ns> kernel_us = {300, 300}) {
    fs::create_directory(folder_ / name);
    const trace::Ns longest = *std::max_element(kernel_us.begin(), kernel_us.end()) * 1000;
    for (size_t rank = 0; rank < kernel_us.size(); ++rank) {
      if (kernel_us[rank] == 0) continue;
      TraceBuilder builder;
      builder.meta("tier", "times").meta("trace_start_realtime_ns", "1000000000");
      auto& process = builder.columns().process;
      process.rank[0] = static_cast<trace::Small>(rank);
      process.world_size[0] = static_cast<trace::Small>(kernel_us.size());
      process.rank_source_id[0] = builder.intern("RANK");
      process.host_id[0] = builder.intern("node0");
      trace::Ns at = 1000;
      for (int step = 0; step < 8; ++step) {
        const trace::Ns computed = at + 20'000 + kernel_us[rank] * 1000,
                        reduced = at + 20'000 + longest + 50'000;
        builder.at(at).stream("math").kernel("gemm", at + 20'000, computed).record("computed");
        builder.stream("network")
            .wait("computed")
            .kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL", computed, reduced);
        builder.stream("network").synchronize(at + 10'000, reduced + 1000);
        builder.range("step", at, reduced + 2000);
        at = reduced + 3000;
      }
      builder.write(folder_ / name / ("rank-0000" + std::to_string(rank) + ".sqlite"));
    }
  }
};

TEST_F(RunFolderCommand, CheckPassesAndFailsLikeThatOfATrace) {
  EXPECT_EQ(streamscope({"check", "run", "--fail-on", "warning"}).code, 0);
  std::ofstream(folder_ / "limits.txt") << "iteration <= 1 us\n";
  const Result over = streamscope({"check", "run/", "--budget", "limits.txt", "--format", "junit"});
  EXPECT_EQ(over.code, 1) << over.err;
  EXPECT_THAT(over.out, HasSubstr("<testsuite name=\"run\""));
  EXPECT_THAT(over.out, HasSubstr("budget iteration at most"));
}

TEST_F(RunFolderCommand, CheckFailsWithoutTheTraceOfARank) {
  write_run("partly", {300, 300, 0});
  const Result missing = streamscope({"check", "partly"});
  EXPECT_EQ(missing.code, 1) << missing.err;
  EXPECT_THAT(missing.out, HasSubstr("rank 2 of 3 has no trace"));
}

TEST_F(RunFolderCommand, CheckFindsARankThatHoldsUpTheOthers) {
  write_run("uneven", {300, 300, 300, 600});
  const Result uneven = streamscope({"check", "uneven", "--fail-on", "warning"});
  EXPECT_EQ(uneven.code, 1) << uneven.out << uneven.err;
  EXPECT_THAT(uneven.out, HasSubstr("rank 3: "));
  EXPECT_EQ(streamscope({"check", "uneven"}).code, 0);
  // What the baseline has is known.
  EXPECT_EQ(streamscope({"check", "uneven", "--write-baseline", "known.json"}).code, 0);
  EXPECT_EQ(
      streamscope({"check", "uneven", "--fail-on", "warning", "--baseline", "known.json"}).code, 0);
}

TEST_F(RunFolderCommand, AssertionsHoldOnEveryRank) {
  EXPECT_EQ(streamscope({"check", "run", "--assert", "launches_per_iteration == 2"}).code, 0);
  const Result broken = streamscope({"check", "run", "--assert", "syncs_per_iteration == 0"});
  EXPECT_EQ(broken.code, 1) << broken.err;
  EXPECT_THAT(broken.out, HasSubstr("rank 0: "));
}

TEST_F(RunFolderCommand, CheckRefusesWhatIsOfATrace) {
  std::ofstream(folder_ / "limits.txt") << "critical-path <= 1 ms\n";
  const Result budget = streamscope({"check", "run", "--budget", "limits.txt"});
  EXPECT_EQ(budget.code, 2);
  EXPECT_THAT(budget.err, HasSubstr("measured on a trace, not on the folder of a run"));
  const Result detector = streamscope({"check", "run", "--require", "stream-race"});
  EXPECT_EQ(detector.code, 2);
  EXPECT_THAT(detector.err, HasSubstr("no detector 'stream-race' of jobs"));
  EXPECT_EQ(streamscope({"check", "run", "--require", "rank-delay"}).code, 0);
}

TEST_F(RunFolderCommand, DiffFailsOnARegression) {
  write_run("slow", {300, 300, 300, 600});
  write_run("base", {300, 300, 300, 300});
  const Result slower = streamscope({"diff", "base", "slow", "--format", "json"});
  EXPECT_EQ(slower.code, 1) << slower.err;
  EXPECT_EQ(json::parse(slower.out)["result"], "regression");
  EXPECT_EQ(streamscope({"diff", "base", "base"}).code, 0);
  EXPECT_EQ(streamscope({"diff", "base", "slow", "--base-run", "slow"}).code, 0);
  const Result mixed = streamscope({"diff", "base", "slow/rank-00000.sqlite"});
  EXPECT_EQ(mixed.code, 2);
  EXPECT_THAT(mixed.err, HasSubstr("compare two traces or two folders"));
}

TEST_F(RunFolderCommand, InfoMakesNoSummaries) {
  const Result before = streamscope({"info", "run"});
  EXPECT_EQ(before.code, 0) << before.err;
  EXPECT_THAT(before.out, HasSubstr("2 ranks of 2 on 1 host"));
  EXPECT_THAT(before.out, HasSubstr("streamscope analyze makes the others"));
  EXPECT_FALSE(fs::exists(folder_ / "run" / "rank-00000.summary"));
  EXPECT_EQ(streamscope({"analyze", "run"}).code, 0);
  const json after = json::parse(streamscope({"info", "run", "--json"}).out);
  EXPECT_GT(after["ranks"][1]["summary_iterations"], 4);
  EXPECT_EQ(after["communicators"].size(), 1u);
  EXPECT_EQ(streamscope({"info", "run", "--iteration", "auto"}).code, 2);
}

TEST_F(RunFolderCommand, ExportWritesAllRanks) {
  EXPECT_EQ(streamscope({"export", "run", "--to", "perfetto", "-o", "run.pftrace"}).code, 0);
  EXPECT_THAT(content(folder_ / "run.pftrace"), HasSubstr("rank 1 (node0)"));
  const Result chrome = streamscope({"export", "run", "--to", "chrome"});
  EXPECT_EQ(chrome.code, 2);
  EXPECT_THAT(chrome.err, HasSubstr("use perfetto"));
  EXPECT_EQ(
      streamscope({"export", "run", "--to", "perfetto", "--range", "100s:200s", "-o", "no"}).code,
      2);
  EXPECT_FALSE(fs::exists(folder_ / "no"));
}

TEST_F(RunFolderCommand, QueryAsksTablesOfTheJob) {
  const auto rows = [&](const std::string& from, const std::string& sql) {
    const Result result = streamscope({"query", from, sql, "--format", "json"});
    EXPECT_EQ(result.code, 0) << result.err;
    return json::parse(result.out);
  };
  EXPECT_EQ(rows("run", "SELECT rank FROM rank ORDER BY rank")[1]["rank"], 1);
  const json late = rows("run", "SELECT count(*) AS n FROM collective WHERE ranks = 2");
  EXPECT_GT(late[0]["n"], 4);
  // Stored, it says the same.
  EXPECT_EQ(streamscope({"export", "run", "--to", "sqlite", "-o", "run.sqlite"}).code, 0);
  EXPECT_EQ(rows("run.sqlite", "SELECT count(*) AS n FROM collective WHERE ranks = 2"), late);
  EXPECT_EQ(streamscope({"query", "run.sqlite", "DELETE FROM rank"}).code, 2);
  // Beside the traces, it is none of them.
  fs::rename(folder_ / "run.sqlite", folder_ / "run" / "run.sqlite");
  EXPECT_EQ(streamscope({"check", "run"}).code, 0);
  fs::rename(folder_ / "run" / "run.sqlite", folder_ / "run.sqlite");
  EXPECT_EQ(streamscope({"query", "run", "DELETE FROM rank"}).code, 2);
  // Other commands refuse it in one line, and so do exports of a trace.
  EXPECT_EQ(streamscope({"report", "run.sqlite"}).error_lines(), 1u);
  EXPECT_EQ(streamscope({"export", "run/rank-00000.sqlite", "--to", "sqlite"}).code, 2);
}

TEST_F(RunFolderCommand, TablesOfTheJobAreDescribed) {
  const std::string text = content(fs::path(STREAMSCOPE_DOCS) / "ranks.md");
  const std::string sql =
      "SELECT t.name AS tab, c.name AS col FROM sqlite_schema t JOIN pragma_table_info(t.name) c "
      "WHERE t.type = 'table'";
  const json columns = json::parse(streamscope({"query", "run", sql, "--format", "json"}).out);
  EXPECT_GT(columns.size(), 30u);
  for (const json& column : columns) {
    const std::string table = "| `" + column["tab"].get<std::string>() + "` |";
    const size_t row = text.find(table);
    ASSERT_NE(row, text.npos) << table;
    EXPECT_NE(text.substr(row, text.find('\n', row) - row)
                  .find("`" + column["col"].get<std::string>() + "`"),
              std::string::npos)
        << table << " lacks " << column["col"];
  }
}

TEST_F(RunFolderCommand, MergeWritesOneTrace) {
  EXPECT_EQ(streamscope({"merge", "run", "-o", "all.sqlite"}).code, 0);
  const json info = json::parse(streamscope({"info", "all.sqlite", "--json"}).out);
  EXPECT_EQ(info["counts"]["process"], 2);
  EXPECT_EQ(info["counts"]["kernel"], 32);
  EXPECT_EQ(streamscope({"merge", "run", "all.sqlite", "-o", "more.sqlite"}).code, 2);
}

TEST_F(RunFolderCommand, AFolderWithoutRanksIsRefused) {
  fs::create_directory(folder_ / "empty");
  for (const std::string command : {"check", "info", "report"}) {
    const Result refused = streamscope({command, "empty"});
    EXPECT_EQ(refused.code, 2) << command;
    EXPECT_EQ(refused.error_lines(), 1u) << refused.err;
  }
}

}  // namespace
}  // namespace streamscope::test
