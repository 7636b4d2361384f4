// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Conversions between libcoord's handles, which are numbers, and CUDA's, which are pointers.
#pragma once

#include <cuda.h>

#include "coord/backend.h"

namespace coord::cuda {

// NOLINTBEGIN(performance-no-int-to-ptr): they are never dereferenced
inline CUstream to_stream(NativeStream stream) { return reinterpret_cast<CUstream>(stream); }
inline CUevent to_event(NativeEvent event) { return reinterpret_cast<CUevent>(event); }
inline CUgraph to_graph(NativeGraph graph) { return reinterpret_cast<CUgraph>(graph); }
inline CUgraphExec to_executable(NativeExecutable executable) {
  return reinterpret_cast<CUgraphExec>(executable);
}
inline void* to_pointer(CUdeviceptr address) { return reinterpret_cast<void*>(address); }
// NOLINTEND(performance-no-int-to-ptr)
inline CUdeviceptr to_device(const void* address) { return reinterpret_cast<CUdeviceptr>(address); }

}  // namespace coord::cuda
