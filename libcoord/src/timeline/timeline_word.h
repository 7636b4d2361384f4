// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The part of a timeline that processes can share: its value, and the sleep of threads until it is
// large enough.
#pragma once

#include <atomic>
#include <cstdint>

#include "host/futex.h"

namespace coord {

/// In the memory of one process or several. No wake-up is lost: a waiter counts itself before it
/// checks the value a last time, a signaler changes the value before it checks the count, and both
/// are sequentially consistent.
template <typename Platform>
struct BasicTimelineWord {
  template <typename T>
  using Atomic = typename Platform::template Atomic<T>;

  static constexpr std::uint64_t kMagic = 0x636f6f7264746c31;  // "coordtl1"

  std::uint64_t magic = kMagic;
  std::int64_t owner_process = 0;
  alignas(64) Atomic<std::uint64_t> completed{0};
  Atomic<std::uint64_t> promised{0};     // by streams; completed may be larger
  Atomic<std::uint32_t> outstanding{0};  // promised points not reached yet
  Atomic<std::uint32_t> failed{0};
  Atomic<std::uint32_t> sleepers{0};
  Atomic<std::uint32_t> wakes{0};  // the word that waiters sleep on

  /// Raises the value from `from` and wakes threads whose value was reached. False, with the
  /// current value in `from`, if another thread was faster.
  bool raise(std::uint64_t& from, std::uint64_t to) noexcept {
    if (!completed.compare_exchange_strong(from, to, std::memory_order_seq_cst)) return false;
    if (sleepers.load(std::memory_order_seq_cst) != 0) [[unlikely]]
      wake(from, to);
    return true;
  }
  /// No further value will be reached: wakes all threads.
  void fail() noexcept {
    failed.store(1, std::memory_order_seq_cst);
    wakes.fetch_add(1, std::memory_order_seq_cst);
    Platform::wake(wakes);
  }
  /// Sleeps until the value may have been reached, a failure, or `until_ns` on CLOCK_MONOTONIC.
  void sleep(std::uint64_t value, std::int64_t until_ns) noexcept {
    sleepers.fetch_add(1, std::memory_order_seq_cst);
    const std::uint32_t seen = wakes.load(std::memory_order_seq_cst);
    if (completed.load(std::memory_order_seq_cst) < value &&
        failed.load(std::memory_order_seq_cst) == 0)
      Platform::wait(wakes, seen, until_ns, bit_of(value));
    sleepers.fetch_sub(1, std::memory_order_seq_cst);
  }

 private:
  /// Sleepers are distinguished by their value modulo 32, so that a signal wakes few unrelated
  /// threads.
  static std::uint32_t bit_of(std::uint64_t value) { return 1u << (value % 32); }

  [[gnu::noinline]] void wake(std::uint64_t from, std::uint64_t to) noexcept {
    std::uint32_t bits = ~0u;
    if (to - from < 32) {
      bits = 0;
      for (std::uint64_t value = from + 1; value <= to; ++value) bits |= bit_of(value);
    }
    wakes.fetch_add(1, std::memory_order_seq_cst);
    Platform::wake(wakes, bits);
  }
};

using TimelineWord = BasicTimelineWord<Futex>;

}  // namespace coord
