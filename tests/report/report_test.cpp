// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "analysis/iteration_program.h"
#include "report/formats/exporter.h"
#include "report/formats/table.h"
#include "report/sections/document.h"
#include "report/sections/iteration.h"
#include "report/sections/recording_cost.h"
#include "report/sections/summary.h"
#include "samples.h"
#include "support/golden.h"

namespace streamscope::report {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

std::string extension(std::string_view format) {
  return format == "markdown" ? "md" : format == "text" ? "txt" : "json";
}

std::string written(const char* format, const trace::Trace& trace, const Options& options = {}) {
  return std::ranges::find(exporters(), format, &Exporter::name)
      ->write(trace, summarize(trace), options);
}

TEST(HostSection, ListsWhatTakesAPercentOfAnIteration) {
  const auto rows_with = [](trace::Ns waited_ns) {
    IterationSummary summary;
    summary.iterations.source = analysis::IterationSource::kRange;
    summary.iterations.steady_to = 1;
    summary.shares.total[0] = 1'000'000;
    summary.host.each_ns = waited_ns;
    summary.host.lines = {{.place = "a.py:1", .what = "runs", .each_ns = waited_ns * 3 / 4},
                          {.place = "b.py:2", .what = "runs", .each_ns = waited_ns / 4}};
    return host_section(summary).rows;
  };
  EXPECT_EQ(rows_with(100'000).size(), 2u);
  EXPECT_EQ(rows_with(20'000).size(), 1u);
  EXPECT_TRUE(rows_with(5'000).empty()) << "a report has no such section then";
}

TEST(Report, SaysWhyALongRunHasNoIterations) {
  const auto text_of = [](int kernels, const analysis::IterationRequest& request) {
    test::TraceBuilder builder;
    for (int i = 0; i < kernels; ++i)
      builder.stream("main").kernel("k" + std::to_string(i), 100 * i, 100 * i + 50);
    const trace::Trace trace = builder.trace();
    return std::ranges::find(exporters(), "text", &Exporter::name)
        ->write(trace, summarize(trace, request), {});
  };
  EXPECT_THAT(text_of(120, {}), HasSubstr("Iteration\n  No iterations found: no NVTX range, "));
  EXPECT_THAT(text_of(120, {.source = analysis::IterationSource::kRange, .range = "step"}),
              HasSubstr("no NVTX range \"step\" contains work"));
  EXPECT_THAT(text_of(120, {.off = true}), Not(HasSubstr("No iterations")));
  EXPECT_THAT(text_of(20, {}), Not(HasSubstr("No iterations"))) << "too short for a loop";
}

TEST(ReportGolden, EveryFormatOfEverySampleIsAsApproved) {
  for (const test::Sample& sample : test::samples()) {
    const Summary summary = summarize(sample.trace);
    for (const Exporter& exporter : exporters()) {
      if (exporter.name == "html") continue;  // used, not compared: tests/e2e/html.sh
      test::expect_golden("report/" + std::string(sample.name) + "." + extension(exporter.name),
                          exporter.write(sample.trace, summary, {}));
    }
    test::expect_golden("info/" + std::string(sample.name) + ".json", info_json(summary.info));
    test::expect_golden("info/" + std::string(sample.name) + ".txt",
                        info_text(sample.trace, summary.info));
  }
}

TEST(ReportGolden, TheOtherBreakdownsAndTheTerminalAreAsApproved) {
  const trace::Trace trace = test::pipeline().trace();
  test::expect_golden("report/pipeline-kernel.txt", written("text", trace, {.by = By::kKernel}));
  test::expect_golden("report/pipeline-nvtx.txt", written("text", trace, {.by = By::kNvtx}));
  test::expect_golden("report/pipeline-kernel.json", written("json", trace, {.by = By::kKernel}));
  test::expect_golden("report/pipeline-nvtx.json", written("json", trace, {.by = By::kNvtx}));
  test::expect_golden("report/pipeline-color-80.txt",
                      written("text", trace, {.look = {.color = true, .width = 80}}));
}

// A verdict with one finding about synchronizations.
analysis::Verdict about_syncs(std::string_view detector, Id host_sync, const char* place,
                              std::initializer_list<Id> repaired, trace::Ns after_ns) {
  analysis::Finding finding;
  finding.host_sync = host_sync;
  finding.place.call_site = place;
  finding.iteration = {1'000, after_ns};
  if (repaired.size() > 0) {
    analysis::Change change;
    for (const Id sync : repaired) change.deferred_sync.add(sync);
    finding.repair = std::make_shared<const analysis::Change>(change);
  }
  analysis::Verdict verdict{.detector = analysis::find_detector(detector)};
  verdict.findings = {finding};
  return verdict;
}

TEST(ByWeight, PutsFindingsLastThatAreAboutSynchronizationsOfAnEarlierOne) {
  const std::vector<Id> steady = {3, 5, 7};
  std::vector<std::pair<std::string_view, bool>> order;
  for (const Advice& advice :
       by_weight({about_syncs("sync-in-iteration", 3, "a.py:1 f", {3, 5}, 500),
                  about_syncs("over-broad-sync", 5, "a.py:2 g", {1, 3, 5}, 550),  // 1: start-up
                  about_syncs("redundant-host-sync", 7, "a.py:3 h", {7}, 700),    // another one
                  about_syncs("poll-storm", 1, "a.py:1 f", {}, 600),
                  about_syncs("false-serialization", trace::kNoId, "a.py:1 f", {}, 800)},
                 steady)) {
    order.emplace_back(advice.detector->id, advice.repeats);
  }
  EXPECT_THAT(order, testing::ElementsAre(std::pair("sync-in-iteration", false),
                                          std::pair("redundant-host-sync", false),
                                          std::pair("false-serialization", false),
                                          std::pair("over-broad-sync", true),
                                          std::pair("poll-storm", true)));
}

TEST(ByWeight, KnowsThatAFindingIsAboutTheSameLoopWithoutItsLastSynchronization) {
  const std::vector<Id> steady = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  const auto repeats = [&](std::initializer_list<Id> earlier) {
    return by_weight({about_syncs("over-broad-sync", 0, "a.cu:1 f", earlier, 500),
                      about_syncs("sync-in-iteration", 0, "a.cu:1 f",
                                  {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, 510)},
                     steady)
        .back()
        .repeats;
  };
  EXPECT_TRUE(repeats({0, 1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_FALSE(repeats({0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST(ByWeight, PutsAFindingBeforeAnotherThatNeedsItsRepair) {
  const auto order_of = [](std::string_view needs) {
    auto graph = about_syncs("host-bound-launching", trace::kNoId, "a.py:1 f", {}, 200);
    graph.findings[0].needs = needs;
    std::vector<std::string_view> order;
    for (const Advice& advice :
         by_weight({std::move(graph), about_syncs("copy-not-overlapped", trace::kNoId, "", {}, 400),
                    about_syncs("sync-in-iteration", 3, "a.py:2 g", {3}, 950),
                    about_syncs("sync-in-iteration", 4, "a.py:3 h", {4}, 951)},
                   {}))
      order.push_back(advice.detector->id);
    return order;
  };
  EXPECT_THAT(order_of(""), testing::ElementsAre("host-bound-launching", "copy-not-overlapped",
                                                 "sync-in-iteration", "sync-in-iteration"));
  EXPECT_THAT(order_of("SS302"), testing::ElementsAre("sync-in-iteration", "host-bound-launching",
                                                      "copy-not-overlapped", "sync-in-iteration"))
      << "but not what saves less than a twentieth by itself";
}

TEST(ByWeight, PutsTheEasiestOfWarningsFirstThatWeighNearlyAsMuch) {
  const auto first_of = [](trace::Ns after_graph_ns) {
    auto graph = about_syncs("host-bound-launching", trace::kNoId, "", {}, after_graph_ns);
    auto pool = about_syncs("allocation-in-iteration", trace::kNoId, "", {}, 500);
    return by_weight({std::move(graph), std::move(pool)}, {}).front().detector->id;
  };
  EXPECT_EQ("allocation-in-iteration", first_of(410));  // 0.9 of 590: 531
  EXPECT_EQ("host-bound-launching", first_of(380));     // 558
}

TEST(Report, CountsPollsNotTheirRows) {
  test::TraceBuilder builder;
  builder.stream("a").record("e");
  builder.poll_event("e", 1000).query_event("e").synchronize_device(2000, 2100);
  const Info info = info_of(builder.trace());
  EXPECT_EQ(info.counts.query, 1001u);
  EXPECT_EQ(info.counts.host_sync, 1u);
  EXPECT_EQ(info.counts.api_call, 1003u);  // and the record
}

TEST(Report, FitsTheTerminal) {
  for (const test::Sample& sample : test::samples()) {
    for (size_t width : {80u, 100u, 132u}) {
      std::istringstream lines(written("text", sample.trace, {.look = {.width = width}}));
      for (std::string line; std::getline(lines, line);)
        EXPECT_LE(display_width(line), width) << line;
    }
  }
}

TEST(Report, ARangeNamesTheWorkIssuedInIt) {
  test::TraceBuilder builder;
  builder.range("outer", 0, 100).range("inner", 10, 20);
  builder.at(5).stream("a").kernel("before", 200, 300);
  builder.at(12).stream("a").kernel("within", 300, 330).kernel("within", 330, 350);
  const Summary summary = summarize(builder.trace());
  ASSERT_EQ(summary.ranges.size(), 2u);
  const auto& outer = summary.ranges[0].ops;
  const auto& inner = summary.ranges[1].ops;
  ASSERT_EQ(outer.size(), 2u);
  EXPECT_EQ(outer[0].total_ns, 100) << "most expensive first";
  EXPECT_EQ(outer[1].count, 2u);
  ASSERT_EQ(inner.size(), 1u);
  EXPECT_EQ(inner[0].total_ns, 50);
  EXPECT_THAT(written("text", builder.trace(), {.by = By::kNvtx}), HasSubstr("  within"));
  const json ranges = json::parse(written("json", builder.trace(), {.by = By::kNvtx}))["ranges"];
  EXPECT_EQ(ranges[1]["ops"][0]["name"], "within");
}

TEST(Report, WorkOfAThreadWithoutRangesCountsForTheOpenOne) {
  test::TraceBuilder builder;
  // As in PyTorch: `main` waits in `step` while `autograd`, which has its own ranges, issues the
  // backward pass.
  builder.thread("main").range("step", 0, 1000).range("forward", 10, 100);
  builder.at(20).stream("a").kernel("forward", 2000, 2100);
  builder.thread("autograd").range("node", 290, 400);
  builder.at(300).stream("a").kernel("backward", 2100, 2300);
  builder.thread("loader").at(1500).stream("b").kernel("after", 3000, 3010);
  const Summary one = summarize(builder.trace());
  const auto find = [&](const trace::Trace& trace, const Summary& summary, const char* name) {
    for (const RangeGroup& range : summary.ranges) {
      if (trace.text(range.name_id) == name) return range;
    }
    return RangeGroup{};
  };
  const trace::Trace trace = builder.trace();
  EXPECT_EQ(find(trace, one, "step").op_count, 2u);
  EXPECT_EQ(find(trace, one, "step").foreign_count, 1u);
  EXPECT_EQ(find(trace, one, "step").device_ns, 300);
  EXPECT_EQ(find(trace, one, "forward").op_count, 1u);
  EXPECT_EQ(find(trace, one, "node").op_count, 1u);
  EXPECT_THAT(written("text", trace, {.by = By::kNvtx}), HasSubstr("on exactly one thread (1 op)"));
  EXPECT_EQ(
      json::parse(written("json", trace, {.by = By::kNvtx}))["ranges"][0]["op_of_other_threads"],
      1);

  // Two threads with a step each: it is unknown for which of them the third one works, and what one
  // of them issues between its own steps belongs to none.
  builder.thread("second").range("step", 200, 500);
  builder.at(250).stream("b").kernel("own", 2400, 2410);
  builder.thread("second").at(600).stream("b").kernel("between", 2500, 2510);
  const trace::Trace two = builder.trace();
  const Summary both = summarize(two);
  EXPECT_EQ(find(two, both, "step").op_count, 2u) << "forward and own";
  EXPECT_EQ(find(two, both, "step").foreign_count, 0u);
}

TEST(Report, AnotherProcessHasNoPartInARange) {
  test::TraceBuilder builder;
  builder.range("step", 0, 1000);
  builder.process("other").thread("main");
  builder.at(300).stream("x").kernel("k", 2000, 2100);
  EXPECT_EQ(summarize(builder.trace()).ranges[0].op_count, 0u);
}

TEST(Report, ReportsTheCauseOfTheGapBeforeAKernel) {
  // Launched late without waiting for anything: the gap is reported all the same.
  test::TraceBuilder builder;
  builder.at(0).stream("a").kernel("first", 5'000, 10'000);
  builder.at(1'000'000).stream("a").kernel("late", 1'003'000, 1'010'000);
  const trace::Trace trace = builder.trace();
  const json ops = json::parse(written("json", trace, {.by = By::kKernel}))["ops"];
  ASSERT_EQ(ops[0]["name"], "late");
  EXPECT_EQ(ops[0]["waited_ns"], 0);
  Ns gap = 0;
  for (const auto& [cause, duration] : ops[0]["gaps_ns"].items()) gap += duration.get<Ns>();
  EXPECT_EQ(gap, 993'000);
  EXPECT_THAT(written("text", trace, {.by = By::kKernel}), HasSubstr("993 µs"));
}

TEST(Report, ReportsThatTheCostOfRecordingIsNotMeasured) {
  test::TraceBuilder builder = test::pipeline();
  builder.add(trace::Overhead{.start_ns = 0, .end_ns = 2000});
  for (const char* format : {"text", "markdown", "html"}) {
    EXPECT_THAT(written(format, builder.trace()), HasSubstr("recording cost not measured"));
    EXPECT_THAT(written(format, builder.trace()), Not(HasSubstr("cost at least")));
  }
  const Info info = info_of(builder.trace());
  EXPECT_THAT(info_text(builder.trace(), info), HasSubstr("(record with --measure-cost)"));
  const json cost = json::parse(info_json(info))["recording_cost"];
  EXPECT_EQ(cost["measured"], false);
  EXPECT_EQ(cost["reported_by_tools_ns"], 2000);
  // In virtual time recording costs nothing; for another tool's recording the cost is unknown.
  builder.columns().process.clock[0] = trace::kVirtualClock;
  EXPECT_THAT(written("text", builder.trace()), Not(HasSubstr("recording cost")));
  builder.columns().process.clock[0] = trace::kNoSmall;
  builder.meta("imported_from", "nsys");
  EXPECT_THAT(written("text", builder.trace()), HasSubstr("recording cost not measured"));
  EXPECT_THAT(written("text", builder.trace()), Not(HasSubstr("--measure-cost")));
}

// Windows of 50 ms in which recording costs `cost` of the time.
void add_cost_windows(test::TraceBuilder& builder, int count, double cost) {
  constexpr Ns kLengthNs = 50'000'000;
  for (int i = 0; i < count; ++i) {
    const bool recorded = i % 2 != 0;
    builder.add(trace::CostWindow{
        .process_id = 0,
        .start_ns = i * kLengthNs,
        .end_ns = (i + 1) * kLengthNs,
        .recorded = recorded ? 1 : 0,
        .progress = static_cast<trace::Int>(recorded ? 100'000 / (1 + cost) : 100'000)});
  }
}

TEST(RecordingCost, OfWhatRanInAllWindowsIsNotMeasured) {
  test::TraceBuilder builder = test::pipeline();
  add_cost_windows(builder, 65, 0.25);
  const auto written_for = [&](const char* collector, const char* format) {
    trace::Trace trace = builder.trace();
    trace.strings.emplace_back(collector);
    trace.process.collector_id[0] = static_cast<trace::Id>(trace.strings.size() - 1);
    return *format == 'i' ? info_text(trace, info_of(trace)) : written(format, trace);
  };
  const std::string off = "\n  recording was off in 33 windows to measure its cost";
  EXPECT_THAT(written_for("cupti 130001", "text"), HasSubstr("30 windows) plus callbacks"));
  EXPECT_THAT(written_for("cupti 130001", "info"), HasSubstr(off + "; callbacks ran"));
  EXPECT_THAT(written_for("interposed, cupti 130001", "text"), HasSubstr("30 windows) plus CUPTI"));
  EXPECT_THAT(written_for("interposed, cupti 130001", "info"),
              HasSubstr(off + "; CUPTI was loaded"));
  EXPECT_THAT(written_for("interposed", "text"), Not(HasSubstr("windows) plus")));
  EXPECT_THAT(written_for("interposed", "info"), HasSubstr(off + "\n"));
}

TEST(RecordingCost, IsReportedWithItsInterval) {
  test::TraceBuilder builder = test::pipeline();
  add_cost_windows(builder, 65, 0.25);
  const Info info = info_of(builder.trace());
  for (const char* format : {"text", "markdown", "html"}) {
    EXPECT_THAT(written(format, builder.trace()),
                HasSubstr("recording cost +25.0 % (25.0 to 25.0 %, 30 windows)"));
  }
  EXPECT_THAT(info_text(builder.trace(), info),
              HasSubstr("\n  recording was off in 33 windows to measure its cost\n"));
  EXPECT_THAT(info.losses, testing::IsEmpty());
  const json cost = json::parse(info_json(info))["recording_cost"];
  EXPECT_EQ(cost["measured"], true);
  EXPECT_NEAR(cost["percent"].get<double>(), 25, 0.01);
  EXPECT_EQ(cost["windows"], 30);
  EXPECT_EQ(cost["off_windows"], 33);
}

TEST(RecordingCost, NeedsEnoughWindows) {
  test::TraceBuilder builder = test::pipeline();
  add_cost_windows(builder, 15, 0.25);
  const Info info = info_of(builder.trace());
  EXPECT_THAT(info_text(builder.trace(), info),
              HasSubstr("recording cost not measured (not enough windows: 5 of 10)"));
  EXPECT_EQ(json::parse(info_json(info))["recording_cost"]["percent"], nullptr);
}

TEST(RecordingCost, IsNotMeasuredWithGraphsUnlessNothingHasTimes) {
  for (const bool times : {true, false}) {
    test::TraceBuilder builder;
    builder.meta("tier", times ? "times" : "structure").process("app").thread("main");
    builder.stream("a").graph_launch(10, 20);
    add_cost_windows(builder, 65, 0.25);
    const trace::Trace trace = builder.trace();
    const Info info = info_of(trace);
    EXPECT_EQ(info.recording_cost.is_measured(), !times);
    const auto graphs = HasSubstr("graphs are traced from the start or never: compare runs");
    EXPECT_EQ(testing::Matches(graphs)(info_text(trace, info)), times);
  }
}

TEST(Report, HasNoEscapesWithoutColor) {
  const trace::Trace trace = test::pipeline().trace();
  EXPECT_THAT(written("text", trace), Not(HasSubstr("\x1b")));
  EXPECT_THAT(written("text", trace, {.look = {.color = true}}), HasSubstr("\x1b[1m"));
}

TEST(Report, TheLongestWaitNamesEventStreamAndCopy) {
  EXPECT_THAT(written("text", test::pipeline().trace()),
              HasSubstr("gemm<…> on stream 8 math waited for event \"loaded 0\" recorded on stream "
                        "7 copies after memcpy "
                        "HtoD of 4 MiB"));
}

TEST(Report, StreamSharesSumToTheTimeBetweenFirstAndLastOp) {
  for (const test::Sample& sample : test::samples()) {
    for (const StreamSummary& stream : summarize(sample.trace).streams) {
      Ns waiting = 0;
      for (const auto& series : stream.sums.waiting) waiting += series.total_ns();
      EXPECT_EQ(waiting, stream.activity.idle_ns()) << sample.name << ", stream " << stream.stream;
    }
  }
}

// Start-up takes 20 ms, an iteration 52 µs, and one of them copies five times as long.
TEST(Report, AnIterationComesFirstTheWholeRunSecondAndOutliersAreNamed) {
  analysis::SteppedProgram program;
  program.steps(20, [&](int step) {
    if (step == 0) program.pause(20'000);
    program.copy(test::kHtoD, 2, step == 13 ? 100 : 20);
    program.launch(2, 20);
    program.synchronize();
  });
  const trace::Trace trace = program.builder.trace();
  const std::string text = written("text", trace);
  EXPECT_THAT(text, HasSubstr("1 of them took 1.5 times as long or more; the longest, iteration "
                              "14, took 128 µs, with 80.0 µs more of copies."));
  EXPECT_THAT(text, HasSubstr("outliers: iteration 14: copies 100 µs instead of 20.0 µs\n"));
  EXPECT_THAT(
      text, HasSubstr("outliers: iteration 14: cudaDeviceSynchronize 124 µs instead of 44.5 µs\n"));
  const json report = json::parse(written("json", trace));
  EXPECT_EQ(report["streams"][0]["iteration"]["busy"]["median_ns"], 40'000);
  EXPECT_EQ(report["streams"][0]["busy_ns"], 20 * 40'000 + 80'000);
  EXPECT_EQ(report["overlap"][0]["iteration"]["copy"]["outliers"][0]["iteration"], 13);
  EXPECT_EQ(report["host_syncs"][0]["iteration"]["count"], 1.0);
  EXPECT_EQ(report["critical_path_iteration"]["kernel"]["median_ns"], 20'000);
}

// Each kernel is launched right after the one before it has ended.
TEST(Report, AHostThatKeepsTheDeviceBusyCostsLittle) {
  const auto text_of = [](Ns lasts_us) {
    analysis::SteppedProgram program;
    program.steps(20, [&](int) {
      for (const char* kernel : {"first", "second"}) {
        program.launch(2, lasts_us, kernel);
        program.pause(1003);
      }
    });
    return written("text", program.builder.trace());
  };
  EXPECT_THAT(
      text_of(1000),
      HasSubstr("long pauses between its CUDA calls. The device is nearly always busy, too: "
                "only more overlap of its work would save much."));
  EXPECT_THAT(text_of(800), AllOf(HasSubstr("long pauses between its CUDA calls."),
                                  Not(HasSubstr("nearly always busy"))));
}

TEST(Report, WithoutIterationsTheWholeRunIsAllThereIs) {
  const trace::Trace trace = test::pipeline().trace();
  analysis::IterationRequest none;
  none.off = true;
  const Summary summary = summarize(trace, none);
  const std::string text = to_text(compose(trace, summary, By::kStream), {});
  EXPECT_THAT(text, Not(HasSubstr("whole run")));
  EXPECT_THAT(text, HasSubstr("The chain that determined the duration of the run"));
}

TEST(Report, OddTracesAreReported) {
  test::TraceBuilder builder;
  builder.add(trace::Op{});
  builder.add(
      trace::Op{.kind = 42, .stream_id = 99, .name_id = 12345, .start_ns = 50, .end_ns = 10});
  builder.add(trace::Op{.kind = trace::kMemcpy,
                        .stream_id = builder.add(trace::Stream{}),
                        .start_ns = 1,
                        .end_ns = 9});
  builder.add(trace::Op{.kind = trace::kKernel, .stream_id = 0, .start_ns = 100, .end_ns = 109});
  builder.add(trace::EventRecord{.stream_id = 77, .event_id = 88});
  builder.add(trace::EventWait{
      .stream_id = 0, .event_id = 88, .binding = 0, .record_id = 99, .end_ns = 5, .result = 0});
  builder.add(trace::HostSync{});
  builder.add(trace::HostSync{
      .thread_id = 9, .kind = 1, .stream_id = 5, .start_ns = 9, .end_ns = 3, .stack_id = 4});
  builder.add(trace::Range{});
  builder.add(trace::Range{.thread_id = 0, .name_id = 4444, .start_ns = 10, .end_ns = 3});
  builder.add(trace::Loss{});
  builder.add(trace::Overhead{});
  builder.add(trace::Process{});
  builder.add(trace::Device{});
  builder.add(trace::Thread{});
  builder.loss("bad \xff\xfe name \x1b[31m", -5);
  for (const Exporter& exporter : exporters()) {
    for (By by : {By::kStream, By::kNvtx, By::kKernel}) {
      const std::string text = written(exporter.name.data(), builder.trace(), {.by = by});
      EXPECT_FALSE(text.empty());
      EXPECT_THAT(text, Not(HasSubstr("\x1b"))) << "a trace must not steer a terminal";
    }
  }
  EXPECT_NO_THROW(info_text(builder.trace(), info_of(builder.trace())));
}

TEST(Report, SummarizesPossibleFindingsInOneLine) {
  test::TraceBuilder builder;
  builder.meta("kernel_arguments", "1").meta("tier", "times").malloc(0x7000'0000, 4096);
  for (const char* stream : {"left", "right"})
    builder.stream(stream).kernel("work", 10, 20).parameter(0, 0x7000'0000);
  const trace::Trace trace = builder.trace();
  const Summary summary = summarize(trace);
  EXPECT_TRUE(summary.advice.empty());
  for (const Exporter& exporter : exporters()) {
    if (exporter.name == "json") continue;  // it lists them, below
    const auto written = [&](bool show) {
      return exporter.write(trace, summary, {.show_possible = show});
    };
    EXPECT_THAT(written(false), testing::AllOf(HasSubstr("1 possible finding (1 stream-race)"),
                                               Not(HasSubstr("may access"))))
        << exporter.name;
    EXPECT_THAT(written(true), HasSubstr("may access the same memory")) << exporter.name;
  }
  const json report = json::parse(write_json(trace, summary, {}));
  EXPECT_TRUE(report["worth_fixing"].empty());
  ASSERT_EQ(report["possible"].size(), 1u);
  EXPECT_EQ(report["possible"][0]["confidence"], "possible");
}

TEST(Report, SaysWhatAnImportedProfileNeedsToNameCallSites) {
  const auto text_of = [](const char* origin) {
    test::TraceBuilder builder;
    if (*origin) builder.meta("imported_from", origin);
    builder.stream("main").kernel("work", 10, 20);
    builder.synchronize_device(5, 25);
    return written("text", builder.trace(), {});
  };
  EXPECT_THAT(text_of("kineto"), HasSubstr("where calls were made is not known (profile with "
                                           "with_stack=True)"));
  EXPECT_THAT(text_of("nsys 2026.1"), HasSubstr("(nsys profile --cudabacktrace=sync)"));
  EXPECT_THAT(text_of(""), Not(HasSubstr("where calls were made")));
}

TEST(Report, JsonIsParsedBackAndHasItsSchema) {
  for (const test::Sample& sample : test::samples()) {
    for (By by : {By::kStream, By::kNvtx, By::kKernel}) {
      EXPECT_EQ(json::parse(written("json", sample.trace, {.by = by}))["schema"], 1);
    }
  }
}

TEST(Report, MarkdownEscapesNamesOfTheProgram) {
  test::TraceBuilder builder;
  builder.stream("<b>a|b</b>").kernel("k*_x", 10, 20);
  const std::string text = written("markdown", builder.trace(), {.by = By::kKernel});
  EXPECT_THAT(text, HasSubstr("&lt;b&gt;a\\|b&lt;/b&gt;"));
  EXPECT_THAT(text, HasSubstr("k\\*\\_x"));
}

TEST(Info, CountsAreThoseOfTheProgram) {
  test::TraceBuilder builder = test::pipeline();
  builder.stream("copies").memset(960'000, 961'000).graph_launch(962'000, 963'000);
  const Counts counts = info_of(builder.trace()).counts;
  EXPECT_EQ(counts.kernel, 16u);
  EXPECT_EQ(counts.memcpy, 9u);
  EXPECT_EQ(counts.memset, 1u);
  EXPECT_EQ(counts.graph_launch, 1u);
  EXPECT_EQ(counts.op, 27u);
  EXPECT_EQ(counts.event_record, 16u);
  EXPECT_EQ(counts.event_wait, 14u);
  EXPECT_EQ(counts.event_edge, 14u);
  EXPECT_EQ(counts.host_sync, 2u);  // queries are not synchronizations
  EXPECT_EQ(counts.query, 1u);
  EXPECT_EQ(counts.api_call, 27u + 16 + 14 + 3);
  EXPECT_EQ(counts.range, 1u);
  EXPECT_EQ(counts.dropped, 0u);
}

TEST(Info, JsonHasThePromisedKeys) {
  const auto json = nlohmann::json::parse(info_json(info_of(test::pipeline().trace())));
  for (const char* key :
       {"schema", "format_version", "producer", "complete", "duration_ns", "counts", "losses"}) {
    EXPECT_TRUE(json.contains(key)) << key;
  }
  for (const char* key :
       {"process", "thread", "device", "stream", "op", "kernel", "memcpy", "memset", "api_call",
        "event_record", "event_wait", "event_edge", "host_sync", "range", "operation", "barrier"}) {
    EXPECT_TRUE(json["counts"].contains(key)) << key;
  }
  EXPECT_TRUE(json["complete"].is_boolean());
}

TEST(Info, LossesAreCountedMostSevereFirst) {
  const auto samples = test::samples();
  const Info info = info_of(samples[1].trace);
  ASSERT_EQ(info.losses.size(), 4u);
  EXPECT_EQ(info.losses[0].name, "ring-full");
  EXPECT_EQ(info.losses[0].severity, trace::Severity::kDataLoss);
  EXPECT_EQ(info.losses[0].count, 1234u);
  EXPECT_FALSE(info.losses[0].advice.empty());
  EXPECT_EQ(info.losses[3].severity, trace::Severity::kInfo);
  EXPECT_EQ(info.counts.dropped, 1241u);  // an unknown kind counts as data loss
  EXPECT_EQ(verdict(info), "incomplete, 1,241 records lost");
  Info finished = info;
  finished.complete = true;
  EXPECT_EQ(verdict(finished), "1,241 records lost");
}

}  // namespace
}  // namespace streamscope::report
