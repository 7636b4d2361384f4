// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What launches touched, as a table reports it (touch_table.h) -> ranges of bytes, exact. One range
// at a time, as a launch may touch each second word of a large piece of memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "collect/observed/touch_table.h"

namespace streamscope::collect {

/// Rows of `bytes` bytes, `pitch` apart.
struct TouchedRange {
  Touch how = Touch::kRead;
  uint64_t address = 0;
  uint64_t bytes = 0;
  uint32_t rows = 1;
  uint32_t pitch = 0;
};

/// Borrows what the table reported.
class TouchedRanges {
 public:
  TouchedRanges(std::span<const TouchRun> runs, std::span<const TouchSlot> granules);

  /// Visits those of a launch by way and address, until `visit` returns false. Ranges of one way do
  /// not overlap or adjoin, but for those of rows.
  void of_launch(uint32_t launch, const std::function<bool(const TouchedRange&)>& visit) const;

 private:
  // A run, or a granule that was touched in part.
  struct Item {
    uint64_t order;  // by launch and address
    const TouchRun* run;
    const TouchSlot* granule;
  };
  std::vector<Item> items_;
};

}  // namespace streamscope::collect
