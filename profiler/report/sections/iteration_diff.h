// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The comparison of the iterations of two runs: the first thing that `streamscope diff` says.
#pragma once

#include <string>
#include <vector>

#include "analysis/compare/iteration_diff.h"
#include "document.h"
#include "report/formats/json.h"

namespace streamscope::report {

/// Two sections: how long an iteration takes and what grew, and at which places of the program.
/// None if iterations are not compared.
std::vector<Section> iteration_sections(const analysis::IterationDiff& diff);
/// The same for programs, with all shares; `comparable` is false if iterations are not compared.
Json iteration_json(const analysis::IterationDiff& diff);

/// How long an iteration takes in both runs, and whether chance explains the difference.
std::vector<std::string> duration_sentences(const analysis::IterationDiff& diff);
/// The same for programs: of one run, and of both.
Json durations_json(const analysis::ComparedIterations& run);
Json test_json(const analysis::IterationDiff& diff);

}  // namespace streamscope::report
