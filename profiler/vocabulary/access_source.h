// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// How it is known that memory is accessed, and how it is accessed: access.source and access.writes.
#pragma once

#include <cstdint>

namespace streamscope {

/// Stored in traces and ring files: append only.
enum class AccessSource : uint8_t {
  kArgument = 0,  // argument of a copy or memset, or what a simulated kernel does
  kOperation,     // declared by an operation of libcoord
  kHost,          // declared by host code, at this time
  kParameter,     // a word in the parameters of a kernel that may be a pointer
  kObserved,      // seen while the kernel ran; without an address: not all of them are known
  kTensorMap,     // what a tensor map describes that a kernel with TMA copies received
};
constexpr bool operator==(int32_t stored, AccessSource source) {
  return stored == static_cast<int32_t>(source);
}

/// Stored in traces: append only.
enum class AccessKind : uint8_t {
  kRead = 0,
  kWritten,
  kUpdated,  // by atomic operations only, which are no race among each other
};
constexpr bool operator==(int32_t stored, AccessKind kind) {
  return stored == static_cast<int32_t>(kind);
}

}  // namespace streamscope
