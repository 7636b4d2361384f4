// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What streams, devices, waits and the critical path consist of, summed per iteration.
#pragma once

#include <array>
#include <iterator>
#include <string_view>
#include <vector>

#include "analysis/delay/overlap.h"
#include "analysis/delay/wait_groups.h"
#include "analysis/delay/waits.h"
#include "iteration_series.h"

namespace streamscope::analysis {

class Analyses;
struct PathStep;

/// Of one stream.
struct StreamSums {
  IterationSeries busy;  ///< totals are those of StreamActivity
  /// Time without work from its first op on, by WaitCause.
  std::array<IterationSeries, std::size(kWaitCauses)> waiting;
  /// In the steady part; all of them without iterations.
  struct Counts {
    uint64_t kernels = 0, copies = 0, others = 0, records = 0, waits = 0;
  } steady;

  const IterationSeries& waiting_for(WaitCause cause) const {
    return waiting[static_cast<size_t>(cause)];
  }
};

/// Of what the critical path consists.
enum class PathShare : uint8_t {
  kKernels,
  kCopies,     ///< memsets included
  kOtherOps,   ///< graph launches, host functions, memory operations
  kLaunching,  ///< host work before the next launch
  kHostSync,   ///< from the end of the awaited work to the return of the host
  kGaps,       ///< between ops
};
inline constexpr size_t kPathShareCount = 6;
struct PathShareNames {
  std::string_view id;     ///< in JSON
  std::string_view shown;  ///< in reports
};
const PathShareNames& names_of(PathShare share);

struct PathSums {
  std::array<IterationSeries, kPathShareCount> shares;  ///< by PathShare

  const IterationSeries& operator[](PathShare share) const {
    return shares[static_cast<size_t>(share)];
  }
  Ns total_ns() const;
};
PathSums sum_path(const Trace& trace, const std::vector<PathStep>& path, IterationSlots slots = {});

struct IterationSums {
  std::vector<StreamSums> streams;  ///< by id
  std::vector<DeviceOverlap> devices;
  PathSums path;
  std::vector<WaitGroup> waits;  ///< the most time first
};
/// If no iterations were found, all is in one slot. O(ops + parts of waits + iterations).
IterationSums iteration_sums(Analyses& analyses, const Iterations& iterations);

}  // namespace streamscope::analysis
