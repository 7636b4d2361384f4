// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The minimum cost of waking a sleeping thread on this machine: the baseline of all waits.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include "bench/budget.h"

namespace streamscope::bench {

/// ns for each handover between two threads, the median of several rounds: `ping(i)` on the calling
/// thread and `pong(i)` on another one, i = 1, 2, ..., `count`.
template <typename Ping, typename Pong>
double hand_over_ns(std::uint64_t count, Ping ping, Pong pong) {
  std::vector<double> all;
  for (int round = 0; round < 7; ++round) {
    std::jthread peer([&] {
      for (std::uint64_t i = 1; i <= count; ++i) pong(i);
    });
    const auto begin = std::chrono::steady_clock::now();
    for (std::uint64_t i = 1; i <= count; ++i) ping(i);
    peer.join();
    const std::chrono::duration<double, std::nano> taken = std::chrono::steady_clock::now() - begin;
    all.push_back(taken.count() / static_cast<double>(2 * count));
  }
  return median(all);
}

/// The same through a bare futex, both threads going to sleep each time.
inline double futex_wake_ns(std::uint64_t count) {
  std::atomic<std::uint32_t> asked{0}, replied{0};
  const auto sleep_until = [](std::atomic<std::uint32_t>& word, std::uint32_t wanted) {
    for (std::uint32_t now = word.load(); now != wanted; now = word.load())
      syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, now, nullptr, nullptr, 0);
  };
  const auto wake = [](std::atomic<std::uint32_t>& word, std::uint32_t wanted) {
    word.store(wanted);
    syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
  };
  return hand_over_ns(
      count,
      [&](std::uint64_t) {
        const std::uint32_t mine = asked.load() + 1;
        wake(asked, mine);
        sleep_until(replied, mine);
      },
      [&](std::uint64_t) {
        const std::uint32_t next = replied.load() + 1;
        sleep_until(asked, next);
        wake(replied, next);
      });
}

}  // namespace streamscope::bench
