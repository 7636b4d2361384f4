// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "model/trace_facts.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "import/importer.h"
#include "model/grouped_times.h"
#include "model/labels.h"
#include "support/trace_builder.h"

namespace streamscope::viewer {
namespace {

using testing::Contains;
using testing::Not;
using testing::StartsWith;

std::string text_of(const std::vector<Fact>& facts, std::string_view name) {
  for (const Fact& fact : facts) {
    if (fact.name == name) return fact.text;
  }
  return "0";
}

// What the viewer shows under a name is what `info --json` has under a key.
void expect_as_info(const trace::Trace& trace, const std::string& name) {
  const auto counts = nlohmann::json::parse(report::info_json(report::info_of(trace))).at("counts");
  const TraceModel model(trace);
  const std::vector<Fact> facts = count_facts(model);
  constexpr std::pair<const char*, const char*> kShown[] = {{"processes", "process"},
                                                            {"streams", "stream"},
                                                            {"operations", "op"},
                                                            {"kernels", "kernel"},
                                                            {"copies", "memcpy"},
                                                            {"memsets", "memset"},
                                                            {"host functions", "host_function"},
                                                            {"graph launches", "graph_launch"},
                                                            {"CUDA calls", "api_call"},
                                                            {"event records", "event_record"},
                                                            {"stream waits", "event_wait"},
                                                            {"host syncs", "host_sync"},
                                                            {"queries", "query"},
                                                            {"NVTX ranges", "range"},
                                                            {"coord operations", "operation"},
                                                            {"coord barriers", "barrier"},
                                                            {"coord tasks", "task"}};
  size_t reported = 0;
  for (const auto& [shown, key] : kShown) {
    const auto count = counts.at(key).get<int64_t>();
    reported += count > 0;
    EXPECT_EQ(text_of(facts, shown), format_count(count)) << name << ": " << shown;
  }
  reported += model.edges().size() > 0;  // which info does not count
  EXPECT_EQ(reported, facts.size()) << name << ": a fact that is compared with nothing";
}

// The tables of the statistics are counted from the bars in the lanes.
void expect_bars_as_info(const trace::Trace& trace, const std::string& name) {
  const report::Counts counts = report::info_of(trace).counts;
  const TraceModel model(trace);
  std::map<std::string, uint64_t> by_kind;
  for (const StatisticsRow& row : statistics(model, GroupBy::kKind, std::nullopt))
    by_kind[row.name] = row.count;
  EXPECT_EQ(by_kind["kernel"], counts.kernel) << name;
  EXPECT_EQ(by_kind["copy to device"] + by_kind["copy to host"] + by_kind["copy on device"],
            counts.memcpy)
      << name;
  EXPECT_EQ(by_kind["memset"], counts.memset) << name;
  EXPECT_EQ(by_kind["host function"], counts.host_function) << name;
  const auto total = [&](GroupBy by) {
    uint64_t count = 0;
    for (const StatisticsRow& row : statistics(model, by, std::nullopt)) count += row.count;
    return count;
  };
  EXPECT_EQ(total(GroupBy::kName), counts.op) << name;
  EXPECT_EQ(total(GroupBy::kStream), counts.op) << name;
  EXPECT_EQ(total(GroupBy::kCall), counts.api_call) << name;
  EXPECT_EQ(total(GroupBy::kRange), counts.range) << name;
}

TEST(TraceFacts, DistinguishQueriesFromHostSyncs) {
  test::TraceBuilder builder;
  test::StreamBuilder stream = builder.stream("a").kernel("k", 10, 20).record("done");
  stream.query(false).query(false).query();
  builder.query_event("done").synchronize_device(30, 40).synchronize_event("done", 50, 60);
  const TraceModel model(builder.trace());
  EXPECT_EQ(text_of(count_facts(model), "host syncs"), "2");
  EXPECT_EQ(text_of(count_facts(model), "queries"), "4");
}

TEST(TraceFacts, AreThoseOfInfoOnEveryRecording) {
  size_t traces = 0;
  for (const auto& entry : std::filesystem::directory_iterator(STREAMSCOPE_TRACES)) {
    if (entry.path().extension() != ".sqlite") continue;
    ++traces;
    const trace::Trace trace = trace::read(entry.path());
    expect_as_info(trace, entry.path().filename());
    expect_bars_as_info(trace, entry.path().filename());
  }
  EXPECT_GT(traces, 15u);
}

TEST(TraceFacts, AreThoseOfInfoOnEveryImport) {
  const char* corpus = std::getenv("STREAMSCOPE_CORPUS");
  if (corpus == nullptr) GTEST_SKIP() << "STREAMSCOPE_CORPUS names no folder of profiles";
  const auto file = std::filesystem::path(testing::TempDir()) / "trace_facts_test.sqlite";
  for (const char* folder : {"nsys", "kineto"}) {
    for (const auto& entry :
         std::filesystem::directory_iterator(std::filesystem::path(corpus) / folder)) {
      std::filesystem::remove(file);
      import::import_file(import::importer_of(entry.path()), entry.path(), file, true);
      const trace::Trace trace = trace::read(file);
      expect_as_info(trace, entry.path().filename());
      expect_bars_as_info(trace, entry.path().filename());
    }
  }
  std::filesystem::remove(file);
}

TEST(HeaderFacts, StateWhetherTheRecordingWasFinished) {
  test::TraceBuilder builder;
  builder.stream("a").kernel("k", 0, 100);
  const TraceModel finished(builder.trace());
  for (const bool is_live : {false, true}) {
    EXPECT_THAT(header_facts(finished, is_live), Not(Contains("unfinished")));
    EXPECT_THAT(header_facts(finished, is_live), Not(Contains(StartsWith("recording"))));
    EXPECT_EQ(warning(finished, is_live), "");
  }
  builder.meta("complete", "0").meta("finished", "0");
  const TraceModel unfinished(builder.trace());
  EXPECT_THAT(header_facts(unfinished, false), Contains("unfinished"));
  EXPECT_EQ(state_text(unfinished, false), "unfinished");
  EXPECT_THAT(warning(unfinished, false), StartsWith("This trace is unfinished"));
  EXPECT_THAT(header_facts(unfinished, true), Contains("recording\u2026"));
  EXPECT_THAT(header_facts(unfinished, true), Not(Contains("unfinished")));
  EXPECT_EQ(state_text(unfinished, true), "still being recorded");
  EXPECT_EQ(warning(unfinished, true), "");
}

// A program that was killed, in a trace that was finished: everything that is known is present.
TEST(HeaderFacts, DoNotCallATraceUnfinishedWhoseProgramWasKilled) {
  test::TraceBuilder builder;
  builder.stream("a").kernel("k", 0, 100);
  builder.meta("complete", "0").meta("finished", "1").loss("process-ended-abruptly");
  const TraceModel model(builder.trace());
  EXPECT_THAT(header_facts(model, false), Not(Contains("unfinished")));
  EXPECT_THAT(warning(model, false), StartsWith("This trace is incomplete. The process was"));
}

}  // namespace
}  // namespace streamscope::viewer
