// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "timeline/folded_rows.h"

#include <gtest/gtest.h>

#include <cmath>

namespace {

using namespace streamscope::viewer;

// Bars of 1 to 40 ns, one every 50.
Row bars() {
  Row row;
  for (uint32_t i = 0; i < 4000; ++i) row.push(i * 50, i * 50 + 1 + i * 7 % 40, i);
  row.finish();
  return row;
}

std::vector<DrawItem> folded(FoldedRows& rows, const Row& row, const TimeWindow& window) {
  std::vector<DrawItem> items;
  rows.fold(row, window, 1, items);
  return items;
}

void expect_same(const std::vector<DrawItem>& some, const std::vector<DrawItem>& others) {
  ASSERT_EQ(some.size(), others.size());
  for (size_t i = 0; i < some.size(); ++i) {
    EXPECT_NEAR(some[i].x0, others[i].x0, 1e-3) << i;
    EXPECT_NEAR(some[i].x1, others[i].x1, 1e-3) << i;
    EXPECT_EQ(some[i].first, others[i].first) << i;
    EXPECT_EQ(some[i].count, others[i].count) << i;
  }
}

TEST(FoldedRows, EqualFoldWhereverTheWindowIsPanned) {
  const Row row = bars();
  for (const double ns_per_px : {3.0, 20.0, 90.0}) {
    FoldedRows rows;
    TimeWindow window{.begin_ns = 50'000, .ns_per_px = ns_per_px, .width_px = 700};
    for (const double px : {0.0, 17.0, -60.5, 300.0, -900.0, 64.0}) {
      window.pan_px(px);
      std::vector<DrawItem> anew;
      fold(row, window, 1, anew);
      // The cells at the edges differ by what is folded beyond them.
      const auto inner = [&](std::vector<DrawItem> items) {
        std::erase_if(items, [](const DrawItem& each) { return each.x0 < 1 || each.x1 > 699; });
        return items;
      };
      expect_same(inner(folded(rows, row, window)), inner(anew));
    }
  }
}

TEST(FoldedRows, FoldOnlyWhatComesIntoView) {
  const Row row = bars();
  FoldedRows rows;
  TimeWindow window{.begin_ns = 50'000, .ns_per_px = 20, .width_px = 700};
  folded(rows, row, window);
  for (const double px : {40.0, 40.0, -80.0}) {
    window.pan_px(px);
    folded(rows, row, window);
  }
  EXPECT_EQ(rows.fold_count(), 1u);
  window.pan_px(200);
  folded(rows, row, window);
  EXPECT_EQ(rows.fold_count(), 2u);
  window.zoom(300, 1.25);
  folded(rows, row, window);
  EXPECT_EQ(rows.fold_count(), 3u);
}

TEST(FoldedRows, KeepABarWithinTheEdgesOfTheWindow) {
  Row row;
  row.push(0, 1'000'000, 0);
  row.finish();
  FoldedRows rows;
  TimeWindow window{.begin_ns = 5'000, .ns_per_px = 1, .width_px = 100};
  for (const double px : {0.0, 30.0}) {
    window.pan_px(px);
    const std::vector<DrawItem> items = folded(rows, row, window);
    ASSERT_EQ(items.size(), 1u);
    EXPECT_FLOAT_EQ(items[0].x0, -2);
    EXPECT_FLOAT_EQ(items[0].x1, 102);
  }
}

}  // namespace
