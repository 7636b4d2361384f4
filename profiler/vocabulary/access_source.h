// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// How it is known that memory is accessed, and how it is accessed: access.source and access.writes.
#pragma once

#include <cstdint>

#include "term.h"

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

inline constexpr Term kAccessSources[] = {
    {AccessSource::kArgument, "argument", "of the call, or what a simulated kernel does"},
    {AccessSource::kOperation, "operation", "declared by an operation"},
    {AccessSource::kHost, "host", "declared by host code"},
    {AccessSource::kParameter, "parameter",
     "a word in the parameters of a kernel, also inside a struct"},
    {AccessSource::kObserved, "observed", "seen while the kernel ran, with --with accesses"},
    {AccessSource::kTensorMap, "tensor_map",
     "a tensor that the kernel may copy from or to by TMA, with --with accesses"},
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

inline constexpr Term kAccessKinds[] = {
    {AccessKind::kRead, "read"},
    {AccessKind::kWritten, "written"},
    {AccessKind::kUpdated, "updated", "only by atomic operations"},
};
constexpr bool operator==(int32_t stored, AccessKind kind) {
  return stored == static_cast<int32_t>(kind);
}

}  // namespace streamscope
