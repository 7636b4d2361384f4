// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/usage/lod.h"

#include <gtest/gtest.h>

#include <limits>
#include <map>

#include "support/trace_builder.h"

namespace streamscope::analysis {
namespace {

std::vector<trace::Lod> pyramid_of(const Trace& trace) {
  return level_of_detail(trace, StreamOps(trace));
}

// Kernels of 6 ns every 10 ns, every hundredth of 9 ns.
Trace dense(size_t ops) {
  test::TraceBuilder builder;
  test::StreamBuilder stream = builder.stream("dense");
  for (size_t i = 0; i < ops; ++i) {
    const Ns start = static_cast<Ns>(i) * 10;
    stream.kernel("tick", start, start + (i % 100 == 50 ? 9 : 6));
  }
  return builder.trace();
}

TEST(LevelOfDetail, KeepsCountAndBusyTimeOnEveryLevel) {
  constexpr size_t kOps = 40'000;
  const Trace trace = dense(kOps);
  struct Sum {
    Ns busy_ns = 0;
    trace::Int count = 0;
    size_t rows = 0;
  };
  std::map<trace::Small, Sum> levels;
  for (const trace::Lod& row : pyramid_of(trace)) {
    Sum& sum = levels[row.level];
    sum.busy_ns += row.busy_ns;
    sum.count += row.count;
    ++sum.rows;
    EXPECT_LE(row.busy_ns, row.end_ns - row.start_ns);
  }
  ASSERT_GE(levels.size(), 2u);
  size_t below = kOps;
  for (const auto& [level, sum] : levels) {
    EXPECT_EQ(sum.count, static_cast<trace::Int>(kOps)) << level;
    EXPECT_EQ(sum.busy_ns, static_cast<Ns>(kOps * 6 + kOps / 100 * 3)) << level;
    EXPECT_LE(sum.rows * 2, below) << level;
    below = sum.rows;
  }
  EXPECT_LE(below, kCoarsestLodCells + 1);
}

TEST(LevelOfDetail, NamesTheLongestOpOfACell) {
  const Trace trace = dense(20'000);
  for (const trace::Lod& row : pyramid_of(trace)) {
    Ns longest = 0;
    for (Id op = 0; op < trace.op.size(); ++op) {
      if (trace.op.start_ns[op] >= row.start_ns && trace.op.end_ns[op] <= row.end_ns)
        longest = std::max(longest, trace.op.end_ns[op] - trace.op.start_ns[op]);
    }
    if (row.level < 2) continue;  // coarse ones suffice, and are few
    EXPECT_EQ(trace.op.end_ns[row.longest_op_id] - trace.op.start_ns[row.longest_op_id], longest);
    EXPECT_EQ(row.kind, trace.op.kind[row.longest_op_id]);
    EXPECT_EQ(row.detail, trace.op.detail[row.longest_op_id]);
  }
}

TEST(LevelOfDetail, IsAbsentIfThereAreFewOps) {
  test::TraceBuilder builder;
  builder.stream("only").kernel("one", 5, 6);
  EXPECT_TRUE(pyramid_of(builder.trace()).empty());
  EXPECT_TRUE(pyramid_of(Trace{}).empty());
}

TEST(LevelOfDetail, CountsOverlappingWorkOnce) {
  test::TraceBuilder builder;
  test::StreamBuilder stream = builder.stream("graph");
  for (int i = 0; i < 10; ++i) stream.kernel("node", i, 1'000'000);
  stream.kernel("far", 100'000'000, 100'000'001);
  const std::vector<trace::Lod> rows = pyramid_of(builder.trace());
  ASSERT_FALSE(rows.empty());
  EXPECT_EQ(rows[0].count, 10);
  EXPECT_EQ(rows[0].busy_ns, 1'000'000);
}

TEST(LevelOfDetail, SurvivesExtremeTimes) {
  Trace trace = dense(1000);
  for (size_t i = 0; i < trace.op.size(); ++i) {
    const bool early = i < 500;
    trace.op.start_ns[i] = early ? std::numeric_limits<Ns>::min() + 1 + static_cast<Ns>(i)
                                 : std::numeric_limits<Ns>::max() - 1000 + static_cast<Ns>(i);
    trace.op.end_ns[i] = trace.op.start_ns[i] + 1;
  }
  const std::vector<trace::Lod> rows = pyramid_of(trace);
  ASSERT_EQ(rows.size() % 2, 0u);
  trace::Int count = 0;
  for (const trace::Lod& row : rows) count += row.level == 0 ? row.count : 0;
  EXPECT_EQ(count, 1000);
}

}  // namespace
}  // namespace streamscope::analysis
