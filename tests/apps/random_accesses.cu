// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Random programs of kernels that touch random bytes on random streams with random order:
//
//   random_accesses PROGRAMS SEED   prints a JSON line per program: what it did, step by step
//
// A step is ["kernel", stream, [[how, offset, count, stride, size], ...]] or ["order", stream,
// stream]; how is 0 for reads, 1 for writes, 2 for atomic operations. Programs follow each other;
// each has its own memory and streams, and its kernels have different names.
#include <cuda_runtime.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <utility>
#include <vector>

#include "counted.h"

namespace {

constexpr int kKernels = 12, kStreams = 3, kMostSpans = 4;
constexpr uint32_t kBytes = 2048;

struct Span {
  uint32_t how, offset, count, stride, size;
};
struct Spans {
  int count;
  Span spans[kMostSpans];
};

// Weak accesses: strong ("volatile") ones could order kernels. All bits of a value are used, as
// nvcc leaves out loads, and parts of loads, whose value is not; it is never this one.
constexpr uint64_t kNever = 0xeeeeeeeeeeeeeeee;

#define ACCESS(bits, type, constraint)                                                     \
  __device__ void access_##bits(char* at, uint32_t how) {                                  \
    const size_t place = __cvta_generic_to_global(at);                                     \
    type value = 1;                                                                        \
    if (how == 0)                                                                          \
      asm volatile("ld.global.u" #bits " %0, [%1];" : "=" constraint(value) : "l"(place)); \
    else                                                                                   \
      asm volatile("st.global.u" #bits " [%0], %1;" ::"l"(place), constraint(value));      \
    if (value == static_cast<uint##bits##_t>(kNever)) __trap();                            \
  }
ACCESS(8, uint16_t, "h")
ACCESS(16, uint16_t, "h")
ACCESS(32, uint32_t, "r")
ACCESS(64, uint64_t, "l")
#undef ACCESS
__device__ void access_vector(char* at, uint32_t how) {
  if (how == 0) {
    int4 value;
    asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
                 : "l"(__cvta_generic_to_global(at)));
    for (const int part : {value.x, value.y, value.z, value.w}) {
      if (part == static_cast<int>(kNever)) __trap();
    }
  } else {
    *reinterpret_cast<int4*>(at) = {1, 1, 1, 1};
  }
}

template <int kNumber>
__global__ void touch(char* memory, Spans of) {
  for (int i = 0; i < of.count; ++i) {
    const Span& span = of.spans[i];
    for (uint32_t k = threadIdx.x; k < span.count; k += blockDim.x) {
      char* const at = memory + span.offset + k * span.stride;
      if (span.how == 2) {
        atomicAdd(reinterpret_cast<int*>(at), 1);
      } else if (span.size == 16) {
        access_vector(at, span.how);
      } else if (span.size == 8) {
        access_64(at, span.how);
      } else if (span.size == 4) {
        access_32(at, span.how);
      } else if (span.size == 2) {
        access_16(at, span.how);
      } else {
        access_8(at, span.how);
      }
    }
  }
}

using Kernel = void (*)(char*, Spans);
template <size_t... kNumbers>
constexpr std::array<Kernel, kKernels> kernels(std::index_sequence<kNumbers...>) {
  return {touch<static_cast<int>(kNumbers)>...};
}
constexpr std::array<Kernel, kKernels> kAll = kernels(std::make_index_sequence<kKernels>());

class Program {
 public:
  explicit Program(std::mt19937& random) : random_(random) {}

  void run() {
    for (cudaStream_t& stream : streams_)
      CALL(cudaStreamCreateWithFlags, &stream, cudaStreamNonBlocking);
    char* memory = nullptr;
    CALL(cudaMalloc, reinterpret_cast<void**>(&memory), kBytes);
    std::printf("{\"steps\": [");
    for (int kernel = 0; kernel < kKernels; ++kernel) {
      for (int orders = static_cast<int>(random_() % 3); orders > 0; --orders) order();
      launch(kernel, memory);
    }
    std::printf("]}\n");
    CALL(cudaDeviceSynchronize);
    for (cudaStream_t stream : streams_) CALL(cudaStreamDestroy, stream);
    CALL(cudaFree, memory);
  }

 private:
  void order() {
    const uint32_t from = random_() % kStreams, to = random_() % kStreams;
    cudaEvent_t event = nullptr;
    CALL(cudaEventCreateWithFlags, &event, cudaEventDisableTiming);
    CALL(cudaEventRecord, event, streams_[from]);
    CALL(cudaStreamWaitEvent, streams_[to], event, 0);
    CALL(cudaEventDestroy, event);
    std::printf("[\"order\", %u, %u], ", from, to);
  }

  void launch(int kernel, char* memory) {
    const uint32_t stream = random_() % kStreams;
    Spans spans{};
    spans.count = 1 + static_cast<int>(random_() % kMostSpans);
    std::printf("[\"kernel\", %u, [", stream);
    for (int i = 0; i < spans.count; ++i) {
      Span& span = spans.spans[i];
      span.how = random_() % 3;
      span.size = span.how == 2 ? 4 : 1u << random_() % 5;
      span.stride = span.size * (1 + random_() % 3);
      span.count = random_() % 4 == 0 ? 1 + random_() % 40 : 1 + random_() % 4;
      const uint32_t covers = (span.count - 1) * span.stride + span.size;
      if (covers > kBytes) span.count = 1;
      const uint32_t last = kBytes - ((span.count - 1) * span.stride + span.size);
      span.offset = random_() % (last + 1) / span.size * span.size;
      std::printf("%s[%u, %u, %u, %u, %u]", i == 0 ? "" : ", ", span.how, span.offset, span.count,
                  span.stride, span.size);
    }
    std::printf("]]%s", kernel + 1 < kKernels ? ", " : "");
    counted::launch(kAll[static_cast<size_t>(kernel)], 1, 32, streams_[stream], memory, spans);
  }

  std::mt19937& random_;
  cudaStream_t streams_[kStreams] = {};
};

}  // namespace

int main(int argc, char** argv) {
  counted::require_device();
  const int programs = argc > 1 ? std::atoi(argv[1]) : 10;
  std::mt19937 random(argc > 2 ? static_cast<uint32_t>(std::atoi(argv[2])) : 1);
  for (int i = 0; i < programs; ++i) Program(random).run();
  return 0;
}
