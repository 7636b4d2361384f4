// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/large_vector.h"

#include <gtest/gtest.h>

#include <vector>

namespace streamscope::analysis {
namespace {

constexpr size_t kSeveralHugePages = 3 * kHugePageBytes / sizeof(uint32_t) + 5;

TEST(LargeVector, HoldsWhatAnOrdinaryOneHolds) {
  for (size_t count : {size_t{0}, size_t{3}, kSeveralHugePages})
    EXPECT_EQ(large_vector<uint32_t>(count, 7), std::vector<uint32_t>(count, 7));
}

TEST(LargeVector, ReserveKeepsTheContentAndTheCapacity) {
  std::vector<uint32_t> vector{1, 2, 3};
  reserve_large(vector, kSeveralHugePages);
  const uint32_t* place = vector.data();
  vector.resize(kSeveralHugePages, 4);
  EXPECT_EQ(vector.data(), place);
  EXPECT_EQ(vector[2], 3u);
  EXPECT_EQ(vector.back(), 4u);
  reserve_large(vector, 10);
  EXPECT_EQ(vector.size(), kSeveralHugePages);
}

}  // namespace
}  // namespace streamscope::analysis
