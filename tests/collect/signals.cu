// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Kernels whose names begin with what their code allows: for kernel_code_test.cpp, which reads
// the machine code that nvcc makes of them.
#define KERNEL extern "C" __global__ void

KERNEL neither_plain(const int* from, int* to) { to[threadIdx.x] = from[threadIdx.x]; }
KERNEL neither_constant(const int* __restrict__ from, int* to) {
  to[threadIdx.x] = __ldg(from + threadIdx.x);
}
KERNEL neither_streaming(const int* from, int* to) {
  __stcs(to + threadIdx.x, __ldcs(from + threadIdx.x));
}
KERNEL neither_shared(const int* from, int* to) {
  __shared__ volatile int copy[32];
  copy[threadIdx.x] = from[threadIdx.x];
  __syncthreads();
  to[threadIdx.x] = copy[31 - threadIdx.x];
}
KERNEL neither_fence_of_a_block(int* to) {
  to[0] = 1;
  __threadfence_block();
  to[1] = 2;
}
KERNEL neither_within_a_block(const int* from, int* to) {
  int value = 0;
  asm volatile("ld.relaxed.cta.global.b32 %0, [%1];" : "=r"(value) : "l"(from));
  to[0] = value;
}

KERNEL signals_volatile(volatile int* to) { to[threadIdx.x] = 1; }
KERNEL signals_release(int* to) { asm volatile("st.release.gpu.b32 [%0], 1;" ::"l"(to)); }
KERNEL signals_release_to_the_system(int* to) {
  asm volatile("st.release.sys.global.b32 [%0], 1;" ::"l"(to));
}
KERNEL signals_fence(int* to) {
  to[0] = 1;
  __threadfence();
  to[1] = 2;
}
KERNEL signals_fence_of_the_system(int* to) {
  to[0] = 1;
  __threadfence_system();
  to[1] = 2;
}
KERNEL signals_reduction(int* to) { atomicAdd(to, threadIdx.x); }
KERNEL signals_reduction_of_floats(float* to) { atomicAdd(to, 1.0F * threadIdx.x); }
KERNEL signals_reduction_of_long_numbers(unsigned long long* to) {
  atomicMax(to, static_cast<unsigned long long>(threadIdx.x));
}

KERNEL waits_volatile(const volatile int* flag, int* to) {
  while (*flag == 0) {
  }
  to[0] = 1;
}
KERNEL waits_volatile_long(const volatile unsigned long long* flag, int* to) {
  while (*flag == 0) {
  }
  to[0] = 1;
}
KERNEL waits_acquire(const int* flag, int* to) {
  int value = 0;
  do {
    asm volatile("ld.acquire.gpu.b32 %0, [%1];" : "=r"(value) : "l"(flag));
  } while (value == 0);
  to[0] = 1;
}
KERNEL waits_relaxed(const int* flag, int* to) {
  int value = 0;
  do {
    asm volatile("ld.relaxed.sys.global.b32 %0, [%1];" : "=r"(value) : "l"(flag));
  } while (value == 0);
  to[0] = 1;
}

KERNEL both_add(int* counter, int* to) { to[threadIdx.x] = atomicAdd(counter, 1); }
KERNEL both_compare(int* lock) {
  while (atomicCAS(lock, 0, 1) != 0) {
  }
}
KERNEL both_exchange(int* lock, int* to) { to[threadIdx.x] = atomicExch(lock, 1); }
KERNEL both_add_to_either(int* counter, int* to, int place) {
  __shared__ int own[32];
  own[threadIdx.x] = place;
  __syncthreads();
  to[threadIdx.x] = atomicAdd(place != 0 ? counter : own, 1);
}
