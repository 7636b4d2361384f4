// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A kernel that runs on every backend, for examples, tests and models of real programs.
//
// Programs launch their own kernels on StreamRef::native(); this is for programs that must also run
// on the simulated device, or that need a placeholder of known duration.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "coord/memory.h"
#include "coord/types.h"

namespace coord {

/// output[i] = scale * input[i] + offset for i < count, fused. Both are device memory and may be
/// the same.
struct Transform {
  const float* input = nullptr;
  float* output = nullptr;
  std::size_t count = 0;
  float scale = 1;
  float offset = 0;
};

struct KernelSpec {
  /// Shown in traces of simulated runs; on CUDA the kernel is called "coord_busy".
  std::string_view name = "kernel";
  /// How long each block takes: exactly on the simulated device, at least on CUDA (where it spins).
  Nanoseconds duration{0};
  /// Blocks of the grid, of 128 threads each. They start in order as capacity frees up.
  unsigned blocks = 1;
  /// Maximum resident blocks per multiprocessor, 1 to 16; 0: as many as its threads allow, which is
  /// 16. On CUDA enforced through the shared memory that each block requests.
  unsigned blocks_per_sm = 0;
  /// Computed on both backends.
  Transform transform{};
  /// If set, the kernel spins, holding its multiprocessors, until the 64-bit word there has reached
  /// the value (see StreamRef::wait_value). Device memory or page-locked host memory.
  const std::uint64_t* spin_address = nullptr;
  std::uint64_t spin_value = 0;
  /// Simulated device only: bytes that a block moves, which takes time according to the bandwidth,
  /// in addition to `duration`.
  std::uint64_t traffic_bytes = 0;
  /// Simulated device only: an additional computation of the kernel, run when it starts in virtual
  /// time. It must not call libcoord. An exception fails the device, as a faulting kernel would.
  std::function<void()> function{};
  /// Simulated device only: memory that it accesses apart from its transform, for race detection.
  std::vector<MemoryRange> reads{}, writes{};
};

}  // namespace coord
