// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Small drawings for the HTML report, each an SVG element with a text alternative. Colors are
// classes of page.css, so that they follow the light and the dark theme and print.
#pragma once

#include <string>

#include "analysis/hang/wait_graph.h"
#include "analysis/stream_ops.h"
#include "analysis/usage/pool_usage.h"
#include "report/sections/summary.h"

namespace streamscope::report {

/// Who waited for whom when the trace ended; "" if nothing hung.
std::string picture_of(const trace::Trace& trace, const analysis::WaitGraph& graph);
/// How many elements, or bytes, were in use over time.
std::string picture_of(const analysis::PoolUsage& pool);
/// The ops and calls of a finding, with their neighbors on their streams; "" if none has times.
std::string picture_of(const trace::Trace& trace, const analysis::StreamOps& stream_ops,
                       const analysis::Finding& finding);

}  // namespace streamscope::report
