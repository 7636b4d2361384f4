// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Programs with one cause of delay each: most of the delay must be attributed to that cause. And
// the recordings in traces/: the parts of every gap sum to it.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "analysis/analyses.h"
#include "analysis/derive.h"
#include "support/trace_builder.h"
#include "support/units.h"
#include "vocabulary/call_kind.h"

namespace streamscope::analysis {
namespace {

using test::kUs;
using test::StreamBuilder;
using test::TraceBuilder;

// The share of all waiting in a trace attributed to a cause; fails if it is less than 80 %.
void expect_mostly(WaitCause cause, const Trace& trace) {
  Analyses analyses(trace);
  std::map<WaitCause, Ns> by_cause;
  Ns total = 0;
  for (const WaitPart& part : analyses.waits()) {
    by_cause[part.cause] += part.duration_ns;
    total += part.duration_ns;
  }
  ASSERT_GT(total, 0);
  EXPECT_GE(static_cast<double>(by_cause[cause]), 0.8 * static_cast<double>(total))
      << to_string(cause) << " has " << by_cause[cause] << " of " << total;
}

TEST(PlantedCause, AHostThatComputesBetweenLaunches) {
  TraceBuilder builder;
  auto a = builder.stream("a");
  for (Ns i = 0; i < 10; ++i)
    a.at(i * 200 * kUs).kernel("k", (i * 200 + 5) * kUs, (i * 200 + 15) * kUs);
  expect_mostly(WaitCause::kHost, builder.trace());
}

TEST(PlantedCause, AHostThatSynchronizesAfterEveryKernel) {
  TraceBuilder builder;
  auto a = builder.stream("a"), b = builder.stream("b");
  for (Ns i = 0; i < 10; ++i) {
    const Ns at = i * 200 * kUs;
    a.at(at).kernel("long", at + 3 * kUs, at + 180 * kUs);
    builder.synchronize_device(at + 4 * kUs, at + 185 * kUs);
    b.at(at + 186 * kUs).kernel("short", at + 189 * kUs, at + 190 * kUs);
  }
  expect_mostly(WaitCause::kHostSync, builder.trace());
}

TEST(PlantedCause, AnEventOfASlowStream) {
  TraceBuilder builder;
  auto slow = builder.stream("slow"), fast = builder.stream("fast");
  for (Ns i = 0; i < 10; ++i) {
    const Ns at = i * 200 * kUs;
    slow.at(i * 4 * kUs).kernel("long", at + 10 * kUs, at + 200 * kUs).record("e");
    fast.wait("e").kernel("short", at + 202 * kUs, at + 205 * kUs);
  }
  expect_mostly(WaitCause::kEvent, builder.trace());
}

TEST(PlantedCause, AnEventOfAStreamWithoutOps) {
  TraceBuilder builder;
  auto slow = builder.stream("slow"), hub = builder.stream("hub"), fast = builder.stream("fast");
  slow.at(0).kernel("long", 10 * kUs, 500 * kUs).record("a");
  hub.wait("a").record("b");
  fast.wait("b").kernel("short", 503 * kUs, 510 * kUs);
  expect_mostly(WaitCause::kEvent, builder.trace());
}

TEST(PlantedCause, WorkOnTheLegacyStreamBetweenBlockingStreams) {
  TraceBuilder builder;
  auto legacy = builder.stream("default", trace::kLegacyStream);
  auto a = builder.stream("a", trace::kBlockingStream),
       b = builder.stream("b", trace::kBlockingStream);
  for (Ns i = 0; i < 10; ++i) {
    const Ns at = i * 300 * kUs;
    a.at(at).kernel("k", at + 5 * kUs, at + 6 * kUs);
    legacy.kernel("barrier", at + 8 * kUs, at + 280 * kUs);
    b.kernel("k", at + 282 * kUs, at + 283 * kUs);
  }
  Trace trace = builder.trace();
  // The host's own time between the rounds is not tested here.
  Analyses analyses(trace);
  Ns legacy_ns = 0, total = 0;
  for (const WaitPart& part : analyses.waits()) {
    if (trace.op.stream_id[part.op] != b.id() || is_host(part.cause)) continue;
    total += part.duration_ns;
    legacy_ns += part.cause == WaitCause::kLegacyStream ? part.duration_ns : 0;
  }
  EXPECT_GE(legacy_ns, 10 * 270 * kUs);
  EXPECT_GE(static_cast<double>(legacy_ns), 0.8 * static_cast<double>(total));
}

TEST(PlantedCause, AMemoryWaitWhoseTimesAreKnown) {
  TraceBuilder builder;
  auto a = builder.stream("a"), b = builder.stream("b");
  a.at(0).memory_wait(0x100, 1, 5 * kUs, 400 * kUs).kernel("held", 402 * kUs, 410 * kUs);
  b.kernel("long", 6 * kUs, 398 * kUs).memory_write(0x100, 1, 399 * kUs, 400 * kUs);
  expect_mostly(WaitCause::kMemoryWait, builder.trace());
}

TEST(PlantedCause, AMemoryWaitWhoseTimesAreUnknown) {
  TraceBuilder builder;
  auto a = builder.stream("a");
  a.at(0).kernel("before", 3 * kUs, 5 * kUs).memory_wait(0x100, 1, kUnknownNs, kUnknownNs);
  a.kernel("held", 402 * kUs, 410 * kUs);
  expect_mostly(WaitCause::kMemoryWait, builder.trace());
}

TEST(PlantedCause, AHostFunctionWhoseTimesAreUnknown) {
  TraceBuilder builder;
  auto a = builder.stream("a");
  a.at(0).kernel("before", 3 * kUs, 5 * kUs).host_function(kUnknownNs, kUnknownNs);
  a.kernel("after", 302 * kUs, 310 * kUs);
  expect_mostly(WaitCause::kHostFunction, builder.trace());
}

TEST(PlantedCause, HostFunctionsOfTwoStreamsOnOneThread) {
  TraceBuilder builder;
  auto a = builder.stream("a"), b = builder.stream("b");
  a.at(0).host_function(5 * kUs, 300 * kUs);
  b.host_function(310 * kUs, 320 * kUs);
  expect_mostly(WaitCause::kHostFunction, builder.trace());
}

TEST(PlantedCause, CopiesOfOneDirectionOnTwoStreams) {
  TraceBuilder builder;
  auto a = builder.stream("a"), b = builder.stream("b");
  a.at(0).memcpy(test::kHtoD, 5 * kUs, 300 * kUs);
  b.memcpy(test::kHtoD, 301 * kUs, 600 * kUs);
  b.memcpy(test::kHtoD, 602 * kUs, 700 * kUs);
  expect_mostly(WaitCause::kCopyEngine, builder.trace());
}

TEST(PlantedCause, CopiesOfTwoDirectionsDoNotShareAnEngine) {
  TraceBuilder builder;
  auto a = builder.stream("a"), b = builder.stream("b");
  a.at(0).memcpy(test::kHtoD, 5 * kUs, 300 * kUs);
  b.memcpy(test::kDtoH, 301 * kUs, 600 * kUs);
  const Trace trace = builder.trace();
  Analyses analyses(trace);
  for (const WaitPart& part : analyses.waits()) EXPECT_NE(part.cause, WaitCause::kCopyEngine);
}

// A kernel with so many blocks of 1024 threads, on a device of 100 multiprocessors.
void shape(TraceBuilder& builder, Id op, trace::Small blocks) {
  trace::LaunchShape row;
  row.grid_x = blocks, row.grid_y = row.grid_z = 1;
  row.block_x = 1024, row.block_y = row.block_z = 1;
  builder.columns().op.launch_shape_id[op] = builder.add(row);
  builder.columns().device.sm_count[0] = 100;
}

TEST(PlantedCause, AKernelThatFillsTheDevice) {
  for (trace::Small blocks : {400, 20}) {  // all of it; a tenth
    TraceBuilder builder;
    auto a = builder.stream("a"), b = builder.stream("b");
    a.at(0).kernel("large", 5 * kUs, 300 * kUs);
    b.kernel("small", 302 * kUs, 310 * kUs);
    shape(builder, 0, blocks);
    shape(builder, 1, 10);
    if (blocks == 400) {
      expect_mostly(WaitCause::kSmFull, builder.trace());
      continue;
    }
    const Trace trace = builder.trace();
    Analyses analyses(trace);
    for (const WaitPart& part : analyses.waits()) EXPECT_NE(part.cause, WaitCause::kSmFull);
  }
}

TEST(PlantedCause, AKernelBehindAnUnrelatedOneInItsHardwareQueue) {
  TraceBuilder builder;
  auto gate = builder.stream("gate"), a = builder.stream("a"), b = builder.stream("b");
  gate.at(0).kernel("gate", 5 * kUs, 300 * kUs).record("e");
  a.wait("e").kernel("blocked", 302 * kUs, 400 * kUs);
  b.kernel("free", 304 * kUs, 310 * kUs);
  Trace& columns = builder.columns();
  columns.op.channel = {1, 2, 2};
  const Trace trace = builder.trace();
  Analyses analyses(trace);
  Ns queue = 0, total = 0;
  for (const WaitPart& part : analyses.waits()) {
    if (part.op != 2) continue;
    total += part.duration_ns;
    if (part.cause != WaitCause::kQueueAliasing) continue;
    queue += part.duration_ns;
    EXPECT_EQ(part.because_op(), 1u);
  }
  EXPECT_GE(static_cast<double>(queue), 0.8 * static_cast<double>(total));
  columns.op.channel = {1, 2, 3};
  const Trace apart = builder.trace();
  Analyses without(apart);
  for (const WaitPart& part : without.waits()) EXPECT_NE(part.cause, WaitCause::kQueueAliasing);
}

TEST(PlantedCause, AThreadThatAllocatesBetweenLaunches) {
  TraceBuilder builder;
  auto a = builder.stream("a");
  for (Ns i = 0; i < 10; ++i) {
    const Ns at = i * 200 * kUs;
    a.at(at).kernel("k", at + 5 * kUs, at + 15 * kUs);
    trace::ApiCall call;
    call.thread_id = 0, call.kind = number_of(CallKind::kMalloc),
    call.name_id = builder.intern("cudaMalloc");
    call.start_ns = at + 20 * kUs, call.end_ns = at + 195 * kUs, call.result = 0;
    builder.add(call);
  }
  expect_mostly(WaitCause::kHostCall, builder.trace());
}

TEST(PlantedCause, AThreadThatLoadsCode) {
  TraceBuilder builder;
  auto a = builder.stream("a");
  a.at(0).kernel("first", 3 * kUs, 5 * kUs);
  a.at(300 * kUs).kernel("second", 303 * kUs, 310 * kUs);
  trace::Overhead row;
  row.process_id = row.thread_id = 0;
  row.name_id = builder.intern("lazy function loading");
  row.start_ns = 10 * kUs, row.end_ns = 295 * kUs;
  builder.add(row);
  expect_mostly(WaitCause::kCodeLoading, builder.trace());
}

TEST(PlantedCause, AProfilerThatDelaysTheHost) {
  TraceBuilder builder;
  auto a = builder.stream("a");
  a.at(0).kernel("first", 3 * kUs, 5 * kUs);
  a.at(300 * kUs).kernel("second", 303 * kUs, 310 * kUs);
  trace::Overhead row;
  row.process_id = row.thread_id = 0;
  row.name_id = builder.intern("CUPTI buffer flush");
  row.start_ns = 10 * kUs, row.end_ns = 295 * kUs;
  builder.add(row);
  expect_mostly(WaitCause::kProfiler, builder.trace());
}

TEST(PlantedCause, ABranchOfAGraphThatWaitsForAnother) {
  TraceBuilder builder;
  auto a = builder.stream("a"), inner = builder.stream("inner", trace::kGraphStream);
  a.at(0).kernel("long", 3 * kUs, 300 * kUs).kernel("join", 302 * kUs, 310 * kUs);
  inner.kernel("branch", 301 * kUs, 305 * kUs);
  builder.add(trace::Graph{.process_id = 0, .executable = 1});
  for (int i = 0; i < 3; ++i)
    builder.add(trace::GraphNode{.graph_id = 0, .native_id = i, .kind = 0});
  builder.add(trace::GraphEdge{.graph_id = 0, .from_node_id = 0, .to_node_id = 2});
  auto& op = builder.columns().op;
  op.graph_node = {0, 1, 2};
  op.api_call_id.assign(3, 0);
  expect_mostly(WaitCause::kGraph, builder.trace());
}

TEST(PlantedCause, ADeviceThatWasInASleepState) {
  TraceBuilder builder;
  auto a = builder.stream("a");
  a.at(0).kernel("first", 3 * kUs, 5 * kUs);
  a.at(6 * kUs).kernel("late", 290 * kUs, 300 * kUs);  // launched at once; nothing else ran
  expect_mostly(WaitCause::kStart, builder.trace());
}

TEST(PlantedCause, AHandOverBehindItsOwnStream) {
  TraceBuilder builder;
  auto a = builder.stream("a");
  a.at(0);
  for (Ns i = 0; i < 20; ++i) a.kernel("k", (10 + i * 10) * kUs, (17 + i * 10) * kUs);
  expect_mostly(WaitCause::kStart, builder.trace());
}

TEST(Recordings, ThePartsOfEveryGapSumToIt) {
  size_t traces = 0, gaps = 0;
  for (const auto& entry : std::filesystem::directory_iterator(STREAMSCOPE_TRACES)) {
    if (entry.path().extension() != ".sqlite") continue;
    const Trace trace = trace::read(entry.path());
    Analyses analyses(trace);
    std::vector<Ns> sum(trace.op.size(), 0);
    for (const WaitPart& part : analyses.waits()) {
      ASSERT_GT(part.duration_ns, 0) << entry.path();
      sum[part.op] += part.duration_ns;
    }
    for (Id stream = 0; stream < trace.stream.size(); ++stream) {
      Ns busy_until = kUnknownNs;
      for (Id op : analyses.stream_ops().ops(stream)) {
        if (!is_timed(trace, op) || trace.op.kind[op] == trace::kMemoryWait) continue;
        const Ns from = busy_until != kUnknownNs ? busy_until : issue_of(trace, op).start_ns;
        const Ns gap = from == kUnknownNs ? 0 : std::max<Ns>(0, trace.op.start_ns[op] - from);
        ASSERT_EQ(sum[op], gap) << entry.path() << ", op " << op;
        gaps += gap > 0;
        busy_until = std::max(busy_until, trace.op.end_ns[op]);
      }
    }
    ++traces;
  }
  EXPECT_GE(traces, 13u);
  EXPECT_GT(gaps, 1000u);
}

// SQL queries get rows, computed by the current rules.
TEST(Recordings, HoldTheirDerivedTables) {
  for (const auto& entry : std::filesystem::directory_iterator(STREAMSCOPE_TRACES)) {
    if (entry.path().extension() != ".sqlite") continue;
    const Trace trace = trace::read(entry.path());
    EXPECT_TRUE(has_derived_tables(trace)) << entry.path() << ": run streamscope analyze on it";
    EXPECT_GT(trace.wait_cause.size(), 0u) << entry.path();
  }
}

}  // namespace
}  // namespace streamscope::analysis
