// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What one rank of a job did, as rows of intervals on the common clock.
#pragma once

#include <vector>

#include "job_model.h"

namespace streamscope::viewer {

/// Kinds of intervals of a row of collectives.
inline constexpr uint8_t kWaits = 0;     ///< for other ranks
inline constexpr uint8_t kTogether = 1;  ///< the collective's own duration

/// The items of all rows are steps.
struct RankLane {
  Row work;  ///< by its largest share (analysis::TimeShare); work of several collectives once
  std::vector<Row>
      collectives;  ///< in rows in which none overlap; no more than kMostCollectiveRows
};
inline constexpr size_t kMostCollectiveRows = 3;

/// O(steps of the rank).
RankLane lane_of(const JobModel& model, uint32_t rank_row);

}  // namespace streamscope::viewer
