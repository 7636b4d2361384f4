// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Folded rows, kept while the timeline is unchanged or panned: frames at one scale fold only what
// comes into view.
#pragma once

#include <unordered_map>
#include <vector>

#include "timeline_layout.h"

namespace streamscope::viewer {

/// UI thread only.
class FoldedRows {
 public:
  /// Like viewer::fold(), for a row that neither changes nor moves in memory until clear().
  void fold(const Row& row, const TimeWindow& window, double min_px, std::vector<DrawItem>& out);
  void clear() { kept_.clear(); }
  /// Number of rows folded so far; the others were reused.
  size_t fold_count() const { return fold_count_; }

 private:
  struct Kept {
    TimeWindow window;  // wider than requested
    double min_px = 0;
    std::vector<DrawItem> items;
  };
  std::unordered_map<const Row*, Kept> kept_;
  size_t fold_count_ = 0;
};

}  // namespace streamscope::viewer
