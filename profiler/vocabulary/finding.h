// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Answers of detectors.
#pragma once

#include <cstdint>

namespace streamscope {

/// Stored in traces, in finding.severity: append only.
enum class FindingSeverity : int32_t { kNote = 0, kWarning, kError };

/// Stored in traces, in finding.confidence: append only.
enum class Confidence : int32_t {
  kCertain = 0,  ///< all evidence is present
  kSuspected,    ///< expected evidence is incomplete
  kPossible,     ///< from indirect evidence, such as kernel parameters; a note that fails no check
};

/// The answer of one detector. Stored in traces by name, in meta.verdicts.
enum class Outcome {
  kFound,
  kClean,
  kNotAtThisTier,  ///< needs evidence that this recording or format does not contain
  kNotEvaluable,   ///< expected evidence is missing
};

}  // namespace streamscope
