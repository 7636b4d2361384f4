// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Races between kernels that copy in bulk (TMA), by address and by a tensor map (record --with
// accesses). By a map a race is only possible: the tensor is known, not what is copied of it.
#include <cuda.h>

#include "race_cases.h"

namespace {

using namespace races;

constexpr int kTileInts = 1024;  // of one bulk copy, or 32 rows of 32
constexpr int kWidth = 64, kHeight = kBytes / (kWidth * sizeof(int));

__global__ void fill(int* to, int count) {
  for (int i = threadIdx.x; i < count; i += blockDim.x) to[i] = 1;
}
__global__ void sum(const int* from, int count, int* to) {
  int total = 0;
  for (int i = threadIdx.x; i < count; i += blockDim.x) total += from[i];
  atomicAdd(to, total);
}

#if __CUDA_ARCH__ >= 900
__device__ unsigned shared_address(const void* of) {
  return static_cast<unsigned>(__cvta_generic_to_shared(of));
}
// One thread starts a copy that arrives at the barrier; then all wait for it.
template <class Start>
__device__ void copied(unsigned long long* barrier, int bytes, Start start) {
  const unsigned at = shared_address(barrier);
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at) : "memory");
    asm volatile("fence.proxy.async;" ::: "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at), "r"(bytes)
                 : "memory");
    start(at);
  }
  __syncthreads();
  int done = 0;
  while (done == 0) {
    asm volatile(
        "{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.s32 %0, 1, 0, "
        "p; "
        "}"
        : "=r"(done)
        : "r"(at)
        : "memory");
  }
}
template <class Start>
__device__ void written(int* tile, Start start) {
  for (int i = threadIdx.x; i < kTileInts; i += blockDim.x) tile[i] = 2;
  asm volatile("fence.proxy.async;" ::: "memory");
  __syncthreads();
  if (threadIdx.x != 0) return;
  start(shared_address(tile));
  asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
}
#endif

__global__ void bulk_read(const int* from, int count, int* to) {
#if __CUDA_ARCH__ >= 900
  __shared__ alignas(128) int tile[kTileInts];
  __shared__ alignas(8) unsigned long long barrier;
  copied(&barrier, count * sizeof(int), [&](unsigned at) {
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
            "r"(shared_address(tile)),
        "l"(from), "r"(static_cast<int>(count * sizeof(int))), "r"(at)
        : "memory");
  });
  to[threadIdx.x] = tile[threadIdx.x % count];
#endif
}
__global__ void bulk_write(int* to, int count) {
#if __CUDA_ARCH__ >= 900
  __shared__ alignas(128) int tile[kTileInts];
  written(tile, [&](unsigned from) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(from),
                 "r"(static_cast<int>(count * sizeof(int)))
                 : "memory");
  });
#endif
}
__global__ void bulk_add(int* to, int count) {
#if __CUDA_ARCH__ >= 900
  __shared__ alignas(128) int tile[kTileInts];
  written(tile, [&](unsigned from) {
    asm volatile(
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.s32 [%0], [%1], %2;" ::"l"(to),
        "r"(from), "r"(static_cast<int>(count * sizeof(int)))
        : "memory");
  });
#endif
}
__global__ void tile_read(const __grid_constant__ CUtensorMap map, int* to) {
#if __CUDA_ARCH__ >= 900
  __shared__ alignas(128) int tile[kTileInts];
  __shared__ alignas(8) unsigned long long barrier;
  copied(&barrier, sizeof tile, [&](unsigned at) {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], "
        "[%1, "
        "{%2, %3}], [%4];" ::"r"(shared_address(tile)),
        "l"(&map), "r"(0), "r"(0), "r"(at)
        : "memory");
  });
  to[threadIdx.x] = tile[threadIdx.x];
#endif
}
struct Tensors {  // as libraries pass them: in a struct, beside others
  int count;
  CUtensorMap unused, to;
};
__global__ void tile_write(const __grid_constant__ Tensors tensors) {
#if __CUDA_ARCH__ >= 900
  __shared__ alignas(128) int tile[kTileInts];
  written(tile, [&](unsigned from) {
    asm volatile(
        "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(
            &tensors.to),
        "r"(0), "r"(0), "r"(from)
        : "memory");
  });
#endif
}

// The memory as a matrix, of which kernels copy tiles.
CUtensorMap matrix(void* memory) {
  void* encode = nullptr;
  cudaDriverEntryPointQueryResult found{};
  counted::check(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &encode, 12000,
                                                  cudaEnableDefault, &found),
                 "cudaGetDriverEntryPointByVersion", __FILE__, __LINE__);
  CUtensorMap map{};
  const cuuint64_t dimensions[2] = {kWidth, kHeight}, strides[1] = {kWidth * sizeof(int)};
  const cuuint32_t box[2] = {32, 32}, steps[2] = {1, 1};
  const CUresult result = reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(encode)(
      &map, CU_TENSOR_MAP_DATA_TYPE_INT32, 2, memory, dimensions, strides, box, steps,
      CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
      CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  counted::check(result == CUDA_SUCCESS ? cudaSuccess : cudaErrorInvalidValue,
                 "cuTensorMapEncodeTiled", __FILE__, __LINE__);
  return map;
}

const Case kCases[] = {
    {"bulk_read", kRace, "fill", "bulk_read",
     [](World& w, bool fixed) {
       between(
           w, fixed, [&](auto s) { go(s, fill, ints(w.a), 64); },
           [&](auto t) { go(t, bulk_read, ints(w.a), kTileInts, ints(w.b)); });
     }},
    {"bulk_write", kRace, "bulk_write", "sum",
     [](World& w, bool fixed) {
       between(
           w, fixed, [&](auto s) { go(s, bulk_write, ints(w.a), kTileInts); },
           [&](auto t) { go(t, sum, ints(w.a), 64, ints(w.b)); });
     }},
    {"neighbors_in_bulk", kRace, "bulk_write", "bulk_read",
     [](World& w, bool fixed) {
       go(w.streams[0], bulk_write, ints(w.a), 500);
       go(w.streams[1], bulk_read, ints(w.a, fixed ? 500 : 496), 100, ints(w.b));
     }},
    {"bulk_sums_and_a_fill", kRace, "bulk_add", "fill",
     [](World& w, bool fixed) {
       go(w.streams[0], bulk_add, ints(w.a), 512);
       go(w.streams[1], bulk_add, ints(w.a, 256), 512);  // two reductions are no race
       go(w.streams[2], fill, fixed ? ints(w.b) : ints(w.a), 4);
     }},
    {.name = "tile_read",
     .detector = kRace,
     .first = "fill",
     .second = "tile_read",
     .run =
         [](World& w, bool fixed) {
           const CUtensorMap map = matrix(w.a);
           between(
               w, fixed, [&](auto s) { go(s, fill, ints(w.a), 64); },
               [&](auto t) { go(t, tile_read, map, ints(w.b)); });
         },
     .unsure = true},
    {.name = "tile_write",
     .detector = kRace,
     .first = "tile_write",
     .second = "sum",
     .run =
         [](World& w, bool fixed) {
           const Tensors tensors = {1, matrix(w.c), matrix(w.a)};
           between(
               w, fixed, [&](auto s) { go(s, tile_write, tensors); },
               [&](auto t) { go(t, sum, ints(w.a), 64, ints(w.b)); });
         },
     .unsure = true},
    {.name = "tile_of_other_memory",
     .detector = kRace,
     .first = "tile_write",
     .second = "sum",
     .run =
         [](World& w, bool fixed) {
           const Tensors tensors = {1, matrix(w.c), matrix(fixed ? w.b : w.a)};
           go(w.streams[0], tile_write, tensors);
           go(w.streams[1], sum, ints(w.a), 64, ints(w.managed));
         },
     .unsure = true},
};

}  // namespace

int main(int argc, char** argv) { return races::run(argc, argv, kCases); }
