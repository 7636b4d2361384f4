// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A lock for sections of some tens of nanoseconds, never held during a call that may block.
//
// It is biased toward the first thread that takes it many times in a row: for that thread, locking
// is a store and two loads, while an atomic exchange costs about 10 ns. Another thread that takes
// the lock ends the bias with a system call (membarrier), which replaces the fence that the favored
// thread omits; from then on the lock is an exchange for all threads. There are no wake-ups: a
// thread that does not get the lock soon retries after a short sleep.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <utility>

#include "thread_number.h"

namespace coord {

class ShortLock {
 public:
  void lock() noexcept { lock_as(this_thread_number()); }
  /// For callers that know their thread number. Clearing the result releases the lock, as unlock()
  /// does.
  std::atomic<bool>& lock_as(std::uint64_t self) noexcept {
    if (favored_.load(std::memory_order_relaxed) == self) [[likely]] {
      inside_.store(true, std::memory_order_relaxed);
      std::atomic_signal_fence(std::memory_order_seq_cst);
      if (favored_.load(std::memory_order_acquire) == self) [[likely]]
        return inside_;
      inside_.store(false, std::memory_order_release);
    }
    take(self);
    return word();
  }
  void unlock() noexcept { word().store(false, std::memory_order_release); }
  /// For the holder of the lock: the word that releases it when cleared.
  std::atomic<bool>& word() noexcept { return leaning_ ? inside_ : taken_; }

 private:
  void take(std::uint64_t self) noexcept;

  std::atomic<std::uint64_t> favored_{0};  // number of a thread
  std::atomic<bool> inside_{false};  // that thread holds the lock, or is checking whether it may
  std::atomic<bool> taken_{false};   // another thread holds it, or waits for the favored one
  // Under the lock:
  bool leaning_ = false;  // it was taken by the favored thread
  std::uint32_t in_a_row_ = 0;
  std::uint64_t last_ = 0;       // the thread that took it last
  std::uint64_t candidate_ = 0;  // the only thread that may be favored, once there is one
};

/// Holds the lock like std::unique_lock, but fully visible to the compiler, so that the path
/// without exceptions does not check whether it is held.
class ShortLockHolder {
 public:
  ShortLockHolder(ShortLock& lock, std::uint64_t self) noexcept
      : lock_(&lock), word_(&lock.lock_as(self)) {}
  [[gnu::always_inline]] ~ShortLockHolder() {
    if (lock_ != nullptr) unlock();
  }
  ShortLockHolder(const ShortLockHolder&) = delete;
  ShortLockHolder& operator=(const ShortLockHolder&) = delete;

  [[gnu::always_inline]] void unlock() noexcept {
    lock_ = nullptr;
    word_->store(false, std::memory_order_release);
  }
  /// Passes it to another holder, which may unlock and relock it before it returns it.
  std::unique_lock<ShortLock> hand_over() noexcept {
    return {*std::exchange(lock_, nullptr), std::adopt_lock};
  }
  void take_back(std::unique_lock<ShortLock> from) noexcept {
    lock_ = from.release();
    word_ = &lock_->word();
  }

 private:
  ShortLock* lock_;
  std::atomic<bool>* word_;
};

}  // namespace coord
