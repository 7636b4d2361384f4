// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/delay/contention.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

#include "memory_trace.h"

namespace streamscope::analysis {
namespace {

using testing::ElementsAre;

Trace with_starts(const std::vector<Ns>& starts) {
  Trace result;
  for (Ns start : starts)
    append(result, trace::Op{.kind = trace::kKernel, .start_ns = start, .end_ns = start});
  return result;
}

std::vector<Id> starts_by_comparing(const Trace& trace) {
  std::vector<Id> result(trace.op.size());
  for (Id op = 0; op < result.size(); ++op) result[op] = op;
  std::stable_sort(result.begin(), result.end(),
                   [&](Id a, Id b) { return trace.op.start_ns[a] < trace.op.start_ns[b]; });
  return result;
}

TEST(OpsByStart, OmitsOpsWithoutTimes) {
  Trace trace = with_starts({30, 10, 20});
  append(trace, trace::Op{.kind = trace::kKernel, .start_ns = 5});
  append(trace, trace::Op{.kind = trace::kKernel, .start_ns = 15, .end_ns = 1});
  EXPECT_THAT(ops_by_start(trace), ElementsAre(1, 2, 0));
  EXPECT_TRUE(ops_by_start(Trace()).empty());
}

TEST(OpsByStart, EqualStartsKeepTheOrderOfIds) {
  EXPECT_THAT(ops_by_start(with_starts({7, 7, 3, 7, 3})), ElementsAre(2, 4, 0, 1, 3));
}

TEST(OpsByStart, SortsSpreadAndCrowdedStarts) {
  std::mt19937_64 random(5);
  for (int bits : {1, 4, 20, 40, 62}) {
    std::vector<Ns> starts(3000);
    for (Ns& start : starts) start = static_cast<Ns>(random() >> (64 - bits));
    // Far from the rest, which are all in one interval of time.
    if (bits == 20) starts.push_back(std::numeric_limits<Ns>::max());
    if (bits == 40) starts.push_back(std::numeric_limits<Ns>::min() + 1);
    const Trace trace = with_starts(starts);
    EXPECT_EQ(ops_by_start(trace), starts_by_comparing(trace)) << bits;
  }
}

}  // namespace
}  // namespace streamscope::analysis
