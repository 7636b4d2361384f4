// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The data of the timeline in the HTML report, as page.js reads it. Internal to report.
#pragma once

#include <optional>
#include <utility>

#include "analysis/stream_ops.h"
#include "report/formats/json.h"

namespace streamscope::report {

struct PageLanes {
  Json data;                  ///< first, last, lanes, names, kinds, edges; page.js describes them
  bool folded = false;        ///< some boxes represent several ops
  bool folded_first = false;  ///< also in the time that is shown first
};

/// One box per op, or, if the trace has too many ops for a page, the cells of its level-of-detail
/// pyramid; but one box per op in the time that is shown first.
PageLanes page_lanes(const trace::Trace& trace, const analysis::StreamOps& stream_ops,
                     std::optional<std::pair<trace::Ns, trace::Ns>> shown_first = {});

}  // namespace streamscope::report
