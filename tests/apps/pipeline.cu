// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A three-stage pipeline: upload, compute and download in three streams, tied by events that are
// recorded again for every chunk; pinned host memory; NVTX ranges and stream names.
//   pipeline [--chunks N] [--elements N]
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtCudaRt.h>

#include "counted.h"

namespace {

constexpr int kSlots = 3;

__global__ void scale_and_add(float* data, const float* bias, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) data[i] = data[i] * 2.0f + bias[i];
}

struct Slot {
  float* device = nullptr;
  cudaEvent_t uploaded = nullptr;
  cudaEvent_t computed = nullptr;
  cudaEvent_t downloaded = nullptr;
};

}  // namespace

int main(int argc, char** argv) {
  const int chunks = static_cast<int>(counted::option(argc, argv, "--chunks", 48));
  const int elements = static_cast<int>(counted::option(argc, argv, "--elements", 1 << 18));
  const size_t bytes = elements * sizeof(float);
  counted::require_device();

  cudaStream_t upload, compute, download;
  CALL(cudaStreamCreateWithFlags, &upload, cudaStreamNonBlocking);
  CALL(cudaStreamCreateWithFlags, &compute, cudaStreamNonBlocking);
  CALL(cudaStreamCreateWithFlags, &download, cudaStreamNonBlocking);
  nvtxNameCudaStreamA(upload, "upload");
  nvtxNameCudaStreamA(compute, "compute");
  nvtxNameCudaStreamA(download, "download");

  float *input = nullptr, *output = nullptr, *bias = nullptr;
  CALL(cudaHostAlloc, reinterpret_cast<void**>(&input), bytes * chunks, cudaHostAllocDefault);
  CALL(cudaHostAlloc, reinterpret_cast<void**>(&output), bytes * chunks, cudaHostAllocDefault);
  CALL(cudaMalloc, reinterpret_cast<void**>(&bias), bytes);
  for (int i = 0; i < chunks * elements; ++i) input[i] = static_cast<float>(i % 1000);
  CALL(cudaMemsetAsync, bias, 0, bytes, compute);

  Slot slots[kSlots];
  for (Slot& slot : slots) {
    CALL(cudaMalloc, reinterpret_cast<void**>(&slot.device), bytes);
    for (cudaEvent_t* event : {&slot.uploaded, &slot.computed, &slot.downloaded}) {
      CALL(cudaEventCreateWithFlags, event, cudaEventDisableTiming);
    }
  }

  for (int chunk = 0; chunk < chunks; ++chunk) {
    counted::add("nvtxRangePushA", 1);
    nvtxRangePushA("chunk");
    Slot& slot = slots[chunk % kSlots];
    if (chunk >= kSlots) CALL(cudaStreamWaitEvent, upload, slot.downloaded, 0);
    CALL(cudaMemcpyAsync, slot.device, input + size_t{1} * chunk * elements, bytes,
         cudaMemcpyHostToDevice, upload);
    CALL(cudaEventRecord, slot.uploaded, upload);
    CALL(cudaStreamWaitEvent, compute, slot.uploaded, 0);
    counted::launch(scale_and_add, (elements + 255) / 256, 256, compute, slot.device,
                    static_cast<const float*>(bias), elements);
    CALL(cudaEventRecord, slot.computed, compute);
    CALL(cudaStreamWaitEvent, download, slot.computed, 0);
    CALL(cudaMemcpyAsync, output + size_t{1} * chunk * elements, slot.device, bytes,
         cudaMemcpyDeviceToHost, download);
    CALL(cudaEventRecord, slot.downloaded, download);
    nvtxRangePop();
  }
  counted::add("nvtxMarkA", 1);
  nvtxMarkA("all chunks submitted");

  CALL(cudaEventSynchronize, slots[(chunks - 1) % kSlots].downloaded);
  CALL(cudaStreamSynchronize, compute);
  CALL(cudaDeviceSynchronize);
  counted::expect("cudaEventQuery of a finished event", 0, TRY(cudaEventQuery, slots[0].computed));
  counted::expect("cudaStreamQuery of an idle stream", 0, TRY(cudaStreamQuery, download));

  for (int i = 0; i < chunks * elements; ++i) {
    if (output[i] != input[i] * 2.0f)
      counted::fail("output element", static_cast<long long>(input[i]) * 2, output[i]);
  }
  for (Slot& slot : slots) {
    CALL(cudaEventDestroy, slot.uploaded);
    CALL(cudaEventDestroy, slot.computed);
    CALL(cudaEventDestroy, slot.downloaded);
    CALL(cudaFree, slot.device);
  }
  CALL(cudaStreamDestroy, upload);
  CALL(cudaStreamDestroy, compute);
  CALL(cudaStreamDestroy, download);
  counted::report("pipeline");
}
