// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A lock for what takes some tens of nanoseconds, never held during a call that may block.
//
// It leans to the first thread that has taken it many times in a row: for that one taking it is a
// store and two loads, where an atomic exchange costs some 10 ns. Another thread that comes ends
// that with a system call (membarrier) which stands in for the fence that the favoured thread does
// without; from then on the lock is an exchange for everybody. Nobody is woken: who does not get it
// soon looks again after a short sleep.
#pragma once

#include <atomic>
#include <cstdint>

#include "thread_number.h"

namespace coord {

class ShortLock {
 public:
  void lock() noexcept {
    const std::uint64_t self = this_thread_number();
    if (favoured_.load(std::memory_order_relaxed) == self) [[likely]] {
      inside_.store(true, std::memory_order_relaxed);
      std::atomic_signal_fence(std::memory_order_seq_cst);
      if (favoured_.load(std::memory_order_acquire) == self) [[likely]]
        return;
      inside_.store(false, std::memory_order_release);
    }
    take(self);
  }
  void unlock() noexcept { (leaning_ ? inside_ : taken_).store(false, std::memory_order_release); }

 private:
  void take(std::uint64_t self) noexcept;

  std::atomic<std::uint64_t> favoured_{0};  // number of a thread
  std::atomic<bool> inside_{false};         // that thread has the lock, or finds that it may not
  std::atomic<bool> taken_{false};          // another one has it, or waits for the favoured one
  // Under the lock:
  bool leaning_ = false;  // it was taken by the favoured thread
  std::uint32_t in_a_row_ = 0;
  std::uint64_t last_ = 0;       // the thread that took it last
  std::uint64_t candidate_ = 0;  // the only thread that may be favoured, once there is one
};

}  // namespace coord
