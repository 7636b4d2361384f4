// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "vocabulary/threads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace streamscope {
namespace {

TEST(ForEachPart, DoesEachPartOnce) {
  for (const size_t count : {0, 1, 2, 1000}) {
    std::vector<int> done(count);
    for_each_part(count, [&](size_t part) { ++done[part]; });
    EXPECT_THAT(done, testing::Each(1)) << count;
  }
}

TEST(ForEachPart, ThrowsWhatAPartThrew) {
  for (const size_t bad : {0, 1, 99}) {
    const auto fail = [&](size_t part) {
      if (part == bad) throw std::runtime_error("no memory");
    };
    EXPECT_THROW(for_each_part(100, fail), std::runtime_error) << bad;
  }
}

}  // namespace
}  // namespace streamscope
