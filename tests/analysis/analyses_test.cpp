// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/analyses.h"

#include <gtest/gtest.h>

#include <random>
#include <thread>

#include "analysis/counts.h"
#include "analysis/device_room.h"
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

// As DeviceRoom, but looks at every user.
Ns first_room(const std::vector<std::array<Ns, 2>>& users, double part, Ns at) {
  for (;;) {
    int running = 0;
    Ns first_end = std::numeric_limits<Ns>::max();
    for (const auto& [start, end] : users) {
      if (end <= at || start > at) continue;
      ++running;
      first_end = std::min(first_end, end);
    }
    if (running == 0 || (running + 1) * part <= 1 + 1e-6) return at;
    at = first_end;
  }
}

TEST(DeviceRoom, IsWhereTheLastUsersLeaveSome) {
  std::mt19937_64 random(5);
  DeviceRoom room;
  std::vector<std::array<Ns, 2>> users;
  const double part = 0.25;
  for (int i = 0; i < 5'000; ++i) {
    const Ns at = 100 * i + static_cast<Ns>(random() % 3'000);
    const size_t oldest = users.size() - std::min<size_t>(users.size(), 64);
    const std::vector<std::array<Ns, 2>> last(users.begin() + static_cast<ptrdiff_t>(oldest),
                                              users.end());
    const Twin found = room.room({at, at}, {part, part}, {0, 0});
    ASSERT_EQ(found.was, first_room(last, part, at)) << i;
    ASSERT_EQ(found.now, found.was);
    const Ns end = found.was + static_cast<Ns>(random() % 500);
    room.use(found, {end, end}, {part, part}, {0, 0});
    users.push_back({found.was, end});
  }
}

TEST(DeviceRoom, ForgetsNobodyForUsersThatTakeNoPart) {
  DeviceRoom room;
  room.use({0, 0}, {1'000, 1'000}, {1, 1}, {0, 0});
  for (Ns at = 0; at < 100; ++at) room.use({at, at}, {at + 500, at + 500}, {0, 0}, {0, 0});
  EXPECT_EQ(room.room({100, 100}, {0.5, 0.5}, {0, 0}).was, 1'000);
}

}  // namespace
}  // namespace streamscope::analysis
