// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Kinds of memory that copies and memsets access.
#pragma once

#include <cstdint>

namespace streamscope {

/// CUPTI's numbers (CUpti_ActivityMemoryKind). Stored in op.detail of a memset, and in the two
/// halves of op.memory_kinds of a copy: source << 4 | destination.
enum class MemoryKind : uint8_t {
  kUnknown = 0,
  kPageable,
  kPinned,
  kDevice,
  kArray,
  kManaged,
  kDeviceStatic,
  kManagedStatic,
};

/// Compares with a stored value.
constexpr bool operator==(int32_t stored, MemoryKind kind) {
  return stored == static_cast<int32_t>(kind);
}
constexpr int32_t source_of(int32_t memory_kinds) { return memory_kinds >> 4; }
constexpr int32_t destination_of(int32_t memory_kinds) { return memory_kinds & 15; }

}  // namespace streamscope
