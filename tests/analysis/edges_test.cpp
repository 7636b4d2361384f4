// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/edges.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bitset>
#include <random>

#include "memory_trace.h"

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

TEST(Edges, ANeverRecordedWaitOnTheLegacyStreamIsNoBarrier) {
  MemoryTrace t;
  const Id legacy = t.add_stream(trace::kLegacyStream), b1 = t.add_stream(trace::kBlockingStream),
           b2 = t.add_stream(trace::kBlockingStream);
  t.op(10, b1);
  t.wait(20, legacy, kNoId, trace::kNeverRecorded);
  t.op(30, b2);
  EXPECT_THAT(arrows(t.trace), IsEmpty());
}

TEST(Edges, NodesOfOneGraphLaunchTakeEdgesInAtTheFirstAndGiveThemOutAtTheLast) {
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

constexpr size_t kMaxItems = 256;
using Set = std::bitset<kMaxItems>;

struct Item {
  enum Kind { kOp, kRecord, kWait, kSync } kind;
  Id id, stream, thread;
  Ns at;              // when it takes effect
  Id record = kNoId;  // waits and event syncs
  Id context = kNoId;
  trace::HostSyncKind sync = trace::kDeviceSynchronize;
  bool void_wait = false;
};

struct Program {
  MemoryTrace t;
  std::vector<Item> items;  // by `at`
};

Program random_program(uint32_t seed) {
  std::mt19937 random(seed);
  const auto pick = [&](size_t n) { return static_cast<Id>(random() % n); };
  Program p;
  MemoryTrace& t = p.t;
  t.add_thread();
  if (pick(2)) t.add_context();
  const trace::StreamKind kinds[] = {trace::kLegacyStream,    trace::kBlockingStream,
                                     trace::kBlockingStream,  trace::kNonBlockingStream,
                                     trace::kPerThreadStream, trace::kUnknownStream};
  for (Id context = 0; context < t.trace.context.size(); ++context) {
    const size_t count = 2 + pick(4);
    for (size_t i = 0; i < count; ++i)
      t.add_stream(i == 0 ? trace::kLegacyStream : kinds[pick(6)], context);
  }
  for (Id stream = 0, context = kNoId; stream < t.trace.stream.size(); ++stream) {
    // One legacy stream per context.
    if (t.trace.stream.kind[stream] == trace::kLegacyStream &&
        t.trace.stream.context_id[stream] == context) {
      t.trace.stream.kind[stream] = trace::kBlockingStream;
    }
    context = t.trace.stream.context_id[stream];
  }
  std::vector<Ns> free_at(t.trace.thread.size(), 10);
  std::vector<std::pair<Ns, Id>> records;
  const bool legacy_used = pick(2);
  for (int i = 0; i < 90; ++i) {
    const Id thread = pick(free_at.size());
    const Ns start = free_at[thread];
    Ns end = (start / 100 + 1 + pick(3)) * 100 + i;  // distinct ends
    Id stream = pick(t.trace.stream.size());
    if (!legacy_used && t.trace.stream.kind[stream] == trace::kLegacyStream)
      stream = (stream + 1) % t.trace.stream.size();
    Item item{Item::kOp, 0, stream, thread, end};
    switch (pick(8)) {
      default:
        item.id = t.op(end, stream, kUnknownNs, kUnknownNs, thread);
        break;
      case 0:
      case 1:
        item.kind = Item::kRecord;
        item.id = t.record(end, stream, thread);
        records.push_back({end, item.id});
        break;
      case 2:
      case 3: {
        item.kind = Item::kWait;
        std::vector<Id> done;
        for (auto [at, id] : records) {
          if (at < start) done.push_back(id);
        }
        if (done.empty()) {
          item.void_wait = true;
          item.id = t.wait(end, stream, kNoId, trace::kNeverRecorded, thread);
        } else {
          item.record = done[pick(done.size())];
          item.id = t.wait(end, stream, item.record, trace::kBindingExact, thread);
        }
        break;
      }
      case 4: {
        item.kind = Item::kSync;
        item.at = start;
        end += 200;
        item.sync = static_cast<trace::HostSyncKind>(pick(5));
        item.context = t.trace.stream.context_id[stream];
        if (item.sync == trace::kEventSynchronize || item.sync == trace::kEventQuery) {
          for (auto [at, id] : records) {
            if (at < start) item.record = id;
          }
        }
        item.id = t.sync(item.sync, start, end, stream, item.record, thread, item.context);
        break;
      }
    }
    free_at[thread] = end + 1;
    p.items.push_back(item);
  }
  std::stable_sort(p.items.begin(), p.items.end(),
                   [](const Item& a, const Item& b) { return a.at < b.at; });
  return p;
}

// before[i]: items that are ordered before item i, by the rules read literally.
std::vector<Set> order_by_rules(const Program& p, bool host) {
  const auto& streams = p.t.trace.stream;
  const auto legacy = [&](Id s) { return streams.kind[s] == trace::kLegacyStream; };
  const auto blocking = [&](Id s) {
    return streams.kind[s] == trace::kBlockingStream || streams.kind[s] == trace::kPerThreadStream;
  };
  const auto same_context = [&](Id a, Id b) {
    return streams.context_id[a] == streams.context_id[b];
  };
  std::vector<Set> before(p.items.size());
  for (size_t i = 0; i < p.items.size(); ++i) {
    const Item& later = p.items[i];
    const auto after = [&](size_t j) {
      before[i] |= before[j];
      before[i].set(j);
    };
    for (size_t j = 0; j < i; ++j) {
      const Item& earlier = p.items[j];
      if (earlier.kind == Item::kSync) {
        if (host && later.kind == Item::kOp && later.thread == earlier.thread) after(j);
        continue;
      }
      if (earlier.void_wait || later.void_wait) continue;
      if (later.kind != Item::kSync) {
        if (earlier.stream == later.stream) after(j);
        if (same_context(earlier.stream, later.stream) &&
            ((legacy(earlier.stream) && blocking(later.stream)) ||
             (legacy(later.stream) && blocking(earlier.stream)))) {
          after(j);
        }
        if (later.kind == Item::kWait && earlier.kind == Item::kRecord &&
            earlier.id == later.record)
          after(j);
        continue;
      }
      switch (later.sync) {
        case trace::kDeviceSynchronize:
          if (streams.context_id[earlier.stream] == later.context) after(j);
          break;
        case trace::kStreamSynchronize:
        case trace::kStreamQuery:
          if (earlier.stream == later.stream ||
              (same_context(earlier.stream, later.stream) &&
               ((legacy(earlier.stream) && blocking(later.stream)) ||
                (legacy(later.stream) && blocking(earlier.stream))))) {
            after(j);
          }
          break;
        default:
          if (earlier.kind == Item::kRecord && earlier.id == later.record) after(j);
          break;
      }
    }
  }
  return before;
}

// The same relation from FIFO and the edges of some kinds, over ops only: before[op].
std::vector<Set> order_by_edges(const Program& p, bool host) {
  const Trace& trace = p.t.trace;
  const Edges edges(trace);
  std::vector<Set> before(trace.op.size());
  std::vector<Id> last(trace.stream.size(), kNoId);
  for (const Item& item : p.items) {
    if (item.kind != Item::kOp) continue;
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

TEST(Edges, RandomProgramsHaveTheOrderThatTheRulesGive) {
  size_t programs = 0, ordered_pairs = 0, host_edges = 0;
  for (uint32_t seed = 0; seed < 600; ++seed) {
    const Program p = random_program(seed);
    if (Edges(p.t.trace).truncated_count() > 0) continue;  // has fewer edges by intent
    ++programs;
    const auto rules = order_by_rules(p, false), rules_host = order_by_rules(p, true);
    const auto found = order_by_edges(p, false), found_host = order_by_edges(p, true);
    for (size_t i = 0; i < p.items.size(); ++i) {
      if (p.items[i].kind != Item::kOp) continue;
      for (size_t j = 0; j < i; ++j) {
        if (p.items[j].kind != Item::kOp) continue;
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
      const Item& sync = p.items[i];
      if (sync.kind != Item::kSync) continue;
      const Set covered = rules[i];
      for (size_t j = 0; j < i; ++j) {
        const Item& op = p.items[j];
        if (op.kind != Item::kOp || !covered[j]) continue;
        bool newest = true, first_time = true;
        for (size_t k = j + 1; k < i; ++k) {
          if (p.items[k].kind == Item::kOp && covered[k] && rules[k][j]) newest = false;
          if (p.items[k].kind == Item::kSync && p.items[k].thread == sync.thread && rules[k][j])
            first_time = false;
        }
        if (!newest || !first_time) continue;
        for (size_t k = i + 1; k < p.items.size(); ++k) {
          const Item& next = p.items[k];
          if (next.kind != Item::kOp || next.thread != sync.thread || next.stream == op.stream)
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
