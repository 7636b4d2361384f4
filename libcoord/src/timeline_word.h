// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The part of a timeline that processes can share: its value, and threads that sleep until it is
// large enough.
#pragma once

#include <atomic>
#include <cstdint>
#include <ctime>

namespace coord {

/// In the memory of one process or of several. No wake-up is lost: a waiter counts itself before it
/// looks at the value a last time, a signaler changes the value before it looks at the count, and
/// both are sequentially consistent.
struct TimelineWord {
  static constexpr std::uint64_t kMagic = 0x636f6f7264746c31;  // "coordtl1"

  std::uint64_t magic = kMagic;
  std::int64_t owner_process = 0;
  alignas(64) std::atomic<std::uint64_t> completed{0};
  std::atomic<std::uint64_t> promised{0};     // by streams; completed may be larger
  std::atomic<std::uint32_t> outstanding{0};  // promised points that were not reached
  std::atomic<std::uint32_t> failed{0};
  std::atomic<std::uint32_t> sleepers{0};
  std::atomic<std::uint32_t> wakes{0};  // what they sleep on

  /// Raises the value from `from` and wakes those whose value was reached. False, and `from` what
  /// it is now, if somebody else was faster.
  bool raise(std::uint64_t& from, std::uint64_t to) noexcept {
    if (!completed.compare_exchange_strong(from, to, std::memory_order_seq_cst)) return false;
    if (sleepers.load(std::memory_order_seq_cst) != 0) wake(from, to);
    return true;
  }
  /// Wakes everybody.
  void wake_all() noexcept;
  /// Sleeps until the value may have been reached, a failure, or `until` on CLOCK_MONOTONIC.
  void sleep(std::uint64_t value, const timespec& until) noexcept;

 private:
  void wake(std::uint64_t from, std::uint64_t to) noexcept;
};

}  // namespace coord
