// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Small drawings for the HTML report, each one SVG element that says in words what it shows.
// Colors are classes of page.css, so that they follow the light and the dark theme and print.
#pragma once

#include <string>

#include "analysis/hang/wait_graph.h"
#include "analysis/timeline.h"
#include "analysis/usage/pool_usage.h"
#include "report/sections/summary.h"

namespace streamscope::report {

/// Who waited for whom when the trace ended; "" if nobody hung.
std::string picture_of(const trace::Trace& trace, const analysis::WaitGraph& graph);
/// How many elements, or bytes, were in use over time.
std::string picture_of(const analysis::PoolUsage& pool);
/// The ops and calls that a finding is about, with their neighbors on their streams; "" if it
/// names none with times.
std::string picture_of(const trace::Trace& trace, const analysis::Timeline& timeline,
                       const analysis::Finding& finding);

}  // namespace streamscope::report
