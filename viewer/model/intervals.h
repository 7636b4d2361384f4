// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What lanes are filled from: items with a time, distributed over rows.
#pragma once

#include <vector>

#include "lanes.h"

namespace streamscope::viewer {

struct Interval {
  TimeRange range;
  Item item;
};

/// Of two with the same start, the longer one comes first: it encloses the other.
void sort_by_start(std::vector<Interval>& intervals);

/// Distributes sorted intervals over as many bands as they need, at most `max_rows`; further
/// overlapping ones share the last.
void add_bands(const ItemFacts& items, Lane& lane, BandKind kind,
               const std::vector<Interval>& intervals, size_t max_rows);

/// The share of a range that at least one of the sorted intervals covers.
double busy_share(const std::vector<Interval>& intervals, TimeRange of);

}  // namespace streamscope::viewer
