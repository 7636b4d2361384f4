// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What launches touched, as a table reports it (touch_table.h) -> ranges of bytes, exact.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "collect/observed/touch_table.h"

namespace streamscope::collect {

/// Rows of `bytes` bytes, `pitch` apart.
struct TouchedRange {
  uint32_t launch = 0;
  Touch how = Touch::kRead;
  uint64_t address = 0;
  uint64_t bytes = 0;
  uint32_t rows = 1;
  uint32_t pitch = 0;
};

/// By launch, way and address. Ranges of one launch and way do not overlap or adjoin, but for those
/// of rows.
std::vector<TouchedRange> touched_ranges(std::span<const TouchRun> runs,
                                         std::span<const TouchSlot> granules);

}  // namespace streamscope::collect
