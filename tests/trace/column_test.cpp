// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "trace/column.h"

#include <gtest/gtest.h>

#include "support/trace_builder.h"

namespace streamscope::trace {
namespace {

TEST(Column, ReadsTheSameOpenAndPacked) {
  Column<Ns> column{3, 1, kUnknownNs, 2};
  const Column<Ns>& read = column;
  for (const bool packed : {false, true}) {
    if (packed) column.pack();
    ASSERT_EQ(read.size(), 4u);
    EXPECT_EQ(read[0], 3);
    EXPECT_EQ(read[2], kUnknownNs);
    EXPECT_EQ(read.back(), 2);
    EXPECT_EQ(std::vector<Ns>(read.begin(), read.end()), (std::vector<Ns>{3, 1, kUnknownNs, 2}));
    Ns two[2];
    read.read(1, 2, two);
    EXPECT_EQ(two[0], 1);
    EXPECT_EQ(two[1], kUnknownNs);
  }
}

TEST(Column, IsWrittenAgainAfterItWasPacked) {
  Column<Id> column{7, 8};
  column.pack();
  column.push_back(9);
  column[0] = 6;
  EXPECT_EQ(column, (Column<Id>{6, 8, 9}));
  column.pack();
  EXPECT_EQ(column, (Column<Id>{6, 8, 9}));
}

// Columns that were not read have no values, even if their tables are long.
TEST(Column, IsUnknownBeyondItsEndOncePacked) {
  Column<Small> column;
  column.pack();
  EXPECT_EQ(std::as_const(column)[5], kNoSmall);
}

TEST(Columns, AppendRowsAndPackThem) {
  Trace trace;
  EXPECT_EQ(trace.op.append({.kind = kMemcpy, .start_ns = 5}), 0u);
  EXPECT_EQ(trace.op.append({.kind = kKernel}), 1u);
  trace.pack();
  const Trace& read = trace;
  ASSERT_EQ(read.op.size(), 2u);
  EXPECT_EQ(read.op.kind[0], kMemcpy);
  EXPECT_EQ(read.op.start_ns[1], kUnknownNs);
  EXPECT_EQ(read.op.name_id[1], kNoId);
}

}  // namespace
}  // namespace streamscope::trace
