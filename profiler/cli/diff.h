// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// How a trace is compared with a base. Shared by `diff` and `gate`.
#pragma once

#include <string>
#include <vector>

#include "command_line.h"
#include "report/sections/diff_document.h"
#include "traces.h"

namespace streamscope::cli {

struct Comparison {
  std::string base, now, iteration = "auto";
  std::vector<std::string> runs;  ///< further base runs
  double max_slowdown = 5;        ///< percent
  double wait_s = kDefaultWaitS;  ///< for traces that are still being recorded
  bool quiet = false;
};

/// Declares --base-run and --max-slowdown.
void add_regression_options(CommandLine& line, Comparison& options);

/// Compares two traces and judges the difference. Throws Error.
report::DiffVerdict compare_traces(const Comparison& options);

}  // namespace streamscope::cli
