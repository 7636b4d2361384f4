// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "trace/packed.h"

#include <gtest/gtest.h>

#include <random>

namespace streamscope::trace {
namespace {

template <class T>
void expect_same(const std::vector<T>& values) {
  const Packed<T> packed(values);
  ASSERT_EQ(packed.size(), values.size());
  for (size_t i = 0; i < values.size(); ++i) ASSERT_EQ(packed[i], values[i]) << i;
  EXPECT_TRUE(std::ranges::equal(packed, values));
  for (size_t from = 0; from < values.size(); from += values.size() / 3 + 1) {
    std::vector<T> read(values.size() - from);
    packed.read(from, read.size(), read.data());
    ASSERT_TRUE(std::ranges::equal(read, std::span(values).subspan(from))) << from;
  }
}

// Values of every width, with unknown ones between them, over several blocks.
template <class T>
std::vector<T> random_values(unsigned bits, size_t count) {
  std::mt19937_64 random(bits);
  std::vector<T> values(count);
  for (T& value : values) {
    const uint64_t code = bits == 0 ? 0 : random() >> (64 - bits);
    value = random() % 7 == 0 ? Packed<T>::kNone : static_cast<T>(code);
  }
  return values;
}

TEST(Packed, ReturnsWhatWasStored) {
  for (const size_t count : {0, 1, 255, 256, 257, 3000}) {
    for (unsigned bits = 0; bits <= 64; ++bits) expect_same(random_values<int64_t>(bits, count));
    for (unsigned bits = 0; bits <= 32; ++bits) expect_same(random_values<uint32_t>(bits, count));
    for (unsigned bits = 0; bits <= 32; ++bits) expect_same(random_values<int32_t>(bits, count));
    for (unsigned bits = 0; bits <= 8; ++bits) expect_same(random_values<uint8_t>(bits, count));
  }
}

TEST(Packed, HoldsTheLimitsOfItsType) {
  using Limits = std::numeric_limits<int64_t>;
  expect_same<int64_t>({Limits::min(), Limits::min() + 1, -1, 0, Limits::max()});
  expect_same<uint32_t>(
      {0, std::numeric_limits<uint32_t>::max() - 1, std::numeric_limits<uint32_t>::max()});
}

TEST(Packed, IsUnknownBeyondItsEnd) {
  const Packed<uint32_t> packed(std::vector<uint32_t>{7});
  EXPECT_EQ(packed[1], Packed<uint32_t>::kNone);
  EXPECT_EQ(Packed<int64_t>()[0], Packed<int64_t>::kNone);
}

TEST(Packed, TakesFewBytes) {
  std::vector<int64_t> times(100'000), unknown(100'000, Packed<int64_t>::kNone);
  for (size_t i = 0; i < times.size(); ++i) times[i] = 1'000'000'000'000 + int64_t{1500} * i;
  EXPECT_LT(Packed<int64_t>(times).byte_count(), times.size() * 3);
  EXPECT_LT(Packed<int64_t>(unknown).byte_count(), unknown.size() / 10);
}

TEST(Packed, TakesNothingPerValueIfAllAreEqual) {
  const std::vector<int64_t> same(100'000, 1'234'567'890'123);
  EXPECT_LT(Packed<int64_t>(same).byte_count(), same.size() / 10);
  expect_same(same);
}

TEST(Packed, IsJoinedFromParts) {
  std::vector<int64_t> values;
  std::vector<Packed<int64_t>> parts;
  for (const auto& [bits, count] : {std::pair(20u, 512u), {0u, 256u}, {64u, 768u}, {9u, 300u}}) {
    const std::vector<int64_t> more = random_values<int64_t>(bits, count);
    values.insert(values.end(), more.begin(), more.end());
    parts.emplace_back(more);
  }
  const Packed<int64_t> joined = Packed<int64_t>::joined(parts);
  EXPECT_EQ(joined, Packed<int64_t>(values));
  ASSERT_EQ(joined.size(), values.size());
  EXPECT_EQ(joined[values.size() - 1], values.back());
  EXPECT_EQ(joined[values.size()], Packed<int64_t>::kNone);
  EXPECT_TRUE(Packed<int64_t>::joined({}).empty());
}

TEST(Packed, IsSearchedLikeAnyOrderedColumn) {
  std::vector<int64_t> times(1000);
  for (size_t i = 0; i < times.size(); ++i) times[i] = static_cast<int64_t>(i * i);
  const Packed<int64_t> packed(times);
  for (const int64_t at :
       {int64_t{-5}, int64_t{0}, int64_t{250'000}, int64_t{250'001}, int64_t{9'999'999}}) {
    EXPECT_EQ(std::lower_bound(packed.begin(), packed.end(), at) - packed.begin(),
              std::lower_bound(times.begin(), times.end(), at) - times.begin());
    EXPECT_EQ(std::ranges::upper_bound(packed, at) - packed.begin(),
              std::ranges::upper_bound(times, at) - times.begin());
  }
}

}  // namespace
}  // namespace streamscope::trace
