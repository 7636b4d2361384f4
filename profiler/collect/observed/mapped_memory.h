// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The memory that a tensor map (CUtensorMap) describes.
#pragma once

#include <cstdint>
#include <span>

namespace streamscope::collect {

/// `rows` of `bytes`, `pitch` apart.
struct MappedMemory {
  uint64_t address = 0;
  uint64_t bytes = 0;
  uint32_t pitch = 0;
  uint32_t rows = 1;
};

/// The tensor of a map: `type` is a CUtensorMapDataType, `dimensions` are elements, innermost
/// first, `strides` bytes, of all but the innermost. What has more than two dimensions that are not
/// packed is one row from its first byte to its last. Without bytes if there is no such tensor.
MappedMemory mapped_memory(int type, uint64_t address, std::span<const uint64_t> dimensions,
                           std::span<const uint64_t> strides);

}  // namespace streamscope::collect
