// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "vocabulary/range_name.h"

#include <gtest/gtest.h>

namespace streamscope {
namespace {

TEST(RangeName, HasNumbersOnlyAtItsEnd) {
  EXPECT_EQ(without_last_numbers("iteration7"), "iteration");
  EXPECT_EQ(without_last_numbers("step 7/24"), "step");
  EXPECT_EQ(without_last_numbers("iter[7]"), "iter");
  EXPECT_EQ(without_last_numbers("ProfilerStep#12"), "ProfilerStep");
  EXPECT_EQ(without_last_numbers("v2 step"), "v2 step");
  EXPECT_EQ(without_last_numbers("step:"), "step:");
  EXPECT_EQ(without_last_numbers("12"), "12");
  EXPECT_EQ(without_last_numbers("#12"), "#12");
  EXPECT_EQ(without_last_numbers(""), "");
}

TEST(RangeName, IsTheWantedOneWithOrWithoutANumber) {
  EXPECT_TRUE(is_named("step", "step"));
  EXPECT_TRUE(is_named("step 7", "step"));
  EXPECT_TRUE(is_named("ProfilerStep#7", "ProfilerStep"));
  EXPECT_TRUE(is_named("step 7", "step 7"));
  EXPECT_FALSE(is_named("step 8", "step 7"));
  EXPECT_FALSE(is_named("ProfilerStep#8", "ProfilerStep#7"));
  EXPECT_FALSE(is_named("step", "step 7"));
  EXPECT_FALSE(is_named("steps", "step"));
  EXPECT_FALSE(is_named("", "step"));
}

}  // namespace
}  // namespace streamscope
