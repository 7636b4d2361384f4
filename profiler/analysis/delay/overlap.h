// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What ran at the same time on a device: copies during kernels, and how many ops at once.
#pragma once

#include <span>
#include <vector>

#include "analysis/iterations/iteration_series.h"
#include "analysis/stream_ops.h"

namespace streamscope::analysis {

/// The overlap on one device. Copies include memsets, as in the view v_overlap.
struct DeviceOverlap {
  Id device_id = kNoId;  ///< kNoId: ops whose device is unknown
  Ns first_start_ns = kUnknownNs;
  Ns last_end_ns = kUnknownNs;
  IterationSeries kernels;  ///< time in which at least one kernel ran
  IterationSeries copies;   ///< time in which at least one copy ran
  IterationSeries both;     ///< time in which both ran
  /// [n]: time between first start and last end in which exactly n ops of any kind ran; not empty.
  std::vector<IterationSeries> concurrency{1};

  Ns window_ns() const { return first_start_ns == kUnknownNs ? 0 : last_end_ns - first_start_ns; }
  const IterationSeries& idle() const { return concurrency[0]; }
};

/// One entry per device that ran a timed op, in order of device id. `by_start`: the result of
/// ops_by_start(). O(n log r) for r ops that run at once.
std::vector<DeviceOverlap> overlap(const Trace& trace, std::span<const Id> by_start,
                                   const IterationSlots& slots = {});

}  // namespace streamscope::analysis
