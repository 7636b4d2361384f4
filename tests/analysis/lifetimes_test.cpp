// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/usage/lifetimes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

namespace streamscope::analysis {
namespace {

std::vector<Id> ids(const std::vector<Lifetimes::Life>& lives) {
  std::vector<Id> result;
  for (const Lifetimes::Life& life : lives) result.push_back(life.id);
  return result;
}

TEST(Lifetimes, EndJustBeforeTheirLastInstant) {
  Lifetimes lives;
  lives.add(10, 20, 0);
  lives.add(15, kUnknownNs, 1);
  lives.add(20, 20, 2);  // zero length
  lives.finish();
  EXPECT_EQ(lives.count_at(9), 0u);
  EXPECT_EQ(ids(lives.oldest_at(10, 9)), std::vector<Id>{0});
  EXPECT_EQ(ids(lives.oldest_at(19, 9)), (std::vector<Id>{0, 1}));
  EXPECT_EQ(ids(lives.oldest_at(20, 9)), std::vector<Id>{1});
  EXPECT_EQ(lives.count_at(20), 1u);
  EXPECT_EQ(lives.endless_count(), 1u);
  EXPECT_EQ(ids(lives.oldest_endless(9)), std::vector<Id>{1});
}

TEST(Lifetimes, AreEmptyForNothing) {
  Lifetimes lives;
  lives.finish();
  EXPECT_EQ(lives.count_at(0), 0u);
  EXPECT_TRUE(lives.oldest_at(0, 9).empty());
}

TEST(Lifetimes, MatchBruteForce) {
  std::mt19937 random(7);
  for (const size_t count : {1u, 16u, 17u, 255u, 257u, 5'000u}) {
    const auto instant = [&] { return static_cast<Ns>(random() % 1000); };
    Lifetimes lives;
    std::vector<Lifetimes::Life> all;
    for (Id id = 0; id < count; ++id) {
      const Ns from = instant();
      // Most are short, so that long ones are scattered among them.
      const Ns until = random() % 50 == 0
                           ? kUnknownNs
                           : from + (random() % 20 == 0 ? instant() : instant() / 50);
      lives.add(from, until, id);
      all.push_back({from, until == kUnknownNs ? std::numeric_limits<Ns>::max() : until, id});
    }
    lives.finish();
    std::ranges::stable_sort(all, {}, &Lifetimes::Life::from_ns);
    for (Ns at = -1; at < 2100; at += 13) {
      std::vector<Id> alive;
      for (const Lifetimes::Life& life : all) {
        if (life.from_ns <= at && life.until_ns > at) alive.push_back(life.id);
      }
      EXPECT_EQ(lives.count_at(at), alive.size());
      EXPECT_EQ(ids(lives.oldest_at(at, count)), alive);
      alive.resize(std::min<size_t>(alive.size(), 3));
      EXPECT_EQ(ids(lives.oldest_at(at, 3)), alive);
    }
  }
}

}  // namespace
}  // namespace streamscope::analysis
