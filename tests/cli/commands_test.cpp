// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/file.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <regex>
#include <sstream>
#include <thread>

#include "program.h"
#include "support/golden.h"
#include "trace/loss.h"
#include "trace/model.h"

namespace streamscope::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

using Help = CommandLine;
using HelpGolden = CommandLine;
using Usage = CommandLine;
using WrongInput = CommandLine;
using InfoCommand = CommandLine;
using RecordCommand = CommandLine;
using DemoCommand = CommandLine;
using ReportCommand = CommandLine;
using CheckCommand = CommandLine;
using QueryCommand = CommandLine;
using AnalyzeCommand = CommandLine;
using DoctorCommand = CommandLine;

// The first words of the lines of the overview that are indented by two.
std::vector<std::string> commands_of(const std::string& overview) {
  std::vector<std::string> names;
  std::istringstream lines(overview);
  for (std::string line, name; std::getline(lines, line);) {
    if (line.starts_with("  ") && !line.starts_with("   ") && std::istringstream(line) >> name)
      names.push_back(name);
  }
  return names;
}

TEST_F(HelpGolden, OverviewAndCommandsAreAsApproved) {
  const std::string overview = streamscope({"help"}).out;
  const std::string head = "streamscope " STREAMSCOPE_VERSION ": ";
  ASSERT_THAT(overview, StartsWith(head));
  expect_golden("help/streamscope.txt", "streamscope VERSION: " + overview.substr(head.size()));
  for (const std::string& command : commands_of(overview)) {
    if (command == "view") continue;  // the viewer has its own
    const Result help = streamscope({command, "--help"});
    EXPECT_EQ(help.code, 0) << command << help.err;
    if (command == "import" && help.out.find("otf2:") == std::string::npos)
      continue;  // built without the library
    expect_golden("help/" + command + ".txt", help.out);
  }
}

TEST_F(Help, IsTheSameForEveryAlias) {
  const std::string overview = streamscope({}).out;
  EXPECT_THAT(overview, HasSubstr("record"));
  for (const char* argument : {"help", "--help", "-h"}) {
    const Result help = streamscope({argument});
    EXPECT_EQ(help.code, 0);
    EXPECT_EQ(help.out, overview);
  }
  EXPECT_EQ(streamscope({"help", "info"}).out, streamscope({"info", "--help"}).out);
  EXPECT_EQ(streamscope({"--version"}).out, "streamscope " STREAMSCOPE_VERSION "\ntrace format " +
                                                std::to_string(trace::kFormatVersion) + "\n");
}

TEST_F(Usage, ErrorsAreOneLineAndCodeTwo) {
  write_trace();
  const std::vector<std::vector<std::string>> wrong = {
      {"frobnicate"},
      {"info"},
      {"info", "t.sqlite", "extra"},
      {"info", "--frobnicate", "t.sqlite"},
      {"report", "t.sqlite", "--format", "pdf"},
      {"report", "t.sqlite", "--by", "moon"},
      {"report", "t.sqlite", "-o"},
      {"check"},
      {"check", "t.sqlite", "--fail-on", "moon"},
      {"check", "t.sqlite", "--require", "moon"},
      {"check", "t.sqlite", "--format", "pdf"},
      {"check", "t.sqlite", "--wait", "-1"},
      {"diff", "t.sqlite", "t.sqlite", "--iteration", "step"},
      {"diff", "t.sqlite", "t.sqlite", "--iteration", "nvtx:no such range"},
      {"query", "t.sqlite"},
      {"query", "t.sqlite", "select 1", "--format", "xml"},
      {"doctor", "--frobnicate"},
      {"help", "frobnicate"},
      {"record"},
      {"record", "--"},
      {"record", "--tier", "all", "--", "true"},
      {"record", "--with", "args,moon", "--", "true"},
      {"record", "--capture-range", "nvtx:", "--", "true"},
      {"record", "--delay", "-1", "--", "true"},
      {"record", "--duration", "0", "--", "true"},
      {"record", "--attach-writer"},
      {"demo", "frobnicate"},
      {"demo", "--iterations", "0"},
      {"demo", "--device", "tpu"},
  };
  for (const auto& arguments : wrong) {
    const Result result = streamscope(arguments);
    const std::string words = testing::PrintToString(arguments);
    EXPECT_EQ(result.code, 2) << words << result.err;
    EXPECT_EQ(result.error_lines(), 1u) << words << result.err;
    EXPECT_THAT(result.err, StartsWith("streamscope: ")) << words;
    EXPECT_EQ(result.out, "") << words;
  }
}

void make_database(const fs::path& file, const char* sql) {
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(file.c_str(), &database), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(database, sql, nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(database);
}

TEST_F(WrongInput, IsOneLineThatNamesFileCauseAndRemedy) {
  write_trace();
  fs::create_directory(folder_ / "folder.sqlite");
  std::ofstream(folder_ / "empty.sqlite").close();
  std::ofstream(folder_ / "text.sqlite") << std::string(5000, 'x');
  const std::string whole = content(folder_ / "t.sqlite");
  std::ofstream(folder_ / "truncated.sqlite", std::ios::binary)
      << whole.substr(0, whole.size() / 2);
  std::ofstream(folder_ / "header.sqlite", std::ios::binary) << whole.substr(0, 60);
  make_database(folder_ / "foreign.sqlite", "create table t(x)");
  fs::copy(folder_ / "t.sqlite", folder_ / "newer.sqlite");
  make_database(folder_ / "newer.sqlite", "pragma user_version = 999");

  for (const std::string name :
       {"missing", "folder", "empty", "text", "truncated", "header", "foreign", "newer"}) {
    const std::string file = name + ".sqlite";
    const std::string before = name == "missing" || name == "folder" ? "" : content(folder_ / file);
    for (const std::vector<std::string>& arguments :
         {std::vector<std::string>{"info", file},
          {"info", "--json", file},
          {"report", file},
          {"report", file, "--format", "json", "-o", "never.json"},
          {"check", file},
          {"check", file, "--format", "sarif", "-o", "never.json"},
          {"query", file, "select count(*) from op"},
          {"view", file, "--screenshot", "never.png"},
          {"analyze", file}}) {
      const Result result = streamscope(arguments);
      const std::string words = testing::PrintToString(arguments);
      EXPECT_EQ(result.code, 2) << words << result.err;
      EXPECT_EQ(result.error_lines(), 1u) << words << result.err;
      EXPECT_THAT(result.err, HasSubstr(file)) << words;
      EXPECT_THAT(result.err, HasSubstr(";")) << words << " names no remedy";
      EXPECT_EQ(result.out, "") << words;
    }
    if (!before.empty()) {
      EXPECT_EQ(content(folder_ / file), before) << file << " was touched";
    }
  }
  EXPECT_FALSE(fs::exists(folder_ / "missing.sqlite"));
  EXPECT_FALSE(fs::exists(folder_ / "never.json"));
  EXPECT_FALSE(fs::exists(folder_ / "never.png"));
  EXPECT_THAT(streamscope({"info", "newer.sqlite"}).err, HasSubstr("999"));
}

TEST_F(RecordCommand, PassesOnOutputAndExitCodeOfAProgramWithoutCuda) {
  const Result result = streamscope({"record", "--", "sh", "-c", "echo out; echo err >&2; exit 7"});
  EXPECT_EQ(result.code, 7);
  EXPECT_EQ(result.out, "out\n");
  EXPECT_THAT(result.err, HasSubstr("err\n"));
  EXPECT_THAT(result.err, HasSubstr("no CUDA call"));
  EXPECT_EQ(streamscope({"record", "--quiet", "sh", "-c", "exit 3"}).err, "");
  EXPECT_EQ(streamscope({"record", "--", "sh", "-c", "kill -TERM $$"}).code, 128 + 15);
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_)) {
    EXPECT_THAT(entry.path().filename().string(), StartsWith("."))
        << "a file of a program without CUDA";
  }
}

TEST_F(RecordCommand, RefusesBeforeItRunsTheProgram) {
  write_trace();
  const std::string before = content(folder_ / "t.sqlite");
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"record", "-o", "t.sqlite", "--", "touch", "ran"},
        {"record", "-o", "no/such/folder.sqlite", "--", "touch", "ran"},
        {"record", "--with", "accesses", "--tier", "times", "--", "touch", "ran"},
        {"record", "--with", "accesses,graph-nodes", "--", "touch", "ran"},
        {"record", "--with", "accesses", "--source", "cupti", "--", "touch", "ran"},
        {"record", "--", "./no-such-program"}}) {
    const Result result = streamscope(arguments);
    EXPECT_EQ(result.code, 2) << result.err;
    EXPECT_EQ(result.error_lines(), 1u) << result.err;
  }
  EXPECT_FALSE(fs::exists(folder_ / "ran"));
  EXPECT_EQ(content(folder_ / "t.sqlite"), before);
}

TEST_F(DemoCommand, RecordsReportsAndStoresTheEdges) {
  const Result result =
      streamscope({"demo", "pipeline", "--device", "sim", "--iterations", "4", "-o", "p.sqlite"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("streamscope: wrote p.sqlite: "));
  EXPECT_THAT(result.out, HasSubstr("complete, nothing lost"));
  EXPECT_THAT(result.out, HasSubstr("Longest waits"));
  const json printed = json::parse(result.out.substr(0, result.out.find('\n')));
  const json counts = json::parse(streamscope({"info", "--json", "p.sqlite"}).out)["counts"];
  EXPECT_EQ(counts["kernel"], printed["launches"]);
  EXPECT_EQ(counts["event_record"], printed["records"]);
  EXPECT_EQ(counts["event_wait"], printed["waits"]);
  EXPECT_EQ(counts["event_edge"], printed["waits"]);
  EXPECT_EQ(counts["host_sync"], printed["syncs"]);
  EXPECT_THAT(
      streamscope({"query", "p.sqlite", "select count(*) > 0 from edge", "--format", "csv"}).out,
      HasSubstr("\n1\n"));
  EXPECT_EQ(streamscope({"demo", "pipeline", "--device", "sim", "-o", "p.sqlite"}).code, 2)
      << "overwrote a trace";
  EXPECT_EQ(streamscope({"demo", "--device", "sim", "--quiet", "--force", "-o", "p.sqlite"}).err,
            "");
}

TEST_F(DemoCommand, ADeadlockIsReportedWithTheProgramsOwnExitCode) {
  const Result result = streamscope({"demo", "deadlock", "--device", "sim", "-o", "d.sqlite"});
  EXPECT_EQ(result.code, 3) << result.err;
  EXPECT_THAT(result.out, HasSubstr("Unfinished work"));
  EXPECT_THAT(result.out, HasSubstr("memory wait"));
}

TEST_F(InfoCommand, JsonHasThePromisedKeysAndCounts) {
  write_trace();
  const Result result = streamscope({"info", "--json", "t.sqlite"});
  ASSERT_EQ(result.code, 0) << result.err;
  const json info = json::parse(result.out);
  EXPECT_EQ(info["schema"], 1);
  EXPECT_EQ(info["complete"], true);
  EXPECT_EQ(info["losses"], json::array());
  EXPECT_EQ(info["counts"]["kernel"], 1);
  EXPECT_EQ(info["counts"]["memcpy"], 1);
  EXPECT_EQ(info["counts"]["event_edge"], 1);
  EXPECT_EQ(info["counts"]["host_sync"], 1);
  EXPECT_EQ(info["counts"]["api_call"], 5);
  for (const char* key : {"format_version", "producer", "duration_ns"})
    EXPECT_TRUE(info.contains(key)) << key;
  EXPECT_THAT(streamscope({"info", "t.sqlite"}).out, HasSubstr("complete, nothing lost"));
}

TEST_F(ReportCommand, WritesEveryFormatToOutputOrFile) {
  write_trace();
  EXPECT_THAT(streamscope({"report", "t.sqlite"}).out,
              HasSubstr("gemm on stream 8 math waited for event \"loaded\""));
  EXPECT_THAT(streamscope({"report", "t.sqlite", "--format", "markdown"}).out,
              HasSubstr("### Streams"));
  EXPECT_EQ(json::parse(streamscope({"report", "t.sqlite", "--format", "json"}).out)["schema"], 1);
  EXPECT_THAT(streamscope({"report", "t.sqlite", "--by", "nvtx"}).out, HasSubstr("step"));
  EXPECT_THAT(streamscope({"report", "t.sqlite", "--by", "kernel"}).out,
              HasSubstr("Kernels and copies"));
  const Result to_file = streamscope({"report", "t.sqlite", "-o", "r.txt"});
  EXPECT_EQ(to_file.code, 0) << to_file.err;
  EXPECT_EQ(to_file.out, "");
  EXPECT_EQ(content(folder_ / "r.txt"), streamscope({"report", "t.sqlite"}).out);
}

TEST_F(ReportCommand, NeverOverwritesATrace) {
  write_trace();
  write_trace("other.sqlite");
  const std::string before = content(folder_ / "t.sqlite");
  for (const char* output : {"t.sqlite", "./t.sqlite", "other.sqlite"}) {
    const Result result = streamscope({"report", "t.sqlite", "-o", output});
    EXPECT_EQ(result.code, 2) << output;
    EXPECT_EQ(result.error_lines(), 1u) << result.err;
  }
  EXPECT_EQ(content(folder_ / "t.sqlite"), before);
  EXPECT_EQ(streamscope({"report", "t.sqlite", "-o", "no/such/folder.txt"}).code, 2);
}

// One line summarizes possible findings, unless they are requested; they never fail the check.
TEST_F(CheckCommand, ListsPossibleFindingsOnDemandAndNeverFailsOnThem) {
  TraceBuilder possible;
  possible.meta("kernel_arguments", "1").meta("tier", "times").malloc(0x7000'0000, 4096);
  for (const char* stream : {"left", "right"})
    possible.stream(stream).kernel("work", 100, 200).parameter(0, 0x7000'0000);
  possible.write(folder_ / "possible.sqlite");
  for (const char* level : {"error", "warning", "note"})
    EXPECT_EQ(streamscope({"check", "possible.sqlite", "--fail-on", level}).code, 0) << level;
  for (const char* command : {"check", "report"}) {
    const std::string folded = streamscope({command, "possible.sqlite"}).out;
    EXPECT_THAT(folded, HasSubstr("1 possible finding (1 stream-race)")) << command;
    EXPECT_THAT(folded, Not(HasSubstr("without ordering"))) << command;
    const Result listed = streamscope({command, "--show", "possible", "possible.sqlite"});
    EXPECT_EQ(listed.code, 0) << listed.err;
    EXPECT_THAT(listed.out, HasSubstr("without ordering")) << command;
    EXPECT_EQ(streamscope({command, "possible.sqlite", "--show", "moon"}).code, 2);
  }
}

TEST_F(CheckCommand, ExitsWithTheCodeOfItsResult) {
  write_trace();
  EXPECT_EQ(streamscope({"check", "t.sqlite"}).code, 0);
  EXPECT_EQ(streamscope({"check", "t.sqlite", "--fail-on", "warning"}).code, 0);

  TraceBuilder error;
  error.stream("a").wait("never").kernel("k", 100, 200);
  error.write(folder_ / "error.sqlite");
  const Result found = streamscope({"check", "error.sqlite"});
  EXPECT_EQ(found.code, 1) << found.err;
  EXPECT_THAT(found.out, HasSubstr("SS005 wait-on-unrecorded"));

  TraceBuilder warning;
  warning.stream("a").kernel("k", 100, 200).record("own").wait("own").kernel("k", 200, 300);
  warning.write(folder_ / "warning.sqlite");
  EXPECT_EQ(streamscope({"check", "warning.sqlite"}).code, 0);
  EXPECT_EQ(streamscope({"check", "warning.sqlite", "--fail-on", "warning"}).code, 1);

  TraceBuilder lossy;
  lossy.stream("a").kernel("k", 100, 200);
  lossy.loss("ring-full");
  lossy.write(folder_ / "lossy.sqlite");
  const Result open = streamscope({"check", "lossy.sqlite"});
  EXPECT_EQ(open.code, 3) << open.err;
  EXPECT_THAT(open.out, HasSubstr("ring-full"));

  TraceBuilder structure;
  structure.meta("tier", "structure");
  structure.stream("a").kernel("k", trace::kUnknownNs, trace::kUnknownNs);
  structure.write(folder_ / "structure.sqlite");
  EXPECT_EQ(streamscope({"check", "structure.sqlite"}).code, 0);
  EXPECT_EQ(streamscope({"check", "--require", "SS207", "structure.sqlite"}).code, 3);
  EXPECT_EQ(streamscope({"check", "--require", "SS207", "t.sqlite"}).code, 0);
}

TEST_F(CheckCommand, WritesEveryFormatToOutputOrFile) {
  write_trace();
  EXPECT_THAT(streamscope({"check", "t.sqlite"}).out, HasSubstr("passed"));
  EXPECT_EQ(json::parse(streamscope({"check", "t.sqlite", "--format", "json"}).out)["schema"], 1);
  const Result to_file = streamscope({"check", "t.sqlite", "--format", "sarif", "-o", "c.sarif"});
  EXPECT_EQ(to_file.code, 0) << to_file.err;
  EXPECT_EQ(to_file.out, "");
  EXPECT_EQ(json::parse(content(folder_ / "c.sarif"))["version"], "2.1.0");
  EXPECT_EQ(streamscope({"check", "t.sqlite", "-o", "t.sqlite"}).code, 2);
}

// What a running recorder has beside its trace.
class Recorder {
 public:
  explicit Recorder(const fs::path& trace) : rings_(trace.string() + ".rings") {
    fs::create_directory(rings_);
    std::ofstream(rings_ / "control") << "in use";
    lock_ = open((rings_ / "control").c_str(), O_RDWR | O_CLOEXEC);
    EXPECT_EQ(flock(lock_, LOCK_EX | LOCK_NB), 0);
  }
  ~Recorder() {
    fs::remove_all(rings_);
    close(lock_);
  }
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

 private:
  fs::path rings_;
  int lock_ = -1;
};

TEST_F(CheckCommand, NeverPassesAnUnfinishedTrace) {
  const fs::path file = folder_ / "t.sqlite";
  write_trace();
  make_database(file, "update meta set value = 0 where key = 'finished'");
  for (const char* format : {"text", "json", "junit", "github", "markdown", "sarif"}) {
    const Result result = streamscope({"check", "t.sqlite", "--format", format});
    EXPECT_EQ(result.code, 3) << format << result.err;
    EXPECT_THAT(result.out, HasSubstr("unfinished")) << format;
  }
  EXPECT_EQ(streamscope({"check", "t.sqlite", "--fail-on", "note"}).code, 3);
  EXPECT_EQ(streamscope({"check", "t.sqlite", "--write-baseline", "b.json"}).code, 3);
  EXPECT_FALSE(fs::exists(folder_ / "b.json"));
  // Quantities that cannot be evaluated for the whole run neither pass nor fail.
  std::ofstream(folder_ / "budget.txt") << "critical-path <= 1 s\noverlap >= 99 %\n";
  EXPECT_EQ(streamscope({"check", "t.sqlite", "--budget", "budget.txt"}).code, 3);
  // What is already certain stays so.
  TraceBuilder error;
  error.stream("a").wait("never").kernel("k", 100, 200);
  error.write(folder_ / "error.sqlite");
  make_database(folder_ / "error.sqlite", "update meta set value = 0 where key = 'finished'");
  EXPECT_EQ(streamscope({"check", "error.sqlite"}).code, 1);

  write_trace("whole.sqlite");
  EXPECT_EQ(streamscope({"diff", "whole.sqlite", "whole.sqlite"}).code, 0);
  EXPECT_EQ(streamscope({"diff", "whole.sqlite", "t.sqlite"}).code, 3);
  EXPECT_EQ(streamscope({"diff", "t.sqlite", "whole.sqlite"}).code, 3);
  EXPECT_EQ(streamscope({"merge", "whole.sqlite", "t.sqlite", "-o", "m.sqlite"}).code, 0);
  EXPECT_EQ(streamscope({"check", "m.sqlite"}).code, 3);
  for (const std::vector<std::string>& shows : {std::vector<std::string>{"info"},
                                                {"info", "--json"},
                                                {"report"},
                                                {"report", "--format", "html"},
                                                {"report", "--format", "markdown"},
                                                {"report", "--format", "json"},
                                                {"export", "--to", "csv"}}) {
    std::vector<std::string> words = shows;
    words.insert(words.begin() + 1, "t.sqlite");
    const Result result = streamscope(words);
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_THAT(result.out + result.err, HasSubstr("unfinished")) << testing::PrintToString(words);
  }
  EXPECT_THAT(streamscope({"query", "t.sqlite", "select 1"}).err, HasSubstr("unfinished"));
}

TEST_F(CheckCommand, WaitsForARunningRecorder) {
  const fs::path file = folder_ / "t.sqlite";
  write_trace();
  make_database(file, "update meta set value = 0 where key = 'finished'");
  std::optional<Recorder> recorder(file);
  const Result too_short = streamscope({"check", "t.sqlite", "--wait", "0.2", "--quiet"});
  EXPECT_EQ(too_short.code, 3) << too_short.err;
  EXPECT_THAT(too_short.err, HasSubstr("t.sqlite: still being recorded; waiting up to 0.2 s"));
  EXPECT_EQ(streamscope({"check", "t.sqlite", "--wait", "0"}).code, 3);
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"check", "t.sqlite"},
        {"diff", "t.sqlite", "t.sqlite"},
        {"merge", "t.sqlite", "t.sqlite", "-o", "m.sqlite"}}) {
    make_database(file, "update meta set value = 0 where key = 'finished'");
    recorder.reset();
    recorder.emplace(file);
    std::thread end([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      make_database(file, "update meta set value = 1 where key = 'finished'");
      recorder.reset();
    });
    const Result waited = streamscope(command);
    end.join();
    EXPECT_EQ(waited.code, 0) << waited.err;
  }
  // Its trace may not exist yet.
  Recorder early(folder_ / "early.sqlite");
  const Result nothing = streamscope({"check", "early.sqlite", "--wait", "0"});
  EXPECT_EQ(nothing.code, 2);
  EXPECT_THAT(nothing.err, HasSubstr("early.sqlite: is not written yet"));
  // It may also be just a file: in its first milliseconds it is empty, then a database without
  // tables.
  for (const char* sql : {"", "PRAGMA journal_mode=WAL"}) {
    std::ofstream(folder_ / "early.sqlite").close();
    if (*sql != 0) make_database(folder_ / "early.sqlite", sql);
    const Result begun = streamscope({"check", "early.sqlite", "--wait", "0"});
    EXPECT_EQ(begun.code, 2) << sql;
    EXPECT_THAT(begun.err, HasSubstr("early.sqlite: is not written yet")) << sql;
  }
}

TEST_F(ReportCommand, RefusesFormatsThatAWhatIfDoesNotHave) {
  write_trace();
  for (const char* format : {"html", "markdown"}) {
    const Result result = streamscope(
        {"report", "t.sqlite", "--what-if", "scale-op:1=0.5", "--format", format, "-o", "r"});
    EXPECT_EQ(result.code, 2) << format;
    EXPECT_EQ(result.error_lines(), 1u) << result.err;
    EXPECT_THAT(result.err, HasSubstr("use text or json"));
    EXPECT_FALSE(fs::exists(folder_ / "r"));
  }
  EXPECT_EQ(streamscope({"report", "t.sqlite", "--what-if", "scale-op:1=0.5"}).code, 0);
}

TEST_F(ReportCommand, RefusesIterationsThatItCannotFind) {
  write_trace();
  const Result way = streamscope({"report", "t.sqlite", "--iteration", "steps"});
  EXPECT_EQ(way.code, 2);
  EXPECT_THAT(way.err, HasSubstr("'steps' is not a way to find iterations"));
  const Result graph =
      streamscope({"report", "t.sqlite", "--iteration", "none", "--what-if", "graph"});
  EXPECT_EQ(graph.code, 2);
  EXPECT_THAT(graph.err, HasSubstr("has nothing that 'graph' could change"));
}

TEST_F(QueryCommand, HelpNamesEveryTableAndView) {
  write_trace();
  const std::string help = streamscope({"query", "--help"}).out;
  const json names = json::parse(
      streamscope({"query", "t.sqlite",
                   "select name from sqlite_schema where type = 'table' or name glob 'v_*'",
                   "--format", "json"})
          .out);
  EXPECT_GT(names.size(), 20u);
  for (const json& row : names)
    EXPECT_THAT(help, testing::ContainsRegex("[ ,]" + std::string(row["name"]) + "[,.\n]"));
}

// Whatever the advice names can be found: options in help, variables in the documentation.
TEST_F(Help, HasEveryOptionNamedInTheAdviceOnALoss) {
  const std::string help = streamscope({"record", "--help"}).out;
  const std::string documentation = content(fs::path(STREAMSCOPE_DOCS) / "architecture.md");
  const auto names = [](std::string text, const char* pattern) {
    const std::regex name(pattern);
    std::vector<std::string> found;
    for (std::sregex_iterator at(text.begin(), text.end(), name), end; at != end; ++at)
      found.push_back(at->str());
    return found;
  };
  for (const trace::LossInfo& loss : trace::loss_kinds()) {
    const std::string advice(loss.advice);
    for (const std::string& option : names(advice, "(nsys )?--[a-z-]+")) {
      if (option.starts_with("nsys")) continue;
      EXPECT_THAT(help, HasSubstr(option)) << loss.name;
    }
    for (const std::string& variable : names(advice, "STREAMSCOPE_[A-Z_]+"))
      EXPECT_THAT(documentation, HasSubstr("`" + variable + "`")) << loss.name;
    for (const std::string& command : names(advice, "`streamscope [a-z]+"))
      EXPECT_EQ(streamscope({command.substr(13), "--help"}).code, 0) << loss.name;
  }
  // The advice on a missing libcupti names the places.
  EXPECT_THAT(streamscope({"doctor"}, {"STREAMSCOPE_CUPTI=/nowhere/libcupti.so"}).out,
              HasSubstr("/nowhere/libcupti.so"));
}

TEST_F(ReportCommand, HasNoColorWithoutATerminal) {
  write_trace();
  EXPECT_THAT(streamscope({"report", "t.sqlite"}, {"TERM=xterm"}).out, Not(HasSubstr("\x1b")));
}

TEST_F(QueryCommand, PrintsTableCsvAndJson) {
  write_trace();
  const std::string sql =
      "select name, end_ns - start_ns as ns, null as none from v_op order by start_ns";
  EXPECT_EQ(streamscope({"query", "t.sqlite", sql}).out,
            "  name             ns  none\n"
            "  memcpy HtoD  199900  NULL\n"
            "  gemm         149000  NULL\n"
            "(2 rows)\n");
  EXPECT_EQ(streamscope({"query", "t.sqlite", sql, "--format", "csv"}).out,
            "name,ns,none\nmemcpy HtoD,199900,\ngemm,149000,\n");
  EXPECT_EQ(json::parse(streamscope({"query", "t.sqlite", sql, "--format", "json"}).out),
            json::parse(R"([{"name": "memcpy HtoD", "ns": 199900, "none": null},
                            {"name": "gemm", "ns": 149000, "none": null}])"));
  EXPECT_EQ(
      streamscope({"query", "t.sqlite", "select 'a,\"b\"' as x, x'00ff' as y", "--format", "csv"})
          .out,
      "x,y\n\"a,\"\"b\"\"\",00ff\n");
  EXPECT_EQ(
      json::parse(streamscope({"query", "t.sqlite", "select 1 where 0", "--format", "json"}).out),
      json::array());
  EXPECT_EQ(streamscope({"query", "t.sqlite", "select kind from op where 0"}).out,
            "  kind\n(0 rows)\n");
}

TEST_F(QueryCommand, OnlyReads) {
  write_trace();
  const std::string before = content(folder_ / "t.sqlite");
  for (const char* sql :
       {"delete from op", "attach 'x.sqlite' as x", "vacuum", "pragma user_version = 3",
        "drop view v_op", "select 1; select 2", "select load_extension('x')", "selec", ""}) {
    const Result result = streamscope({"query", "t.sqlite", sql});
    EXPECT_EQ(result.code, 2) << sql;
    EXPECT_EQ(result.error_lines(), 1u) << sql << result.err;
    EXPECT_EQ(result.out, "") << sql;
  }
  EXPECT_EQ(content(folder_ / "t.sqlite"), before);
  EXPECT_FALSE(fs::exists(folder_ / "x.sqlite"));
}

TEST_F(AnalyzeCommand, FillsTheEdgeTableAndMayBeRepeated) {
  write_trace();
  EXPECT_EQ(streamscope({"analyze", "t.sqlite"}).out,
            "t.sqlite: 1 ordering edge between 2 ops, 0 findings\n");
  EXPECT_EQ(streamscope({"analyze", "--quiet", "t.sqlite"}).out, "");
  EXPECT_EQ(streamscope({"query", "t.sqlite", "select kind, from_op, to_op, lag_ns from v_edge",
                         "--format", "csv"})
                .out,
            "kind,from_op,to_op,lag_ns\nevent,0,1,1000\n");
  EXPECT_EQ(json::parse(streamscope({"info", "--json", "t.sqlite"}).out)["complete"], true);
}

TEST_F(DoctorCommand, ChecksWhatRecordingNeeds) {
  const Result result =
      streamscope({"doctor", "--json"}, {"CUDA_INJECTION64_PATH=/opt/other/tool.so"});
  EXPECT_THAT(result.code, testing::AnyOf(0, 1)) << result.err;
  std::vector<std::string> names;
  const json report = json::parse(result.out);
  for (const json& check : report["checks"]) {
    names.push_back(check["name"]);
    EXPECT_THAT(check["status"], testing::AnyOf("ok", "note", "problem"));
    EXPECT_NE(check["text"], "");
    if (check["status"] != "ok") {
      EXPECT_NE(check["advice"], "") << check["name"];
    }
    if (check["name"] == "environment") {
      EXPECT_THAT(std::string(check["text"]), HasSubstr("/opt/other/tool.so"));
    }
  }
  EXPECT_THAT(names,
              testing::UnorderedElementsAre("environment", "gpu", "cupti", "sanitizer", "collector",
                                            "clock", "ptrace", "disk", "viewer"));
  EXPECT_THAT(streamscope({"doctor"}, {"STREAMSCOPE_INJECT=/nowhere.so"}).code, 1);
}

}  // namespace
}  // namespace streamscope::test
