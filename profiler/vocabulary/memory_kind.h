// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Kinds of memory that copies and memsets access.
#pragma once

#include <cstdint>
#include <string>

#include "term.h"

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

inline constexpr Term kMemoryKinds[] = {
    {MemoryKind::kUnknown, "unknown"},
    {MemoryKind::kPageable, "pageable"},
    {MemoryKind::kPinned, "pinned"},
    {MemoryKind::kDevice, "device"},
    {MemoryKind::kArray, "array"},
    {MemoryKind::kManaged, "managed"},
    {MemoryKind::kDeviceStatic, "device static"},
    {MemoryKind::kManagedStatic, "managed static"},
};

/// Compares with a stored value.
constexpr bool operator==(int32_t stored, MemoryKind kind) {
  return stored == static_cast<int32_t>(kind);
}
/// As the PyTorch profiler writes it: "Pageable".
inline std::string kineto_name(std::string_view kind) {
  std::string name(kind);
  name[0] = static_cast<char>(name[0] - 'a' + 'A');
  return name;
}
constexpr int32_t source_of(int32_t memory_kinds) { return memory_kinds >> 4; }
constexpr int32_t destination_of(int32_t memory_kinds) { return memory_kinds & 15; }

}  // namespace streamscope
