// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "conclude.h"

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
using analysis::FindingSeverity;
using analysis::Outcome;
using trace::Trace;

// 16 hexadecimal digits.
std::string hash_of(const std::vector<std::string>& parts) {
  uint64_t hash = kFnv1aStart;
  for (const std::string& part : parts)
    hash = fnv1a_step(0, fnv1a(part, hash));  // the 0 keeps parts apart
  return fmt::format("{:016x}", hash);
}

// True for as many findings with a fingerprint as the baseline has; each call uses up one.
bool is_known(const Advice& advice, std::map<std::string, uint64_t>& baseline) {
  if (baseline.empty() || advice.is_possible()) return false;
  const auto entry = baseline.find(advice.fingerprint);
  if (entry == baseline.end() || entry->second == 0) return false;
  --entry->second;
  return true;
}

std::vector<std::string> identity_in(const Trace& trace, const Advice& advice) {
  const analysis::Finding& finding = advice.finding;
  std::vector<std::string> parts{std::string(advice.detector->id)};
  for (Id op : {finding.first_op, finding.second_op}) {
    if (op >= trace.op.size()) continue;
    parts.push_back(analysis::op_label(trace, op));
    parts.push_back(analysis::lasting_stream_name(trace, trace.op.stream_id[op]));
  }
  const auto add_event = [&](Id event, Id stream) {
    if (event < trace.event.size()) parts.emplace_back(trace.text(trace.event.name_id[event]));
    parts.push_back(analysis::lasting_stream_name(trace, stream));
  };
  if (finding.event_record < trace.event_record.size())
    add_event(trace.event_record.event_id[finding.event_record],
              trace.event_record.stream_id[finding.event_record]);
  if (finding.event_wait < trace.event_wait.size())
    add_event(trace.event_wait.event_id[finding.event_wait],
              trace.event_wait.stream_id[finding.event_wait]);
  if (finding.host_sync < trace.host_sync.size()) {
    parts.emplace_back(trace.text(trace.host_sync.name_id[finding.host_sync]));
    parts.push_back(
        analysis::lasting_stream_name(trace, trace.host_sync.stream_id[finding.host_sync]));
  }
  parts.push_back(without_line(finding.place.call_site));
  parts.push_back(finding.place.ranges);
  return parts;
}

// Counts the findings of a detector that fail the check; adds the detector if it has no verdict.
void judge(Check& check, const analysis::Verdict& verdict, const IdentityOf& identity_of,
           std::map<std::string, uint64_t>& baseline) {
  const FindingSeverity fail_on = check.options.fail_on;
  const bool required =
      std::ranges::find(check.options.required, verdict.detector) != check.options.required.end();
  if (verdict.detector->severity < fail_on && !required) return;
  bool suspects = false, only_possible = true;
  for (const analysis::Finding& finding : verdict.findings) {
    const bool can_fail = severity_of(*verdict.detector, finding) >= fail_on;
    only_possible &= finding.confidence == Confidence::kPossible;
    if (!baseline.empty()) {
      Advice advice{.detector = verdict.detector, .finding = finding};
      advice.fingerprint = hash_of(identity_of(advice));
      if (is_known(advice, baseline)) continue;
    }
    suspects |= finding.confidence == Confidence::kSuspected && (required || can_fail);
    check.failing += finding.confidence == Confidence::kCertain && can_fail;
  }
  // If evidence is missing, a possible finding is not a verdict.
  const bool lacks_evidence =
      only_possible && verdict.outcome == Outcome::kFound && !verdict.reason.empty();
  if (verdict.outcome == Outcome::kNotEvaluable || suspects || lacks_evidence ||
      (verdict.outcome == Outcome::kNotAtThisTier && required)) {
    check.open.push_back({verdict.detector, verdict.reason.empty() ? "its finding is only suspected"
                                                                   : verdict.reason});
  }
}

}  // namespace

std::string without_line(const std::string& call_site) {
  const size_t colon = call_site.find(':');
  if (colon == call_site.npos) return call_site;
  const size_t end = call_site.find_first_not_of("0123456789", colon + 1);
  return call_site.substr(0, colon) + (end == call_site.npos ? "" : call_site.substr(end));
}

std::string_view to_string(CheckResult result) {
  constexpr std::string_view kNames[] = {"passed", "failed", "not-evaluable"};
  return kNames[static_cast<size_t>(result)];
}

Check conclude(Check check, std::vector<analysis::Verdict> verdicts,
               const IdentityOf& identity_of) {
  auto baseline = check.options.baseline;
  for (const analysis::Verdict& verdict : verdicts) {
    judge(check, verdict, identity_of, baseline);
    check.verdicts.push_back(
        {.detector = verdict.detector, .outcome = verdict.outcome, .reason = verdict.reason});
  }
  check.findings = by_weight(std::move(verdicts), {});
  baseline = check.options.baseline;
  for (Advice& advice : check.findings) {
    advice.fingerprint = hash_of(identity_of(advice));
    advice.known = is_known(advice, baseline);
  }
  bool unmeasured = check.info.unfinished;
  for (const BudgetResult& budget : check.budgets) {
    check.over_budget += budget.outcome == BudgetOutcome::kExceeded;
    unmeasured |= budget.outcome == BudgetOutcome::kNotMeasurable;
  }
  for (const analysis::AssertionResult& assertion : check.assertions) {
    check.broken += assertion.outcome == analysis::AssertionOutcome::kFails;
    unmeasured |= assertion.outcome == analysis::AssertionOutcome::kNotEvaluable;
  }
  const uint64_t failures = check.failing + check.over_budget + check.broken;
  check.result = failures > 0                        ? CheckResult::kFailed
                 : !check.open.empty() || unmeasured ? CheckResult::kNotEvaluable
                                                     : CheckResult::kPassed;
  return check;
}

Check check(const Trace& trace, const CheckOptions& options) {
  Check result{.name = trace.file.filename().string(), .info = info_of(trace), .options = options};
  result.headline = headline(trace, result.info);
  result.notices = notices_of(trace, result.info);
  analysis::Analyses analyses(trace, options.iteration);
  std::vector<analysis::Verdict> verdicts = analysis::verdicts(analyses);
  result.budgets = measure(analyses, result.info, options.budgets);
  result.assertions = analysis::evaluate(analyses, options.assertions);
  return conclude(std::move(result), std::move(verdicts),
                  [&](const Advice& advice) { return identity_in(trace, advice); });
}

std::string shown_text(const analysis::AssertionResult& result) {
  return analysis::printable(result.assertion.text());
}

std::string write_baseline(const Check& check) {
  std::map<std::string, uint64_t> counts;
  for (const Advice& advice : check.findings) {
    if (!advice.is_possible()) ++counts[advice.fingerprint];
  }
  Json findings = Json::array();
  for (const Advice& advice : check.findings) {
    if (advice.is_possible()) continue;  // must not hide the same finding when it becomes certain
    const auto count = counts.find(advice.fingerprint);
    if (count == counts.end()) continue;
    // The title helps people who review changes of a baseline.
    findings.push_back({{"fingerprint", advice.fingerprint},
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

}  // namespace streamscope::report
