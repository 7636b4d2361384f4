// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "check.h"
#include "report/formats/json.h"

namespace streamscope::report {

std::string write_check_json(const trace::Trace& trace, const Check& check, const TextStyle&) {
  Json findings = Json::array(), rules = Json::array(), open = Json::array(),
       budgets = Json::array();
  for (const Advice& advice : check.findings) {
    Json finding = to_json(advice);
    finding["severity"] = analysis::to_string(advice.severity());
    finding["fingerprint"] = fingerprint(trace, advice);
    finding["known"] = advice.known;
    findings.push_back(std::move(finding));
  }
  for (const analysis::Verdict& verdict : check.verdicts) {
    rules.push_back({{"detector", verdict.detector->id},
                     {"number", verdict.detector->number},
                     {"severity", analysis::to_string(verdict.detector->severity)},
                     {"outcome", analysis::to_string(verdict.outcome)},
                     {"reason", verdict.reason}});
  }
  for (const BudgetResult& result : check.budgets) {
    Json budget{{"budget", result.budget.text()},
                {"limit", result.budget.limit_text()},
                {"outcome", to_string(result.outcome)}};
    if (result.measured) budget["measured"] = result.measured_text();
    budgets.push_back(std::move(budget));
  }
  for (const OpenQuestion& question : check.open)
    open.push_back({{"detector", question.detector->id}, {"reason", question.reason}});
  return dump(Json{{"schema", 1},
                   {"result", to_string(check.result)},
                   {"fail_on", analysis::to_string(check.options.fail_on)},
                   {"failing", check.failing},
                   {"not_evaluable", open},
                   {"complete", check.info.complete},
                   {"unfinished", check.info.unfinished},
                   {"tier", check.info.tier},
                   {"losses", to_json(check.info.losses)},
                   {"budgets", budgets},
                   {"findings", findings},
                   {"rules", rules}});
}

}  // namespace streamscope::report
