// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A lock for what takes some tens of nanoseconds, never held during a call that may block. Taking
// it is one atomic exchange and giving it back a plain store, where a mutex needs an exchange for
// both: so nobody can be woken, and who does not get it soon looks again after a short sleep.
#pragma once

#include <atomic>
#include <chrono>
#include <thread>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace coord {

class ShortLock {
 public:
  void lock() noexcept {
    if (taken_.exchange(true, std::memory_order_acquire)) [[unlikely]]
      wait_and_lock();
  }
  void unlock() noexcept { taken_.store(false, std::memory_order_release); }

 private:
  void wait_and_lock() noexcept {
    // A holder that runs is done within the first looks; one that does not needs the processor.
    constexpr int kLooks = 200, kYields = 20;
    for (int looks = 0;; ++looks) {
      if (!taken_.load(std::memory_order_relaxed) &&
          !taken_.exchange(true, std::memory_order_acquire))
        return;
      if (looks < kLooks) {
#if defined(__x86_64__)
        _mm_pause();
#endif
      } else if (looks < kLooks + kYields) {
        std::this_thread::yield();
      } else {
        std::this_thread::sleep_for(std::chrono::microseconds(20));
      }
    }
  }

  std::atomic<bool> taken_{false};
};

}  // namespace coord
