// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What patched kernels do, built for the host: each thread is a warp of its own.
#pragma once

#define __device__
#define __forceinline__ inline
static inline int lane() { return 0; }
static inline unsigned __activemask() { return 1; }
static inline unsigned __match_all_sync(unsigned, unsigned long long, int* all) {
  *all = 1;
  return 1;
}
static inline int __popc(unsigned bits) { return __builtin_popcount(bits); }
static inline int __ffs(int bits) { return __builtin_ffs(bits); }

#include "collect/observed/patches.h"
