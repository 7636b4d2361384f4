// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Answers of detectors.
#pragma once

#include <cstdint>

#include "term.h"

namespace streamscope {

/// Stored in traces, in finding.severity: append only.
enum class FindingSeverity : int32_t { kNote = 0, kWarning, kError };

inline constexpr Term kFindingSeverities[] = {
    {FindingSeverity::kNote, "note"},
    {FindingSeverity::kWarning, "warning"},
    {FindingSeverity::kError, "error"},
};
constexpr std::string_view to_string(FindingSeverity severity) {
  return name_of(kFindingSeverities, severity);
}

/// Stored in traces, in finding.confidence: append only.
enum class Confidence : int32_t {
  kCertain = 0,  ///< all evidence is present
  kSuspected,    ///< expected evidence is incomplete
  kPossible,     ///< from indirect evidence, such as kernel parameters; a note that fails no check
};

inline constexpr Term kConfidences[] = {
    {Confidence::kCertain, "certain"},
    {Confidence::kSuspected, "suspected", "evidence is incomplete"},
    {Confidence::kPossible, "possible", "from indirect evidence; never fails a check"},
};
constexpr std::string_view to_string(Confidence confidence) {
  return name_of(kConfidences, confidence);
}

/// The answer of one detector. Stored in traces by name, in meta.verdicts.
enum class Outcome {
  kFound,
  kClean,
  kNotAtThisTier,  ///< needs evidence that this recording or format does not contain
  kNotEvaluable,   ///< expected evidence is missing
};

inline constexpr Term kOutcomes[] = {
    {Outcome::kFound, "found"},
    {Outcome::kClean, "clean"},
    {Outcome::kNotAtThisTier, "not-at-this-tier"},
    {Outcome::kNotEvaluable, "not-evaluable"},
};
constexpr std::string_view to_string(Outcome outcome) { return name_of(kOutcomes, outcome); }

}  // namespace streamscope
