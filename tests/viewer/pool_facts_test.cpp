// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "model/pool_facts.h"

#include <gtest/gtest.h>

#include "support/trace_builder.h"

namespace streamscope::viewer {
namespace {

class PoolFacts : public ::testing::Test {
 protected:
  void sample(Ns at, trace::Int in_use, Ns wait_ns) {
    builder_.add(trace::PoolSample{.pool_id = pool_,
                                   .start_ns = at,
                                   .available = 4 - in_use,
                                   .in_use = in_use,
                                   .high_water = in_use,
                                   .wait_ns = wait_ns});
  }
  // For the only pool of the trace, with the meaning of its color if it has one.
  std::string facts() const {
    const std::vector<analysis::PoolUsage> pools = analysis::pool_usage(builder_.trace());
    EXPECT_EQ(pools.size(), 1u);
    std::string text;
    for (const PoolFact& fact : pool_facts(pools.at(0))) {
      text += fact.color == Color::kWaiting   ? "waiting: "
              : fact.color == Color::kWarning ? "warning: "
                                              : "";
      text += fact.text + "\n";
    }
    return text;
  }

  test::TraceBuilder builder_;
  const Id pool_ = builder_.add(trace::Pool{.process_id = 0,
                                            .kind = trace::kEventPool,
                                            .name_id = builder_.intern("events"),
                                            .capacity = 4});
};

TEST_F(PoolFacts, ReportHowOftenAndHowLongTheProgramWaitedForAFreeOne) {
  sample(1'000, 4, 0);
  sample(800'000, 3, 0);
  sample(800'000, 4, 700'000);
  sample(900'000, 4, 100'000);
  sample(1'300'000, 4, 400'000);
  sample(2'000'000, 1, 0);
  EXPECT_EQ(facts(),
            "at most 4 of 4 in use, acquired 5 times\n"
            "waiting: 3 waits for a free one, 1.20\u00a0ms\n"
            "warning: 1 not returned\n");
}

TEST_F(PoolFacts, ReportThatNothingWaited) {
  sample(1'000, 1, 0);
  sample(2'000, 0, 0);
  EXPECT_EQ(facts(),
            "at most 1 of 4 in use, acquired 1 time\n"
            "no waits for a free one\n"
            "all returned\n");
}

TEST(PoolFactsOfCalls, DoNotReportWaitsThatAreNotCounted) {
  test::TraceBuilder builder;
  builder.add(trace::Allocation{.process_id = 0,
                                .kind = trace::kStreamOrderedAllocation,
                                .bytes = 2048,
                                .allocated_ns = 10,
                                .freed_ns = 20});
  const std::vector<analysis::PoolUsage> pools = analysis::pool_usage(builder.trace());
  ASSERT_EQ(pools.size(), 1u);
  const std::vector<PoolFact> facts = pool_facts(pools[0]);
  ASSERT_EQ(facts.size(), 2u);
  EXPECT_EQ(facts[1].text, "all returned");
}

}  // namespace
}  // namespace streamscope::viewer
