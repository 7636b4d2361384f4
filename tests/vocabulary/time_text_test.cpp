// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "vocabulary/time_text.h"

#include <gtest/gtest.h>

namespace streamscope {
namespace {

TEST(TimeText, AcceptsEveryUnit) {
  EXPECT_EQ(parse_time_ns("1500"), 1500);
  EXPECT_EQ(parse_time_ns("1500ns"), 1500);
  EXPECT_EQ(parse_time_ns("1.5us"), 1500);
  EXPECT_EQ(parse_time_ns("1.5\u00b5s"), 1500);
  EXPECT_EQ(parse_time_ns("12.5ms"), 12'500'000);
  EXPECT_EQ(parse_time_ns("2s"), 2'000'000'000);
  EXPECT_EQ(parse_time_ns("1e6"), 1'000'000);
  EXPECT_EQ(parse_time_ns("-3ms"), -3'000'000);
}

TEST(TimeText, RoundsPartsOfANanosecond) {
  EXPECT_EQ(parse_time_ns("0.6ns"), 1);
  EXPECT_EQ(parse_time_ns("1.2346us"), 1235);
}

TEST(TimeText, IsExactBeyondTheDigitsOfADouble) {
  EXPECT_EQ(parse_time_ns("9007199254740993ns"), 9007199254740993);
  EXPECT_EQ(parse_time_ns("9007199254740993"), 9007199254740993);
}

TEST(TimeText, RefusesInvalidTimes) {
  for (const char* text : {"", "ms", "a", "5min", "5 ms", "5msec", " 5", "1e", "nan", "inf", "infs",
                           "9.1e18", "1e10s", "99999999999999999999ns", "1e999s"}) {
    EXPECT_EQ(parse_time_ns(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace streamscope
