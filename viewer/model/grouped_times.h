// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Durations, grouped: the content of the statistics panel. Independent of ImGui.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "per_iteration.h"
#include "trace_model.h"

namespace streamscope::viewer {

enum class GroupBy : uint8_t { kName, kStream, kKind, kCall, kRange, kCause };
inline constexpr std::array<std::string_view, 6> kGroupNames = {
    "Work by name", "By stream", "By kind", "Host calls", "NVTX ranges", "Causes of waiting"};

struct StatisticsRow {
  std::string name;
  std::string stream;  ///< kName only: where it ran
  uint64_t count = 0;
  Ns total_ns = 0, shortest_ns = 0, median_ns = 0, p95_ns = 0, longest_ns = 0;
  PerIteration each;  ///< of the steady iterations
  Item longest;       ///< the longest of them, of the steady part if there is one there; to select
  /// Histogram of the durations: buckets of equal width on a logarithmic axis from the shortest to
  /// the longest of all rows.
  std::array<uint32_t, 24> histogram{};
};

/// What takes most of an iteration comes first, without iterations what takes most of the run. With
/// a time range, only the parts of items within it, and nothing by iteration. O(n log n).
std::vector<StatisticsRow> statistics(const TraceModel& model, GroupBy by,
                                      std::optional<TimeRange> range);

}  // namespace streamscope::viewer
