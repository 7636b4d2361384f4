// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The comparison of two traces for people and for programs: `streamscope diff`.
#pragma once

#include <string>
#include <vector>

#include "analysis/diff.h"
#include "document.h"

namespace streamscope::report {

struct DiffVerdict {
  analysis::TraceDiff diff;
  std::vector<trace::Ns> base_runs;  ///< makespans of the base and its further runs
  double max_slowdown = 0;           ///< share of the base that is tolerated
  bool regressed = false;
};

/// A regression is slower than the slowest run of the base by more than `max_slowdown` of it.
DiffVerdict judge(analysis::TraceDiff diff, std::vector<trace::Ns> base_runs, double max_slowdown);

Document diff_document(const DiffVerdict& verdict);
std::string diff_json(const DiffVerdict& verdict);

}  // namespace streamscope::report
