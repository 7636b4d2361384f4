// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A kernel that runs on every backend, for examples, tests and models of real programs.
//
// Programs with kernels of their own launch them on StreamRef::native(); this is for those that
// must also run simulated, or that want a stand-in of known duration.
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>

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
  /// How long the kernel takes: exactly on the simulated device, at least on CUDA (where it spins).
  Nanoseconds duration{0};
  /// Blocks of the grid. The simulated device gives each a multiprocessor of its own.
  unsigned blocks = 1;
  /// Computed on both backends.
  Transform transform{};
  /// Simulated device only: what else the kernel computes, run when the kernel starts in virtual
  /// time. It may not call libcoord. An exception fails the device, as a faulting kernel would.
  std::function<void()> function{};
};

}  // namespace coord
