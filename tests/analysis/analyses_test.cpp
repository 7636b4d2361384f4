// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/analyses.h"

#include <gtest/gtest.h>

#include <random>
#include <thread>

#include "analysis/counts.h"
#include "analysis/delay/shared_capacity.h"
#include "analysis/iterations/iteration_model.h"
#include "bench/big_trace.h"
#include "support/trace_builder.h"

namespace streamscope::analysis {
namespace {

TEST(Analyses, AreComputedOnceForAllThreads) {
  const Trace trace = bench::big_trace(5'000, 1'000, 8);
  Analyses analyses(trace);
  std::vector<const void*> found(4);
  std::vector<size_t> steps(4);
  {
    std::vector<std::jthread> threads;
    for (size_t i = 0; i < found.size(); ++i) {
      threads.emplace_back([&, i] {
        if (i % 2 == 0) analyses.replay();
        steps[i] = analyses.path().size();
        found[i] = &analyses.waits();
      });
    }
  }
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i], &analyses.waits());
    EXPECT_EQ(steps[i], analyses.path().size());
  }
  Analyses alone(trace);
  EXPECT_EQ(alone.path().size(), analyses.path().size());
  EXPECT_EQ(alone.waits().size(), analyses.waits().size());
}

TEST(Analyses, OfIterationsAndOfWaitsMayRunAtTheSameTime) {
  test::TraceBuilder builder;
  constexpr Ns kStep = 1'000'000;
  for (Ns step = 0; step < 200; ++step) {
    for (Ns op = 0; op < 10; ++op) {
      const Ns call = step * kStep + op * 20'000;
      builder.at(call).stream("main").kernel("gemm", call + 6'000, call + 9'000);
    }
    builder.range("step", step * kStep, step * kStep + 900'000);
  }
  const Trace trace = builder.trace();
  Analyses analyses(trace);
  {
    // Explains gaps all the time.
    const std::jthread other([&](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        for (Id op = 0; op < trace.op.size(); ++op) {
          EXPECT_NE(analyses.gap_cause(op), WaitCause::kHostFunction);
        }
      }
    });
    EXPECT_TRUE(analyses.iteration_model().found());
  }
  Analyses alone(trace);
  EXPECT_EQ(analyses.waits().size(), alone.waits().size());
  EXPECT_EQ(analyses.iteration_model().shares().total, alone.iteration_model().shares().total);
}

TEST(StoredCounts, AreThoseOfTheTrace) {
  test::TraceBuilder builder;
  builder.stream("copies").memcpy(test::kHtoD, 100, 200).record("loaded");
  builder.stream("math").wait("loaded").kernel("gemm", 200, 350).query();
  builder.synchronize_device(40, 360);
  Trace trace = builder.trace();
  EXPECT_FALSE(stored_counts(trace)) << "none are stored yet";
  trace.meta[kCountsKey] = counts_to_store(trace);
  const auto stored = stored_counts(trace);
  ASSERT_TRUE(stored);
  EXPECT_EQ(stored->end_ns, trace.end_ns());
  const Counts counts = count_rows(trace);
  EXPECT_EQ(stored->counts, counts);
  EXPECT_EQ(counts.kernel, 1u);
  EXPECT_EQ(counts.event_edge, 1u);

  builder.stream("math").kernel("gemm", 400, 500);
  Trace grown = builder.trace();
  grown.meta[kCountsKey] = trace.meta[kCountsKey];
  EXPECT_FALSE(stored_counts(grown)) << "they are of fewer rows";
  for (const char* text :
       {"", "nonsense", "op_rows=", "op_rows=2 =", "kernel=18446744073709551616"}) {
    trace.meta[kCountsKey] = text;
    EXPECT_FALSE(stored_counts(trace)) << text;
  }
}

// By the definition: instant by instant, over all users.
Ns room_by_definition(const std::vector<CapacityUser>& users, Ns at, double share, Ns priority) {
  for (Ns now = at;;) {
    double used = 0;
    Ns first_end = std::numeric_limits<Ns>::max();
    for (const CapacityUser& user : users) {
      if (user.start > now || user.end <= now) continue;
      if (user.start > at && user.priority > priority) continue;
      used += user.share;
      first_end = std::min(first_end, user.end);
    }
    if (used == 0 || used + share <= 1 + 1e-6) return now;
    now = first_end;
  }
}

// Of many users only those that end last count.
void keep_last(std::vector<CapacityUser>& users, size_t most) {
  std::ranges::stable_sort(users, {}, &CapacityUser::end);
  if (users.size() > most) users.erase(users.begin());
}

TEST(SharedCapacity, IsGrantedOnceTheLastUsersLeaveEnough) {
  std::mt19937_64 random(5);
  const auto below = [&](Ns limit) {
    return static_cast<Ns>(random() % static_cast<uint64_t>(limit));
  };
  SharedCapacity room;
  std::vector<CapacityUser> users;
  int waited = 0;
  for (int i = 0; i < 20'000; ++i) {
    const Ns at = 100 * i + below(3'000), priority = below(3) - 1;
    const double share = static_cast<double>(1 + below(10)) / 10;
    const Ns found = room.room(at, share, priority);
    ASSERT_EQ(found, room_by_definition(users, at, share, priority)) << i;
    waited += found > at;
    // Sometimes later than there is capacity, so that others start in the meantime.
    const Ns start = found + (i % 3 == 0 ? below(1'000) : 0);
    const CapacityUser user{start, start + 1 + below(500), priority, start, share};
    room.use(user);
    users.push_back(user);
    keep_last(users, 64);
  }
  EXPECT_GT(waited, 5'000);
}

TEST(SharedCapacity, IsGrantedAfterThoseThatBeganBefore) {
  std::mt19937_64 random(7);
  SharedCapacity engine;
  std::vector<CapacityUser> users;
  for (Ns i = 0; i < 5'000; ++i) {
    const Ns at = 100 * i + static_cast<Ns>(random() % 3'000),
             started = static_cast<Ns>(random() % 500'000);
    Ns wanted = at;
    for (const CapacityUser& user : users) {
      if (user.started < started) wanted = std::max(wanted, user.end);
    }
    ASSERT_EQ(engine.turn(at, 1, started), wanted) << i;
    const CapacityUser user{wanted, wanted + static_cast<Ns>(random() % 500), 0, started, 1};
    engine.use(user);
    users.push_back(user);
    keep_last(users, 64);
  }
}

TEST(SharedCapacity, IgnoresUsersThatNeedNone) {
  SharedCapacity room;
  room.use({0, 1'000, 0, 0, 1});
  for (Ns at = 0; at < 100; ++at) room.use({at, at + 500, 0, at, 0});
  EXPECT_EQ(room.room(100, 0.5, 0), 1'000);
}

}  // namespace
}  // namespace streamscope::analysis
