// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "collect/observed/mapped_memory.h"

#include <limits>

namespace streamscope::collect {

namespace {

constexpr uint64_t kMostBytes = uint64_t{1} << 47;
constexpr size_t kMostDimensions = 5;

// By the numbers of CUtensorMapDataType, some of which older toolkits lack. Of types with less than
// a byte, 16 elements fill 8 or 16 bytes.
uint64_t bytes_of(int type, uint64_t elements) {
  switch (type) {
    case 0:  // UINT8
      return elements;
    case 1:  // UINT16
    case 6:  // FLOAT16
    case 9:  // BFLOAT16
      return elements * 2;
    case 4:  // UINT64
    case 5:  // INT64
    case 8:  // FLOAT64
      return elements * 8;
    case 13:  // 16U4_ALIGN8B
      return (elements + 1) / 2;
    case 14:  // 16U4_ALIGN16B
    case 15:  // 16U6_ALIGN16B
      return elements;
    default:
      return elements * 4;
  }
}

}  // namespace

MappedMemory mapped_memory(int type, uint64_t address, std::span<const uint64_t> dimensions,
                           std::span<const uint64_t> strides) {
  MappedMemory memory{.address = address};
  if (dimensions.empty() || dimensions.size() > kMostDimensions ||
      strides.size() + 1 < dimensions.size() || dimensions[0] > kMostBytes / 8)
    return memory;
  uint64_t row = bytes_of(type, dimensions[0]);
  uint64_t rows = 1, pitch = 0;
  const auto join = [&] { row += (rows - 1) * pitch, rows = 1; };
  for (size_t i = 1; i < dimensions.size(); ++i) {
    const uint64_t count = dimensions[i], stride = strides[i - 1];
    if (count <= 1) continue;
    if (stride > kMostBytes || count > kMostBytes / (stride + 1)) return memory;
    if (rows > 1) join();
    if (stride <= row) {  // packed
      row += (count - 1) * stride;
    } else {
      rows = count, pitch = stride;
    }
  }
  constexpr uint64_t kMost = std::numeric_limits<uint32_t>::max();
  if (rows > kMost || pitch > kMost) join();
  memory.bytes = row;
  memory.rows = static_cast<uint32_t>(rows);
  memory.pitch = rows > 1 ? static_cast<uint32_t>(pitch) : 0;
  return memory;
}

}  // namespace streamscope::collect
