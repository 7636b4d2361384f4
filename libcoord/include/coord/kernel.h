// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A kernel that runs on every backend, for examples, tests and models of real programs.
//
// Programs with kernels of their own launch them on StreamRef::native(); this is for those that
// must also run simulated, or that want a stand-in of known duration.
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
  /// Blocks of the grid, of 128 threads. They start in order as multiprocessors have room.
  unsigned blocks = 1;
  /// How many of its blocks a multiprocessor holds at once, 1 to 16; 0: as many as its threads
  /// allow, which is 16. On CUDA enforced through the shared memory that each block asks for.
  unsigned blocks_per_sm = 0;
  /// Computed on both backends.
  Transform transform{};
  /// If set, the kernel spins, holding its multiprocessors, until the 64-bit word there has reached
  /// the value as StreamRef::wait_value has it. Device memory or page-locked host memory.
  const std::uint64_t* spin_address = nullptr;
  std::uint64_t spin_value = 0;
  /// Simulated device only: memory that a block moves, which takes as long as its bandwidth says,
  /// on top of `duration`.
  std::uint64_t traffic_bytes = 0;
  /// Simulated device only: what else the kernel computes, run when the kernel starts in virtual
  /// time. It may not call libcoord. An exception fails the device, as a faulting kernel would.
  std::function<void()> function{};
  /// Simulated device only: what it touches besides its transform, by which races are judged.
  std::vector<MemoryRange> reads{}, writes{};
};

}  // namespace coord
