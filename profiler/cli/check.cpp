// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "check.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "command.h"
#include "jobs.h"
#include "terminal.h"
#include "trace/error.h"
#include "traces.h"

namespace streamscope::cli {
namespace {

std::vector<const analysis::Detector*> named_detectors(const std::vector<std::string>& names,
                                                       bool of_job) {
  const auto all = of_job ? report::job_detectors() : analysis::detectors();
  std::vector<const analysis::Detector*> found;
  for (const std::string& name : names) {
    const auto detector = std::ranges::find_if(
        all, [&](const auto& each) { return each.id == name || each.number == name; });
    if (detector == all.end()) {
      throw Error("--require",
                  fmt::format("there is no detector '{}' of {}", name, of_job ? "jobs" : "traces"),
                  "streamscope detectors lists them");
    }
    found.push_back(&*detector);
  }
  return found;
}

// Those of the budget file and of the command line, each once.
void add_assertions(const std::vector<std::string>& texts,
                    std::vector<analysis::Assertion>& assertions) {
  for (const std::string& text : texts) {
    const analysis::Assertion assertion = analysis::parse_assertion(text, "--assert " + text);
    if (std::ranges::find(assertions, assertion) == assertions.end())
      assertions.push_back(assertion);
  }
}

}  // namespace

void add_criteria_options(CommandLine& line, Criteria& criteria) {
  line.option(
      "--fail-on", &criteria.fail_on,
      "the lowest severity of a certain finding that fails the check (exit code 1): error "
      "(default), warning or note; exit code 3 means that required evidence is missing or the "
      "trace is unfinished",
      {.one_of = names_of(kFindingSeverities)});
  line.option(
      "--require", &criteria.required,
      "a detector, by id or number, that must reach a verdict; otherwise the exit code is 3, "
      "even if this kind of recording never contains the evidence; may be repeated",
      {.takes = "ID", .one_at_a_time = true});
  line.option("--baseline", &criteria.baseline,
              "a file of known findings, which do not fail the check again", {.takes = "FILE"});
  line.option(
      "--budget", &criteria.budget,
      "a file of limits, one per line: iteration <= 20 ms; critical-path <= 12 ms; wait "
      "event_wait <= 3 ms; overlap >= 40 %; waits-per-iteration <= 8; overhead <= 5 %; "
      "assert EXPR. For a folder: iteration; waiting <= 10 %; hidden-communication >= 60 %; "
      "largest-delay <= 2 %; assert EXPR, which must hold on every rank",
      {.takes = "FILE"});
  line.option(
      "--assert", &criteria.assertions,
      "what must be true of the program: may_overlap or may_overlap_across(\"copy*\", \"gemm*\"); "
      "ordered(\"copy*\", \"gemm*\"); no_sync_in(\"nvtx:step\") or "
      "no_sync_in(\"iteration\"); launches_per_iteration <= 120, also "
      "syncs_per_iteration and allocations_per_iteration; max_bound(\"host\") <= 20 %. "
      "Exit code 1 if it fails, 3 if the trace cannot prove it. May be repeated",
      {.takes = "EXPR", .one_at_a_time = true});
  add_iteration_option(line, criteria.iteration);
}

report::CheckOptions read_criteria(const Criteria& criteria, report::CheckSubject subject) {
  report::CheckOptions wanted{
      .required = named_detectors(criteria.required, subject == report::CheckSubject::kJob)};
  if (const auto severity = number_named(kFindingSeverities, criteria.fail_on))
    wanted.fail_on = static_cast<FindingSeverity>(*severity);
  wanted.iteration = iteration_request(criteria.iteration);
  if (!criteria.baseline.empty()) wanted.baseline = report::read_baseline(criteria.baseline);
  if (!criteria.budget.empty()) {
    report::BudgetFile limits =
        report::read_budgets(criteria.budget, wanted.iteration.range, subject);
    wanted.budgets = std::move(limits.budgets);
    wanted.assertions = std::move(limits.assertions);
  }
  add_assertions(criteria.assertions, wanted.assertions);
  return wanted;
}

namespace {

struct CheckArguments {
  Criteria criteria;
  std::string file, output, format = "text", show, write_baseline;
  double wait_s = kDefaultWaitS;
  bool quiet = false;
};

report::CheckOptions wanted_of(const CheckArguments& options, report::CheckSubject subject) {
  report::CheckOptions wanted = read_criteria(options.criteria, subject);
  wanted.show_possible = !options.show.empty();
  return wanted;
}

report::Check check_trace(const CheckArguments& options) {
  const report::CheckOptions wanted = wanted_of(options, report::CheckSubject::kTrace);
  wait_for_end(options.file, options.wait_s);
  return report::check(load_to_analyze(options.file, options.quiet), wanted);
}

report::Check check_run(const CheckArguments& options) {
  const report::CheckOptions wanted = wanted_of(options, report::CheckSubject::kJob);
  wait_for_run(options.file, options.wait_s);
  const job::RunFolder run = read_run(options.file);
  const report::JobReport job =
      load_job(options.file, run, options.criteria.iteration, options.quiet);
  return report::check_job(
      job, wanted,
      evaluate_on_ranks(options.file, run, wanted.assertions, wanted.iteration, options.quiet));
}

}  // namespace

std::function<int()> define_check(CommandLine& line, ProgramArguments&) {
  auto options = std::make_shared<CheckArguments>();
  line.option("TRACE", &options->file, kTraceOrRun, {.required = true});
  add_criteria_options(line, options->criteria);
  line.option("--write-baseline", &options->write_baseline,
              "write the findings of this trace to a baseline for later checks; the exit code is "
              "then 0",
              {.takes = "FILE"});
  line.option("--show", &options->show,
              "possible: list the findings from indirect evidence, such as kernel parameters, "
              "instead of one line for all of them; they never fail the check",
              {.one_of = {"possible"}});
  line.option("--format", &options->format, described(report::check_formats()),
              {.takes = "FORMAT", .one_of = names_of(report::check_formats())});
  line.option("-o,--output", &options->output, "write to a file", {.takes = "FILE"});
  add_wait_option(line, options->wait_s);
  line.option("--quiet", &options->quiet, "no progress");
  return [options]() -> int {
    const report::Check check = is_run(options->file) ? check_run(*options) : check_trace(*options);
    const report::CheckFormat& format = named(report::check_formats(), options->format);
    write_output(format.write(check, style_for(options->output)), options->output, options->file);
    if (check.info.unfinished) note_unfinished(options->file);
    if (options->write_baseline.empty()) return exit_code(check.result);
    if (check.info.unfinished) {
      message("{}: not written, because an unfinished trace may lack findings",
              options->write_baseline);
      return exit_code(check.result);
    }
    write_output(report::write_baseline(check), options->write_baseline, options->file);
    return kDone;
  };
}

}  // namespace streamscope::cli
