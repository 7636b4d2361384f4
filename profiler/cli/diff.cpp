// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "report/check/budget.h"
#include "report/sections/diff_document.h"

#include <memory>

#include "command.h"
#include "terminal.h"
#include "trace/error.h"
#include "trace/loss.h"
#include "traces.h"

namespace streamscope::cli {

std::function<int()> define_diff(CommandLine& line, ProgramArguments&) {
  struct Options {
    std::string base, now, output, iteration, format = "text";
    std::vector<std::string> runs;
    double max_slowdown = 5, wait_s = kDefaultWaitS;
    bool quiet = false;
  };
  auto options = std::make_shared<Options>();
  line.option("BASE", options->base, "a trace of the program as it was").required();
  line.option("NEW", options->now, "a trace of the program as it is").required();
  line.option("--base-run", options->runs,
              "another trace of the program as it was; a regression must then exceed the slowest. "
              "May be repeated")
      .one_at_a_time()
      .takes("TRACE");
  line.option("--max-slowdown", options->max_slowdown,
              "exit code 1 if a repetition, or a run in which nothing repeats, takes so much "
              "longer (default 5)")
      .not_negative()
      .takes("PERCENT");
  line.option("--iteration", options->iteration,
              "the NVTX range that is one repetition; by default what repeats is found")
      .takes("nvtx:NAME");
  line.option("--format", options->format, "text (default), markdown or json")
      .one_of({"text", "markdown", "json"});
  line.option("-o,--output", options->output, "write to a file").takes("FILE");
  add_wait_option(line, options->wait_s);
  line.flag("--quiet", options->quiet, "no progress");
  return [options]() -> int {
    const std::string iteration = report::iteration_named(options->iteration);
    const auto load_timed = [&](const std::string& file) {
      wait_for_end(file, options->wait_s);
      trace::Trace trace = load_to_analyze(file, options->quiet);
      if (analysis::makespan_ns(trace) > 0) return trace;
      throw Error(file, "has no device times, so nothing can be compared",
                  "record it with --tier times");
    };
    const trace::Trace base = load_timed(options->base), now = load_timed(options->now);
    analysis::Analyses before(base), after(now);
    analysis::TraceDiff diff = analysis::diff(before, after, iteration);
    if (!iteration.empty() && !diff.steady) {
      throw Error("--iteration", "'" + options->iteration + "' is not twice in each of both traces",
                  "streamscope report --by nvtx lists the ranges of a trace");
    }
    bool base_unfinished = trace::is_unfinished(base);
    std::vector<report::BaseRun> runs{{.ns = diff.base_ns}};
    if (diff.steady) runs[0].steady = diff.steady->base;
    for (const std::string& file : options->runs) {
      const trace::Trace trace = load_timed(file);
      base_unfinished |= trace::is_unfinished(trace);
      runs.push_back({.ns = analysis::makespan_ns(trace)});
      if (!diff.steady) continue;
      analysis::Analyses run(trace);
      const auto steady = analysis::steady_part(run, after, diff.steady->range);
      if (!steady) {
        throw Error(file, "has no part that repeats as in " + options->base,
                    "leave it out, or name the part with --iteration nvtx:NAME");
      }
      runs.back().steady = steady->base;
    }
    report::DiffVerdict verdict =
        report::judge(std::move(diff), std::move(runs), options->max_slowdown / 100);
    verdict.base_unfinished = base_unfinished;
    verdict.new_unfinished = trace::is_unfinished(now);
    const bool to_terminal = options->output.empty();
    std::string text;
    if (options->format == "json") {
      text = report::diff_json(verdict);
    } else if (options->format == "markdown") {
      text = report::to_markdown(report::diff_document(verdict));
    } else {
      text = report::to_text(
          report::diff_document(verdict),
          {.colour = to_terminal && wants_colour(), .width = to_terminal ? terminal_width() : 0});
    }
    write_output(text, options->output, options->now);
    switch (verdict.result()) {
      case report::CheckResult::kFailed:
        return kFound;
      case report::CheckResult::kNotEvaluable:
        return kNotEvaluable;
      case report::CheckResult::kPassed:
        break;
    }
    return kDone;
  };
}

}  // namespace streamscope::cli
