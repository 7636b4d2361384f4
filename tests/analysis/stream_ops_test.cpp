// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/stream_ops.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <random>

#include "analysis/delay/contention.h"
#include "analysis/delay/overlap.h"
#include "memory_trace.h"

namespace streamscope::analysis {
namespace {

using testing::ElementsAre;
using testing::Pair;

TEST(StreamOps, OrdersTheOpsOfAStreamByStart) {
  MemoryTrace t;
  const Id a = t.add_stream(), b = t.add_stream();
  const Id second = t.op(20, a, 200, 300), first = t.op(10, a, 100, 150),
           other = t.op(15, b, 120, 130);
  const StreamOps stream_ops(t.trace);
  EXPECT_THAT(stream_ops.ops(a), ElementsAre(first, second));
  EXPECT_THAT(stream_ops.ops(b), ElementsAre(other));
  EXPECT_EQ(stream_ops.predecessor(second), first);
  EXPECT_EQ(stream_ops.predecessor(first), kNoId);
}

TEST(StreamOps, PutsAnUntimedOpAtItsCall) {
  MemoryTrace t;
  const Id a = t.add_stream();
  const Id first = t.op(10, a, 100, 150), untimed = t.op(20, a), last = t.op(30, a, 160, 170);
  const StreamOps stream_ops(t.trace);
  EXPECT_THAT(stream_ops.ops(a), ElementsAre(first, untimed, last));
  EXPECT_EQ(stream_ops.activity(a).untimed_count, 1u);
}

TEST(StreamOps, WithoutAnyTimesTheCallsGiveTheOrder) {
  MemoryTrace t;
  const Id a = t.add_stream();
  const Id second = t.op(20, a), first = t.op(10, a);
  const StreamOps stream_ops(t.trace);
  EXPECT_THAT(stream_ops.ops(a), ElementsAre(first, second));
  EXPECT_EQ(stream_ops.window_ns(), 0);
  EXPECT_EQ(stream_ops.activity(a).idle_ns(), 0);
}

TEST(StreamOps, VisitsEveryStreamInItsOrder) {
  MemoryTrace t;
  const Id a = t.add_stream(), b = t.add_stream();
  const Id a1 = t.op(10, a, 100, 150), b2 = t.op(25, b, 210, 220), b1 = t.op(20, b, 200, 205),
           a2 = t.op(30, a, 300, 310);
  append(t.trace, trace::Op{.kind = 0, .start_ns = 10, .end_ns = 20});  // on no known stream
  std::vector<std::pair<Id, Id>> visited;
  StreamOps(t.trace).each_in_order(t.trace,
                                   [&](Id stream, Id op) { visited.emplace_back(stream, op); });
  EXPECT_THAT(visited, ElementsAre(Pair(a, a1), Pair(a, a2), Pair(b, b1), Pair(b, b2)));
}

TEST(StreamOps, CountsOverlappingOpsOfOneStreamOnce) {
  MemoryTrace t;
  const Id a = t.add_stream();
  t.op(1, a, 100, 200);
  t.op(2, a, 150, 180, 0, trace::kMemset);
  const Id copy = t.op(3, a, 190, 250, 0, trace::kMemcpy);
  t.trace.op.bytes[copy] = 4096;
  t.op(4, a, 300, 310);
  const StreamActivity activity = StreamOps(t.trace).activity(a);
  EXPECT_EQ(activity.busy_ns, 160);
  EXPECT_EQ(activity.idle_ns(), 50);
  EXPECT_EQ(activity.kernel_count, 2u);
  EXPECT_EQ(activity.copy_count, 1u);
  EXPECT_EQ(activity.memset_count, 1u);
  EXPECT_EQ(activity.copied_bytes, 4096);
}

TEST(StreamOps, AcceptsAnEmptyTraceAndOddOps) {
  EXPECT_EQ(StreamOps(Trace()).stream_count(), 0u);
  MemoryTrace t;
  const Id a = t.add_stream();
  append(t.trace, trace::Op{});
  append(t.trace, trace::Op{.kind = 99, .stream_id = a, .start_ns = 10, .end_ns = 5});
  append(t.trace, trace::Op{.kind = 0, .stream_id = 1000, .start_ns = 10, .end_ns = 20});
  const StreamOps stream_ops(t.trace);
  EXPECT_EQ(stream_ops.activity(a).op_count, 1u);
  EXPECT_EQ(stream_ops.activity(a).busy_ns, 0);
}

std::vector<Ns> concurrency_ns(const DeviceOverlap& device) {
  std::vector<Ns> times;
  for (const IterationSeries& series : device.concurrency) times.push_back(series.total_ns());
  return times;
}

TEST(Overlap, MeasuresCopiesBesideKernels) {
  MemoryTrace t;
  const Id a = t.add_stream(), b = t.add_stream();
  t.op(1, a, 100, 200);
  t.op(2, b, 150, 250, 0, trace::kMemcpy);
  t.op(3, b, 250, 260, 0, trace::kMemset);
  t.op(4, a, 300, 310);
  const auto devices = overlap(t.trace, ops_by_start(t.trace));
  ASSERT_EQ(devices.size(), 1u);
  EXPECT_EQ(devices[0].device_id, 0u);
  EXPECT_EQ(devices[0].kernels.total_ns(), 110);
  EXPECT_EQ(devices[0].copies.total_ns(), 110);
  EXPECT_EQ(devices[0].both.total_ns(), 50);
  EXPECT_EQ(devices[0].window_ns(), 210);
  EXPECT_THAT(concurrency_ns(devices[0]), ElementsAre(40, 120, 50));
  EXPECT_EQ(devices[0].idle().total_ns(), 40);
}

TEST(Overlap, KeepsDevicesApart) {
  MemoryTrace t;
  const Id a = t.add_stream(), b = t.add_stream(trace::kNonBlockingStream, t.add_context());
  t.op(1, a, 100, 200);
  t.op(2, b, 100, 200, 0, trace::kMemcpy);
  append(t.trace, trace::Op{.kind = 0, .start_ns = 10, .end_ns = 20});  // on no known stream
  const auto devices = overlap(t.trace, ops_by_start(t.trace));
  ASSERT_EQ(devices.size(), 3u);
  EXPECT_EQ(devices[0].both.total_ns(), 0);
  EXPECT_EQ(devices[1].copies.total_ns(), 100);
  EXPECT_EQ(devices[2].device_id, kNoId);
  EXPECT_TRUE(overlap(Trace(), {}).empty());
}

TEST(Overlap, IsThatOfEachInstant) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 50; ++round) {
    MemoryTrace t;
    const std::array<Id, 3> streams{t.add_stream(), t.add_stream(), t.add_stream()};
    constexpr Ns kLast = 400;
    for (Id op = 1; op <= 30; ++op) {
      const Ns start = static_cast<Ns>(random() % 300), length = static_cast<Ns>(random() % 60);
      constexpr std::array kKinds{trace::kKernel, trace::kMemcpy, trace::kMemset,
                                  trace::kGraphLaunch};
      t.op(op, streams[random() % 3], start, start + length, 0, kKinds[random() % 4]);
    }
    struct {
      Ns kernel_ns = 0, copy_ns = 0, both_ns = 0;
      std::vector<Ns> concurrency_ns;
    } wanted;
    for (Ns at = 0; at < kLast; ++at) {
      size_t kernels = 0, copies = 0, ops = 0;
      for (Id op = 0; op < t.trace.op.size(); ++op) {
        if (t.trace.op.start_ns[op] > at || t.trace.op.end_ns[op] <= at) continue;
        const trace::Small kind = t.trace.op.kind[op];
        ++ops;
        kernels += kind == trace::kKernel;
        copies += kind == trace::kMemcpy || kind == trace::kMemset;
      }
      wanted.kernel_ns += kernels > 0;
      wanted.copy_ns += copies > 0;
      wanted.both_ns += kernels > 0 && copies > 0;
      wanted.concurrency_ns.resize(std::max(wanted.concurrency_ns.size(), ops + 1));
      ++wanted.concurrency_ns[ops];
    }
    const auto devices = overlap(t.trace, ops_by_start(t.trace));
    ASSERT_EQ(devices.size(), 1u);
    EXPECT_EQ(devices[0].kernels.total_ns(), wanted.kernel_ns);
    EXPECT_EQ(devices[0].copies.total_ns(), wanted.copy_ns);
    EXPECT_EQ(devices[0].both.total_ns(), wanted.both_ns);
    wanted.concurrency_ns[0] -= kLast - devices[0].window_ns();
    EXPECT_EQ(concurrency_ns(devices[0]), wanted.concurrency_ns) << "round " << round;
  }
}

}  // namespace
}  // namespace streamscope::analysis
