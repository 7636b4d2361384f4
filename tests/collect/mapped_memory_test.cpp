// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "collect/observed/mapped_memory.h"

#include <gtest/gtest.h>

#include <limits>
#include <tuple>
#include <vector>

namespace streamscope::collect {
namespace {

constexpr int kByte = 0, kInt32 = 3, kInt64 = 5, kHalf = 6, kNibbles = 13;
constexpr uint64_t kAddress = 0x7f0000000000;

using MappedShape = std::tuple<uint64_t, uint32_t, uint32_t>;  // bytes, rows, pitch

MappedShape shape(int type, const std::vector<uint64_t>& dimensions,
                  const std::vector<uint64_t>& strides) {
  const MappedMemory memory = mapped_memory(type, kAddress, dimensions, strides);
  EXPECT_EQ(memory.address, kAddress);
  return {memory.bytes, memory.rows, memory.pitch};
}

TEST(MappedMemory, IsRowsOfATensor) {
  EXPECT_EQ(shape(kInt32, {100}, {}), MappedShape(400, 1, 0));
  EXPECT_EQ(shape(kHalf, {64, 10}, {128}), MappedShape(1280, 1, 0));          // packed
  EXPECT_EQ(shape(kHalf, {64, 10}, {512}), MappedShape(128, 10, 512));        // columns of a matrix
  EXPECT_EQ(shape(kInt64, {8, 1, 10}, {64, 256}), MappedShape(64, 10, 256));  // a dimension of one
  EXPECT_EQ(shape(kByte, {64, 4, 10}, {64, 1024}), MappedShape(256, 10, 1024));
  EXPECT_EQ(shape(kNibbles, {64, 2}, {32}), MappedShape(64, 1, 0));
}

TEST(MappedMemory, WithMoreStridesIsOnePiece) {
  EXPECT_EQ(shape(kByte, {16, 4, 3}, {32, 1024}), MappedShape(16 + 3 * 32, 3, 1024));
  EXPECT_EQ(shape(kByte, {16, 4, 3, 2}, {32, 1024, 8192}),
            MappedShape(16 + 3 * 32 + 2 * 1024, 2, 8192));
  EXPECT_EQ(shape(kByte, {16, 3, 2}, {1024, 64}),
            MappedShape(16 + 2 * 1024 + 64, 1, 0));  // transposed
  EXPECT_EQ(shape(kByte, {16, 2}, {uint64_t{1} << 33}),
            MappedShape((uint64_t{1} << 33) + 16, 1, 0));
}

TEST(MappedMemory, OfNoTensorHasNoBytes) {
  constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();
  EXPECT_EQ(shape(kByte, {}, {}), MappedShape(0, 1, 0));
  EXPECT_EQ(shape(kByte, {16, 2}, {}), MappedShape(0, 1, 0));
  EXPECT_EQ(shape(kByte, {1, 1, 1, 1, 1, 1}, {1, 1, 1, 1, 1}), MappedShape(0, 1, 0));
  EXPECT_EQ(shape(kByte, {kMost}, {}), MappedShape(0, 1, 0));
  EXPECT_EQ(shape(kByte, {16, kMost}, {32}), MappedShape(0, 1, 0));
  EXPECT_EQ(shape(kByte, {16, 2}, {kMost}), MappedShape(0, 1, 0));
}

}  // namespace
}  // namespace streamscope::collect
