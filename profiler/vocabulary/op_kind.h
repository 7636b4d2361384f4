// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Kinds of work on a device.
#pragma once

#include <cstdint>

#include "term.h"

namespace streamscope {

/// Stored in traces, in op.kind: append only.
enum OpKind : int32_t {
  kKernel = 0,
  kMemcpy,
  kMemset,
  kHostFunction,
  kMemoryWait,
  kMemoryWrite,
  kGraphLaunch,
};

inline constexpr Term kOpKinds[] = {
    {kKernel, "kernel"},
    {kMemcpy, "memcpy"},
    {kMemset, "memset"},
    {kHostFunction, "host_function"},
    {kMemoryWait, "memory_wait"},
    {kMemoryWrite, "memory_write"},
    {kGraphLaunch, "graph_launch"},
};
constexpr std::string_view to_string(OpKind kind) { return name_of(kOpKinds, kind); }

// As stored in traces:

/// A copy or a memset.
constexpr bool is_memory_operation(int32_t kind) { return kind == kMemcpy || kind == kMemset; }
/// CUDA reports when it ran. The simulated device reports that of every kind.
constexpr bool is_measurable(int32_t kind) {
  return kind == kKernel || is_memory_operation(kind) || kind == kGraphLaunch;
}

}  // namespace streamscope
