// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Sleeping on a word of memory, in one process or between several.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstdint>
#include <ctime>

namespace coord {

inline timespec timespec_of(std::int64_t ns) noexcept {
  return {ns / 1'000'000'000, ns % 1'000'000'000};
}

/// Primitives of handshakes between threads; tests replace them with their own atomics and sleeps,
/// to run every order.
struct Futex {
  template <typename T>
  using Atomic = std::atomic<T>;

  /// Sleeps while `word` holds `value`, at most until `until_ns` (CLOCK_MONOTONIC), or until a
  /// wake-up with one of the `bits`. May return spuriously.
  static void wait(std::atomic<std::uint32_t>& word, std::uint32_t value, std::int64_t until_ns,
                   std::uint32_t bits = ~0u) noexcept {
    const timespec until = timespec_of(until_ns);
    syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAIT_BITSET, value, &until,
            nullptr, bits);
  }
  /// Wakes all threads that sleep on `word` with one of the `bits`.
  static void wake(std::atomic<std::uint32_t>& word, std::uint32_t bits = ~0u) noexcept {
    syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAKE_BITSET, INT_MAX, nullptr,
            nullptr, bits);
  }
};

}  // namespace coord
