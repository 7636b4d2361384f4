// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Which kernels can order themselves through memory, by their machine code: a kernel that is to be
// waited for publishes a value by a strong store, an atomic operation or a fence, and the waiting
// one reads it by strong loads or atomic operations that return a value. Strong ("volatile",
// acquire, release) and weak accesses are the same to the Compute Sanitizer.
//
// The encodings are not documented. They were found by compiling known operations for sm_75 to
// sm_100 with CUDA 13.0 and comparing them with nvdisasm's output; tests/collect/signals.cu does
// the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>

#include "vocabulary/kernel_signals.h"

namespace streamscope::collect {

/// KernelSignals by the (mangled) name of the function.
using SignalsOfKernels = std::unordered_map<std::string, uint8_t>;

/// The kernels of a cubin that may do one of the two. What a device function that is not inlined
/// does counts for all kernels of the cubin. Code that cannot be read may do both: `unknown` is
/// set.
SignalsOfKernels signals_of_kernels(const char* cubin, size_t bytes, bool* unknown);

}  // namespace streamscope::collect
