// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "diff.h"

#include <memory>

#include "command.h"
#include "jobs.h"
#include "report/formats/exporter.h"
#include "report/sections/job_diff.h"
#include "trace/error.h"
#include "trace/loss.h"
#include "traces.h"

namespace streamscope::cli {

namespace {

trace::Trace load_timed(const std::string& file, const Comparison& options) {
  wait_for_end(file, options.wait_s);
  trace::Trace trace = load_to_analyze(file, options.quiet);
  if (analysis::makespan_ns(trace) > 0) return trace;
  throw Error(file, "has no device times, so nothing can be compared",
              "record it with --tier times");
}

// Compares the new run with all runs of the base.
report::DiffVerdict judged(analysis::TraceDiff diff, analysis::Analyses& after,
                           bool base_unfinished, const Comparison& options) {
  std::vector<report::BaseRun> runs{{.ns = diff.base_ns}};
  if (diff.steady) runs[0].steady = diff.steady->base;
  for (const std::string& file : options.runs) {
    const trace::Trace trace = load_timed(file, options);
    base_unfinished |= trace::is_unfinished(trace);
    runs.push_back({.ns = analysis::makespan_ns(trace)});
    if (!diff.steady) continue;
    analysis::Analyses run(trace, after.iteration_request());
    const auto steady = analysis::steady_part(run, after, diff.steady->range);
    if (!steady) {
      throw Error(file, "has no repeating part that matches " + options.base,
                  "leave it out, or name the part with --iteration nvtx:NAME");
    }
    runs.back().steady = steady->base;
  }
  report::DiffVerdict verdict =
      report::judge(std::move(diff), std::move(runs), options.max_slowdown / 100);
  verdict.base_unfinished = base_unfinished;
  verdict.new_unfinished = trace::is_unfinished(after.trace());
  return verdict;
}

}  // namespace

void add_regression_options(CommandLine& line, Comparison& options) {
  line.option("--base-run", &options.runs,
              "another baseline trace or folder; a regression must then be slower than the slowest "
              "of them. "
              "May be repeated",
              {.takes = "TRACE", .one_at_a_time = true});
  line.option(
      "--max-slowdown", &options.max_slowdown,
      "exit code 1 if a repetition, or the whole run if nothing repeats, takes longer by more "
      "than this (default 5)",
      {.takes = "PERCENT", .not_negative = true});
}

report::DiffVerdict compare_traces(const Comparison& options) {
  const analysis::IterationRequest iteration = iteration_request(options.iteration);
  const trace::Trace base = load_timed(options.base, options),
                     now = load_timed(options.now, options);
  analysis::Analyses before(base, iteration), after(now, iteration);
  analysis::TraceDiff diff = analysis::diff(before, after, iteration.range);
  if (!iteration.range.empty() && !diff.steady) {
    throw Error("--iteration",
                "'" + options.iteration + "' does not occur at least twice in both traces",
                "streamscope report --by nvtx lists the ranges of a trace");
  }
  return judged(std::move(diff), after, trace::is_unfinished(base), options);
}

namespace {

struct DiffArguments : Comparison {
  std::string output, format = "text";
};

int compare(const DiffArguments& options) {
  const report::DiffVerdict verdict = compare_traces(options);
  const report::Exporter& exporter = named(report::exporters(), options.format);
  write_output(exporter.write_diff(verdict, style_for(options.output)), options.output,
               options.now);
  return exit_code(verdict.result());
}

report::JobReport load_run(const std::string& folder, const DiffArguments& options) {
  if (!is_run(folder))
    throw Error(folder, "is a trace, and the other run is a folder of ranks",
                "compare two traces or two folders");
  wait_for_run(folder, options.wait_s);
  return load_job(folder, options.iteration, options.quiet);
}

int compare_runs(const DiffArguments& options) {
  const report::JobReport base = load_run(options.base, options),
                          now = load_run(options.now, options);
  std::vector<report::JobReport> further;
  further.reserve(options.runs.size());
  for (const std::string& folder : options.runs) further.push_back(load_run(folder, options));
  const report::JobDiff diff = report::diff(base, now, further, options.max_slowdown / 100);
  const report::Exporter& exporter = named(report::exporters(), options.format);
  write_output(exporter.write_job_diff(diff, style_for(options.output)), options.output,
               options.now);
  return exit_code(diff.result());
}

}  // namespace

std::function<int()> define_diff(CommandLine& line, ProgramArguments&) {
  auto options = std::make_shared<DiffArguments>();
  std::vector<std::string> formats;
  for (const report::Exporter& each : report::exporters()) {
    if (each.write_diff != nullptr) formats.emplace_back(each.name);
  }
  line.option("BASE", &options->base, "the baseline: a trace, or the folder of a run",
              {.required = true});
  line.option("NEW", &options->now, "the new trace or folder", {.required = true});
  add_regression_options(line, *options);
  add_iteration_option(line, options->iteration);
  line.option("--format", &options->format, alternatives(formats), {.one_of = formats});
  line.option("-o,--output", &options->output, "write to a file", {.takes = "FILE"});
  add_wait_option(line, options->wait_s);
  line.option("--quiet", &options->quiet, "no progress");
  return [options] {
    return is_run(options->base) || is_run(options->now) ? compare_runs(*options)
                                                         : compare(*options);
  };
}

}  // namespace streamscope::cli
