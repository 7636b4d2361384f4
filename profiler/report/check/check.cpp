// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "check.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "analysis/compare/diff.h"
#include "analysis/derive.h"
#include "analysis/labels.h"
#include "report/formats/json.h"
#include "trace/error.h"
#include "vocabulary/fnv1a.h"

namespace streamscope::report {
namespace {

using analysis::Confidence;
using analysis::Outcome;
using trace::Trace;

// "train.py:41 step" without the line number.
std::string without_line(const std::string& call_site) {
  const size_t colon = call_site.find(':');
  if (colon == call_site.npos) return call_site;
  const size_t end = call_site.find_first_not_of("0123456789", colon + 1);
  return call_site.substr(0, colon) + (end == call_site.npos ? "" : call_site.substr(end));
}

// True for as many findings with a fingerprint as the baseline has; each call uses up one.
bool is_known(const Trace& trace, const analysis::Detector& detector,
              const analysis::Finding& finding, std::map<std::string, uint64_t>& baseline) {
  if (baseline.empty() || finding.confidence == Confidence::kPossible) return false;
  const auto entry = baseline.find(fingerprint(trace, {&detector, finding}));
  if (entry == baseline.end() || entry->second == 0) return false;
  --entry->second;
  return true;
}

}  // namespace

std::string_view to_string(CheckResult result) {
  constexpr std::string_view kNames[] = {"passed", "failed", "not-evaluable"};
  return kNames[static_cast<size_t>(result)];
}

Check check(const Trace& trace, const CheckOptions& options) {
  Check result{.info = info_of(trace), .options = options};
  analysis::Analyses analyses(trace, options.iteration);
  std::vector<analysis::Verdict> verdicts = analysis::verdicts(analyses);
  auto baseline = options.baseline;
  for (const analysis::Verdict& verdict : verdicts) {
    const bool fails = verdict.detector->severity >= options.fail_on;
    const auto can_fail = [&](const analysis::Finding& finding) {
      return severity_of(*verdict.detector, finding) >= options.fail_on;
    };
    const bool required =
        std::ranges::find(options.required, verdict.detector) != options.required.end();
    if (!fails && !required) continue;
    bool suspects = false, only_possible = true;
    for (const analysis::Finding& finding : verdict.findings) {
      only_possible &= finding.confidence == Confidence::kPossible;
      if (is_known(trace, *verdict.detector, finding, baseline)) continue;
      suspects |= finding.confidence == Confidence::kSuspected && (required || can_fail(finding));
      result.failing += finding.confidence == Confidence::kCertain && can_fail(finding);
    }
    // If evidence is missing, a possible finding is not a verdict.
    const bool lacks_evidence =
        only_possible && verdict.outcome == Outcome::kFound && !verdict.reason.empty();
    if (verdict.outcome == Outcome::kNotEvaluable || suspects || lacks_evidence ||
        (verdict.outcome == Outcome::kNotAtThisTier && required)) {
      result.open.push_back({verdict.detector, verdict.reason.empty()
                                                   ? "its finding is only suspected"
                                                   : verdict.reason});
    }
  }
  for (analysis::Verdict& verdict : verdicts) {
    result.verdicts.push_back(
        {.detector = verdict.detector, .outcome = verdict.outcome, .reason = verdict.reason});
  }
  result.findings = by_weight(std::move(verdicts), {});
  baseline = options.baseline;
  for (Advice& advice : result.findings)
    advice.known = is_known(trace, *advice.detector, advice.finding, baseline);
  result.budgets = measure(analyses, result.info, options.budgets);
  bool unmeasured = result.info.unfinished;
  for (const BudgetResult& budget : result.budgets) {
    result.over_budget += budget.outcome == BudgetOutcome::kExceeded;
    unmeasured |= budget.outcome == BudgetOutcome::kNotMeasurable;
  }
  result.assertions = analysis::evaluate(analyses, options.assertions);
  for (const analysis::AssertionResult& assertion : result.assertions) {
    result.broken += assertion.outcome == analysis::AssertionOutcome::kFails;
    unmeasured |= assertion.outcome == analysis::AssertionOutcome::kNotEvaluable;
  }
  const uint64_t failures = result.failing + result.over_budget + result.broken;
  result.result = failures > 0                         ? CheckResult::kFailed
                  : !result.open.empty() || unmeasured ? CheckResult::kNotEvaluable
                                                       : CheckResult::kPassed;
  return result;
}

std::string shown_text(const analysis::AssertionResult& result) {
  return analysis::printable(result.assertion.text());
}

std::string write_baseline(const Trace& trace, const Check& check) {
  std::map<std::string, uint64_t> counts;
  for (const Advice& advice : check.findings) {
    if (!advice.is_possible()) ++counts[fingerprint(trace, advice)];
  }
  Json findings = Json::array();
  for (const Advice& advice : check.findings) {
    if (advice.is_possible()) continue;  // must not hide the same finding when it becomes certain
    const std::string print = fingerprint(trace, advice);
    const auto count = counts.find(print);
    if (count == counts.end()) continue;
    // The title helps people who review changes of a baseline.
    findings.push_back({{"fingerprint", print},
                        {"count", count->second},
                        {"detector", advice.detector->id},
                        {"title", advice.finding.title}});
    counts.erase(count);
  }
  return dump(Json{{"schema", 1}, {"findings", findings}});
}

std::map<std::string, uint64_t> read_baseline(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw Error(file, "cannot be read", "create it with --write-baseline " + file.string());
  const Json document = Json::parse(in, nullptr, false);
  const auto fail = [&](const char* cause) {
    throw Error(file, cause, "create it again with --write-baseline");
  };
  if (!document.is_object() || document.value("schema", Json()) != Json(1) ||
      !document.contains("findings") || !document["findings"].is_array()) {
    fail("is not a baseline of this version");
  }
  std::map<std::string, uint64_t> counts;
  for (const Json& finding : document["findings"]) {
    if (!finding.is_object() || !finding.contains("fingerprint") ||
        !finding["fingerprint"].is_string())
      fail("has a finding without a fingerprint");
    const Json count = finding.value("count", Json(1));
    if (!count.is_number_unsigned()) fail("has a finding whose count is not a number");
    counts[finding["fingerprint"].get<std::string>()] += count.get<uint64_t>();
  }
  return counts;
}

std::string fingerprint(const Trace& trace, const Advice& advice) {
  const analysis::Finding& finding = advice.finding;
  uint64_t hash = kFnv1aStart;
  const auto add = [&](std::string_view part) {
    hash = fnv1a_step(0, fnv1a(part, hash));  // the 0 keeps parts apart
  };
  add(advice.detector->id);
  for (Id op : {finding.first_op, finding.second_op}) {
    if (op >= trace.op.size()) continue;
    add(analysis::op_label(trace, op));
    add(analysis::lasting_stream_name(trace, trace.op.stream_id[op]));
  }
  const auto add_event = [&](Id event, Id stream) {
    if (event < trace.event.size()) add(trace.text(trace.event.name_id[event]));
    add(analysis::lasting_stream_name(trace, stream));
  };
  if (finding.event_record < trace.event_record.size())
    add_event(trace.event_record.event_id[finding.event_record],
              trace.event_record.stream_id[finding.event_record]);
  if (finding.event_wait < trace.event_wait.size())
    add_event(trace.event_wait.event_id[finding.event_wait],
              trace.event_wait.stream_id[finding.event_wait]);
  if (finding.host_sync < trace.host_sync.size()) {
    add(trace.text(trace.host_sync.name_id[finding.host_sync]));
    add(analysis::lasting_stream_name(trace, trace.host_sync.stream_id[finding.host_sync]));
  }
  add(without_line(finding.place.call_site));
  add(finding.place.ranges);
  return fmt::format("{:016x}", hash);
}

}  // namespace streamscope::report
