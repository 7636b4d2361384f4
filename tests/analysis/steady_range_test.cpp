// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The steady part of a series of durations.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "analysis/iterations/steady_range.h"
#include "support/units.h"

namespace streamscope::analysis {
namespace {

using test::kUs;

std::vector<Ns> levels(std::initializer_list<std::pair<int, Ns>> parts) {
  std::vector<Ns> result;
  for (const auto& [count, level] : parts) result.insert(result.end(), count, level * kUs);
  return result;
}

// A level with a few percent of noise.
std::vector<Ns> noisy(std::initializer_list<std::pair<int, Ns>> parts, uint32_t seed = 1) {
  std::mt19937 random(seed);
  std::vector<Ns> result = levels(parts);
  for (Ns& value : result) value += value * (static_cast<Ns>(random() % 41) - 20) / 1000;
  return result;
}

TEST(SteadyRange, OfAConstantSeriesIsAllOfIt) {
  EXPECT_EQ(steady_range(levels({{1, 100}})), std::pair(size_t{0}, size_t{1}));
  EXPECT_EQ(steady_range(levels({{4, 100}})), std::pair(size_t{0}, size_t{4}));
  EXPECT_EQ(steady_range(levels({{50, 100}})), std::pair(size_t{0}, size_t{50}));
  EXPECT_EQ(steady_range(levels({{50, 0}})), std::pair(size_t{0}, size_t{50}));
}

TEST(SteadyRange, IgnoresNoiseAndDrift) {
  for (uint32_t seed = 0; seed < 50; ++seed)
    EXPECT_EQ(steady_range(noisy({{60, 100}}, seed)), std::pair(size_t{0}, size_t{60})) << seed;
  EXPECT_EQ(steady_range(levels({{20, 100}, {20, 108}})), std::pair(size_t{0}, size_t{40}));
}

TEST(SteadyRange, IgnoresSingleOutliers) {
  std::vector<Ns> series = noisy({{40, 100}});
  for (const size_t outlier : {7, 19, 33}) series[outlier] = 900 * kUs;
  series[25] = 10 * kUs;
  EXPECT_EQ(steady_range(series), std::pair(size_t{0}, size_t{40}));
}

TEST(SteadyRange, LeavesOutLevelsOfTheStart) {
  EXPECT_EQ(steady_range(noisy({{6, 300}, {30, 100}})), std::pair(size_t{6}, size_t{36}));
  EXPECT_EQ(steady_range(noisy({{5, 400}, {8, 200}, {40, 100}})),
            std::pair(size_t{13}, size_t{53}));
}

TEST(SteadyRange, IsTheLongerPartIfTheLevelChangesInTheMiddle) {
  EXPECT_EQ(steady_range(noisy({{14, 100}, {26, 150}})), std::pair(size_t{14}, size_t{40}));
  EXPECT_EQ(steady_range(noisy({{26, 100}, {14, 150}})), std::pair(size_t{0}, size_t{26}));
  EXPECT_EQ(steady_range(noisy({{20, 100}, {40, 130}})), std::pair(size_t{20}, size_t{60}));
}

TEST(SteadyRange, IsTheSameWithoutAnyNoise) {
  EXPECT_EQ(steady_range(levels({{6, 300}, {30, 100}})), std::pair(size_t{6}, size_t{36}));
  EXPECT_EQ(steady_range(levels({{10, 100}, {30, 130}})), std::pair(size_t{10}, size_t{40}));
  EXPECT_EQ(steady_range(levels({{30, 100}, {10, 200}})), std::pair(size_t{0}, size_t{30}));
}

TEST(SteadyRange, IsTheLaterOfEquallyLongParts) {
  EXPECT_EQ(steady_range(noisy({{20, 100}, {20, 200}})), std::pair(size_t{20}, size_t{40}));
}

TEST(SteadyRange, IsNeverEmptyAndInsideTheSeries) {
  for (uint32_t seed = 0; seed < 2000; ++seed) {
    std::mt19937 random(seed);
    std::vector<Ns> series(1 + random() % 80);
    const int sort = static_cast<int>(random() % 4);
    Ns level = 1 + static_cast<Ns>(random() % 1'000'000);
    for (Ns& value : series) {
      if (sort == 0) level = static_cast<Ns>(random());
      if (sort == 1 && random() % 8 == 0) level = 1 + static_cast<Ns>(random() % 1'000'000);
      if (sort == 2) level += static_cast<Ns>(random() % 2'000);
      value = sort == 3 ? static_cast<Ns>(random() % 2) : level;
    }
    const auto [from, to] = steady_range(series);
    ASSERT_LT(from, to) << "seed " << seed;
    ASSERT_LE(to, series.size()) << "seed " << seed;
  }
}

TEST(SteadyRange, LeavesOutARandomStart) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    const int start = 3 + static_cast<int>(random() % 8);
    const Ns level = 160 + static_cast<Ns>(random() % 900);
    const auto [from, to] = steady_range(noisy({{start, level}, {40, 100}}, seed));
    ASSERT_EQ(from, static_cast<size_t>(start)) << "seed " << seed << " level " << level;
    ASSERT_EQ(to, static_cast<size_t>(start) + 40) << "seed " << seed << " level " << level;
  }
}

}  // namespace
}  // namespace streamscope::analysis
