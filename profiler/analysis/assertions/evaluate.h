// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Evaluates assertions on a trace.
//
// An answer is "not evaluable" if the trace cannot prove it: evidence is missing, nothing matches,
// or there are no iterations to count in. Missing evidence never counts as "holds".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/analyses.h"
#include "assertion.h"

namespace streamscope::analysis {

enum class AssertionOutcome : uint8_t { kHolds, kFails, kNotEvaluable };
std::string_view to_string(AssertionOutcome outcome);  ///< "holds", "fails", "not evaluable"

struct AssertionResult {
  Assertion assertion;
  AssertionOutcome outcome = AssertionOutcome::kNotEvaluable;
  std::string measured;  ///< a few words: "in 12 of 96 iterations"; "unknown" if not evaluable
  std::string text;      ///< why it fails or is not evaluable: sentences; "" if it holds
  Location place;        ///< of the call that decides it, if there is one
};

/// Evaluates assertions on all finished traces; on an unfinished one none is evaluable.
std::vector<AssertionResult> evaluate(Analyses& analyses, const std::vector<Assertion>& assertions);

}  // namespace streamscope::analysis
