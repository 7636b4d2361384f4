// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/delay/waits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <random>

#include "analysis/analyses.h"
#include "analysis/usage/host_syncs.h"
#include "memory_trace.h"
#include "support/units.h"

namespace streamscope::analysis {
namespace {

using test::kUs;

std::vector<WaitPart> all_waits(const Trace& trace) { return Analyses(trace).waits(); }

std::map<WaitCause, Ns> parts_of(const Trace& trace, Id op) {
  std::map<WaitCause, Ns> result;
  for (const WaitPart& part : all_waits(trace)) {
    if (part.op == op) result[part.cause] += part.duration_ns;
  }
  return result;
}

TEST(Waits, ALateEventIsNamedWithTheOpBeforeItsRecord) {
  MemoryTrace t;
  const Id a = t.add_stream(), b = t.add_stream();
  t.op(5, b, 20, 100 * kUs);
  const Id copy = t.op(10, a, 30, 500 * kUs);
  const Id wait = t.wait(30, b, t.record(20, a));
  const Id kernel = t.op(40, b, 502 * kUs, 600 * kUs);
  const Edges edges(t.trace);
  const auto parts = all_waits(t.trace);
  const auto part =
      std::find_if(parts.begin(), parts.end(), [&](const WaitPart& p) { return p.op == kernel; });
  ASSERT_NE(part, parts.end());
  EXPECT_EQ(part->cause, WaitCause::kEvent);
  EXPECT_EQ(part->duration_ns, 400 * kUs);
  EXPECT_THAT(parts_of(t.trace, kernel),
              testing::ElementsAre(std::pair(WaitCause::kEvent, 400 * kUs),
                                   std::pair(WaitCause::kStart, 2 * kUs)));
  EXPECT_EQ(part->because_op(), copy);
  EXPECT_EQ(edges[part->edge].event_wait_id, wait);
}

TEST(Waits, AnEventCompleteBeforeThePredecessorEndedIsNotACause) {
  MemoryTrace t;
  const Id a = t.add_stream(), b = t.add_stream();
  t.op(10, a, 30, 50 * kUs);
  t.op(12, b, 30, 100 * kUs);
  t.wait(30, b, t.record(20, a));
  const Id kernel = t.op(40, b, 102 * kUs, 110 * kUs);
  EXPECT_THAT(parts_of(t.trace, kernel),
              testing::ElementsAre(std::pair(WaitCause::kStart, 2 * kUs)));
}

TEST(Waits, ALateLaunchIsSplitIntoHostSyncAndOtherHostWork) {
  MemoryTrace t;
  const Id a = t.add_stream();
  t.op(10, a, 20, 100 * kUs);
  const Id sync = t.sync(trace::kStreamSynchronize, 11, 130 * kUs, a);
  const Id kernel = t.op(200 * kUs, a, 203 * kUs, 300 * kUs);
  EXPECT_THAT(parts_of(t.trace, kernel),
              testing::UnorderedElementsAre(std::pair(WaitCause::kHostSync, 30 * kUs),
                                            std::pair(WaitCause::kHost, 70 * kUs - 1),
                                            std::pair(WaitCause::kLaunch, 1),
                                            std::pair(WaitCause::kStart, 3 * kUs)));
  for (const WaitPart& part : all_waits(t.trace)) {
    if (part.cause == WaitCause::kHostSync) {
      EXPECT_EQ(part.host_sync(), sync);
    }
  }
}

TEST(Waits, ASyncOfAnotherThreadIsNotBlamed) {
  MemoryTrace t;
  const Id a = t.add_stream();
  t.op(10, a, 20, 100 * kUs);
  t.sync(trace::kStreamSynchronize, 11, 130 * kUs, a, kNoId, t.add_thread());
  const Id kernel = t.op(200 * kUs, a, 203 * kUs, 300 * kUs);
  EXPECT_THAT(parts_of(t.trace, kernel),
              testing::UnorderedElementsAre(std::pair(WaitCause::kHost, 100 * kUs - 1),
                                            std::pair(WaitCause::kLaunch, 1),
                                            std::pair(WaitCause::kStart, 3 * kUs)));
}

// Both waits are in the stream before the gap begins: the first is at the head until its event
// completes, then the second. That the host issued the kernel only later made no difference.
TEST(Waits, WaitsAreChargedInStreamOrder) {
  MemoryTrace t;
  const Id a = t.add_stream(), b = t.add_stream(), c = t.add_stream();
  t.op(5, c, 20, 100 * kUs);
  const Id first = t.op(10, a, 30, 400 * kUs), second = t.op(11, b, 30, 500 * kUs);
  t.wait(30, c, t.record(20, a));
  t.wait(31, c, t.record(21, b));
  const Id kernel = t.op(200 * kUs, c, 500 * kUs, 600 * kUs);
  std::map<Id, Ns> because;
  for (const WaitPart& part : all_waits(t.trace)) {
    if (part.op == kernel) because[part.because_op()] += part.duration_ns;
  }
  EXPECT_THAT(because,
              testing::ElementsAre(std::pair(first, 300 * kUs), std::pair(second, 100 * kUs)));
}

// The shape of a torch.compile trace: the work had ended long before the host called the wait.
TEST(Waits, AnEventIsNotChargedBeforeItsWaitWasCalled) {
  MemoryTrace t;
  const Id a = t.add_stream(), b = t.add_stream();
  t.op(10, a, 30, 200 * kUs);
  t.op(11, b, 30, 100 * kUs);
  t.record(20, a);
  t.wait(1500 * kUs, b, 0);
  const Id kernel = t.op(1600 * kUs, b, 1605 * kUs, 1700 * kUs);
  EXPECT_THAT(parts_of(t.trace, kernel),
              testing::UnorderedElementsAre(
                  std::pair(WaitCause::kHost, 1500 * kUs - 2), std::pair(WaitCause::kHostCall, 1),
                  std::pair(WaitCause::kLaunch, 1), std::pair(WaitCause::kStart, 5 * kUs)));
}

TEST(Waits, AnEventIsChargedFromTheCallOfItsWaitToTheEndOfTheWork) {
  MemoryTrace t;
  const Id a = t.add_stream(), b = t.add_stream();
  t.op(10, a, 30, 900 * kUs);
  t.op(11, b, 30, 100 * kUs);
  t.record(20, a);
  t.wait(700 * kUs, b, 0);
  const Id kernel = t.op(950 * kUs, b, 955 * kUs, 1000 * kUs);
  EXPECT_THAT(parts_of(t.trace, kernel),
              testing::UnorderedElementsAre(
                  // Until the wait was called, and from the end of the work to the launch.
                  std::pair(WaitCause::kHost, 600 * kUs - 1 + 50 * kUs - 1),
                  std::pair(WaitCause::kEvent, 200 * kUs + 1), std::pair(WaitCause::kLaunch, 1),
                  std::pair(WaitCause::kStart, 5 * kUs)));
}

TEST(Waits, TheLegacyStreamIsNotChargedBeforeTheOpIsIssued) {
  MemoryTrace t;
  const Id legacy = t.add_stream(trace::kLegacyStream), b = t.add_stream(trace::kBlockingStream);
  t.op(5, b, 20, 100 * kUs);
  t.op(10, legacy, 100 * kUs, 600 * kUs);
  const Id kernel = t.op(400 * kUs, b, 602 * kUs, 700 * kUs);
  EXPECT_THAT(parts_of(t.trace, kernel),
              testing::UnorderedElementsAre(std::pair(WaitCause::kHost, 300 * kUs - 1),
                                            std::pair(WaitCause::kLegacyStream, 200 * kUs + 1),
                                            std::pair(WaitCause::kStart, 2 * kUs)));
}

TEST(Waits, AnEventBehindAMemoryWriteWithoutTimesIsNamed) {
  MemoryTrace t;
  const Id a = t.add_stream(), b = t.add_stream();
  t.op(5, b, 20, 100 * kUs);
  const Id producer = t.op(10, a, 30, 500 * kUs);
  t.record(20, a);
  t.wait(30, b, 0);
  t.op(31, b, kUnknownNs, kUnknownNs, 0, trace::kMemoryWrite);
  const Id kernel = t.op(40, b, 504 * kUs, 600 * kUs);
  EXPECT_THAT(parts_of(t.trace, kernel),
              testing::ElementsAre(std::pair(WaitCause::kEvent, 400 * kUs),
                                   std::pair(WaitCause::kStart, 4 * kUs)));
  for (const WaitPart& part : all_waits(t.trace)) {
    if (part.op == kernel && part.cause == WaitCause::kEvent) {
      EXPECT_EQ(part.because_op(), producer);
    }
  }
}

TEST(Waits, WhatExceedsTheStartLatencyIsUnknownWhileTheDeviceRunsKernels) {
  for (const bool busy : {true, false}) {
    MemoryTrace t;
    const Id a = t.add_stream(), b = t.add_stream();
    t.op(10, a, 20, 100 * kUs);
    const Id kernel = t.op(11, a, 150 * kUs, 160 * kUs);
    if (busy) {
      t.op(12, b, 90 * kUs, 155 * kUs);
      EXPECT_THAT(parts_of(t.trace, kernel),
                  testing::ElementsAre(std::pair(WaitCause::kStart, kStartLatencyNs),
                                       std::pair(WaitCause::kUnknown, 50 * kUs - kStartLatencyNs)));
    } else {  // it has to wake up; a copy does not keep it awake
      t.op(12, b, 90 * kUs, 155 * kUs, 0, trace::kMemcpy);
      EXPECT_THAT(parts_of(t.trace, kernel),
                  testing::ElementsAre(std::pair(WaitCause::kStart, 50 * kUs)));
    }
  }
}

TEST(Waits, AHostFunctionOrMemoryWaitWithoutTimesGetsTheUnexplainedTime) {
  for (auto [kind, cause] : {std::pair(trace::kHostFunction, WaitCause::kHostFunction),
                             std::pair(trace::kMemoryWait, WaitCause::kMemoryWait)}) {
    MemoryTrace t;
    const Id a = t.add_stream();
    t.op(10, a, 20, 100 * kUs);
    const Id blocker = t.op(11, a, kUnknownNs, kUnknownNs, 0, kind);
    const Id kernel = t.op(120 * kUs, a, 150 * kUs, 160 * kUs),
             next = t.op(120 * kUs + 1, a, 165 * kUs, 170 * kUs);
    EXPECT_THAT(parts_of(t.trace, kernel),
                testing::UnorderedElementsAre(std::pair(WaitCause::kHost, 20 * kUs - 1),
                                              std::pair(WaitCause::kLaunch, 1),
                                              std::pair(cause, 30 * kUs)));
    EXPECT_EQ(parts_of(t.trace, next).count(cause), 0u);
    for (const WaitPart& part : all_waits(t.trace)) {
      if (part.cause == cause) {
        EXPECT_EQ(part.because_op(), blocker);
      }
    }
  }
}

TEST(Waits, TheLegacyStreamIsNamed) {
  MemoryTrace t;
  const Id legacy = t.add_stream(trace::kLegacyStream), b = t.add_stream(trace::kBlockingStream);
  const Id barrier = t.op(10, legacy, 20, 300 * kUs);
  const Id kernel = t.op(20, b, 301 * kUs, 400 * kUs);
  for (const WaitPart& part : all_waits(t.trace)) {
    if (part.op == kernel && part.cause == WaitCause::kLegacyStream) {
      EXPECT_EQ(part.because_op(), barrier);
      EXPECT_EQ(part.duration_ns, 300 * kUs - 19);  // from the entry of the call
      return;
    }
  }
  FAIL() << "no legacy-stream part";
}

TEST(Waits, PartsSumToTheGapInRandomTraces) {
  size_t gaps = 0;
  for (uint32_t seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    MemoryTrace t;
    t.add_thread();
    for (int i = 0; i < 4; ++i) {
      t.add_stream(i == 0   ? trace::kLegacyStream
                   : i == 1 ? trace::kBlockingStream
                            : trace::kNonBlockingStream);
    }
    std::vector<Ns> busy_until(4, trace::kUnknownNs);
    std::map<Id, Ns> gap;
    Id record = kNoId;
    Ns now = 10;
    for (int i = 0; i < 120; ++i) {
      now += 1 + random() % (20 * kUs);
      const Id stream = random() % 4, thread = random() % 2;
      switch (random() % 6) {
        case 0:
          record = t.record(now, stream, thread);
          break;
        case 1:
          if (record != kNoId) t.wait(now, stream, record, trace::kBindingExact, thread);
          break;
        case 2:
          t.sync(trace::kStreamSynchronize, now, now + 30 * kUs, stream, kNoId, thread);
          break;
        default: {
          const Ns start = std::max(now - 1, busy_until[stream]) + random() % (30 * kUs);
          const Ns end = start + random() % (40 * kUs);
          const Id op = t.op(now, stream, start, end, thread);
          gap[op] =
              start - (busy_until[stream] == trace::kUnknownNs ? now - 1 : busy_until[stream]);
          busy_until[stream] = end;
        }
      }
    }
    std::map<Id, Ns> sum;
    for (const WaitPart& part : all_waits(t.trace)) {
      EXPECT_GT(part.duration_ns, 0);
      sum[part.op] += part.duration_ns;
    }
    for (const auto& [op, duration] : gap) {
      ASSERT_EQ(sum[op], duration) << "seed " << seed << ", op " << op;
      gaps += duration > 0;
    }
  }
  EXPECT_GT(gaps, 10'000u);
}

// The pieces that threads explain follow each other as if one had explained all.
TEST(Waits, OfManyOpsAreInTheirOrder) {
  MemoryTrace t;
  std::mt19937 random(7);
  std::array<Id, 5> streams;
  for (Id& stream : streams) stream = t.add_stream();
  std::array<Ns, 5> free{};
  Ns now = 0;
  for (int i = 0; i < 40'000; ++i) {
    const size_t stream = random() % streams.size();
    now += static_cast<Ns>(random() % 5'000);
    const Ns start = std::max(free[stream], now + 2'000) + static_cast<Ns>(random() % 20'000);
    free[stream] = start + 10'000;
    t.op(now, streams[stream], start, free[stream]);
  }
  Analyses analyses(t.trace);
  WaitExplainer explainer(analyses.order(), analyses.stream_ops(), analyses.edges(),
                          analyses.contention());
  std::vector<WaitPart> one_by_one;
  for (Id op = 0; op < t.trace.op.size(); ++op) explainer.explain(op, one_by_one);
  const std::vector<WaitPart>& parts = analyses.waits();
  ASSERT_EQ(parts.size(), one_by_one.size());
  ASSERT_GT(parts.size(), t.trace.op.size());
  for (size_t i = 0; i < parts.size(); ++i) {
    ASSERT_EQ(parts[i].op, one_by_one[i].op) << i;
    ASSERT_EQ(parts[i].cause, one_by_one[i].cause) << i;
    ASSERT_EQ(parts[i].duration_ns, one_by_one[i].duration_ns) << i;
    ASSERT_EQ(parts[i].because, one_by_one[i].because) << i;
  }
}

TEST(Waits, UntimedTracesHaveNone) {
  MemoryTrace t;
  const Id a = t.add_stream();
  t.op(10, a);
  t.op(20, a);
  EXPECT_TRUE(all_waits(t.trace).empty());
  EXPECT_TRUE(all_waits(Trace()).empty());
}

TEST(HostSyncs, AreGroupedByPlaceAndSortedByCost) {
  MemoryTrace t;
  const Id a = t.add_stream();
  t.sync(trace::kStreamSynchronize, 10, 20, a);
  t.sync(trace::kDeviceSynchronize, 30, 130);
  t.sync(trace::kStreamSynchronize, 140, 170, a);
  t.sync(trace::kStreamQuery, 180, 999, a);
  const Id open = t.sync(trace::kDeviceSynchronize, 1000, 0);
  t.trace.host_sync.end_ns[open] = kUnknownNs;
  const auto groups = host_syncs_by_cost(t.trace);
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].kind, trace::kDeviceSynchronize);
  EXPECT_EQ(groups[0].count, 2u);
  EXPECT_EQ(groups[0].open_count, 1u);
  EXPECT_EQ(groups[0].times.total_ns(), 100);
  EXPECT_EQ(groups[1].times.total_ns(), 40);
  EXPECT_EQ(groups[1].longest_ns, 30);
}

}  // namespace
}  // namespace streamscope::analysis
