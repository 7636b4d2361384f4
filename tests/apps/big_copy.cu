// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// How long kernels take that copy 256 MiB, by float and by float4: the median of some, launched
// one behind the other. And how much memory of the device is in use then.
#include <cuda_runtime.h>

#include <algorithm>
#include <vector>

#include "counted.h"

namespace {

template <class T>
__global__ void copy(T* to, const T* from, size_t count) {
  const size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x;
  if (i < count) to[i] = from[i];
}

template <class T>
void measure(const char* name) {
  constexpr size_t kBytes = 256 << 20, kCount = kBytes / sizeof(T);
  T *from = nullptr, *to = nullptr;
  CALL(cudaMalloc, reinterpret_cast<void**>(&from), kBytes);
  CALL(cudaMalloc, reinterpret_cast<void**>(&to), kBytes);
  cudaEvent_t begin = nullptr, end = nullptr;
  CALL(cudaEventCreate, &begin);
  CALL(cudaEventCreate, &end);
  std::vector<float> times;
  for (int i = 0; i < 12; ++i) {
    CALL(cudaEventRecord, begin, nullptr);
    counted::launch(copy<T>, static_cast<unsigned>((kCount + 255) / 256), 256, nullptr, to,
                    static_cast<const T*>(from), kCount);
    CALL(cudaEventRecord, end, nullptr);
    CALL(cudaEventSynchronize, end);
    float ms = 0;
    CALL(cudaEventElapsedTime, &ms, begin, end);
    if (i > 0) times.push_back(ms);
  }
  std::sort(times.begin(), times.end());
  size_t free = 0, total = 0;
  CALL(cudaMemGetInfo, &free, &total);
  std::printf("{\"copy\": \"%s\", \"ms\": %.4f, \"used_mib\": %zu}\n", name,
              static_cast<double>(times[times.size() / 2]), (total - free) >> 20);
  CALL(cudaFree, from);
  CALL(cudaFree, to);
}

}  // namespace

int main() {
  counted::require_device();
  measure<float>("float");
  measure<float4>("float4");
  return 0;
}
