// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <map>

#include "analysis/call_sites.h"
#include "check.h"
#include "report/formats/json.h"
#include "report/formats/markup.h"

namespace streamscope::report {
namespace {

using analysis::Detector;

Json message(const std::string& text) { return Json{{"text", without_folders(text)}}; }

size_t index_of(const Check& check, const Detector& detector) {
  const auto found = std::ranges::find(check.verdicts, &detector, &analysis::Verdict::detector);
  return static_cast<size_t>(found - check.verdicts.begin());
}

Json rules(const Check& check) {
  return array_of(check.verdicts, [](const analysis::Verdict& verdict) {
    const Detector& detector = *verdict.detector;
    return Json{{"id", detector.id},
                {"shortDescription", {{"text", detector.title}}},
                {"defaultConfiguration", {{"level", analysis::to_string(detector.severity)}}},
                {"properties",
                 {{"number", detector.number},
                  {"needs", analysis::to_string_of_evidence(detector.needs)}}}};
  });
}

// File and line if the call site has them, plus function and NVTX ranges.
Json location(const analysis::Location& place) {
  Json result = Json::object(), logical = Json::array();
  std::string function = without_folders(place.call_site);
  if (const auto source = analysis::source_line(place.call_site)) {
    const std::string_view file = source->file.substr(source->file.rfind('/') + 1);
    result["physicalLocation"] = {{"artifactLocation", {{"uri", file}}},
                                  {"region", {{"startLine", source->line}}}};
    function = source->function;
  }
  if (!function.empty())
    logical.push_back({{"fullyQualifiedName", function}, {"kind", "function"}});
  if (!place.ranges.empty())
    logical.push_back({{"fullyQualifiedName", place.ranges}, {"kind", "module"}});
  if (!logical.empty()) result["logicalLocations"] = logical;
  return result;
}

Json result_of(const Check& check, const Advice& advice, std::map<std::string, size_t>& seen) {
  const analysis::Finding& finding = advice.finding;
  const std::string& print = advice.fingerprint;
  Json properties{{"confidence", analysis::to_string(finding.confidence)}};
  if (finding.gain_ns) properties["gain_ns"] = *finding.gain_ns;
  if (!finding.place.thread.empty()) properties["thread"] = finding.place.thread;
  Json result{
      {"ruleId", advice.detector->id},
      {"ruleIndex", index_of(check, *advice.detector)},
      {"level", analysis::to_string(advice.severity())},
      {"message", message(finding.title + ". " + finding.text)},
      {"occurrenceCount", finding.count},
      {"partialFingerprints", {{"structure/v1", print + ":" + std::to_string(++seen[print])}}},
      {"properties", properties}};
  if (advice.known) result["baselineState"] = "unchanged";
  if (Json where = location(finding.place); !where.empty())
    result["locations"] = Json::array({where});
  return result;
}

Json notification(const char* level, const std::string& text) {
  return Json{{"level", level}, {"message", message(text)}};
}

// What limits the verdict: losses of the recording, detectors without a verdict, budgets not met,
// assertions that do not hold.
Json notifications(const Check& check) {
  Json list = Json::array();
  for (const Notice& notice : check.notices) {
    list.push_back(notification(notice.severity >= trace::Severity::kDataLoss ? "warning" : "note",
                                notice.text));
  }
  for (const OpenQuestion& question : check.open) {
    Json open = notification("warning", "not evaluable: " + question.reason);
    open["associatedRule"] = {{"id", question.detector->id},
                              {"index", index_of(check, *question.detector)}};
    list.push_back(std::move(open));
  }
  for (const BudgetResult& result : check.budgets) {
    if (result.outcome == BudgetOutcome::kMet) continue;
    list.push_back(notification("warning", "budget " + std::string(to_string(result.outcome)) +
                                               ": " + result.budget.text() + " " +
                                               result.budget.limit_text() + ", measured " +
                                               result.measured_text()));
  }
  for (const analysis::AssertionResult& result : check.assertions) {
    if (result.outcome == analysis::AssertionOutcome::kHolds) continue;
    Json broken =
        notification("warning", "assertion " + std::string(analysis::to_string(result.outcome)) +
                                    ": " + shown_text(result) + ": " + result.text);
    if (Json where = location(result.place); !where.empty())
      broken["locations"] = Json::array({where});
    list.push_back(std::move(broken));
  }
  return list;
}

}  // namespace

std::string write_check_sarif(const Check& check, const TextStyle&) {
  std::map<std::string, size_t> seen;
  const auto result = [&](const Advice& advice) { return result_of(check, advice, seen); };
  const Json driver{{"name", "streamscope"}, {"rules", rules(check)}};
  const Json invocation{{"executionSuccessful", check.result != CheckResult::kNotEvaluable},
                        {"toolExecutionNotifications", notifications(check)}};
  return dump(Json{{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                   {"version", "2.1.0"},
                   {"runs", Json::array({Json{{"tool", {{"driver", driver}}},
                                              {"invocations", Json::array({invocation})},
                                              {"results", array_of(check.findings, result)}}})}});
}

}  // namespace streamscope::report
