// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "host/short_lock.h"

#include <gtest/gtest.h>

#include <barrier>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace {

/// What the lock protects: torn if two threads are inside.
struct Account {
  coord::ShortLock lock;
  std::uint64_t one = 0, other = 0;

  bool add() {
    const std::lock_guard guard(lock);
    const bool whole = one == other;
    ++one;
    ++other;
    return whole;
  }
};

constexpr std::uint64_t kFavored = 10'000;  // more in a row than a thread needs to be favored

TEST(ShortLock, IsTakenFromTheThreadThatItFavors) {
  Account account;
  for (int round = 0; round < 50; ++round) {
    for (std::uint64_t i = 0; i < kFavored; ++i) ASSERT_TRUE(account.add());
    std::jthread([&] { EXPECT_TRUE(account.add()); });
  }
  EXPECT_EQ(account.one, 50 * (kFavored + 1));
}

TEST(ShortLock, AdmitsOneAtATimeWhileFavorsChange) {
  constexpr unsigned kThreads = 8;
  constexpr int kBursts = 40;
  Account account;
  std::barrier start(kThreads);
  std::vector<std::jthread> threads;
  for (unsigned thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      start.arrive_and_wait();
      // Some come in long bursts, others every now and then.
      const std::uint64_t burst = thread % 2 == 0 ? kFavored : 10;
      for (int i = 0; i < kBursts; ++i) {
        for (std::uint64_t j = 0; j < burst; ++j) ASSERT_TRUE(account.add());
        std::this_thread::yield();
      }
    });
  }
  threads.clear();
  EXPECT_EQ(account.one, kThreads / 2 * kBursts * (kFavored + 10));
  EXPECT_EQ(account.other, account.one);
}

TEST(ShortLock, SeesWhatTheFavoredThreadWroteBeforeItEnded) {
  Account account;
  std::jthread([&] {
    for (std::uint64_t i = 0; i < kFavored; ++i) account.add();
  }).join();
  EXPECT_TRUE(account.add());
  EXPECT_EQ(account.one, kFavored + 1);
}

}  // namespace
