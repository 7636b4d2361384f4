// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What the timeline of the HTML report draws, as page.js reads it. Internal to report.
#pragma once

#include "analysis/timeline.h"
#include "report/formats/json.h"

namespace streamscope::report {

struct PageLanes {
  Json data;            ///< first, last, lanes, names, kinds, edges; page.js describes them
  bool folded = false;  ///< a box stands for several ops
};

/// Op by op; of a trace with more ops than a page can hold, the cells of its level-of-detail
/// pyramid.
PageLanes page_lanes(const trace::Trace& trace, const analysis::Timeline& timeline);

}  // namespace streamscope::report
