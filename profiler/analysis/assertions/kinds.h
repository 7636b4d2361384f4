// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// One function for each kind of assertion; evaluate.cpp lists them.
#pragma once

#include <string>

#include "evaluate.h"
#include "judged_iterations.h"

namespace streamscope::analysis {

/// What all assertions of a trace share.
struct AssertionContext {
  Analyses& analyses;
  const JudgedIterations& iterations;
};

using EvaluateKind = AssertionResult(const AssertionContext& context, const Assertion& assertion);
EvaluateKind evaluate_may_overlap, evaluate_may_overlap_across, evaluate_ordered, evaluate_no_sync,
    evaluate_count, evaluate_bound;

// The three answers; texts are sentences without a stop at the end.
AssertionResult holds(const Assertion& assertion, std::string measured);
AssertionResult fails(const Assertion& assertion, std::string measured, std::string text,
                      Location place);
AssertionResult not_evaluable(const Assertion& assertion, std::string reason);
/// The same for an assertion about iterations, if there are none.
AssertionResult without_iterations(const AssertionContext& context, const Assertion& assertion);

/// "in 12 of 96 iterations"; for processes if there are no iterations.
std::string in_share_of(const AssertionContext& context, size_t count, size_t whole);
/// "in iteration 3 (of 96)", "in the run", or "in train.py" if there are several processes.
std::string in_scope(const AssertionContext& context, uint32_t scope);

}  // namespace streamscope::analysis
