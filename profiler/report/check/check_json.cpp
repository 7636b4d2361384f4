// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "check.h"
#include "report/formats/json.h"

namespace streamscope::report {

std::string write_check_json(const Check& check, const TextStyle&) {
  const auto finding_json = [&](const Advice& advice) {
    Json finding = to_json(advice);
    finding["severity"] = analysis::to_string(advice.severity());
    finding["fingerprint"] = advice.fingerprint;
    finding["known"] = advice.known;
    return finding;
  };
  const auto rule_json = [](const analysis::Verdict& verdict) {
    return Json{{"detector", verdict.detector->id},
                {"number", verdict.detector->number},
                {"severity", analysis::to_string(verdict.detector->severity)},
                {"outcome", analysis::to_string(verdict.outcome)},
                {"reason", verdict.reason}};
  };
  const auto budget_json = [](const BudgetResult& result) {
    Json budget{{"budget", result.budget.text()},
                {"limit", result.budget.limit_text()},
                {"outcome", to_string(result.outcome)}};
    if (result.measured) budget["measured"] = result.measured_text();
    return budget;
  };
  const auto assertion_json = [](const analysis::AssertionResult& result) {
    Json assertion{{"assertion", shown_text(result)},
                   {"outcome", analysis::to_string(result.outcome)}};
    if (result.outcome != analysis::AssertionOutcome::kNotEvaluable)
      assertion["measured"] = result.measured;
    if (!result.text.empty()) assertion["text"] = result.text;
    if (!result.place.call_site.empty()) assertion["call_site"] = result.place.call_site;
    return assertion;
  };
  const auto open_json = [](const OpenQuestion& question) {
    return Json{{"detector", question.detector->id}, {"reason", question.reason}};
  };
  return dump(Json{{"schema", 1},
                   {"result", to_string(check.result)},
                   {"fail_on", analysis::to_string(check.options.fail_on)},
                   {"failing", check.failing},
                   {"not_evaluable", array_of(check.open, open_json)},
                   {"complete", check.info.complete},
                   {"unfinished", check.info.unfinished},
                   {"tier", check.info.tier},
                   {"losses", to_json(check.info.losses)},
                   {"budgets", array_of(check.budgets, budget_json)},
                   {"assertions", array_of(check.assertions, assertion_json)},
                   {"findings", array_of(check.findings, finding_json)},
                   {"rules", array_of(check.verdicts, rule_json)}});
}

}  // namespace streamscope::report
