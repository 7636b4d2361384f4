// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The functions that the Compute Sanitizer makes every loaded kernel call, by their names in
// observer.cpp. They may be called by any part of a warp.

static __device__ __forceinline__ int lane() {
  unsigned lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  return static_cast<int>(lane);
}

#include "patches.h"

using namespace streamscope::collect;

namespace {

enum AccessFlag : uint32_t { kReads = 1, kWrites = 2, kPrefetches = 8 };

}  // namespace

extern "C" {

__device__ __noinline__ int streamscope_access(void* launch, uint64_t, void* address,
                                               uint32_t bytes, uint32_t flags, const void*) {
  auto* const of = static_cast<TouchLaunch*>(launch);
  if (of == nullptr || (flags & kPrefetches) != 0) return 0;
  const bool both = (flags & kReads) != 0 && (flags & kWrites) != 0;
  touch(of, reinterpret_cast<uint64_t>(address), bytes,
        both                     ? Touch::kAtomic
        : (flags & kWrites) != 0 ? Touch::kWrite
                                 : Touch::kRead);
  return 0;
}

__device__ __noinline__ int streamscope_copy(void* launch, uint64_t, void* source, uint32_t,
                                             uint32_t bytes) {
  if (launch == nullptr || bytes == 0) return 0;
  touch(static_cast<TouchLaunch*>(launch), reinterpret_cast<uint64_t>(source), bytes, Touch::kRead);
  return 0;
}

// Bulk copies and reductions: `blocks` of 16 bytes. Those that use a tensor map are no patched
// operations.
__device__ __noinline__ int streamscope_bulk_read(void* launch, uint64_t, uint64_t source, uint32_t,
                                                  uint32_t, uint32_t blocks, uint32_t) {
  if (launch == nullptr) return 0;
  touch_bulk(static_cast<TouchLaunch*>(launch), source, (blocks & 0xffff) * 16, Touch::kRead);
  return 0;
}

__device__ __noinline__ int streamscope_bulk_write(void* launch, uint64_t, uint64_t destination,
                                                   uint32_t, uint32_t blocks) {
  if (launch == nullptr) return 0;
  touch_bulk(static_cast<TouchLaunch*>(launch), destination, blocks * 16, Touch::kWrite);
  return 0;
}

__device__ __noinline__ int streamscope_bulk_reduction(void* launch, uint64_t, uint64_t destination,
                                                       uint32_t, uint32_t blocks) {
  if (launch == nullptr) return 0;
  touch_bulk(static_cast<TouchLaunch*>(launch), destination, blocks * 16, Touch::kAtomic);
  return 0;
}
}
