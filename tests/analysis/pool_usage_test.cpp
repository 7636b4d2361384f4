// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/usage/pool_usage.h"

#include <gtest/gtest.h>

#include "support/trace_builder.h"

namespace streamscope::analysis {
namespace {

TEST(PoolUsage, FollowsTheSamplesOfAPool) {
  test::TraceBuilder builder;
  const Id pool = builder.add(trace::Pool{.process_id = 0,
                                          .kind = trace::kEventPool,
                                          .name_id = builder.intern("events"),
                                          .capacity = 4});
  const auto sample = [&](Ns at, trace::Int in_use, Ns wait) {
    builder.add(trace::PoolSample{.pool_id = pool,
                                  .start_ns = at,
                                  .available = 4 - in_use,
                                  .in_use = in_use,
                                  .high_water = in_use,
                                  .wait_ns = wait});
  };
  sample(10, 2, 0);
  sample(20, 4, 30);
  sample(30, 1, 0);
  const std::vector<PoolUsage> pools = pool_usage(builder.trace());
  ASSERT_EQ(pools.size(), 1u);
  EXPECT_EQ(pools[0].name, "events");
  EXPECT_EQ(pools[0].capacity, 4);
  EXPECT_EQ(pools[0].high_water, 4);
  EXPECT_EQ(pools[0].taken, 4u);
  EXPECT_EQ(pools[0].waits, 1u);
  EXPECT_EQ(pools[0].wait_ns, 30);
  EXPECT_EQ(pools[0].left, 1);
  EXPECT_FALSE(pools[0].derived);
}

TEST(PoolUsage, DerivesMemoryFromItsLives) {
  test::TraceBuilder builder;
  const auto live = [&](Ns from, Ns to, trace::Int bytes) {
    builder.add(trace::Allocation{.process_id = 0,
                                  .kind = trace::kStreamOrderedAllocation,
                                  .bytes = bytes,
                                  .allocated_ns = from,
                                  .freed_ns = to});
  };
  live(10, 20, 100);
  live(20, 30, 50);  // takes what the first gave up at that instant
  const Id kept = 2;
  live(25, kUnknownNs, 8);
  const std::vector<PoolUsage> pools = pool_usage(builder.trace());
  ASSERT_EQ(pools.size(), 1u);
  EXPECT_TRUE(pools[0].derived);
  EXPECT_EQ(pools[0].name, "stream-ordered memory");
  EXPECT_EQ(pools[0].high_water, 100);
  EXPECT_EQ(pools[0].left, 8);
  ASSERT_EQ(pools[0].holders->endless_count(), 1u);
  EXPECT_EQ(pools[0].holders->oldest_endless(5)[0].id, kept);
  EXPECT_EQ(pools[0].steps.back().in_use, 8);
}

TEST(PoolUsage, IsEmptyIfNothingIsPooled) { EXPECT_TRUE(pool_usage(Trace{}).empty()); }

}  // namespace
}  // namespace streamscope::analysis
