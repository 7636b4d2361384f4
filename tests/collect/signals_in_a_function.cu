// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Kernels beside a function that is not inlined. Compiled apart from its callers, what it does
// counts for all of them.
__device__ __noinline__ int wait_for(const volatile int* flag) {
  while (*flag == 0) {
  }
  return *flag;
}
extern "C" __global__ void waits_in_a_function(const int* flag, int* to) { *to = wait_for(flag); }
extern "C" __global__ void waits_perhaps(const int* from, int* to) { *to = *from; }
