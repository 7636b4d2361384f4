// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "report/sections/info.h"

#include <memory>
#include <utility>

#include "analysis/counts.h"
#include "analysis/iterations/iteration_model.h"
#include "command.h"
#include "jobs.h"
#include "trace/error.h"
#include "traces.h"

namespace streamscope::cli {

namespace {

// A trace with fewer calls and ops is read completely, which also checks its values.
constexpr size_t kLargeTrace = 1'000'000;

// With the iterations, which need the whole trace.
std::pair<trace::Trace, report::Info> read_iterations(const std::string& file, bool quiet,
                                                      const analysis::IterationRequest& request) {
  trace::Trace trace = load(file, quiet);
  report::Info info = report::info_of(trace);
  analysis::Analyses analyses(trace, request);
  info.iteration = report::summarize(analyses, analyses.iteration_model());
  return {std::move(trace), std::move(info)};
}

// For a large trace, reads only the small tables, and the counts stored with its derived tables.
std::pair<trace::Trace, report::Info> read_info(const std::string& file, bool quiet) {
  trace::ReadOptions small;
  small.only = {"process",
                "thread",
                "device",
                "context",
                "stream",
                "timeline",
                "loss",
                "overhead",
                "cost_window",
                "task_run",
                "task_queue",
                "timeline_point",
                "operation_dependency"};
  small.count_others = true;
  trace::Trace trace = load(file, quiet, small);
  if (trace.op.size() + trace.api_call.size() > kLargeTrace && trace.task.empty()) {
    if (const auto stored = analysis::stored_counts(trace)) {
      report::Info info = report::info_of(trace, stored->counts, stored->end_ns);
      return {std::move(trace), std::move(info)};
    }
  }
  trace = load(file, quiet);
  report::Info info = report::info_of(trace);
  return {std::move(trace), std::move(info)};
}

}  // namespace

std::function<int()> define_info(CommandLine& line, ProgramArguments&) {
  struct Options {
    std::string file, iteration = "none";
    bool json = false, quiet = false;
  };
  auto options = std::make_shared<Options>();
  line.option("TRACE", &options->file, kTraceOrRun, {.required = true});
  add_iteration_option(line, options->iteration,
                       "auto takes the first that is found, none (default) shows none");
  line.option("--json", &options->json, "print JSON");
  line.option("--quiet", &options->quiet, "no progress");
  return [options]() -> int {
    const analysis::IterationRequest request = iteration_request(options->iteration);
    if (is_run(options->file)) {
      if (!request.off)
        throw Error("--iteration", "works only with a single trace",
                    "streamscope report shows the iterations of a job");
      const report::JobInfo info = read_job_info(options->file);
      write_output(options->json ? report::job_info_json(info)
                                 : report::to_text(report::job_info_document(info), style_for("")),
                   "", options->file);
      return kDone;
    }
    const auto [trace, info] = request.off
                                   ? read_info(options->file, options->quiet)
                                   : read_iterations(options->file, options->quiet, request);
    write_output(options->json ? report::info_json(info) : report::info_text(trace, info), "",
                 options->file);
    return kDone;
  };
}

}  // namespace streamscope::cli
