// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "timeline/counter_pixels.h"

#include <gtest/gtest.h>

namespace streamscope::viewer {
namespace {

// Up to two at once.
Counter counter() {
  std::vector<Ns> begins, ends;
  for (Ns i = 0; i < 4000; ++i) {
    begins.push_back(i * 50);
    ends.push_back(i * 50 + 1 + i * 7 % 80);
  }
  std::ranges::sort(ends);
  return count_open(begins, ends);
}

std::vector<Counter::Column> computed(const Counter& counter, const TimeWindow& window,
                                      size_t width) {
  std::vector<Counter::Column> columns(width);
  counter.in_pixels(window, columns);
  return columns;
}

TEST(CounterPixels, EqualThoseOfTheCounterWhereverTheWindowIsPanned) {
  const Counter busy = counter();
  for (const double ns_per_px : {4.0, 20.0, 90.0}) {
    CounterPixels pixels;
    TimeWindow window{.begin_ns = 50'000, .ns_per_px = ns_per_px, .width_px = 700};
    for (const double px : {0.0, 17.0, -60.5, 300.0, -900.0, 64.0}) {
      window.pan_px(px);
      const auto shown = pixels.of(busy, window, 700);
      EXPECT_TRUE(std::ranges::equal(shown, computed(busy, window, 700))) << ns_per_px << " " << px;
    }
  }
}

TEST(CounterPixels, AreComputedOnlyWhereTheyAreNotKept) {
  const Counter busy = counter();
  CounterPixels pixels;
  TimeWindow window{.begin_ns = 50'000, .ns_per_px = 20, .width_px = 700};
  for (const double px : {0.0, 40.0, 40.0, -80.0, -100.0}) {
    window.pan_px(px);
    (void)pixels.of(busy, window, 700);
  }
  EXPECT_EQ(pixels.computed_count(), 1u);
  window.pan_px(0.5);
  (void)pixels.of(busy, window, 700);
  EXPECT_EQ(pixels.computed_count(), 2u) << "between the pixels";
  window.zoom(0, 2);
  (void)pixels.of(busy, window, 700);
  EXPECT_EQ(pixels.computed_count(), 3u) << "another scale";
  (void)pixels.of(busy, window, 1000);
  EXPECT_EQ(pixels.computed_count(), 4u) << "wider";
}

}  // namespace
}  // namespace streamscope::viewer
