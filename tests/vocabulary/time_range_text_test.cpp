// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "vocabulary/time_range_text.h"

#include <gtest/gtest.h>

namespace streamscope {
namespace {

TEST(TimeRangeText, EndsAreTimesOrShares) {
  EXPECT_EQ(parse_range_end("1.5us")->resolve(1000, 5000), 1500);
  EXPECT_EQ(parse_range_end("25%")->resolve(1000, 5000), 2000);
  EXPECT_EQ(parse_range_end("0%")->resolve(-7, 5000), -7);
  EXPECT_EQ(parse_range_end("100%")->resolve(1000, 5000), 5000);
}

TEST(TimeRangeText, HasTwoEnds) {
  const auto range = parse_text_range("40%:12.5ms");
  ASSERT_TRUE(range);
  EXPECT_EQ(range->first.resolve(0, 100), 40);
  EXPECT_EQ(range->second.resolve(0, 100), 12'500'000);
}

TEST(TimeRangeText, StaysWithinTheLimitsOfTimes) {
  constexpr int64_t kLast = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(parse_range_end("1e300%")->resolve(kLast - 10, kLast), kLast);
  EXPECT_EQ(parse_range_end("-1e300%")->resolve(-kLast, kLast), -kLast - 1);
}

TEST(TimeRangeText, RefusesWhatIsNoRange) {
  for (const char* text : {"", ":", "1ms", "1ms:", ":1ms", "a:b", "1ms:2x", "%:1%", "1%%:2%",
                           "nan%:1%", "inf%:1%", "1ms:2ms:3ms", "1ms-2ms"})
    EXPECT_FALSE(parse_text_range(text)) << text;
}

}  // namespace
}  // namespace streamscope
