// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "timeline_word.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>

namespace coord {

namespace {

/// Sleepers are told apart by their value modulo 32, so that a signal wakes few besides those it
/// concerns.
std::uint32_t bit_of(std::uint64_t value) { return 1u << (value % 32); }

void futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value,
           const timespec* until, std::uint32_t bits) {
  // No error matters: whoever wakes early looks again.
  syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), operation, value, until, nullptr,
          bits);
}

}  // namespace

void TimelineWord::wake(std::uint64_t from, std::uint64_t to) noexcept {
  std::uint32_t bits = ~0u;
  if (to - from < 32) {
    bits = 0;
    for (std::uint64_t value = from + 1; value <= to; ++value) bits |= bit_of(value);
  }
  wakes.fetch_add(1, std::memory_order_seq_cst);
  futex(wakes, FUTEX_WAKE_BITSET, INT_MAX, nullptr, bits);
}

void TimelineWord::wake_all() noexcept {
  wakes.fetch_add(1, std::memory_order_seq_cst);
  futex(wakes, FUTEX_WAKE_BITSET, INT_MAX, nullptr, ~0u);
}

void TimelineWord::sleep(std::uint64_t value, const timespec& until) noexcept {
  sleepers.fetch_add(1, std::memory_order_seq_cst);
  const std::uint32_t seen = wakes.load(std::memory_order_seq_cst);
  if (completed.load(std::memory_order_seq_cst) < value &&
      failed.load(std::memory_order_seq_cst) == 0)
    futex(wakes, FUTEX_WAIT_BITSET, seen, &until, bit_of(value));
  sleepers.fetch_sub(1, std::memory_order_seq_cst);
}

}  // namespace coord
