// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Folded rows, kept while the timeline rests or is panned: frames at one scale fold what comes
// into view, not what was there.
#pragma once

#include <unordered_map>
#include <vector>

#include "timeline_layout.h"

namespace streamscope::viewer {

/// UI thread only.
class FoldedRows {
 public:
  /// As viewer::fold(), of a row that stays as and where it is until clear().
  void fold(const Row& row, const TimeWindow& window, double min_px, std::vector<DrawItem>& out);
  void clear() { kept_.clear(); }
  /// Rows that were folded so far; the others were there.
  size_t fold_count() const { return fold_count_; }

 private:
  struct Kept {
    TimeWindow window;  // wider than what was asked for
    double min_px = 0;
    std::vector<DrawItem> items;
  };
  std::unordered_map<const Row*, Kept> kept_;
  size_t fold_count_ = 0;
};

}  // namespace streamscope::viewer
