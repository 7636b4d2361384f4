// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "report/export/export.h"

#include <gmock/gmock.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "export/chakra.pb.h"
#include "export/perfetto.pb.h"
#include "support/trace_builder.h"
#include "trace/error.h"

namespace streamscope::test {
namespace {

using nlohmann::json;
using report::ExportOptions;
using trace::Trace;

// Copies feed a kernel on another stream through an event, twice.
TraceBuilder two_steps() {
  TraceBuilder builder;
  for (int step = 0; step < 2; ++step) {
    const trace::Ns at = step * 1'000;
    builder.at(at);
    builder.stream("copies").memcpy(kHtoD, at + 100, at + 200).record("loaded");
    builder.stream("math").wait("loaded").kernel("gemm<\"x\">(float*)", at + 250, at + 400);
  }
  builder.range("a \\ \"range\"\x1b[31m", 0, 5'000);
  builder.synchronize_device(3'000, 4'000);
  return builder;
}

TEST(ChromeExport, HoldsEveryOpCallWaitAndArrow) {
  const Trace trace = two_steps().trace();
  const json document = json::parse(report::export_chrome(trace, {}));
  std::map<std::string, int> complete, begins, ends;
  for (const json& event : document["traceEvents"]) {
    if (event["ph"] == "X") ++complete[event["cat"]];
    if (event["ph"] == "s") ++begins[event["cat"]];
    if (event["ph"] == "f") ++ends[event["cat"]];
  }
  EXPECT_EQ(complete["kernel"], 2);
  EXPECT_EQ(complete["gpu_memcpy"], 2);
  EXPECT_EQ(complete["cuda_sync"], 2);
  EXPECT_EQ(complete["cuda_runtime"],
            static_cast<int>(trace.api_call.size() + trace.event_record.size() +
                             trace.event_wait.size() + trace.host_sync.size()));
  EXPECT_EQ(begins["ac2g"], 4);
  EXPECT_EQ(begins["event"], 2);
  EXPECT_EQ(begins, ends);
}

TEST(ChromeExport, KeepsNanosecondsAndTakesOnlyTheRange) {
  const json document =
      json::parse(report::export_chrome(two_steps().trace(), {.range = std::pair(1'000, 1'300)}));
  int ops = 0;
  for (const json& event : document["traceEvents"]) {
    const std::string category = event.value("cat", "");
    if (event["ph"] != "X" || category == "cuda_sync" ||
        !event.value("args", json::object()).contains("device"))
      continue;
    ++ops;
    if (category == "gpu_memcpy") {
      EXPECT_DOUBLE_EQ(event["ts"], 1.1);
      EXPECT_DOUBLE_EQ(event["dur"], 0.1);
    }
  }
  EXPECT_EQ(ops, 2);
}

TEST(PerfettoExport, NamesTheWorkThatEachOpWaitedFor) {
  const Trace trace = two_steps().trace();
  perfetto::Trace parsed;
  ASSERT_TRUE(parsed.ParseFromString(report::export_perfetto(trace, {})));
  std::map<uint64_t, std::vector<uint64_t>> waits;
  int begins = 0, ends = 0;
  for (const auto& packet : parsed.packet()) {
    if (packet.has_gpu_render_stage_event()) {
      const auto& event = packet.gpu_render_stage_event();
      const auto& ids = event.event_wait_ids();
      waits[event.event_id()].assign(ids.begin(), ids.end());
    }
    begins += packet.track_event().type() == perfetto::TrackEvent::TYPE_SLICE_BEGIN;
    ends += packet.track_event().type() == perfetto::TrackEvent::TYPE_SLICE_END;
  }
  ASSERT_EQ(waits.size(), trace.op.size());
  for (trace::Id op = 0; op < trace.op.size(); ++op) {
    if (trace.op.kind[op] != trace::kKernel) continue;
    EXPECT_EQ(waits[op + 1], std::vector<uint64_t>{op});  // the copy before it
  }
  EXPECT_EQ(begins, ends);
  EXPECT_GT(begins, 0);
}

struct ChakraTrace {
  explicit ChakraTrace(const std::string& bytes) {
    google::protobuf::io::ArrayInputStream stream(bytes.data(), static_cast<int>(bytes.size()));
    google::protobuf::io::CodedInputStream in(&stream);
    EXPECT_TRUE(read(in, metadata));
    for (chakra::Node node; read(in, node); node.Clear()) nodes.push_back(node);
  }
  template <class Message>
  static bool read(google::protobuf::io::CodedInputStream& in, Message& message) {
    uint32_t size = 0;
    if (!in.ReadVarint32(&size)) return false;
    const auto limit = in.PushLimit(static_cast<int>(size));
    EXPECT_TRUE(message.ParseFromCodedStream(&in) && in.ConsumedEntireMessage());
    in.PopLimit(limit);
    return true;
  }
  const chakra::Node& named(const std::string& name) const {
    const auto found = std::ranges::find_if(
        nodes, [&](const chakra::Node& node) { return node.name().starts_with(name); });
    EXPECT_NE(found, nodes.end()) << name;
    return *found;
  }

  chakra::GlobalMetadata metadata;
  std::vector<chakra::Node> nodes;
};

TEST(ChakraExport, HasWhatEachNodeNeedsBeforeIt) {
  const ChakraTrace trace(report::export_chakra(two_steps().trace(), {}));
  EXPECT_EQ(trace.metadata.version(), "0.0.4");
  std::set<uint64_t> known;
  int ops = 0, on_host = 0;
  for (const chakra::Node& node : trace.nodes) {
    for (const uint64_t id : node.data_deps()) EXPECT_TRUE(known.contains(id)) << node.name();
    for (const uint64_t id : node.ctrl_deps()) EXPECT_TRUE(known.contains(id)) << node.name();
    EXPECT_TRUE(known.insert(node.id()).second);
    EXPECT_EQ(node.attr(0).name(), "is_cpu_op");
    (node.attr(0).bool_val() ? on_host : ops) += 1;
  }
  EXPECT_EQ(ops, 4);
  EXPECT_GE(on_host, 4);
  const chakra::Node& copy = trace.nodes[1];
  EXPECT_THAT(trace.named("gemm").data_deps(), testing::Contains(copy.id()));
}

TEST(ChakraExport, NamesCollectivesAndKeepsTheSumOfDurations) {
  TraceBuilder builder;
  for (int i = 0; i < 10; ++i) {
    const trace::Ns at = i * 10'000;
    builder.at(at).stream("main").kernel("k", at + 100, at + 1'600);
    builder.at(at + 2'000)
        .stream("main")
        .kernel("ncclDevKernel_AllReduce_Sum_f32", at + 2'100, at + 9'000);
  }
  const ChakraTrace trace(report::export_chakra(builder.trace(), {}));
  uint64_t total = 0;
  int collectives = 0;
  for (const chakra::Node& node : trace.nodes) {
    if (!node.attr(0).bool_val()) total += node.duration_micros();
    if (node.type() != chakra::COMM_COLL_NODE) continue;
    ++collectives;
    EXPECT_EQ(node.attr(1).name(), "comm_type");
    EXPECT_EQ(node.attr(1).int64_val(), 0);
  }
  EXPECT_EQ(collectives, 10);
  EXPECT_EQ(total, 84u);  // 8.4 us each time
}

// Writes it and has graphviz draw it.
int graphviz(const std::string& text) {
  const auto file = std::filesystem::path(testing::TempDir()) / "export_test.dot";
  std::ofstream(file) << text;
  return std::system(("dot -Tsvg '" + file.string() + "' >/dev/null 2>&1").c_str());
}

TEST(DotExport, IsAGraphThatGraphvizDraws) {
  if (std::system("dot -V >/dev/null 2>&1") != 0) GTEST_SKIP() << "graphviz is not installed";
  const std::string text = report::export_dot(two_steps().trace(), {});
  EXPECT_NE(text.find("op0 -> op1 [color=\"#1f5fbf\" penwidth=2 label=\"event\"]"), text.npos)
      << text;
  EXPECT_EQ(graphviz(text), 0) << text;
  EXPECT_NE(graphviz(text + "}"), 0);
}

TEST(DotExport, ShowsAnOpWithItsNearestNeighbors) {
  TraceBuilder builder;
  for (int i = 0; i < 3'000; ++i) builder.stream("math").kernel("k", 10 * i, 10 * i + 5);
  const Trace trace = builder.trace();
  EXPECT_THROW(report::export_dot(trace, {}), Error);
  const std::string text = report::export_dot(trace, {.around = 1'500});
  EXPECT_NE(text.find("op1500 "), text.npos);
  EXPECT_NE(text.find("op1499 -> op1500"), text.npos);
  EXPECT_EQ(text.find("op2000 "), text.npos);
  EXPECT_THROW(report::export_dot(trace, {.around = 4'000}), Error);
}

TEST(ChromeExport, AcceptsOnlyANumberForTheStartOfTheTrace) {
  for (const char* text : {"</script>", "1, \"x\": 2", "", "9223372036854775807"}) {
    test::TraceBuilder builder = two_steps();
    builder.meta("trace_start_realtime_ns", text);
    EXPECT_EQ(report::export_chrome(builder.trace(), {}).find("baseTimeNanoseconds"),
              std::string::npos)
        << text;
  }
  test::TraceBuilder builder = two_steps();
  builder.meta("trace_start_realtime_ns", "1700000000000000000");
  EXPECT_NE(report::export_chrome(builder.trace(), {}).find("\"baseTimeNanoseconds\": 17000000"),
            std::string::npos);
}

TEST(CsvExport, TextsAreNeverFormulasOrControlCodes) {
  using report::csv_text;
  for (const char* formula : {"=1+1", "+A1", "-A1", "@SUM(A1)", "＝1", "-1+cmd|' /C calc'!A0"})
    EXPECT_EQ(csv_text(formula), std::string("'") + formula) << formula;
  EXPECT_EQ(csv_text("=1,2"), "\"'=1,2\"");
  EXPECT_EQ(csv_text("\t=1"), "' =1");
  EXPECT_EQ(csv_text("\r=1"), "' =1");
  EXPECT_EQ(csv_text("\n=1"), "\"'\n=1\"");
  for (const char* number : {"-5", "-5.25", "-1e-9", "12", "0"})
    EXPECT_EQ(csv_text(number), number);
  EXPECT_EQ(csv_text("+3.5 ms", true), "+3.5 ms");
  EXPECT_EQ(csv_text("a\x1b[31m\x01"
                     "b"),
            "a [31m b");
  EXPECT_EQ(csv_text("\xff\xfe"), "\uFFFD\uFFFD");
  EXPECT_EQ(csv_text("a\u202Eb"), "a[U+202E]b");
  EXPECT_EQ(csv_text("one\ntwo;\"three\""), "\"one\ntwo;\"\"three\"\"\"");
}

TEST(CsvExport, HoldsTheRowsOfAView) {
  const auto file = std::filesystem::path(testing::TempDir()) / "csv_export.sqlite";
  std::filesystem::remove(file);
  two_steps().write(file);
  const Trace trace = trace::read(file);
  const std::string text = report::export_csv(trace, {.view = "v_op"});
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 5);
  EXPECT_TRUE(text.starts_with("id,kind,name,process")) << text;
  EXPECT_NE(text.find("\"gemm<\"\"x\"\">(float*)\""), text.npos) << text;
  const std::string part =
      report::export_csv(trace, {.view = "v_op", .range = std::pair(1'000, 2'000)});
  EXPECT_EQ(std::count(part.begin(), part.end(), '\n'), 3);
  EXPECT_THROW(report::export_csv(trace, {.view = "nothing\"; DROP TABLE op"}), Error);
}

TEST(Exports, AreNeverEmptyFiles) {
  const Trace empty = TraceBuilder().trace();
  const Trace full = two_steps().trace();
  for (auto* write : {report::export_chrome, report::export_perfetto, report::export_dot,
                      report::export_chakra}) {
    EXPECT_THROW(write(empty, {}), Error);
    EXPECT_THROW(write(full, {.range = std::pair(1'000'000, 2'000'000)}), Error);
    EXPECT_FALSE(write(full, {}).empty());
  }
}

}  // namespace
}  // namespace streamscope::test
