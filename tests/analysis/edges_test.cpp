// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/order/edges.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "memory_trace.h"
#include "random_program.h"

namespace streamscope::analysis {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

struct Arrow {
  trace::EdgeKind kind;
  Id from, to;
  bool operator==(const Arrow&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Arrow& arrow) {
  return out << trace::to_string(arrow.kind) << ' ' << arrow.from << "->" << arrow.to;
}

std::vector<Arrow> arrows(const Trace& trace) {
  std::vector<Arrow> result;
  const Edges edges(trace);
  for (const trace::Edge& edge : edges.rows()) {
    result.push_back({static_cast<trace::EdgeKind>(edge.kind), edge.from_op_id, edge.to_op_id});
  }
  return result;
}

TEST(Edges, AWaitOrdersTheNextOpAfterTheLastOpBeforeTheRecord) {
  MemoryTrace t;
  const Id a = t.add_stream(), b = t.add_stream();
  t.op(10, a);
  const Id copy = t.op(20, a);
  const Id record = t.record(30, a);
  t.op(40, a);  // after the record: not waited for
  t.op(45, b);  // before the wait: not held
  const Id wait = t.wait(50, b, record);
  const Id kernel = t.op(60, b);
  t.op(70, b);  // FIFO
  const Edges edges(t.trace);
  ASSERT_EQ(edges.size(), 1u);
  EXPECT_EQ(edges[0].kind, trace::kEventEdge);
  EXPECT_EQ(edges[0].from_op_id, copy);
  EXPECT_EQ(edges[0].to_op_id, kernel);
  EXPECT_EQ(edges[0].event_record_id, record);
  EXPECT_EQ(edges[0].event_wait_id, wait);
  EXPECT_EQ(edges.incoming(kernel).size(), 1u);
  EXPECT_THAT(edges.incoming(copy), IsEmpty());
}

TEST(Edges, AReRecordDoesNotRedirectAnEarlierWait) {
  MemoryTrace t;
  const Id a = t.add_stream(), b = t.add_stream();
  const Id first = t.op(10, a);
  const Id record = t.record(20, a);
  t.wait(30, b, record);
  t.op(40, a);
  t.record(50, a);
  const Id kernel = t.op(60, b);
  EXPECT_THAT(arrows(t.trace), ElementsAre(Arrow{trace::kEventEdge, first, kernel}));
}

TEST(Edges, OnlyExactBindingsGiveEdges) {
  for (trace::Binding binding :
       {trace::kNeverRecorded, trace::kCaptured, trace::kAmbiguous, trace::kUnknownHistory}) {
    MemoryTrace t;
    const Id a = t.add_stream(), b = t.add_stream();
    t.op(10, a);
    t.record(20, a);
    t.wait(30, b, kNoId, binding);
    t.op(40, b);
    EXPECT_THAT(arrows(t.trace), IsEmpty()) << trace::to_string(binding);
  }
}

TEST(Edges, FailedAndCapturedRecordsGiveNoEdge) {
  MemoryTrace t;
  const Id a = t.add_stream(), b = t.add_stream();
  t.op(10, a);
  const Id failed = t.record(20, a), captured = t.record(21, a);
  t.trace.event_record.result[failed] = 400;
  t.trace.event_record.flags[captured] = trace::kCapturedRecord;
  t.wait(30, b, failed);
  t.wait(31, b, captured);
  t.op(40, b);
  EXPECT_THAT(arrows(t.trace), IsEmpty());
}

TEST(Edges, ABarrierThroughAHubWithoutOpsOrdersAllStreams) {
  MemoryTrace t;
  const Id a = t.add_stream(), b = t.add_stream(), hub = t.add_stream();
  const Id a1 = t.op(10, a), b1 = t.op(11, b);
  t.wait(22, hub, t.record(20, a));
  t.wait(23, hub, t.record(21, b));
  const Id all = t.record(24, hub);
  const Id wait_a = t.wait(25, a, all);
  t.wait(26, b, all);
  const Id a2 = t.op(30, a), b2 = t.op(31, b);
  EXPECT_THAT(arrows(t.trace), UnorderedElementsAre(Arrow{trace::kEventEdge, b1, a2},
                                                    Arrow{trace::kEventEdge, a1, b2}));
  EXPECT_EQ(Edges(t.trace).incoming(a2)[0].event_wait_id, wait_a);
}

TEST(Edges, AHostSyncOrdersTheNextOpOfItsThreadOnAnotherStream) {
  MemoryTrace t;
  const Id a = t.add_stream(), b = t.add_stream();
  const Id other_thread = t.add_thread();
  const Id copy = t.op(10, a);
  t.sync(trace::kStreamSynchronize, 20, 100, a);
  t.op(50, b, kUnknownNs, kUnknownNs, other_thread);
  const Id kernel = t.op(110, b);
  t.op(120, b);
  EXPECT_THAT(arrows(t.trace), ElementsAre(Arrow{trace::kHostEdge, copy, kernel}));
}

TEST(Edges, WorkEnqueuedDuringASyncIsNotCoveredByIt) {
  MemoryTrace t;
  const Id a = t.add_stream(), b = t.add_stream(), other_thread = t.add_thread();
  const Id before = t.op(10, a);
  t.sync(trace::kDeviceSynchronize, 20, 100);
  t.op(50, a, kUnknownNs, kUnknownNs, other_thread);
  const Id after = t.op(110, b);
  EXPECT_THAT(arrows(t.trace), ElementsAre(Arrow{trace::kHostEdge, before, after}));
}

TEST(Edges, AnEventSyncCoversItsRecordAndANotReadyQueryNothing) {
  MemoryTrace t;
  const Id a = t.add_stream(), b = t.add_stream();
  const Id first = t.op(10, a);
  const Id record = t.record(20, a);
  t.op(30, a);
  const Id query = t.sync(trace::kStreamQuery, 35, 36, a);
  t.trace.host_sync.result[query] = trace::kResultNotReady;
  t.sync(trace::kEventSynchronize, 40, 50, kNoId, record);
  const Id kernel = t.op(60, b);
  EXPECT_THAT(arrows(t.trace), ElementsAre(Arrow{trace::kHostEdge, first, kernel}));
}

TEST(Edges, ASynchronousCopyToTheHostOrdersWhatItsThreadLaunchesNext) {
  for (trace::Small call_kind : {2, 3}) {  // memcpy, memcpy_async
    MemoryTrace t;
    const Id a = t.add_stream(), b = t.add_stream();
    const Id copy = t.op(10, a, 5, 9, 0, trace::kMemcpy);
    t.trace.op.detail[copy] = 2;  // device to host
    t.trace.api_call.kind[t.trace.op.api_call_id[copy]] = call_kind;
    const Id kernel = t.op(20, b);
    if (call_kind == 2) {
      EXPECT_THAT(arrows(t.trace), ElementsAre(Arrow{trace::kHostEdge, copy, kernel}));
    } else {
      EXPECT_THAT(arrows(t.trace), IsEmpty());
    }
  }
}

TEST(Edges, AnOpOnTheLegacyStreamIsABarrierAmongBlockingStreams) {
  MemoryTrace t;
  const Id legacy = t.add_stream(trace::kLegacyStream),
           blocking = t.add_stream(trace::kBlockingStream),
           per_thread = t.add_stream(trace::kPerThreadStream),
           free = t.add_stream(trace::kNonBlockingStream);
  const Id other = t.add_stream(trace::kBlockingStream, t.add_context());
  const Id b1 = t.op(10, blocking), p1 = t.op(11, per_thread);
  t.op(12, free);
  t.op(13, other);
  const Id barrier = t.op(20, legacy);
  const Id b2 = t.op(30, blocking), p2 = t.op(31, per_thread);
  t.op(32, free);
  t.op(33, other);
  EXPECT_THAT(arrows(t.trace), UnorderedElementsAre(Arrow{trace::kLegacyEdge, b1, barrier},
                                                    Arrow{trace::kLegacyEdge, p1, barrier},
                                                    Arrow{trace::kLegacyEdge, barrier, b2},
                                                    Arrow{trace::kLegacyEdge, barrier, p2}));
}

TEST(Edges, ARecordOnTheLegacyStreamCapturesBlockingStreamsAndIsABarrier) {
  MemoryTrace t;
  const Id legacy = t.add_stream(trace::kLegacyStream), b1 = t.add_stream(trace::kBlockingStream),
           b2 = t.add_stream(trace::kBlockingStream), free = t.add_stream();
  const Id work = t.op(10, b1);
  const Id record = t.record(20, legacy);
  t.wait(30, free, record);
  const Id held = t.op(40, free), next = t.op(50, b2);
  EXPECT_THAT(arrows(t.trace), UnorderedElementsAre(Arrow{trace::kEventEdge, work, held},
                                                    Arrow{trace::kLegacyEdge, work, next}));
}

TEST(Edges, AWaitOnTheLegacyStreamHoldsBlockingStreamsAtOnce) {
  MemoryTrace t;
  const Id legacy = t.add_stream(trace::kLegacyStream),
           blocking = t.add_stream(trace::kBlockingStream), free = t.add_stream();
  const Id work = t.op(10, free);
  t.wait(30, legacy, t.record(20, free));
  const Id held = t.op(40, blocking);
  EXPECT_THAT(arrows(t.trace), ElementsAre(Arrow{trace::kLegacyEdge, work, held}));
}

TEST(Edges, ANeverRecordedWaitOnTheLegacyStreamIsNotABarrier) {
  MemoryTrace t;
  const Id legacy = t.add_stream(trace::kLegacyStream), b1 = t.add_stream(trace::kBlockingStream),
           b2 = t.add_stream(trace::kBlockingStream);
  t.op(10, b1);
  t.wait(20, legacy, kNoId, trace::kNeverRecorded);
  t.op(30, b2);
  EXPECT_THAT(arrows(t.trace), IsEmpty());
}

TEST(Edges, EdgesEnterAGraphLaunchAtItsFirstNodesAndLeaveAtItsLast) {
  MemoryTrace t;
  const Id a = t.add_stream(), b = t.add_stream();
  const Id before = t.op(10, b, 10, 20);
  t.wait(30, a, t.record(20, b));
  const Id first = t.op(40, a, 50, 60);
  const Id longest = t.op(41, a, 61, 90), last = t.op(42, a, 62, 70);
  for (Id node : {longest, last}) t.trace.op.api_call_id[node] = t.trace.op.api_call_id[first];
  t.wait(60, b, t.record(50, a));
  const Id after = t.op(70, b, 95, 99);
  EXPECT_THAT(arrows(t.trace), UnorderedElementsAre(Arrow{trace::kEventEdge, before, first},
                                                    Arrow{trace::kEventEdge, longest, after}));
}

TEST(Edges, AJoinOfVeryManyStreamsKeepsThoseThatEndedLast) {
  MemoryTrace t;
  const Id join = t.add_stream();
  std::vector<Id> late;
  for (int i = 0; i < 40; ++i) {
    const Id stream = t.add_stream();
    const Id op = t.op(10 + 10 * i, stream, 1000 + i, 2000 + i);
    if (i >= 24) late.push_back(op);
    t.wait(16 + 10 * i, join, t.record(12 + 10 * i, stream));
  }
  const Id kernel = t.op(1000, join, 3000, 3001);
  const Edges edges(t.trace);
  std::vector<Id> from;
  for (const trace::Edge& edge : edges.incoming(kernel)) from.push_back(edge.from_op_id);
  EXPECT_THAT(from, testing::UnorderedElementsAreArray(late));
  EXPECT_EQ(edges.truncated_count(), 24u);
}

TEST(Edges, OddRowsAreSkipped) {
  MemoryTrace t;
  const Id a = t.add_stream();
  append(t.trace, trace::Op{});
  append(t.trace, trace::EventRecord{});
  append(t.trace, trace::EventWait{.stream_id = 77, .binding = 0, .record_id = 99});
  append(t.trace, trace::HostSync{.thread_id = 55, .kind = 0, .start_ns = 3, .result = 0});
  append(t.trace, trace::Stream{.context_id = 88, .kind = trace::kBlockingStream});
  t.sync(trace::kDeviceSynchronize, 5, 6, kNoId, kNoId, 0, 42);
  t.op(10, a);
  t.op(20, 1);
  t.sync(trace::kEventSynchronize, 30, 31, kNoId, 1234);
  EXPECT_THAT(arrows(t.trace), IsEmpty());
}

// ---- Random programs against a brute-force model of the same rules.

// The same relation from FIFO and the edges of some kinds, over ops only: before[op].
std::vector<Set> order_by_edges(const RandomProgram& p, bool host) {
  const Trace& trace = p.t.trace;
  const Edges edges(trace);
  std::vector<Set> before(trace.op.size());
  std::vector<Id> last(trace.stream.size(), kNoId);
  for (const ProgramItem& item : p.items) {
    if (item.kind != ProgramItem::kOp) continue;
    const auto after = [&](Id from) {
      before[item.id] |= before[from];
      before[item.id].set(from);
    };
    if (last[item.stream] != kNoId) after(last[item.stream]);
    last[item.stream] = item.id;
    for (const trace::Edge& edge : edges.incoming(item.id)) {
      if (host || edge.kind != trace::kHostEdge) after(edge.from_op_id);
    }
  }
  return before;
}

TEST(Edges, RandomProgramsHaveTheOrderOfTheRules) {
  size_t programs = 0, ordered_pairs = 0, host_edges = 0;
  for (uint32_t seed = 0; seed < 600; ++seed) {
    const RandomProgram p = random_program(seed);
    if (Edges(p.t.trace).truncated_count() > 0) continue;  // has fewer edges by design
    ++programs;
    const auto rules = order_by_rules(p, HostRule::kNone),
               rules_host = order_by_rules(p, HostRule::kOps);
    const auto found = order_by_edges(p, false), found_host = order_by_edges(p, true);
    for (size_t i = 0; i < p.items.size(); ++i) {
      if (p.items[i].kind != ProgramItem::kOp) continue;
      for (size_t j = 0; j < i; ++j) {
        if (p.items[j].kind != ProgramItem::kOp) continue;
        const Id from = p.items[j].id, to = p.items[i].id;
        ASSERT_EQ(rules[i][j], found[to][from])
            << "seed " << seed << ": op " << from << " -> " << to;
        ordered_pairs += rules[i][j];
        // Host edges are a choice among all that the rules allow: each must be true ...
        if (found_host[to][from]) {
          ASSERT_TRUE(rules_host[i][j]) << "seed " << seed << ": op " << from << " -> " << to;
          host_edges += !rules[i][j];
        }
      }
    }
    // ... and what a sync proves must reach the next op of its thread on another stream.
    for (size_t i = 0; i < p.items.size(); ++i) {
      const ProgramItem& sync = p.items[i];
      if (sync.kind != ProgramItem::kSync) continue;
      const Set covered = rules[i];
      for (size_t j = 0; j < i; ++j) {
        const ProgramItem& op = p.items[j];
        if (op.kind != ProgramItem::kOp || !covered[j]) continue;
        bool newest = true, first_time = true;
        for (size_t k = j + 1; k < i; ++k) {
          if (p.items[k].kind == ProgramItem::kOp && covered[k] && rules[k][j]) newest = false;
          if (p.items[k].kind == ProgramItem::kSync && p.items[k].thread == sync.thread &&
              rules[k][j])
            first_time = false;
        }
        if (!newest || !first_time) continue;
        for (size_t k = i + 1; k < p.items.size(); ++k) {
          const ProgramItem& next = p.items[k];
          if (next.kind != ProgramItem::kOp || next.thread != sync.thread ||
              next.stream == op.stream)
            continue;
          ASSERT_TRUE(found_host[next.id][op.id])
              << "seed " << seed << ": op " << op.id << " -> " << next.id;
          break;
        }
      }
    }
  }
  EXPECT_GT(programs, 400u);
  EXPECT_GT(ordered_pairs, 100'000u);
  EXPECT_GT(host_edges, 1'000u);
}

}  // namespace
}  // namespace streamscope::analysis
