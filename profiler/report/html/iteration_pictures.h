// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The pictures with which a page begins: what an iteration consists of, and how long each took.
// Colors are classes of page.css. Internal to report.
#pragma once

#include <string>

#include "report/formats/json.h"
#include "report/sections/iteration.h"
#include "report/sections/iteration_strip.h"

namespace streamscope::report {

/// The most columns of its strip.
inline constexpr size_t kMostColumns = 400;

/// One bar with a part for each line of share_lines(), and its legend.
std::string shares_picture(const IterationSummary& summary);
/// A column per iteration, as high as it took long; page.js shows the one that is chosen. ""
/// if there is only one.
std::string strip_picture(const IterationSummary& summary);
/// Where the timeline opens: {from, to, title, column}, as page.js reads it.
Json opening_iteration(const analysis::Iterations& iterations);

}  // namespace streamscope::report
