// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// `streamscope gate`: one job of a build server. Runs a program under the recorder, checks its
// trace, compares it with a base, and leaves trace, report and results in a folder.

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string_view>

#include "check.h"
#include "command.h"
#include "diff.h"
#include "recording.h"
#include "report/formats/exporter.h"
#include "trace/error.h"
#include "traces.h"

namespace streamscope::cli {
namespace {

namespace fs = std::filesystem;

struct GateArguments {
  Criteria criteria;
  Comparison comparison;
  std::string folder = "streamscope-out";
};

// GitHub shows the text on the page of the job.
void add_to_summary_of_job(const std::string& text) {
  const char* file = std::getenv("GITHUB_STEP_SUMMARY");
  if (file == nullptr || *file == 0) return;
  std::ofstream out(file, std::ios::app);
  out << text;
  if (!out.flush()) {
    throw Error(file, "cannot be written",
                "set GITHUB_STEP_SUMMARY to a writable file, or unset it");
  }
}

// Writes what the trace shows and prints the verdict.
report::Check check_recorded(const fs::path& trace_file, const report::CheckOptions& wanted,
                             const fs::path& folder) {
  const trace::Trace trace = load_to_analyze(trace_file, true);
  const fs::path page = folder / "report.html";
  write_output(
      named(report::exporters(), "html")
          .write(trace, report::summarize(trace, wanted.iteration), {.look = style_for(page)}),
      page, trace_file);
  report::Check check = report::check(trace, wanted);
  for (const auto& [format, name] :
       {std::pair{"junit", "junit.xml"}, std::pair{"sarif", "check.sarif"}}) {
    const fs::path file = folder / name;
    write_output(named(report::check_formats(), format).write(check, style_for(file)), file,
                 trace_file);
  }
  const char* on_github = std::getenv("GITHUB_ACTIONS");
  const std::string_view shown =
      on_github != nullptr && std::string_view(on_github) == "true" ? "github" : "text";
  write_output(named(report::check_formats(), shown).write(check, style_for("")), "", trace_file);
  if (check.info.unfinished) note_unfinished(trace_file);
  return check;
}

// The first of these that is not kDone counts.
int run_gate(GateArguments options, const ProgramArguments& program) {
  if (program.empty()) {
    throw Error("gate", "no program is given", "use streamscope gate [OPTIONS] -- PROGRAM [ARG…]");
  }
  Comparison& comparison = options.comparison;
  if (comparison.base.empty() && !comparison.runs.empty())
    throw Error("gate", "--base-run needs --base", "name the first base run with --base TRACE");
  const report::CheckOptions wanted = read_criteria(options.criteria, report::CheckSubject::kTrace);
  const fs::path folder = options.folder, trace_file = folder / "trace.sqlite",
                 summary_file = folder / "summary.md";
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    throw Error(options.folder, "cannot be made: " + error.message(), "name another folder");

  const record::Outcome outcome = record_program(default_record_options(trace_file), program);
  if (outcome.exit_code != 0) return outcome.exit_code;
  if (!outcome.trace_written) {
    throw Error("gate", "nothing was recorded, because the program made no CUDA call",
                "gate a program that uses CUDA or libcoord");
  }
  wait_for_end(trace_file, kDefaultWaitS);
  const report::Check check = check_recorded(trace_file, wanted, folder);
  const report::TextStyle look = style_for(summary_file);
  std::string summary = named(report::check_formats(), "markdown").write(check, look);
  int code = exit_code(check.result);
  if (!comparison.base.empty()) {
    comparison.now = trace_file;
    comparison.iteration = options.criteria.iteration;
    const report::DiffVerdict verdict = compare_traces(comparison);
    fmt::print("\n{}", named(report::exporters(), "text").write_diff(verdict, style_for("")));
    summary += "\n" + named(report::exporters(), "markdown").write_diff(verdict, look);
    if (code == kDone) code = exit_code(verdict.result());
  }
  write_output(summary, summary_file, trace_file);
  add_to_summary_of_job(summary);
  return code;
}

}  // namespace

std::function<int()> define_gate(CommandLine& line, ProgramArguments& program) {
  auto options = std::make_shared<GateArguments>();
  options->comparison.quiet = true;
  line.option(
      "-o,--output", &options->folder,
      "folder for trace.sqlite, report.html, summary.md, junit.xml and check.sarif; default "
      "streamscope-out",
      {.takes = "DIR"});
  add_criteria_options(line, options->criteria);
  line.option("--base", &options->comparison.base,
              "a trace of an earlier version; a slower run fails", {.takes = "TRACE"});
  add_regression_options(line, options->comparison);
  return [options, &program] { return run_gate(*options, program); };
}

}  // namespace streamscope::cli
