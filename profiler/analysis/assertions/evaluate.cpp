// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "evaluate.h"

#include <fmt/format.h>

#include <utility>

#include "analysis/detector.h"
#include "analysis/labels.h"
#include "analysis/units.h"
#include "kinds.h"
#include "trace/loss.h"

namespace streamscope::analysis {
namespace {

struct KindOfAssertion {
  EvaluateKind* evaluate;
  unsigned needs;  // set of Evidence
};
constexpr KindOfAssertion kKinds[] = {
    // By AssertionKind.
    {evaluate_may_overlap, kCallEvidence | kEventEvidence},
    {evaluate_may_overlap_across, kCallEvidence | kEventEvidence},
    {evaluate_ordered, kCallEvidence | kEventEvidence},
    {evaluate_no_sync, kCallEvidence},
    {evaluate_count, kCallEvidence},
    {evaluate_count, kCallEvidence},
    {evaluate_count, kCallEvidence},
    {evaluate_bound, kCallEvidence | kEventEvidence | kTimeEvidence},
};

}  // namespace

std::string_view to_string(AssertionOutcome outcome) {
  constexpr std::string_view kNames[] = {"holds", "fails", "not evaluable"};
  return kNames[static_cast<size_t>(outcome)];
}

AssertionResult holds(const Assertion& assertion, std::string measured) {
  return {
      .assertion = assertion, .outcome = AssertionOutcome::kHolds, .measured = std::move(measured)};
}

AssertionResult fails(const Assertion& assertion, std::string measured, std::string text,
                      Location place) {
  return {.assertion = assertion,
          .outcome = AssertionOutcome::kFails,
          .measured = std::move(measured),
          .text = std::move(text) + '.',
          .place = std::move(place)};
}

AssertionResult not_evaluable(const Assertion& assertion, std::string reason) {
  return {.assertion = assertion, .measured = "unknown", .text = std::move(reason)};
}

AssertionResult without_iterations(const AssertionContext& context, const Assertion& assertion) {
  const std::string& reason = context.iterations.why_not();
  return not_evaluable(assertion, reason.empty() ? "no iterations were requested" : reason);
}

std::string in_share_of(const AssertionContext& context, size_t count, size_t whole) {
  if (context.iterations.found()) {
    return fmt::format("in {} of {}", format_count(count), format_count(whole, "iteration"));
  }
  if (whole == 1) return count == 1 ? "in the run" : "nowhere in the run";
  return fmt::format("in {} of {} processes", format_count(count), format_count(whole));
}

std::string in_scope(const AssertionContext& context, uint32_t scope) {
  if (context.iterations.found()) return "in " + context.iterations.label(scope);
  const Trace& trace = context.analyses.trace();
  return trace.process.size() > 1 ? "in " + process_label(trace, scope) : "in the run";
}

std::vector<AssertionResult> evaluate(Analyses& analyses,
                                      const std::vector<Assertion>& assertions) {
  std::vector<AssertionResult> results;
  if (assertions.empty()) return results;
  if (trace::is_unfinished(analyses.trace())) {
    for (const Assertion& assertion : assertions)
      results.push_back(not_evaluable(assertion, "the trace is unfinished"));
    return results;
  }
  const AvailableEvidence evidence = evidence_of(analyses.trace());
  const JudgedIterations iterations(analyses);
  const AssertionContext context{analyses, iterations};
  for (const Assertion& assertion : assertions) {
    const KindOfAssertion& kind = kKinds[static_cast<size_t>(assertion.kind)];
    if (const unsigned never = kind.needs & ~evidence.promised; never != 0) {
      results.push_back(
          not_evaluable(assertion, fmt::format("needs {}, which this recording does not contain",
                                               to_string_of_evidence(never))));
    } else if (std::string missing = evidence.reason(kind.needs); !missing.empty()) {
      results.push_back(not_evaluable(assertion, std::move(missing)));
    } else {
      results.push_back(kind.evaluate(context, assertion));
    }
  }
  return results;
}

}  // namespace streamscope::analysis
