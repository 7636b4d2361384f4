// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Kinds of pools and of memory blocks.
#pragma once

#include <cstdint>

#include "term.h"

namespace streamscope {

/// Stored in traces, in pool.kind: append only.
enum PoolKind : int32_t {
  kEventPool = 0,
  kStreamPool,
  kMemoryPool,
};

inline constexpr Term kPoolKinds[] = {
    {kEventPool, "events"},
    {kStreamPool, "streams"},
    {kMemoryPool, "memory"},
};

/// Stored in traces, in allocation.kind: append only.
enum AllocationKind : int32_t {
  kDeviceAllocation = 0,
  kStreamOrderedAllocation,
  kPinnedHostAllocation,
  kManagedAllocation,
  kLibcoordAllocation,
  kTensorAllocation,
};

inline constexpr Term kAllocationKinds[] = {
    {kDeviceAllocation, "device"},
    {kStreamOrderedAllocation, "stream_ordered"},
    {kPinnedHostAllocation, "pinned_host"},
    {kManagedAllocation, "managed"},
    {kLibcoordAllocation, "libcoord"},
    {kTensorAllocation, "tensor",
     "a block of PyTorch's caching allocator, within memory of another row"},
};

/// The same as pools of memory.
inline constexpr Term kMemoryPools[] = {
    {kDeviceAllocation, "device memory"},
    {kStreamOrderedAllocation, "stream-ordered memory"},
    {kPinnedHostAllocation, "pinned host memory"},
    {kManagedAllocation, "managed memory"},
    {kLibcoordAllocation, "libcoord memory"},
    {kTensorAllocation, "tensors"},
};

}  // namespace streamscope
