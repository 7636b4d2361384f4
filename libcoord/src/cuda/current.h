// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Which context is current on a thread while the driver is called.
#pragma once

#include <atomic>

#include "codes.h"
#include "cuda/driver.h"

namespace coord::cuda {

/// Throws kNotPermitted in a forked child, where the driver does not work.
inline void refuse_fork() {
  if (forked())
    throw make_error(kCodeNotPermitted, "fork", "a child process cannot use its parent's GPU");
}

/// Makes a context current on the calling thread for a scope. The calls it makes are allowed during
/// a capture. Throws as refuse_fork().
class Current {
 public:
  explicit Current(CUcontext context) {
    refuse_fork();
    CUcontext now = nullptr;
    driver().context_get_current(&now);
    if (now == context) return;
    driver().context_push(context);
    pushed_ = true;
  }
  ~Current() {
    CUcontext popped = nullptr;
    if (pushed_) driver().context_pop.raw(&popped);
  }
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;

 private:
  bool pushed_ = false;
};

/// Makes calls whose arguments determine their context: an event, or a stream that is not a default
/// one. CUDA accepts these whatever device is current; if the driver once rejects such a call, the
/// context is made current from then on. Thread-safe.
class HandleCalls {
 public:
  template <typename Call>
  CUresult operator()(CUcontext context, Call call) {
    refuse_fork();
    if (!needs_current_.load(std::memory_order_relaxed)) {
      const CUresult result = call();
      if (result != CUDA_ERROR_INVALID_CONTEXT) return result;
      needs_current_.store(true, std::memory_order_relaxed);
    }
    const Current current(context);
    return call();
  }

 private:
  std::atomic<bool> needs_current_{false};
};

}  // namespace coord::cuda
