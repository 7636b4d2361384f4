// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Kernels that copy in bulk, by address or by a tensor map; see signals.cu. For sm_90 and newer.
#include <cuda.h>

#define KERNEL extern "C" __global__ void

__device__ unsigned shared_address(const void* of) {
  return static_cast<unsigned>(__cvta_generic_to_shared(of));
}

KERNEL neither_copies_by_address(const int* from, int* to) {
  __shared__ alignas(128) int tile[1024];
  __shared__ alignas(8) unsigned long long barrier;
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(shared_address(tile)),
      "l"(from), "r"(4096), "r"(shared_address(&barrier))
      : "memory");
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to),
               "r"(shared_address(tile)), "r"(4096)
               : "memory");
  asm volatile(
      "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.s32 [%0], [%1], %2;" ::"l"(to),
      "r"(shared_address(tile)), "r"(4096)
      : "memory");
}
KERNEL neither_only_fetches_ahead(const __grid_constant__ CUtensorMap map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
  asm volatile("cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%0, {%1, %2}];" ::"l"(&map),
               "r"(0), "r"(0)
               : "memory");
}
KERNEL map_reads_a_tile(const __grid_constant__ CUtensorMap map, int* to) {
  __shared__ alignas(128) int tile[1024];
  __shared__ alignas(8) unsigned long long barrier;
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, "
      "{%2, %3}], "
      "[%4];" ::"r"(shared_address(tile)),
      "l"(&map), "r"(0), "r"(0), "r"(shared_address(&barrier))
      : "memory");
  to[threadIdx.x] = tile[threadIdx.x];
}
KERNEL map_writes_a_tile(const __grid_constant__ CUtensorMap map) {
  __shared__ alignas(128) int tile[1024];
  tile[threadIdx.x] = 1;
  asm volatile(
      "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(
          &map),
      "r"(0), "r"(0), "r"(shared_address(tile))
      : "memory");
}
KERNEL map_writes_a_sum(const __grid_constant__ CUtensorMap map) {
  __shared__ alignas(128) int tile[1024];
  tile[threadIdx.x] = 1;
  asm volatile(
      "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%0, {%1, %2}], "
      "[%3];" ::"l"(&map),
      "r"(0), "r"(0), "r"(shared_address(tile))
      : "memory");
}
KERNEL map_both_ways(const __grid_constant__ CUtensorMap from,
                     const __grid_constant__ CUtensorMap to) {
  __shared__ alignas(128) int tile[1024];
  __shared__ alignas(8) unsigned long long barrier;
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, "
      "{%2, %3}], "
      "[%4];" ::"r"(shared_address(tile)),
      "l"(&from), "r"(0), "r"(0), "r"(shared_address(&barrier))
      : "memory");
  asm volatile(
      "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&to),
      "r"(0), "r"(0), "r"(shared_address(tile))
      : "memory");
}
KERNEL unseen_multicast(const int* from, int* to) {
  int value = 0;
  asm volatile("multimem.ld_reduce.weak.global.add.s32 %0, [%1];" : "=r"(value) : "l"(from));
  to[threadIdx.x] = value;
}
