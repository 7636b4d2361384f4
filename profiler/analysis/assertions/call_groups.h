// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Calls grouped by function and line, for answers that name them.
#pragma once

#include <string>
#include <vector>

#include "analysis/analyses.h"

namespace streamscope::analysis {

/// Rows of api_call or host_sync.
struct CallRows {
  enum Table { kApiCall, kHostSync } table = kApiCall;
  std::vector<Id> rows;
};

struct CallGroups {
  std::string text;  ///< "cudaStreamSynchronize 96 times from train.py:41 step, …"; most first
  Location place;    ///< of the first call of the most frequent group with a call site
};
/// `calls` has rows.
CallGroups group_calls(Analyses& analyses, const CallRows& calls);

}  // namespace streamscope::analysis
