// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What lanes are filled from: things with a time, brought into rows.
#pragma once

#include <vector>

#include "document.h"

namespace streamscope::viewer {

struct Interval {
  TimeRange range;
  Item item;
};

/// Of two that start together the longer one comes first: it is outside.
void sort_by_start(std::vector<Interval>& intervals);

/// Distributes sorted intervals over as many bands as they need, at most `max_rows`; what overlaps
/// further shares the last.
void add_bands(const Document& document, Lane& lane, BandKind kind,
               const std::vector<Interval>& intervals, size_t max_rows);

}  // namespace streamscope::viewer
