// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Kinds of pools and of memory blocks.
#pragma once

#include <cstdint>

namespace streamscope {

/// Stored in traces, in pool.kind: append only.
enum PoolKind : int32_t {
  kEventPool = 0,
  kStreamPool,
  kMemoryPool,
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

}  // namespace streamscope
