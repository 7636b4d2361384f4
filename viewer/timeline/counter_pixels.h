// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What the pixels of counters show, kept while the timeline is unchanged or panned by whole pixels,
// as a mouse does.
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "model/counters.h"
#include "timeline_layout.h"

namespace streamscope::viewer {

/// UI thread only.
class CounterPixels {
 public:
  /// Like Counter::in_pixels() with `width` columns, for a counter that neither changes nor moves
  /// in memory until clear(). Valid until the next call.
  std::span<const Counter::Column> of(const Counter& counter, const TimeWindow& window,
                                      size_t width);
  void clear() { kept_.clear(); }
  /// Number of times that columns were computed; the others were reused.
  size_t computed_count() const { return computed_count_; }

 private:
  struct Kept {
    TimeWindow window;  // wider than requested
    std::vector<Counter::Column> columns;
  };
  std::unordered_map<const Counter*, Kept> kept_;
  size_t computed_count_ = 0;
};

}  // namespace streamscope::viewer
