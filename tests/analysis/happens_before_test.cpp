// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/order/happens_before.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "memory_trace.h"
#include "random_program.h"

namespace streamscope::analysis {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

bool ordered(const MemoryTrace& t, Id from, Id to, Relation relation = Relation::kGuaranteed) {
  const IssueOrder order(t.trace);
  const HappensBefore kept(order, {.relation = relation});
  // Without any clock the answer must be the same.
  const HappensBefore searching(order, {.relation = relation, .clock_budget_bytes = 0});
  EXPECT_EQ(kept.ordered(from, to), searching.ordered(from, to));
  EXPECT_FALSE(kept.ordered(from, to) && kept.ordered(to, from));
  return kept.ordered(from, to);
}

// ---- Rule by rule: what is ordered, and what looks similar but is not.

TEST(HappensBefore, RuleA_OpsOfOneStreamAreInOrderAndThoseOfTwoAreNot) {
  MemoryTrace t;
  const Id a = t.add_stream(), b = t.add_stream();
  const Id first = t.op(10, a), second = t.op(20, a), other = t.op(30, b);
  EXPECT_TRUE(ordered(t, first, second));
  EXPECT_FALSE(ordered(t, second, first));
  EXPECT_FALSE(ordered(t, first, other));
  EXPECT_FALSE(ordered(t, first, first));
}

TEST(HappensBefore, RuleB_ARecordCoversWhatWasInTheStreamAndNotWhatFollows) {
  MemoryTrace t;
  const Id a = t.add_stream(), b = t.add_stream();
  const Id before = t.op(10, a);
  const Id record = t.record(20, a);
  const Id after = t.op(30, a);
  t.wait(40, b, record);
  const Id held = t.op(50, b);
  EXPECT_TRUE(ordered(t, before, held));
  EXPECT_FALSE(ordered(t, after, held));
}

TEST(HappensBefore, RuleC_AWaitHoldsWhatFollowsItAndNotWhatCameBefore) {
  MemoryTrace t;
  const Id a = t.add_stream(), b = t.add_stream();
  const Id work = t.op(10, a);
  const Id record = t.record(20, a);
  const Id free = t.op(30, b);
  t.wait(40, b, record);
  const Id held = t.op(50, b);
  EXPECT_TRUE(ordered(t, work, held));
  EXPECT_FALSE(ordered(t, work, free));
}

TEST(HappensBefore, RuleC_AReRecordDoesNotRedirectAnEarlierWait) {
  MemoryTrace t;
  const Id a = t.add_stream(), b = t.add_stream(), c = t.add_stream();
  const Id first = t.op(10, a);
  const Id old_record = t.record(20, a);
  const Id second = t.op(25, c);
  t.wait(30, b, old_record);
  t.record(40, c);
  const Id held = t.op(50, b);
  EXPECT_TRUE(ordered(t, first, held));
  EXPECT_FALSE(ordered(t, second, held));
}

TEST(HappensBefore, RuleC_AWaitOnANeverRecordedEventIsNothing) {
  MemoryTrace t;
  const Id a = t.add_stream(), b = t.add_stream();
  const Id work = t.op(10, a);
  t.wait(20, b, kNoId, trace::kNeverRecorded);
  t.record(30, a);
  const Id later = t.op(40, b);
  EXPECT_FALSE(ordered(t, work, later));
}

TEST(HappensBefore, RuleD_AContextRecordCoversAllStreamsOfItsContextOnly) {
  MemoryTrace t;
  const Id a = t.add_stream(), b = t.add_stream(), c = t.add_stream();
  const Id elsewhere = t.add_stream(trace::kNonBlockingStream, t.add_context());
  append(t.trace, trace::Event{.context_id = 0});
  const Id on_a = t.op(10, a), on_b = t.op(11, b), far = t.op(12, elsewhere);
  const Id record = t.record(20, kNoId);
  t.wait(30, c, record);
  const Id held = t.op(40, c);
  EXPECT_TRUE(ordered(t, on_a, held));
  EXPECT_TRUE(ordered(t, on_b, held));
  EXPECT_FALSE(ordered(t, far, held));
}

TEST(HappensBefore, RuleD_AContextWaitHoldsAllStreamsOfItsContextOnly) {
  MemoryTrace t;
  const Id a = t.add_stream(), b = t.add_stream();
  const Id elsewhere = t.add_stream(trace::kNonBlockingStream, t.add_context());
  append(t.trace, trace::Event{.context_id = 0});
  const Id work = t.op(10, elsewhere);
  t.wait(30, kNoId, t.record(20, elsewhere));
  const Id on_a = t.op(40, a), on_b = t.op(41, b);
  EXPECT_TRUE(ordered(t, work, on_a));
  EXPECT_TRUE(ordered(t, work, on_b));
  EXPECT_FALSE(ordered(t, on_a, on_b));
}

TEST(HappensBefore, RuleE_ASynchronizationOrdersWhatItsThreadDoesNext) {
  for (auto kind : {trace::kStreamSynchronize, trace::kEventSynchronize, trace::kStreamQuery,
                    trace::kEventQuery, trace::kDeviceSynchronize}) {
    MemoryTrace t;
    const Id a = t.add_stream(), b = t.add_stream(), other = t.add_thread();
    const Id work = t.op(10, a);
    const Id record = t.record(20, a);
    t.sync(kind, 30, 40, a, record);
    const Id next = t.op(50, b), elsewhere = t.op(60, b, kUnknownNs, kUnknownNs, other);
    const Id alone = t.op(70, t.add_stream(), kUnknownNs, kUnknownNs, other);
    EXPECT_TRUE(ordered(t, work, next)) << trace::to_string(kind);
    EXPECT_TRUE(ordered(t, work, elsewhere)) << "behind what the first thread issued";
    EXPECT_FALSE(ordered(t, work, alone)) << trace::to_string(kind);
  }
}

TEST(HappensBefore, RuleE_ANotReadyQueryOrdersNothing) {
  for (auto kind : {trace::kStreamQuery, trace::kEventQuery}) {
    MemoryTrace t;
    const Id a = t.add_stream(), b = t.add_stream();
    const Id work = t.op(10, a);
    const Id query = t.sync(kind, 30, 40, a, t.record(20, a));
    t.trace.host_sync.result[query] = trace::kResultNotReady;
    EXPECT_FALSE(ordered(t, work, t.op(50, b)));
  }
}

TEST(HappensBefore, RuleE_WorkIssuedByOthersDuringASyncIsNotCovered) {
  MemoryTrace t;
  const Id a = t.add_stream(), b = t.add_stream(), other = t.add_thread();
  t.op(10, a);
  t.sync(trace::kStreamSynchronize, 20, 100, a);
  const Id during = t.op(50, a, kUnknownNs, kUnknownNs, other);
  EXPECT_FALSE(ordered(t, during, t.op(110, b)));
}

TEST(HappensBefore, RuleE_ADeviceSyncCoversItsContextOnly) {
  MemoryTrace t;
  const Id a = t.add_stream(), b = t.add_stream();
  const Id elsewhere = t.add_stream(trace::kNonBlockingStream, t.add_context());
  const Id near = t.op(10, a), far = t.op(11, elsewhere);
  t.sync(trace::kDeviceSynchronize, 20, 30);
  const Id next = t.op(40, b);
  EXPECT_TRUE(ordered(t, near, next));
  EXPECT_FALSE(ordered(t, far, next));
}

TEST(HappensBefore, ARecordPassesOnWhatTheHostKnewAtTheCall) {
  MemoryTrace t;
  const Id a = t.add_stream(), b = t.add_stream(), c = t.add_stream(), other = t.add_thread();
  const Id work = t.op(10, a);
  t.sync(trace::kStreamSynchronize, 20, 30, a);
  const Id record = t.record(40, b);
  t.wait(50, c, record, trace::kBindingExact, other);
  EXPECT_TRUE(ordered(t, work, t.op(60, c, kUnknownNs, kUnknownNs, other)));
}

TEST(HappensBefore, TheObservedRelationAddsCallsThatReturnedBeforeOthersBegan) {
  MemoryTrace t;
  const Id a = t.add_stream(), b = t.add_stream(), c = t.add_stream(), other = t.add_thread();
  const Id work = t.op(10, a);
  t.sync(trace::kStreamSynchronize, 20, 100, a);
  const Id during = t.op(90, b, kUnknownNs, kUnknownNs, other);
  const Id after = t.op(120, c, kUnknownNs, kUnknownNs, other);
  EXPECT_FALSE(ordered(t, work, after));
  EXPECT_TRUE(ordered(t, work, after, Relation::kObserved));
  EXPECT_FALSE(ordered(t, work, during, Relation::kObserved));
}

TEST(HappensBefore, RuleF_TheLegacyStreamOrdersBlockingStreamsOnly) {
  for (auto kind : {trace::kBlockingStream, trace::kPerThreadStream, trace::kNonBlockingStream,
                    trace::kUnknownStream}) {
    const bool joins = kind == trace::kBlockingStream || kind == trace::kPerThreadStream;
    MemoryTrace t;
    const Id legacy = t.add_stream(trace::kLegacyStream), a = t.add_stream(kind),
             b = t.add_stream(kind);
    const Id before = t.op(10, a), barrier = t.op(20, legacy), after = t.op(30, b);
    EXPECT_EQ(ordered(t, before, barrier), joins) << trace::to_string(kind);
    EXPECT_EQ(ordered(t, barrier, after), joins) << trace::to_string(kind);
    EXPECT_EQ(ordered(t, before, after), joins) << trace::to_string(kind);
  }
}

TEST(HappensBefore, RuleF_RecordsAndWaitsOnTheLegacyStreamAreBarriersToo) {
  for (bool record : {true, false}) {
    MemoryTrace t;
    const Id legacy = t.add_stream(trace::kLegacyStream), a = t.add_stream(trace::kBlockingStream),
             b = t.add_stream(trace::kBlockingStream), free = t.add_stream();
    const Id idle_record = t.record(5, free);
    const Id before = t.op(10, a);
    record ? t.record(20, legacy) : t.wait(20, legacy, idle_record);
    EXPECT_TRUE(ordered(t, before, t.op(30, b)));
  }
  MemoryTrace t;
  const Id legacy = t.add_stream(trace::kLegacyStream), a = t.add_stream(trace::kBlockingStream),
           b = t.add_stream(trace::kBlockingStream);
  const Id before = t.op(10, a);
  t.wait(20, legacy, kNoId, trace::kNeverRecorded);
  EXPECT_FALSE(ordered(t, before, t.op(30, b)));
}

TEST(HappensBefore, RuleF_SynchronizingWithAnUnusedLegacyStreamCoversBlockingStreams) {
  for (auto kind : {trace::kBlockingStream, trace::kNonBlockingStream}) {
    MemoryTrace t;
    const Id legacy = t.add_stream(trace::kLegacyStream), a = t.add_stream(kind),
             b = t.add_stream();
    const Id first = t.op(10, a);
    t.sync(trace::kStreamSynchronize, 11, 12, legacy);
    const Id second = t.op(20, b);
    EXPECT_EQ(HappensBefore(IssueOrder(t.trace)).ordered(first, second),
              kind == trace::kBlockingStream);
  }
}

TEST(HappensBefore, RuleF_SynchronizingWithABlockingStreamCoversTheLegacyStreamOnlyBehindAnItem) {
  for (const bool idle : {true, false}) {
    MemoryTrace t;
    const Id legacy = t.add_stream(trace::kLegacyStream), a = t.add_stream(trace::kBlockingStream),
             other = t.add_stream();
    const Id own = t.op(5, a), barrier = t.op(10, legacy);
    if (!idle) t.record(11, a);
    t.sync(trace::kStreamSynchronize, 12, 13, a);
    const Id next = t.op(20, other);
    EXPECT_TRUE(ordered(t, own, next));
    EXPECT_EQ(ordered(t, barrier, next), !idle);
  }
}

TEST(HappensBefore, RuleF_ALegacyStreamIsNotABarrierForAnotherContext) {
  MemoryTrace t;
  const Id legacy = t.add_stream(trace::kLegacyStream);
  const Id context = t.add_context();
  const Id a = t.add_stream(trace::kBlockingStream, context),
           b = t.add_stream(trace::kBlockingStream, context);
  const Id before = t.op(10, a);
  const Id barrier = t.op(20, legacy), after = t.op(30, b);
  EXPECT_FALSE(ordered(t, before, barrier));
  EXPECT_FALSE(ordered(t, barrier, after));
}

// A graph 0 -> 1 -> 3, 0 -> 2 -> 3, launched on a stream; its branches run on internal streams.
struct Launched {
  MemoryTrace t;
  Id stream = t.add_stream(), internal = t.add_stream(trace::kGraphStream);
  std::vector<Id> nodes;

  Launched() {
    append(t.trace, trace::Graph{.process_id = 0, .executable = 1});
    for (int i = 0; i < 4; ++i)
      append(t.trace, trace::GraphNode{.graph_id = 0, .native_id = 100 + i, .kind = 0});
    for (auto [from, to] : {std::pair(0, 1), {0, 2}, {1, 3}, {2, 3}}) {
      append(t.trace, trace::GraphEdge{.graph_id = 0,
                                       .from_node_id = static_cast<Id>(from),
                                       .to_node_id = static_cast<Id>(to)});
    }
  }
  std::vector<Id> launch(Ns at) {
    const Id call = t.call(at - 1, at, stream, 0, 29);
    std::vector<Id> ops;
    for (int i = 0; i < 4; ++i) {
      ops.push_back(append(t.trace, trace::Op{.kind = trace::kKernel,
                                              .stream_id = i == 2 ? internal : stream,
                                              .start_ns = at + 10 * i,
                                              .end_ns = at + 10 * i + 15,
                                              .call_number = t.call_number,
                                              .api_call_id = call,
                                              .graph_node = 100 + i}));
    }
    return ops;
  }
};

TEST(HappensBefore, RuleG_NodesOfAGraphFollowItsEdgesAndLaunchesFollowTheStream) {
  Launched g;
  const Id before = g.t.op(10, g.stream);
  const auto first = g.launch(20), second = g.launch(1000);
  const Id after = g.t.op(2000, g.stream);
  EXPECT_TRUE(ordered(g.t, first[0], first[3]));
  EXPECT_TRUE(ordered(g.t, first[0], first[2]));
  EXPECT_FALSE(ordered(g.t, first[1], first[2]));  // branches
  EXPECT_FALSE(ordered(g.t, first[2], first[1]));
  for (Id node : first) {
    EXPECT_TRUE(ordered(g.t, before, node));
    EXPECT_TRUE(ordered(g.t, node, after));
    for (Id later : second) EXPECT_TRUE(ordered(g.t, node, later));
  }
}

TEST(HappensBefore, RuleG_AnEventAfterALaunchCoversAllItsNodes) {
  Launched g;
  const auto nodes = g.launch(20);
  const Id other = g.t.add_stream();
  g.t.wait(200, other, g.t.record(100, g.stream));
  const Id held = g.t.op(300, other);
  for (Id node : nodes) EXPECT_TRUE(ordered(g.t, node, held));
}

TEST(HappensBefore, RuleH_AHostFunctionFollowsItsStreamAndNotThoseOfOthers) {
  MemoryTrace t;
  const Id a = t.add_stream(), b = t.add_stream();
  const Id kernel = t.op(10, a);
  const Id function = t.op(20, a, kUnknownNs, kUnknownNs, 0, trace::kHostFunction);
  const Id other = t.op(30, b, kUnknownNs, kUnknownNs, 0, trace::kHostFunction);
  const Id after = t.op(40, a);
  EXPECT_TRUE(ordered(t, kernel, function));
  EXPECT_TRUE(ordered(t, function, after));
  EXPECT_FALSE(ordered(t, function, other));  // one executor, but without a guaranteed order
}

TEST(HappensBefore, RuleJ_SynchronousCopiesGuaranteeWhatCudaDocuments) {
  constexpr trace::Small kPageableToDevice = 1 * 16 + 3, kPinnedToDevice = 2 * 16 + 3,
                         kDeviceToPageable = 3 * 16 + 1, kDeviceToDevice = 3 * 16 + 3;
  struct Case {
    trace::Small detail, memory;
    bool copy_known, earlier_known;
  };
  for (const Case& c :
       {Case{1, kPageableToDevice, false, true}, Case{1, kPinnedToDevice, true, true},
        Case{2, kDeviceToPageable, true, true}, Case{8, kDeviceToDevice, false, false}}) {
    for (bool row_of_host_sync : {true, false}) {  // as recorded today; as imported
      MemoryTrace t;
      const Id a = t.add_stream(), b = t.add_stream();
      const Id earlier = t.op(10, a);
      Id copy;
      if (row_of_host_sync) {
        t.sync(trace::kSynchronousCopy, 15, 20, a);
        copy =
            append(t.trace,
                   trace::Op{.kind = trace::kMemcpy, .stream_id = a, .call_number = t.call_number});
      } else {
        copy = t.op(20, a, kUnknownNs, kUnknownNs, 0, trace::kMemcpy);
        t.trace.api_call.kind[t.trace.op.api_call_id[copy]] = 2;
      }
      t.trace.op.detail[copy] = c.detail;
      t.trace.op.memory_kinds[copy] = c.memory;
      const Id next = t.op(30, b);
      EXPECT_EQ(ordered(t, copy, next), c.copy_known) << c.memory;
      EXPECT_EQ(ordered(t, earlier, next), c.earlier_known) << c.memory;
    }
  }
}

// cuStreamWriteValue and cuStreamWaitValue.
struct MemoryOps : MemoryTrace {
  Id value(Ns at, Id stream, trace::OpKind kind, trace::Int address, trace::Int value) {
    const Id id = op(at, stream, kUnknownNs, kUnknownNs, 0, kind);
    trace.api_call.object[trace.op.api_call_id[id]] = address;
    trace.api_call.value[trace.op.api_call_id[id]] = value;
    return id;
  }
};

TEST(HappensBefore, RuleK_AMemoryWaitFollowsTheOnlyWriteThatCanEndIt) {
  for (bool wait_first : {false, true}) {
    MemoryOps t;
    const Id a = t.add_stream(), b = t.add_stream(), c = t.add_stream();
    const Id work = t.op(10, a);
    Id held = kNoId, further = kNoId;
    const auto wait = [&](Ns at) {
      t.value(at, b, trace::kMemoryWait, 0x100, 7);
      held = t.op(at + 1, b);
      t.wait(at + 4, c, t.record(at + 2, b));
      further = t.op(at + 5, c);
    };
    if (wait_first) wait(20);
    t.value(30, a, trace::kMemoryWrite, 0x100, 7);
    const Id after = t.op(35, a);
    if (!wait_first) wait(40);
    EXPECT_TRUE(ordered(t, work, held));
    EXPECT_TRUE(ordered(t, work, further));
    EXPECT_FALSE(ordered(t, after, held));
    const auto path = HappensBefore(IssueOrder(t.trace)).path(work, held);
    ASSERT_EQ(path.size(), 1u);
    EXPECT_EQ(path[0].kind, trace::kMemoryEdge);
  }
}

TEST(HappensBefore, RuleK_ManyWritesOfOneStreamOrderByTheFirstAndOfTwoStreamsNotAtAll) {
  for (bool two_streams : {false, true}) {
    MemoryOps t;
    const Id a = t.add_stream(), b = t.add_stream(), c = t.add_stream();
    const Id work = t.op(10, a);
    t.value(20, a, trace::kMemoryWrite, 0x100, 1);  // not enough
    t.value(21, a, trace::kMemoryWrite, 0x100, 2);
    const Id between = t.op(22, a);
    t.value(23, two_streams ? c : a, trace::kMemoryWrite, 0x100, 3);
    t.value(30, b, trace::kMemoryWait, 0x100, 2);
    const Id held = t.op(40, b);
    EXPECT_EQ(ordered(t, work, held), !two_streams);
    EXPECT_FALSE(ordered(t, between, held));
  }
}

TEST(HappensBefore, RuleK_AWriteElsewhereOrTooSmallOrNoneOrdersNothing) {
  MemoryOps t;
  const Id a = t.add_stream(), b = t.add_stream();
  const Id work = t.op(10, a);
  t.value(20, a, trace::kMemoryWrite, 0x200, 7);
  t.value(21, a, trace::kMemoryWrite, 0x100, 4);
  t.value(30, b, trace::kMemoryWait, 0x100, 8);
  EXPECT_FALSE(ordered(t, work, t.op(40, b)));
}

TEST(HappensBefore, RuleK_TwoStreamsThatWaitForEachOtherDoNotHangTheAnalysis) {
  MemoryOps t;
  const Id a = t.add_stream(), b = t.add_stream();
  t.value(10, a, trace::kMemoryWait, 0x100, 1);
  t.value(11, a, trace::kMemoryWrite, 0x200, 1);
  t.value(12, b, trace::kMemoryWait, 0x200, 1);
  t.value(13, b, trace::kMemoryWrite, 0x100, 1);
  const Id last = t.op(20, a);
  EXPECT_TRUE(ordered(t, 0, last));
  EXPECT_EQ(IssueOrder(t.trace).items().size(), 5u);
}

TEST(HappensBefore, RuleM_CreatingFreeingAndDestroyingOrderNothing) {
  for (trace::Small kind : {24, 25, 8, 14, 15, 36}) {  // malloc, free, event_destroy, ...
    MemoryTrace t;
    const Id a = t.add_stream(), b = t.add_stream();
    const Id work = t.op(10, a);
    t.call(20, 90, kNoId, 0, kind);
    EXPECT_FALSE(ordered(t, work, t.op(100, b))) << kind;
  }
}

TEST(HappensBefore, StreamsOfSeveralDevicesAndProcessesAreOrderedByTheirEventsOnly) {
  MemoryTrace t;
  const Id here = t.add_stream();
  const Id there = t.add_stream(trace::kNonBlockingStream, t.add_context());
  const Id work = t.op(10, here);
  const Id free = t.op(15, there);
  t.wait(30, there, t.record(20, here));
  const Id held = t.op(40, there);
  EXPECT_FALSE(ordered(t, work, free));
  EXPECT_TRUE(ordered(t, work, held));
}

// ---- Paths, redundancy, what the host knows.

TEST(HappensBefore, ThePathNamesEveryStep) {
  MemoryTrace t;
  const Id a = t.add_stream(), b = t.add_stream(), c = t.add_stream(), d = t.add_stream();
  const Id work = t.op(10, a);
  const Id first = t.wait(30, b, t.record(20, a));
  t.op(31, b);
  const Id second = t.wait(50, c, t.record(40, b));
  const Id on_c = t.op(60, c);
  const Id sync = t.sync(trace::kStreamSynchronize, 70, 80, c);
  const Id last = t.op(90, d);
  const HappensBefore order{IssueOrder(t.trace)};
  EXPECT_THAT(order.path(work, on_c), ElementsAre(Hop{trace::kEventEdge, a, b, first},
                                                  Hop{trace::kEventEdge, b, c, second}));
  EXPECT_THAT(order.path(on_c, last), ElementsAre(Hop{trace::kHostEdge, c, kNoId, kNoId, sync},
                                                  Hop{trace::kHostEdge, kNoId, d}));
  EXPECT_EQ(order.path(work, last).size(), 4u);
  EXPECT_THAT(order.path(last, work), IsEmpty());
}

TEST(HappensBefore, AWaitForWhatIsKnownIsRedundant) {
  MemoryTrace t;
  const Id a = t.add_stream(), b = t.add_stream(), c = t.add_stream();
  t.op(10, a);
  const Id record = t.record(20, a);
  const Id needed = t.wait(30, b, record), again = t.wait(31, b, record);
  t.op(40, b);
  const Id behind = t.wait(60, c, t.record(50, b));
  const Id implied = t.wait(61, c, record);       // through b
  const Id own = t.wait(72, c, t.record(70, c));  // its own stream
  t.op(80, a);
  const Id newer = t.wait(100, c, t.record(90, a));
  const HappensBefore order{IssueOrder(t.trace)};
  EXPECT_FALSE(order.is_redundant_wait(needed));
  EXPECT_TRUE(order.is_redundant_wait(again));
  EXPECT_FALSE(order.is_redundant_wait(behind));
  EXPECT_TRUE(order.is_redundant_wait(implied));
  EXPECT_TRUE(order.is_redundant_wait(own));
  EXPECT_FALSE(order.is_redundant_wait(newer));
}

TEST(HappensBefore, ASyncWithoutNewInformationIsRedundant) {
  MemoryTrace t;
  const Id a = t.add_stream(), b = t.add_stream();
  t.op(10, a);
  t.op(11, b);
  const Id first = t.sync(trace::kDeviceSynchronize, 20, 30),
           second = t.sync(trace::kStreamSynchronize, 40, 41, a);
  t.op(50, a);
  const Id third = t.sync(trace::kStreamSynchronize, 60, 70, a),
           fourth = t.sync(trace::kStreamSynchronize, 80, 81, b);
  const HappensBefore order{IssueOrder(t.trace)};
  EXPECT_FALSE(order.is_redundant_sync(first));
  EXPECT_TRUE(order.is_redundant_sync(second));
  EXPECT_FALSE(order.is_redundant_sync(third));
  EXPECT_TRUE(order.is_redundant_sync(fourth));
}

TEST(HappensBefore, ReportsWhatAThreadKnewAndWhen) {
  MemoryTrace t;
  const Id a = t.add_stream(), b = t.add_stream(), other = t.add_thread();
  const Id work = t.op(10, a), more = t.op(11, b);
  const Id sync = t.sync(trace::kStreamSynchronize, 20, 30, a);
  const IssueOrder issued(t.trace);
  for (size_t budget : {size_t{1} << 20, size_t{0}}) {
    const HappensBefore order(issued, {.clock_budget_bytes = budget});
    EXPECT_TRUE(order.known_at_return(work, sync));
    EXPECT_FALSE(order.known_at_return(more, sync));
    EXPECT_FALSE(order.known_to_thread(work, 0, 29));
    EXPECT_TRUE(order.known_to_thread(work, 0, 30));
    EXPECT_FALSE(order.known_to_thread(work, other, 100));
  }
}

TEST(HappensBefore, OpsWithoutACallAreNotPlaced) {
  MemoryTrace t;
  const Id a = t.add_stream();
  const Id odd = append(t.trace, trace::Op{.kind = trace::kKernel, .stream_id = a});
  const Id op = t.op(10, a);
  const HappensBefore order{IssueOrder(t.trace)};
  EXPECT_FALSE(order.placed(odd));
  EXPECT_TRUE(order.placed(op));
  EXPECT_FALSE(order.ordered(odd, op));
  EXPECT_FALSE(order.ordered(op, odd));
}

TEST(HappensBefore, AnEmptyTraceHasNoOrder) {
  const Trace trace;
  const HappensBefore order{IssueOrder(trace)};
  EXPECT_TRUE(order.keeps_all_clocks());
}

// ---- Random programs against the rules read literally. STREAMSCOPE_RANDOM_PROGRAMS sets how many.

TEST(HappensBefore, RandomProgramsHaveTheOrderOfTheRules) {
  const char* wanted = std::getenv("STREAMSCOPE_RANDOM_PROGRAMS");
  const uint32_t programs = wanted ? static_cast<uint32_t>(std::atoi(wanted)) : 300;
  size_t ordered_pairs = 0, unordered_pairs = 0, redundant = 0, needed = 0;
  for (uint32_t seed = 0; seed < programs; ++seed) {
    const RandomProgram p = random_program(seed);
    const IssueOrder issued(p.t.trace);
    for (Relation relation : {Relation::kGuaranteed, Relation::kObserved}) {
      const auto rules = order_by_rules(
          p, relation == Relation::kGuaranteed ? HostRule::kAll : HostRule::kObserved);
      const HappensBefore order(issued, {.relation = relation});
      const HappensBefore searching(issued, {.relation = relation, .clock_budget_bytes = 0});
      ASSERT_TRUE(order.keeps_all_clocks());
      ASSERT_FALSE(searching.keeps_all_clocks());
      for (size_t i = 0; i < p.items.size(); ++i) {
        const ProgramItem& later = p.items[i];
        if (later.kind == ProgramItem::kOp) {
          for (size_t j = 0; j < p.items.size(); ++j) {
            if (p.items[j].kind != ProgramItem::kOp || j == i) continue;
            const Id from = p.items[j].id, to = later.id;
            const bool expected = j < i && rules[i][j];
            ASSERT_EQ(order.ordered(from, to), expected)
                << "seed " << seed << ": op " << from << " -> " << to;
            ASSERT_EQ(searching.ordered(from, to), expected)
                << "seed " << seed << ": op " << from << " -> " << to;
            if (p.items[j].stream != later.stream) {
              ASSERT_EQ(!order.path(from, to).empty(), expected);
            }
            ++(expected ? ordered_pairs : unordered_pairs);
          }
        }
        if (later.kind == ProgramItem::kSync) {
          for (size_t j = 0; j < i; ++j) {
            if (p.items[j].kind != ProgramItem::kOp) continue;
            ASSERT_EQ(order.known_at_return(p.items[j].id, later.id), rules[i][j])
                << "seed " << seed << ": op " << p.items[j].id << ", sync " << later.id;
          }
        }
        if (later.kind == ProgramItem::kWait && !later.void_wait &&
            relation == Relation::kGuaranteed) {
          // Redundant if every op that the record covers was known without the wait: the program
          // without this wait orders the same ops before it.
          RandomProgram without = p;
          without.items[i].record = kNoId;
          const Set alone = order_by_rules(without, HostRule::kAll)[i];
          bool implied = true;
          for (size_t j = 0; j < i; ++j)
            implied &= p.items[j].kind != ProgramItem::kOp || !rules[i][j] || alone[j];
          ASSERT_EQ(order.is_redundant_wait(later.id), implied)
              << "seed " << seed << ": wait " << later.id;
          ++(implied ? redundant : needed);
        }
      }
    }
  }
  if (wanted) return;
  EXPECT_GT(ordered_pairs, 100'000u);
  EXPECT_GT(unordered_pairs, 100'000u);
  EXPECT_GT(redundant, 500u);
  EXPECT_GT(needed, 500u);
}

}  // namespace
}  // namespace streamscope::analysis
