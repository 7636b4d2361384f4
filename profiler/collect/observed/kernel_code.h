// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What the machine code of kernels shows and the Compute Sanitizer does not.
//
// Which kernels can order themselves through memory: a kernel that is to be waited for publishes a
// value by a strong store, an atomic operation or a fence, and the waiting one reads it by strong
// loads or atomic operations that return a value. Strong ("volatile", acquire, release) and weak
// accesses are the same to the Sanitizer.
//
// Which kernels touch memory by operations that are not patched: tensor maps (TMA), textures,
// surfaces, multicast memory.
//
// The encodings are not documented. They were found by compiling kernels with and without each
// operation for sm_75 to sm_120 with CUDA 13.0, those of signals also by nvdisasm's output;
// tests/collect/kernel_code_test compiles such kernels too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>

#include "vocabulary/kernel_signals.h"

namespace streamscope::collect {

/// Beside KernelSignals.
enum CodeTrait : uint8_t {
  kReadsByTensorMap = 4,
  kWritesByTensorMap = 8,
  kTouchesUnseen = 16,  ///< by textures, surfaces or multicast memory, or in an unknown way
};
inline constexpr uint8_t kAllSignals = kMaySignal | kMayWait;
inline constexpr uint8_t kByTensorMap = kReadsByTensorMap | kWritesByTensorMap;
/// Of code that cannot be read.
inline constexpr uint8_t kUnknownCode = kAllSignals | kTouchesUnseen;

/// KernelSignals and CodeTraits by the (mangled) name of the function.
using CodeOfKernels = std::unordered_map<std::string, uint8_t>;

/// The kernels of a cubin that have any of them. What a device function that is not inlined does
/// counts for all kernels of the cubin. False if the code cannot be read.
bool read_code(const char* cubin, size_t bytes, CodeOfKernels& kernels);

}  // namespace streamscope::collect
