// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "diff_document.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/units.h"
#include "json.h"

namespace streamscope::report {
namespace {

using analysis::EdgeChange;
using analysis::format_duration;
using analysis::WorkChange;
using trace::Ns;

constexpr size_t kRowsShown = 30;  // nobody reads more; json has all

std::string signed_duration(Ns ns) { return (ns < 0 ? "-" : "+") + format_duration(std::abs(ns)); }

std::string counts(uint64_t before, uint64_t after) {
  return before == after ? std::to_string(after) : fmt::format("{} → {}", before, after);
}

void note_rest(Section& section, size_t all) {
  if (all > kRowsShown)
    section.footnotes.push_back(fmt::format("{} more: --format json has them", all - kRowsShown));
}

}  // namespace

DiffVerdict judge(analysis::TraceDiff diff, std::vector<Ns> base_runs, double max_slowdown) {
  DiffVerdict verdict{
      .diff = std::move(diff), .base_runs = std::move(base_runs), .max_slowdown = max_slowdown};
  const Ns slowest = *std::max_element(verdict.base_runs.begin(), verdict.base_runs.end());
  verdict.regressed =
      static_cast<double>(verdict.diff.new_ns) > static_cast<double>(slowest) * (1 + max_slowdown);
  return verdict;
}

Document diff_document(const DiffVerdict& verdict) {
  const analysis::TraceDiff& diff = verdict.diff;
  Document document;
  document.headline = fmt::format("{} instead of {} ({:+.1f} %) · critical path {} instead of {}",
                                  format_duration(diff.new_ns), format_duration(diff.base_ns),
                                  diff.slowdown() * 100, format_duration(diff.new_path_ns),
                                  format_duration(diff.base_path_ns));
  Section work{
      .title = "Work that changed",
      .columns = {
          {"cost", true}, {"work"}, {"stream"}, {"times", true}, {"median", true}, {"what"}}};
  for (const WorkChange& change : diff.work) {
    if (work.rows.size() == kRowsShown) break;
    work.rows.push_back({signed_duration(change.cost_ns()), change.label, change.stream,
                         counts(change.base_count, change.new_count),
                         fmt::format("{} → {}", format_duration(change.base_median_ns),
                                     format_duration(change.new_median_ns)),
                         std::string(change.verdict())});
  }
  note_rest(work, diff.work.size());
  if (!work.rows.empty()) document.sections.push_back(std::move(work));
  Section edges{.title = "Dependencies that changed",
                .columns = {{"times", true}, {"kind"}, {"what waits"}, {"for what"}}};
  for (const EdgeChange& change : diff.edges) {
    if (edges.rows.size() == kRowsShown) break;
    edges.rows.push_back({counts(change.base_count, change.new_count),
                          std::string(trace::to_string(change.kind)), change.to, change.from});
  }
  note_rest(edges, diff.edges.size());
  if (!edges.rows.empty()) document.sections.push_back(std::move(edges));
  Section waits{.title = "Waiting",
                .columns = {{"cause"}, {"before", true}, {"after", true}, {"change", true}}};
  for (const auto& [cause, times] : diff.waits) {
    waits.rows.push_back({std::string(analysis::to_string(cause)), format_duration(times.first),
                          format_duration(times.second),
                          signed_duration(times.second - times.first)});
  }
  if (!waits.rows.empty()) document.sections.push_back(std::move(waits));
  Section result{.title = "Result"};
  result.remarks.push_back(
      verdict.regressed
          ? fmt::format("regression: slower than {} by more than {:.1f} %",
                        verdict.base_runs.size() > 1 ? "the slowest run of the base" : "the base",
                        verdict.max_slowdown * 100)
          : "no regression");
  if (!diff.likely_cause.empty())
    result.remarks.push_back("Likely cause: " + diff.likely_cause + ".");
  document.sections.push_back(std::move(result));
  return document;
}

std::string diff_json(const DiffVerdict& verdict) {
  const analysis::TraceDiff& diff = verdict.diff;
  Json work = Json::array(), edges = Json::array(), waits = Json::object();
  for (const WorkChange& change : diff.work) {
    work.push_back({{"work", change.label},
                    {"stream", change.stream},
                    {"what", std::string(change.verdict())},
                    {"base_count", change.base_count},
                    {"new_count", change.new_count},
                    {"base_total_ns", change.base_total_ns},
                    {"new_total_ns", change.new_total_ns},
                    {"base_median_ns", change.base_median_ns},
                    {"new_median_ns", change.new_median_ns}});
  }
  for (const EdgeChange& change : diff.edges) {
    edges.push_back({{"from", change.from},
                     {"to", change.to},
                     {"kind", trace::to_string(change.kind)},
                     {"base_count", change.base_count},
                     {"new_count", change.new_count}});
  }
  for (const auto& [cause, times] : diff.waits) {
    waits[std::string(trace::to_string(static_cast<trace::WaitCauseKind>(cause)))] = {
        {"base_ns", times.first}, {"new_ns", times.second}};
  }
  return dump(Json{{"schema", 1},
                   {"result", verdict.regressed ? "regression" : "no-regression"},
                   {"max_slowdown", verdict.max_slowdown},
                   {"base_ns", diff.base_ns},
                   {"new_ns", diff.new_ns},
                   {"base_runs_ns", verdict.base_runs},
                   {"base_critical_path_ns", diff.base_path_ns},
                   {"new_critical_path_ns", diff.new_path_ns},
                   {"likely_cause", diff.likely_cause},
                   {"work", work},
                   {"edges", edges},
                   {"waits", waits}});
}

}  // namespace streamscope::report
