// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "timeline/timeline_layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <random>

namespace streamscope::viewer {
namespace {

using ::testing::ElementsAre;

constexpr Ns kEnd = std::numeric_limits<Ns>::max();
constexpr Ns kBegin = std::numeric_limits<Ns>::min();

Row row_of(std::initializer_list<TimeRange> intervals) {
  Row row;
  for (const TimeRange& interval : intervals) {
    row.push(interval.begin_ns, interval.end_ns, static_cast<uint32_t>(row.size()));
  }
  row.finish();
  return row;
}

TEST(TimeWindow, KeepsEveryNanosecondExactAtBothEndsOfTheAxis) {
  for (const Ns begin : {Ns{0}, kBegin, kEnd - 2000, Ns{1'700'000'000'000'000'000}}) {
    const TimeWindow window{begin, 0, 1, 2000};
    for (Ns offset = 0; offset < 2000; offset += 7) {
      EXPECT_EQ(window.to_px(begin + offset), static_cast<double>(offset));
      EXPECT_EQ(window.to_ns(static_cast<double>(offset)), begin + offset);
    }
  }
}

TEST(TimeWindow, ClampsInsteadOfOverflowing) {
  TimeWindow window{kEnd - 10, 0, 1000, 1000};
  EXPECT_EQ(window.to_ns(1000), kEnd);
  window.pan_px(-1e9);
  EXPECT_EQ(window.begin_ns, kEnd);
  window.show({kBegin, kEnd});
  EXPECT_LE(window.to_px(kBegin), 1);
}

TEST(TimeWindow, PansByPixelsAndBackWithoutDrift) {
  TimeWindow window{123'456'789, 0, 0.3, 1000};
  for (int i = 0; i < 1000; ++i) window.pan_px(1);
  EXPECT_NEAR(window.to_px(123'456'789), 1000, 1e-6);
  window.pan_px(-1000);
  EXPECT_NEAR(window.to_px(123'456'789), 0, 1e-6);
}

TEST(TimeWindow, ZoomKeepsTheInstantUnderTheCursor) {
  TimeWindow window{1'000'000'000, 0, 12.5, 1600};
  const Ns under = window.to_ns(400);
  const double before = window.to_px(under);
  for (int i = 0; i < 40; ++i) window.zoom(400, 1.25);
  EXPECT_EQ(window.ns_per_px, kMinNsPerPx);
  EXPECT_EQ(window.to_ns(window.to_px(under) + 0.001), under);
  window.zoom(400, kMinNsPerPx / 12.5);
  EXPECT_NEAR(window.to_px(under), before, 1e-3);
}

TEST(TimeWindow, ShowsARangeWithItsMargins) {
  TimeWindow window{0, 0, 1, 1000};
  window.show({5000, 6000}, 0.25);
  EXPECT_NEAR(window.to_px(5000), 1000.0 / 6, 1e-6);
  EXPECT_NEAR(window.to_px(6000), 5000.0 / 6, 1e-6);
  window.show({7, 7});  // an empty range still gives a usable window
  EXPECT_GT(window.ns_per_px, 0);
}

TEST(Ticks, AreRoundAndFarEnoughApart) {
  for (double scale = kMinNsPerPx; scale < 1e15; scale *= 1.7) {
    const TimeWindow window{-12'345, 0.25, scale, 1500};
    const Ticks result = ticks(window, 100);
    Ns mantissa = result.step_ns;
    while (mantissa % 10 == 0) mantissa /= 10;
    EXPECT_TRUE(mantissa == 1 || mantissa == 2 || mantissa == 5) << result.step_ns;
    EXPECT_GE(static_cast<double>(result.step_ns) / scale, 100 - 1e-6);
    EXPECT_LE(result.at.size(), 16u);
    EXPECT_EQ(result.step_ns % result.minor_step_ns, 0);
    for (const Ns at : result.at) EXPECT_EQ(at % result.step_ns, 0);
  }
}

TEST(Ticks, EndAtTheEndsOfTheAxis) {
  TimeWindow window{kEnd - 1000, 0, 1, 2000};
  EXPECT_FALSE(ticks(window, 100).at.empty());
  window = {kBegin, 0, 1e16, 1844};
  EXPECT_FALSE(ticks(window, 100).at.empty());
  window.width_px = 1000;
  window.show({kBegin, kEnd}, 0.01);
  EXPECT_GE(window.to_px(kBegin), 0);
  EXPECT_LE(window.to_px(kEnd), 1000);
  EXPECT_FALSE(ticks(window, 100).at.empty());
}

TEST(Row, SumsUpBlocksOfBlocks) {
  Row row;
  for (uint32_t i = 0; i < 100; ++i) row.push(i * 10, i * 10 + (i == 70 ? 9 : 2), i, i == 70);
  row.finish();
  ASSERT_EQ(row.levels.size(), 2u);  // 12 blocks of 8, one of 64
  EXPECT_EQ(row.levels[0].start_ns[9], 720);
  EXPECT_EQ(row.levels[0].busy_before_ns[9], 72 * 2 + 7);
  EXPECT_EQ(row.levels[0].kind[8], 1);  // of the longest
  EXPECT_EQ(row.levels[0].kind[9], 0);
  EXPECT_EQ(row.levels[1].start_ns.size(), 1u);
  EXPECT_TRUE(row.max_end_ns.empty());
}

TEST(Row, HasNoBlocksIfIntervalsOverlap) {
  Row row;
  for (uint32_t i = 0; i < 100; ++i) row.push(i * 10, i * 10 + 15, i);
  row.finish();
  EXPECT_TRUE(row.levels.empty());
  EXPECT_EQ(row.reach(99), 1005);
}

TEST(Visible, FindsWhatTouchesTheRange) {
  const Row row = row_of({{0, 10}, {20, 30}, {40, 50}, {60, 70}});
  EXPECT_EQ(visible(row, {25, 45}).begin, 1u);
  EXPECT_EQ(visible(row, {25, 45}).end, 3u);
  EXPECT_EQ(visible(row, {51, 59}).begin, visible(row, {51, 59}).end);
}

TEST(Visible, FindsALongIntervalThatBeganFarBefore) {
  const Row row = row_of({{0, 1000}, {10, 20}, {30, 40}, {500, 510}});
  EXPECT_EQ(visible(row, {600, 700}).begin, 0u);
}

TEST(Fold, DrawsWideIntervalsOneByOne) {
  const Row row = row_of({{0, 10}, {10, 30}, {50, 60}});
  std::vector<DrawItem> items;
  fold(row, TimeWindow{0, 0, 1, 100}, 1, items);
  ASSERT_EQ(items.size(), 3u);
  EXPECT_EQ(items[1].x0, 10);
  EXPECT_EQ(items[1].x1, 30);
  EXPECT_EQ(items[1].count, 1u);
}

TEST(Fold, MergesWhatIsNarrowerThanAPixel) {
  const Row row = row_of({{0, 1}, {2, 3}, {4, 5}, {6, 7}, {100, 300}});
  std::vector<DrawItem> items;
  fold(row, TimeWindow{0, 0, 10, 100}, 1, items);
  ASSERT_EQ(items.size(), 2u);
  EXPECT_EQ(items[0].count, 4u);
  EXPECT_NEAR(items[0].coverage, 0.4, 1e-6);
  EXPECT_EQ(items[1].count, 1u);
}

TEST(Fold, NeverLosesAnInterval) {
  std::mt19937_64 random(7);
  Row row;
  Ns at = 0;
  for (uint32_t i = 0; i < 20'000; ++i) {
    const Ns start = at + static_cast<Ns>(random() % 50);
    at = start + static_cast<Ns>(i % 97 == 0 ? random() % 20'000 : random() % 30);
    row.push(start, at, i);
  }
  row.finish();
  for (const double scale : {0.5, 3.0, 70.0, 1000.0}) {
    std::vector<DrawItem> items;
    TimeWindow window{0, 0, scale, static_cast<double>(at) / scale + 1};
    fold(row, window, 1, items);
    uint32_t next = 0;
    for (const DrawItem& item : items) {
      EXPECT_EQ(item.first, next);
      next += item.count;
    }
    EXPECT_EQ(next, row.size());
  }
}

TEST(Fold, IsBoundedByPixelsForAMillionOperations) {
  Row row;
  for (uint32_t i = 0; i < 1'000'000; ++i) {
    row.push(Ns{i} * 100, Ns{i} * 100 + 80, i);
  }
  row.finish();
  for (double scale = 0.1; scale < 1e5; scale *= 3) {
    std::vector<DrawItem> items;
    fold(row, TimeWindow{5'000'000, 0.5, scale, 1600}, 1, items);
    EXPECT_LE(items.size(), 2u * 1606) << scale;
    EXPECT_GE(items.size(), 1u);
  }
}

TEST(Fold, IsBoundedByPixelsIfEverythingOverlaps) {
  Row row;
  for (uint32_t i = 0; i < 100'000; ++i) {
    row.push(i, Ns{1'000'000} + i * (i % 2), i);
  }
  row.finish();
  std::vector<DrawItem> items;
  fold(row, TimeWindow{0, 0, 1000, 1600}, 1, items);
  EXPECT_LE(items.size(), 1606u);
}

TEST(Fold, DoesNotFlickerWhenPanned) {
  Row row;
  for (uint32_t i = 0; i < 5000; ++i) {
    row.push(Ns{i} * 7, Ns{i} * 7 + 3, i);
  }
  row.finish();
  std::vector<DrawItem> before, after;
  TimeWindow window{0, 0, 40, 500};
  fold(row, window, 1, before);
  window.pan_px(-100);
  fold(row, window, 1, after);
  // The cells in the middle of both pictures hold the same intervals.
  for (const DrawItem& item : after) {
    if (item.x0 < 1 || item.x0 > 300) continue;
    EXPECT_TRUE(std::any_of(before.begin(), before.end(), [&](const DrawItem& other) {
      return other.first == item.first && other.count == item.count && other.x0 == item.x0 + 100;
    }));
  }
}

// A cell of a fractional number of nanoseconds begins at the one below: what starts there is in it,
// wherever the picture begins.
TEST(Fold, CountsTheFirstNanosecondOfACellToIt) {
  Row row;
  for (uint32_t i = 0; i < 300; ++i) row.push(Ns{i}, Ns{i} + 1, i);
  row.finish();
  for (const Ns begin : {Ns{0}, Ns{1}, Ns{5}, Ns{7}}) {
    std::vector<DrawItem> items;
    fold(row, TimeWindow{begin, 0, 2.5, 100}, 1, items);
    ASSERT_GT(items.size(), 80u);
    for (size_t i = 1; i + 1 < items.size(); ++i)
      EXPECT_EQ(items[i].count, items[i].first % 5 == 0 ? 2u : 3u) << items[i].first;
  }
}

TEST(Fold, KeepsAnIdleStretchAmongThousandsOfIntervals) {
  Row row;
  for (uint32_t i = 0; i < 100'000; ++i) {
    const Ns at = Ns{i} * 10 + (i < 50'003 ? 0 : 500'000);
    row.push(at, at + 10, i, i >= 50'003);
  }
  row.finish();
  std::vector<DrawItem> items;
  fold(row, TimeWindow{0, 0, 1000, 1500}, 1, items);
  EXPECT_LE(items.size(), 1600u);
  uint32_t next = 0;
  for (const DrawItem& item : items) {
    EXPECT_EQ(item.first, next);
    next += item.count;
    EXPECT_EQ(item.kind, item.x0 > 700);
    EXPECT_TRUE(item.x0 <= 501 || item.x0 >= 999) << item.x0;
  }
  EXPECT_EQ(next, row.size());
}

TEST(PackRows, PutsOverlappingIntervalsInSeparateRows) {
  const std::vector<Ns> start = {0, 5, 6, 10, 20};
  const std::vector<Ns> end = {10, 8, 30, 12, 21};
  EXPECT_THAT(pack_rows(start, end, 8), ElementsAre(0, 1, 2, 0, 0));
  EXPECT_THAT(pack_rows(start, end, 2), ElementsAre(0, 1, 1, 0, 0));
}

TEST(CoveredNs, CountsOverlapOnce) {
  const std::vector<Ns> start = {0, 5, 20, 21};
  const std::vector<Ns> end = {10, 8, 30, 40};
  EXPECT_EQ(covered_ns(start, end), 30);
}

}  // namespace
}  // namespace streamscope::viewer
