// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "record/rows/identity.h"

#include <gtest/gtest.h>
#include <time.h>

#include <algorithm>
#include <map>
#include <random>
#include <unordered_map>

namespace streamscope::record {
namespace {

TEST(HandleLives, DistinguishesTheLivesOfAReusedHandle) {
  HandleLives lives;
  const uint32_t first = lives.create(0xabc, 20);
  EXPECT_EQ(lives.use(0xabc, 25), first);
  EXPECT_EQ(lives.size(), 1u);
  EXPECT_EQ(lives.destroy(0xabc, 30, 40), first);
  const uint32_t second = lives.create(0xabc, 60);
  EXPECT_NE(first, second);
  EXPECT_EQ(lives[second].generation, 1u);
  EXPECT_EQ(lives.use(0xabc, 70), second);
  EXPECT_EQ(lives.use(0xabc, 25), first) << "a use looked at late still means the old life";
}

TEST(HandleLives, KeepsADestructionAwayFromTheLifeThatFollowedDuringIt) {
  HandleLives lives;
  const uint32_t first = lives.create(1, 20);
  const uint32_t second = lives.create(1, 38);  // the handle was free again before destroy returned
  EXPECT_EQ(lives.destroy(1, 30, 40), first);
  EXPECT_EQ(lives[first].destroyed, 40u);
  EXPECT_EQ(lives[second].destroyed, HandleLives::kNever);
}

TEST(HandleLives, MergesTwoReportsOfOneCreation) {
  HandleLives lives;
  const uint32_t life = lives.create_or_join(1, 15, 15);
  EXPECT_EQ(lives.create_or_join(1, 10, 20), life);
  EXPECT_NE(lives.create_or_join(1, 21, 25), life);
}

TEST(HandleLives, KeepsTwoCreationsApartEvenIfTheyOverlap) {
  HandleLives lives;
  const uint32_t first = lives.create(1, 20);
  const uint32_t second = lives.create(1, 60);  // began at 10, and got the handle when it was free
  EXPECT_NE(first, second);
  EXPECT_EQ(lives.destroy(1, 30, 70), first) << "its call ended late";
  EXPECT_EQ(lives.destroy(1, 80, 90), second);
}

TEST(HandleLives, StartsALifeOfUnknownPastForAHandleItNeverSawCreated) {
  HandleLives lives;
  const uint32_t old = lives.use(1, 100);
  EXPECT_EQ(lives.size(), 1u);
  EXPECT_EQ(lives[old].created, 0u);
  EXPECT_EQ(lives.destroy(1, 110, 120), old);
  EXPECT_EQ(lives.size(), 1u);
  const uint32_t unseen = lives.use(1, 200);
  EXPECT_EQ(lives.size(), 2u) << "used after its destruction: created again unseen";
  EXPECT_EQ(lives[unseen].generation, 1u);

  const uint32_t created = lives.create(2, 60);
  const uint32_t before = lives.use(2, 40);
  EXPECT_EQ(lives.size(), 4u);
  EXPECT_NE(before, created);
  EXPECT_EQ(lives.use(2, 70), created);
  EXPECT_EQ(lives.use(2, 45), before);
}

TEST(HandleLives, JoinsACreationWithItsDestructionThatWasReadFirst) {
  HandleLives lives;
  const uint32_t life = lives.destroy(1, 30, 40);
  EXPECT_EQ(lives.create(1, 20), life);
  EXPECT_TRUE(lives[life].creation_seen);
  EXPECT_EQ(lives[life].created, 20u);
  const uint32_t next = lives.create(1, 38);  // the handle was free again before destroy returned
  EXPECT_NE(next, life);

  const uint32_t old = lives.destroy(2, 30, 40);
  EXPECT_NE(lives.create(2, 38), old) << "that began during its destruction";
  const uint32_t unseen = lives.use(3, 10);
  EXPECT_NE(lives.create(3, 20), unseen) << "which was used before";
}

TEST(FlatMap, BehavesLikeAnOrdinaryMap) {
  std::mt19937 random(7);
  SequenceMap<uint32_t> dense;
  FlatMap<uint64_t, uint32_t> mixed;
  std::unordered_map<uint32_t, uint32_t> expected;
  for (int i = 0; i < 60'000; ++i) {
    const uint32_t key = random() % 700 * (random() % 5 == 0 ? 1024 : 1);
    if (random() % 2 == 0) {
      expected[key] = i;
      dense.get(key) = i;
      mixed.insert_or_assign(key, i);
    } else {
      const bool erased = expected.erase(key) == 1;
      ASSERT_EQ(dense.erase(key), erased);
      ASSERT_EQ(mixed.erase(key), erased);
    }
    ASSERT_EQ(dense.size(), expected.size());
    const uint32_t probe = random() % 700;
    auto found = expected.find(probe);
    ASSERT_EQ(dense.find(probe) != nullptr, found != expected.end());
    ASSERT_EQ(mixed.find(probe) != nullptr, found != expected.end());
    if (found != expected.end()) {
      ASSERT_EQ(*dense.find(probe), found->second);
      ASSERT_EQ(*mixed.find(probe), found->second);
    }
  }
}

TEST(FlatMap, CreatesMissingEntriesOnceAndMayGrowMeanwhile) {
  FlatMap<uint32_t, uint32_t> map;
  int made = 0;
  const auto make = [&] {
    for (uint32_t other = 100; other < 200; ++other) map.insert_or_assign(other, other);
    ++made;
    return 5u;
  };
  EXPECT_EQ(map.get_or_add(1, make), 5u);
  map.get_or_add(1, make) = 6;
  EXPECT_EQ(map.get_or_add(1, make), 6u);
  EXPECT_EQ(made, 1);
  EXPECT_EQ(map.size(), 101u);
}

TEST(SequenceMap, NamesWhatItHoldsAndForgetsIt) {
  SequenceMap<uint32_t> map;
  for (uint32_t key = 5; key < 500; ++key) EXPECT_EQ(map.get_or_add(key, [&] { return key; }), key);
  EXPECT_EQ(map.get_or_add(7, [] { return 0u; }), 7u);
  for (uint32_t key = 5; key < 400; ++key) EXPECT_TRUE(map.erase(key));
  uint32_t held = 0;
  map.for_each([&](uint32_t key, uint32_t value) {
    EXPECT_EQ(key, value);
    ++held;
  });
  EXPECT_EQ(held, 100u);
  EXPECT_EQ(map.get(8), 0u) << "made by default, also where an earlier value was";
  map.clear();
  EXPECT_EQ(map.find(450), nullptr);
  EXPECT_EQ(map.size(), 0u);
}

double processor_s() {
  timespec now;
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// Like the numbers of calls whose work has not been reported: eight times as many take eight times
// as long.
TEST(SequenceMap, TakesTheSameTimePerKeyForAnySize) {
  const auto seconds_of = [](uint32_t count) {
    SequenceMap<std::array<char, 72>> map;
    const double begin = processor_s();
    for (uint32_t key = 1; key <= count; ++key) map.get(key)[0] = 1;
    for (uint32_t key = 1; key <= count; ++key) EXPECT_TRUE(map.erase(key));
    return processor_s() - begin;
  };
  seconds_of(8'000);  // memory, caches
  EXPECT_LT(seconds_of(64'000), 32 * std::max(seconds_of(8'000), 1e-4));
}

}  // namespace
}  // namespace streamscope::record
