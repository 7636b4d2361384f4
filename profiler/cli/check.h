// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What decides whether a trace passes. Shared by `check` and `gate`.
#pragma once

#include <string>
#include <vector>

#include "command_line.h"
#include "report/check/check.h"

namespace streamscope::cli {

/// The options as they were typed.
struct Criteria {
  std::string fail_on = "error", baseline, budget, iteration = "auto";
  std::vector<std::string> required, assertions;
};

/// Declares --fail-on, --require, --baseline, --budget, --assert and --iteration.
void add_criteria_options(CommandLine& line, Criteria& criteria);

/// Reads the files and assertions that the options name. Throws Error.
report::CheckOptions read_criteria(const Criteria& criteria, report::CheckSubject subject);

}  // namespace streamscope::cli
