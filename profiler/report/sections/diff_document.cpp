// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "diff_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>

#include "analysis/labels.h"
#include "analysis/units.h"
#include "iteration_diff.h"
#include "report/formats/json.h"

namespace streamscope::report {
namespace {

using analysis::EdgeChange;
using analysis::format_change;
using analysis::format_duration;
using analysis::format_duration_change;
using analysis::WorkChange;
using trace::Ns;

constexpr size_t kDiffRowsShown = 30;  // JSON has all

std::string counts(uint64_t before, uint64_t after) {
  return analysis::format_step(std::to_string(before), std::to_string(after));
}

void note_rest(Section& section, size_t all) {
  if (all > kDiffRowsShown)
    section.footnotes.push_back(
        fmt::format("{} more: --format json lists all", all - kDiffRowsShown));
}

}  // namespace

CheckResult comparison_result(bool regressed, bool base_unfinished, bool new_unfinished) {
  if (base_unfinished) return CheckResult::kNotEvaluable;
  if (regressed) return CheckResult::kFailed;
  return new_unfinished ? CheckResult::kNotEvaluable : CheckResult::kPassed;
}

std::string_view comparison_name(CheckResult result) {
  return result == CheckResult::kPassed   ? "no-regression"
         : result == CheckResult::kFailed ? "regression"
                                          : to_string(result);
}

std::string unfinished_sentence(bool of_base) {
  return fmt::format("not evaluable: {} unfinished",
                     of_base ? "a baseline trace is" : "the new trace is");
}

std::string instead(Ns now, Ns before) {
  return fmt::format("{} instead of {} ({})", format_duration(now), format_duration(before),
                     format_change(analysis::TraceDiff::growth(before, now)));
}

namespace {

// How many times as slow the host was at everything, if its part of an iteration is what grew.
double slow_host(const analysis::IterationDiff& iterations) {
  if (!iterations.comparable() || !is_host_time(iterations.most_grown())) return 1;
  return std::max(1.0, iterations.host_slowdown());
}

}  // namespace

DiffVerdict judge(analysis::TraceDiff diff, std::vector<BaseRun> base_runs, double max_slowdown) {
  DiffVerdict verdict{
      .diff = std::move(diff), .base_runs = std::move(base_runs), .max_slowdown = max_slowdown};
  const auto exceeds = [&](auto now, auto value_of) {
    return exceeds_all(verdict.base_runs, max_slowdown, now, value_of);
  };
  if (const auto& steady = verdict.diff.steady) {
    const double slow = slow_host(verdict.diff.iterations);
    const auto exceeds_by = [&](double factor) {
      return exceeds(static_cast<double>(steady->now.median_ns) / factor,
                     [](const BaseRun& run) { return run.steady.median_ns; });
    };
    verdict.slower = exceeds_by(slow);
    verdict.by_slow_host = !verdict.slower && exceeds_by(1);
    verdict.more_often =
        steady->range.empty() && steady->same_work &&
        exceeds(steady->now.count, [](const BaseRun& run) { return run.steady.count; });
  } else {
    verdict.slower = exceeds(verdict.diff.new_ns, [](const BaseRun& run) { return run.ns; });
  }
  return verdict;
}

namespace {

// One sentence about what is compared.
std::string compared(const analysis::TraceDiff& diff) {
  if (!diff.steady) {
    return "Whole runs including start-up: no repeating part was found in both, or none was "
           "requested. Name one with --iteration nvtx:NAME.";
  }
  const analysis::SteadyPart& steady = *diff.steady;
  const auto ops = [](const analysis::Repetitions& run) {
    return analysis::format_count(run.op_count, "op");
  };
  const std::string what =
      steady.range.empty()
          ? fmt::format("a repeated sequence of {}",
                        steady.base.op_count == steady.now.op_count
                            ? ops(steady.base)
                            : ops(steady.now) + " (" + ops(steady.base) + " in the baseline)")
          : "NVTX range \"" + analysis::printable(steady.range) + "\"";
  return fmt::format(
      "The last {} of {} in each run: median time from one to the next; work, dependencies and "
      "waits of all of them. Start-up is excluded.",
      analysis::format_count(steady.compared, "repetition"), what);
}

std::string result_of(const DiffVerdict& verdict) {
  const auto& steady = verdict.diff.steady;
  const char* base = verdict.base_runs.size() > 1 ? "the slowest baseline run" : "the baseline";
  const double percent = verdict.max_slowdown * 100;
  const CheckResult result = verdict.result();
  if (result == CheckResult::kPassed) return "no regression";
  if (result == CheckResult::kNotEvaluable) {
    if (verdict.base_unfinished || verdict.new_unfinished)
      return unfinished_sentence(verdict.base_unfinished);
    return fmt::format(
        "not evaluable: a repetition is slower than in {} by more than {:.1f} %, but no more than "
        "the host is at everything ({:.1f} times); compare with a run on a host that is as fast, "
        "or give one as slow as --base-run",
        base, percent, verdict.diff.iterations.host_slowdown());
  }
  if (verdict.slower && steady) {
    return fmt::format("regression: a repetition is slower than in {} by more than {:.1f} %", base,
                       percent);
  }
  if (verdict.slower) {
    return fmt::format(
        "possible regression: the whole run is slower than {} by more than {:.1f} %, possibly due "
        "to start-up",
        base, percent);
  }
  return fmt::format("regression: {} repetitions instead of {}, each about as fast as before",
                     analysis::format_count(steady->now.count),
                     analysis::format_count(steady->base.count));
}

}  // namespace

Document diff_document(const DiffVerdict& verdict) {
  const analysis::TraceDiff& diff = verdict.diff;
  Document document;
  if (diff.steady) {
    document.headline =
        fmt::format("{} per repetition · whole run with start-up {}",
                    instead(diff.steady->now.median_ns, diff.steady->base.median_ns),
                    instead(diff.new_ns, diff.base_ns));
  } else {
    document.headline = instead(diff.new_ns, diff.base_ns);
  }
  document.headline +=
      fmt::format(" · critical path {} instead of {}", format_duration(diff.new_path_ns),
                  format_duration(diff.base_path_ns));
  document.sections = iteration_sections(diff.iterations);
  document.sections.push_back({.title = "What was compared", .remarks = {compared(diff)}});
  if (!diff.iterations.comparable()) {
    document.sections.back().remarks.push_back(
        "Iterations are not compared: " + diff.iterations.why_not + ".");
  }
  Section work{
      .title = "Work that changed",
      .columns = {
          {"cost", true}, {"work"}, {"stream"}, {"times", true}, {"median", true}, {"what"}}};
  for (const WorkChange& change : diff.work | std::views::take(kDiffRowsShown)) {
    work.rows.push_back({format_duration_change(change.cost_ns()), change.label, change.stream,
                         counts(change.base_count, change.new_count),
                         fmt::format("{} → {}", format_duration(change.base_median_ns),
                                     format_duration(change.new_median_ns)),
                         std::string(change.verdict())});
  }
  note_rest(work, diff.work.size());
  if (!work.rows.empty()) document.sections.push_back(std::move(work));
  Section edges{.title = "Dependencies that changed",
                .columns = {{"times", true}, {"kind"}, {"waiting op"}, {"waits for"}}};
  for (const EdgeChange& change : diff.edges | std::views::take(kDiffRowsShown)) {
    edges.rows.push_back({counts(change.base_count, change.new_count),
                          std::string(trace::to_string(change.kind)), change.to, change.from});
  }
  note_rest(edges, diff.edges.size());
  if (!edges.rows.empty()) document.sections.push_back(std::move(edges));
  Section waits{.title = "Waiting",
                .columns = {{"cause"}, {"baseline", true}, {"new", true}, {"change", true}}};
  for (const auto& [cause, times] : diff.waits) {
    waits.rows.push_back({std::string(to_string(cause)), format_duration(times.first),
                          format_duration(times.second),
                          format_duration_change(times.second - times.first)});
  }
  if (!waits.rows.empty()) document.sections.push_back(std::move(waits));
  Section result{.title = "Result"};
  result.remarks.push_back(result_of(verdict));
  if (!diff.likely_cause.empty())
    result.remarks.push_back("Likely cause: " + diff.likely_cause + ".");
  document.sections.push_back(std::move(result));
  return document;
}

namespace {

// One repetition of each run, or the whole runs.
Json compared_json(const DiffVerdict& verdict) {
  const auto& steady = verdict.diff.steady;
  if (!steady) return Json{{"what", "whole-run"}, {"includes_start_up", true}};
  const auto median = [](const BaseRun& run) { return run.steady.median_ns; };
  return Json{{"what", steady->range.empty() ? "sequence" : "range"},
              {"range", analysis::printable(steady->range)},
              {"includes_start_up", false},
              {"repetitions", steady->compared},
              {"base_count", steady->base.count},
              {"new_count", steady->now.count},
              {"base_ns", steady->base.median_ns},
              {"new_ns", steady->now.median_ns},
              {"base_runs_ns", array_of(verdict.base_runs, median)}};
}

}  // namespace

std::string diff_json(const DiffVerdict& verdict) {
  const analysis::TraceDiff& diff = verdict.diff;
  const auto work = [](const WorkChange& change) {
    return Json{{"work", change.label},
                {"stream", change.stream},
                {"what", std::string(change.verdict())},
                {"base_count", change.base_count},
                {"new_count", change.new_count},
                {"base_total_ns", change.base_total_ns},
                {"new_total_ns", change.new_total_ns},
                {"base_median_ns", change.base_median_ns},
                {"new_median_ns", change.new_median_ns}};
  };
  const auto edge = [](const EdgeChange& change) {
    return Json{{"from", change.from},
                {"to", change.to},
                {"kind", trace::to_string(change.kind)},
                {"base_count", change.base_count},
                {"new_count", change.new_count}};
  };
  const auto duration = [](const BaseRun& run) { return run.ns; };
  Json waits = Json::object();
  for (const auto& [cause, times] : diff.waits) {
    waits[std::string(stored_name(cause))] = {{"base_ns", times.first}, {"new_ns", times.second}};
  }
  return dump(Json{{"schema", 1},
                   {"result", comparison_name(verdict.result())},
                   {"max_slowdown", verdict.max_slowdown},
                   {"iteration", iteration_json(diff.iterations)},
                   {"compared", compared_json(verdict)},
                   {"base_ns", diff.base_ns},
                   {"new_ns", diff.new_ns},
                   {"base_runs_ns", array_of(verdict.base_runs, duration)},
                   {"base_critical_path_ns", diff.base_path_ns},
                   {"new_critical_path_ns", diff.new_path_ns},
                   {"likely_cause", diff.likely_cause},
                   {"work", array_of(diff.work, work)},
                   {"edges", array_of(diff.edges, edge)},
                   {"waits", waits}});
}

}  // namespace streamscope::report
