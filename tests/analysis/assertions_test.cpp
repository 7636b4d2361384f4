// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The answer of each kind of assertion where it holds, fails and cannot be evaluated.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/assertions/evaluate.h"
#include "analysis/iterations/iterations.h"
#include "memory_trace.h"
#include "support/trace_builder.h"
#include "support/units.h"

namespace streamscope::analysis {
namespace {

using test::kUs;
using test::TraceBuilder;
using testing::AllOf;
using testing::HasSubstr;

constexpr AssertionOutcome kHolds = AssertionOutcome::kHolds, kFails = AssertionOutcome::kFails,
                           kNotEvaluable = AssertionOutcome::kNotEvaluable;

AssertionResult answer(const Trace& trace, const std::string& text,
                       std::string_view iteration = "nvtx:step") {
  IterationRequest request;
  EXPECT_TRUE(parse(iteration, request));
  Analyses analyses(trace, request);
  return evaluate(analyses, {parse_assertion(text, "test")}).front();
}

// A program that repeats a step 12 times. Streams are "copies" and "math", times are host times:
// a step begins every 1000 ns and is an NVTX range of 900 ns. Device times are those of the call.
class Steps {
 public:
  static constexpr int kCount = 12;
  TraceBuilder builder;

  /// `step(builder, at, i)` makes the calls of step i, which begins at `at`.
  template <class Step>
  explicit Steps(Step step) {
    builder.meta("tier", "times");
    for (int i = 0; i < kCount; ++i) {
      const Ns at = 1000 * (i + 1);
      builder.at(at);
      step(builder, at, i);
      builder.range("step", at, at + 900);
    }
  }
  AssertionResult answer(const std::string& text, std::string_view iteration = "nvtx:step") const {
    return analysis::answer(builder.trace(), text, iteration);
  }
};

void launch(TraceBuilder& b, std::string_view stream, std::string_view name, Ns at) {
  b.stream(stream).kernel(name, at, at + 10);
}

// Every step gathers on one stream and computes on another one, without any order.
Steps independent() {
  return Steps([](TraceBuilder& b, Ns at, int) {
    launch(b, "copies", "AllGather_ring", at + 100);
    launch(b, "math", "gemm_large", at + 200);
  });
}

// The same, but the second stream waits for the first.
void waiting_step(TraceBuilder& b, Ns at) {
  launch(b, "copies", "AllGather_ring", at + 100);
  b.stream("copies").record("gathered");
  b.stream("math").wait("gathered");
  launch(b, "math", "gemm_large", at + 200);
}
Steps waiting() {
  return Steps([](TraceBuilder& b, Ns at, int) { waiting_step(b, at); });
}

// A stack for the newest row of a table, with one Python frame.
template <class Table>
void set_line(TraceBuilder& b, Table& table, std::string_view line) {
  const Id stack = b.add(trace::Stack{.process_id = 0, .hash = 1, .frame_count = 1});
  b.add(trace::StackFrame{
      .stack_id = stack, .depth = 0, .kind = trace::kPythonFrame, .symbol_id = b.intern(line)});
  table.stack_id.back() = stack;
}

// ---- may_overlap ----

constexpr const char* kOverlap = R"(may_overlap("AllGather*", "gemm*"))";

TEST(MayOverlap, HoldsIfNothingOrdersThePair) {
  const AssertionResult result = independent().answer(kOverlap);
  EXPECT_EQ(result.outcome, kHolds);
  EXPECT_EQ(result.measured, "in 12 of 12 iterations");
  EXPECT_EQ(result.text, "");
}

TEST(MayOverlap, FailsIfAWaitOrdersThem) {
  Steps steps = waiting();
  const Id operation = steps.builder.operation("gather", steps.builder.stream("math"));
  steps.builder.columns().operation.call_site_id[operation] =
      steps.builder.intern("/home/ada/train.py:41 step");
  steps.builder.columns().event_wait.operation_id[0] = operation;
  const AssertionResult result = steps.answer(kOverlap);
  EXPECT_EQ(result.outcome, kFails);
  EXPECT_EQ(result.measured, "in 0 of 12 iterations");
  EXPECT_THAT(result.text, AllOf(HasSubstr("in iteration 1 (of 12)"),
                                 HasSubstr("AllGather_ring on stream 7 copies comes before "
                                           "gemm_large on stream 8 math, through a wait of stream "
                                           "8 math for an event of stream 7 copies"),
                                 HasSubstr("train.py:41 step")));
  EXPECT_THAT(result.place.call_site, HasSubstr("train.py:41"));
}

TEST(MayOverlap, FailsInOneStream) {
  const AssertionResult result = Steps([](TraceBuilder& b, Ns at, int) {
                                   launch(b, "math", "AllGather", at + 100);
                                   launch(b, "math", "gemm", at + 200);
                                   set_line(b, b.columns().api_call, "train.py:7 step");
                                 }).answer(kOverlap);
  EXPECT_EQ(result.outcome, kFails);
  EXPECT_THAT(result.text, HasSubstr("in the same stream"));
  EXPECT_THAT(result.place.call_site, HasSubstr("train.py:7"));
}

TEST(MayOverlap, FailsThroughASynchronizationAndNamesItsLine) {
  const AssertionResult result = Steps([](TraceBuilder& b, Ns at, int) {
                                   launch(b, "copies", "AllGather", at + 100);
                                   b.stream("copies").synchronize(at + 10, at + 150);
                                   set_line(b, b.columns().host_sync, "train.py:9 step");
                                   launch(b, "math", "gemm", at + 200);
                                   set_line(b, b.columns().api_call, "train.py:10 step");
                                 }).answer(kOverlap);
  EXPECT_EQ(result.outcome, kFails);
  EXPECT_THAT(result.text, AllOf(HasSubstr("cudaStreamSynchronize"), HasSubstr("train.py:9 step")));
  EXPECT_THAT(result.place.call_site, HasSubstr("train.py:9"));
}

TEST(MayOverlap, HoldsIfTheWaitComesAfterOneOfSeveral) {
  // The first gemm runs beside the gather, the second one needs it.
  EXPECT_EQ(Steps([](TraceBuilder& b, Ns at, int) {
              launch(b, "math", "gemm_a", at + 100);
              waiting_step(b, at);
            })
                .answer(kOverlap)
                .outcome,
            kHolds);
}

TEST(MayOverlap, MustHoldInEveryIteration) {
  const AssertionResult result = Steps([](TraceBuilder& b, Ns at, int i) {
                                   if (i == 7) return waiting_step(b, at);
                                   launch(b, "copies", "AllGather_ring", at + 100);
                                   launch(b, "math", "gemm_large", at + 200);
                                 }).answer(kOverlap);
  EXPECT_EQ(result.outcome, kFails);
  EXPECT_EQ(result.measured, "in 11 of 12 iterations");
  EXPECT_THAT(result.text, HasSubstr("in iteration 8 (of 12)"));
}

TEST(MayOverlap, LeavesOutStartUpByItsCalls) {
  const Steps steps([](TraceBuilder& b, Ns at, int i) {
    if (i < 3) {
      b.malloc(0x1000 + i, 64);  // start-up: more allocations than usual
      return waiting_step(b, at);
    }
    launch(b, "copies", "AllGather_ring", at + 100);
    launch(b, "math", "gemm_large", at + 200);
  });
  EXPECT_EQ(steps.answer(kOverlap).measured, "in 9 of 9 iterations");
  EXPECT_EQ(steps.answer("allocations_per_iteration == 0").outcome, kHolds);
}

TEST(MayOverlap, LeavesOutAtMostHalfOfTheIterations) {
  // Each has more of something than usual: a call that allocates, one that blocks, or two ops.
  const Steps steps([](TraceBuilder& b, Ns at, int i) {
    if (i % 3 == 0) b.malloc(0x1000 + i, 64);
    if (i % 3 == 1) b.stream("other").synchronize(at, at + 5);
    if (i % 3 == 2) launch(b, "other", "extra", at + 5);
    waiting_step(b, at);
  });
  EXPECT_EQ(steps.answer(kOverlap).measured, "in 0 of 6 iterations");
}

TEST(MayOverlap, HoldsForCopiesOfDifferentDirectionsOnly) {
  const auto copies = [](test::CopyKind first, test::CopyKind second) {
    return Steps([=](TraceBuilder& b, Ns at, int) {
      b.stream("copies").memcpy(first, at + 100, at + 110);
      b.stream("math").memcpy(second, at + 100, at + 110);
    });
  };
  EXPECT_EQ(copies(test::kHtoD, test::kDtoH)
                .answer(R"(may_overlap("memcpy HtoD", "memcpy DtoH"))")
                .outcome,
            kHolds);
  const AssertionResult same =
      copies(test::kHtoD, test::kHtoD).answer(R"(may_overlap("memcpy*", "memcpy*"))");
  EXPECT_EQ(same.outcome, kFails);
  EXPECT_THAT(same.text, HasSubstr("share a copy engine"));
}

TEST(MayOverlap, NeedsBothOnOneDevice) {
  const Steps apart([](TraceBuilder& b, Ns at, int i) {
    if (i == 0) b.device("second");
    launch(b, "copies", "AllGather", at + 100);
  });
  TraceBuilder both = apart.builder;
  EXPECT_EQ(apart.answer(kOverlap).outcome, kNotEvaluable);
  TraceBuilder two;
  two.meta("tier", "times");
  for (Ns at : {1000, 2000}) {
    two.at(at);
    launch(two, "math", "gemm", at + 10);
    two.range("step", at, at + 900);
  }
  two.device("second");
  for (Ns at : {1100, 2100}) {
    two.at(at);
    launch(two, "copies", "AllGather", at + 10);
  }
  const AssertionResult result = answer(two.trace(), kOverlap);
  EXPECT_EQ(result.outcome, kNotEvaluable);
  EXPECT_THAT(result.text, HasSubstr("has work of both patterns on one device"));
}

TEST(MayOverlap, LooksAtTheWholeRunWithoutIterations) {
  EXPECT_EQ(independent().answer(kOverlap, "none").measured, "in the run");
  TraceBuilder b;
  b.meta("tier", "times").at(1000);
  waiting_step(b, 1000);
  const AssertionResult result = answer(b.trace(), kOverlap, "auto");
  EXPECT_EQ(result.outcome, kFails);
  EXPECT_EQ(result.measured, "nowhere in the run");
}

TEST(MayOverlap, IsNotEvaluableWithoutItsEvidence) {
  const AssertionResult unknown = independent().answer(R"(may_overlap("AllGather*", "conv*"))");
  EXPECT_EQ(unknown.outcome, kNotEvaluable);
  EXPECT_THAT(unknown.text, HasSubstr("no kernel or copy matches \"conv*\""));
  Steps lossy = independent();
  lossy.builder.loss("ring-full");
  EXPECT_EQ(lossy.answer(kOverlap).outcome, kNotEvaluable);
  EXPECT_THAT(lossy.answer(kOverlap).text, HasSubstr("ring-full"));
  Steps raced = waiting();
  raced.builder.columns().event_wait.binding[3] = trace::kAmbiguous;
  EXPECT_EQ(raced.answer(kOverlap).outcome, kNotEvaluable);
  const AssertionResult no_range = independent().answer(kOverlap, "nvtx:epoch");
  EXPECT_EQ(no_range.outcome, kNotEvaluable);
  EXPECT_THAT(no_range.text, HasSubstr("no NVTX range \"epoch\""));
  Steps unknown_call = independent();
  unknown_call.builder.columns().op.api_call_id[4] = trace::kNoId;
  EXPECT_THAT(unknown_call.answer(kOverlap).text, HasSubstr("the calls of 1 op"));
  Steps unfinished = independent();
  unfinished.builder.meta("finished", "0");
  EXPECT_EQ(unfinished.answer(kOverlap).outcome, kNotEvaluable);
}

TEST(MayOverlap, NeedsNoDeviceTimes) {
  Steps steps = independent();
  steps.builder.meta("tier", "structure");
  auto& ops = steps.builder.columns().op;
  for (Id op = 0; op < ops.size(); ++op) ops.start_ns[op] = ops.end_ns[op] = kUnknownNs;
  EXPECT_EQ(steps.answer(kOverlap).measured, "in 12 of 12 iterations");
}

// One launch of a graph "a -> b, a -> c" whose nodes have these names.
Trace graph(const char* a, const char* b, const char* c) {
  MemoryTrace t;
  t.trace.meta = {{"complete", "1"}, {"tier", "times"}};
  const Id graph = append(t.trace, trace::Graph{.process_id = 0, .executable = 1});
  const Id stream = t.add_stream();
  for (int launch = 0; launch < 3; ++launch) {
    Id call = kNoId;
    for (int node = 0; node < 3; ++node) {
      const char* name = node == 0 ? a : node == 1 ? b : c;
      const Id op = t.op(100 * (launch + 1), stream);
      if (node == 0) call = t.trace.op.api_call_id[op];
      if (launch == 0) {
        append(t.trace, trace::GraphNode{.graph_id = graph, .native_id = 70 + node, .kind = 0});
        if (node > 0) {
          append(t.trace,
                 trace::GraphEdge{
                     .graph_id = graph, .from_node_id = 0, .to_node_id = static_cast<Id>(node)});
        }
      }
      t.trace.api_call.kind[call] = 29;  // a launch of a graph
      t.trace.op.api_call_id[op] = call;
      t.trace.op.call_number[op] = t.trace.api_call.call_number[call];
      t.trace.op.graph_node[op] = 70 + node;
      t.trace.op.name_id[op] = t.text(name);
    }
  }
  return t.trace;
}

TEST(MayOverlap, FollowsTheEdgesOfAGraph) {
  EXPECT_EQ(answer(graph("start", "AllGather", "gemm"), kOverlap, "none").outcome, kHolds);
  const AssertionResult result = answer(graph("AllGather", "gemm", "other"), kOverlap, "none");
  EXPECT_EQ(result.outcome, kFails);
  EXPECT_THAT(result.text, HasSubstr("by the edges of their graph"));
}

// ---- may_overlap_across ----

constexpr const char* kAcross = R"(may_overlap_across("memcpy HtoD", "memcpy DtoH"))";

// A pipeline: a copy in, a kernel that waits for it, and a copy out that waits for the kernel. With
// `sync` the host waits for each step.
Steps pipeline(bool sync) {
  return Steps([=](TraceBuilder& b, Ns at, int) {
    b.stream("in").memcpy(test::kHtoD, at + 10, at + 20).record("loaded");
    b.stream("math").wait("loaded").kernel("gemm", at + 20, at + 30).record("done");
    b.stream("out").wait("done").memcpy(test::kDtoH, at + 30, at + 40);
    if (sync) b.stream("out").synchronize(at + 50, at + 60);
    if (sync) set_line(b, b.columns().host_sync, "train.py:77 step");
  });
}

TEST(MayOverlapAcross, HoldsForAPipeline) {
  const AssertionResult result = pipeline(false).answer(kAcross);
  EXPECT_EQ(result.outcome, kHolds) << result.text;
  EXPECT_EQ(result.measured, "in 11 of 11 iterations");
  EXPECT_EQ(pipeline(false).answer(R"(may_overlap("memcpy HtoD", "memcpy DtoH"))").outcome, kFails);
  // The order of the patterns does not matter.
  EXPECT_EQ(pipeline(false).answer(R"(may_overlap_across("memcpy DtoH", "memcpy HtoD"))").outcome,
            kHolds);
}

TEST(MayOverlapAcross, FailsIfEachStepWaitsForTheOneBefore) {
  const AssertionResult result = pipeline(true).answer(kAcross);
  EXPECT_EQ(result.outcome, kFails);
  EXPECT_EQ(result.measured, "in 0 of 11 iterations");
  EXPECT_THAT(result.text, AllOf(HasSubstr("in iteration 1 (of 12) and the next one"),
                                 HasSubstr("memcpy DtoH on stream 9 out comes before memcpy HtoD"),
                                 HasSubstr("cudaStreamSynchronize")));
  EXPECT_THAT(result.place.call_site, HasSubstr("train.py:77"));
}

TEST(MayOverlapAcross, NeedsIterations) {
  EXPECT_EQ(pipeline(false).answer(kAcross, "none").outcome, kNotEvaluable);
  EXPECT_EQ(pipeline(false).answer(kAcross, "nvtx:epoch").outcome, kNotEvaluable);
  EXPECT_EQ(pipeline(false).answer(R"(may_overlap_across("memcpy HtoD", "conv"))").outcome,
            kNotEvaluable);
}

// ---- ordered ----

constexpr const char* kOrdered = R"(ordered("AllGather*", "gemm*"))";

TEST(Ordered, HoldsIfEveryPairIsGuaranteed) {
  EXPECT_EQ(waiting().answer(kOrdered).outcome, kHolds);
  EXPECT_EQ(waiting().answer(kOrdered).measured, "in 12 of 12 iterations");
  EXPECT_EQ(answer(graph("AllGather", "gemm", "other"), kOrdered, "none").outcome, kHolds);
}

TEST(Ordered, FailsAndNamesThePairWithBothPlaces) {
  const AssertionResult result = Steps([](TraceBuilder& b, Ns at, int) {
                                   launch(b, "copies", "AllGather", at + 100);
                                   set_line(b, b.columns().api_call, "train.py:3 gather");
                                   launch(b, "math", "gemm", at + 200);
                                   set_line(b, b.columns().api_call, "train.py:5 compute");
                                 }).answer(kOrdered);
  EXPECT_EQ(result.outcome, kFails);
  EXPECT_EQ(result.measured, "in 0 of 12 iterations");
  EXPECT_THAT(result.text, AllOf(HasSubstr("nothing orders AllGather on stream 7 copies"),
                                 HasSubstr("train.py:3 gather"), HasSubstr("gemm on stream 8 math"),
                                 HasSubstr("train.py:5 compute")));
  EXPECT_THAT(result.place.call_site, HasSubstr("train.py:5"));
}

TEST(Ordered, DoesNotCountThatItWasSoInThisRun) {
  // The device times are in order, and the calls of another thread too.
  const Steps steps([](TraceBuilder& b, Ns at, int) {
    b.thread("loader").at(at + 10);
    launch(b, "copies", "AllGather", at + 100);
    b.stream("copies").synchronize(at + 20, at + 200);  // by this thread, not by the other
    b.thread("main").at(at + 500);
    launch(b, "math", "gemm", at + 600);
  });
  EXPECT_EQ(steps.answer(kOrdered).outcome, kFails);
}

TEST(Ordered, FailsForThreadsInEitherOrderOfTheirCalls) {
  // The other thread happens to be later in this run.
  const Steps steps([](TraceBuilder& b, Ns at, int) {
    b.thread("main").at(at + 10);
    launch(b, "math", "gemm", at + 600);
    b.thread("loader").at(at + 500);
    launch(b, "copies", "AllGather", at + 100);
    b.thread("main").at(at + 800);
  });
  EXPECT_EQ(steps.answer(kOrdered).outcome, kFails);
}

TEST(Ordered, LeavesOutWorkForTheNextIteration) {
  // The gather of the next step is issued after the gemm of this one and needs no order with it.
  const Steps prefetching([](TraceBuilder& b, Ns at, int) {
    waiting_step(b, at);
    launch(b, "copies", "AllGather_next", at + 300);
  });
  EXPECT_EQ(prefetching.answer(kOrdered).outcome, kHolds);
  const Steps only_next([](TraceBuilder& b, Ns at, int) {
    launch(b, "math", "gemm", at + 200);
    launch(b, "copies", "AllGather", at + 300);
  });
  const AssertionResult result = only_next.answer(kOrdered);
  EXPECT_EQ(result.outcome, kNotEvaluable);
  EXPECT_THAT(result.text, HasSubstr("work of \"gemm*\" is always issued before"));
}

TEST(Ordered, FailsForOneOfSeveral) {
  const Steps steps([](TraceBuilder& b, Ns at, int i) {
    waiting_step(b, at);
    if (i == 5) launch(b, "copies", "AllGather_extra", at + 300);
    if (i == 5) launch(b, "math", "gemm_extra", at + 400);
  });
  const AssertionResult result = steps.answer(kOrdered);
  EXPECT_EQ(result.outcome, kFails);
  EXPECT_EQ(result.measured, "in 11 of 12 iterations");
  EXPECT_THAT(result.text, AllOf(HasSubstr("iteration 6"), HasSubstr("AllGather_extra"),
                                 HasSubstr("gemm_extra")));
}

TEST(Ordered, FailsForBranchesOfAGraph) {
  EXPECT_EQ(answer(graph("start", "AllGather", "gemm"), kOrdered, "none").outcome, kFails);
}

// ---- no_sync_in ----

TEST(NoSync, HoldsWithoutBlockingCalls) {
  const Steps steps([](TraceBuilder& b, Ns at, int) {
    launch(b, "math", "gemm", at + 10);
    b.stream("math").record("done");
    b.query_event("done", false);
    b.at(at + 950).synchronize_event("done", at + 950, at + 960);  // between the ranges
  });
  EXPECT_EQ(steps.answer(R"(no_sync_in("nvtx:step"))").outcome, kHolds);
  EXPECT_EQ(steps.answer(R"(no_sync_in("nvtx:step"))").measured, "0 blocking calls in 12 ranges");
}

TEST(NoSync, FailsAndNamesTheCallsWithTheirLines) {
  const Steps steps([](TraceBuilder& b, Ns at, int i) {
    launch(b, "math", "gemm", at + 10);
    b.stream("math").synchronize(at + 20, at + 30);
    set_line(b, b.columns().host_sync, "train.py:41 step");
    if (i != 3) return;
    b.add(trace::HostSync{.thread_id = 0,
                          .kind = trace::kSynchronousCopy,
                          .name_id = b.intern("cudaMemcpy"),
                          .start_ns = at + 40,
                          .end_ns = at + 50,
                          .result = 0,
                          .call_number = 100'000});
  });
  for (const char* text : {R"(no_sync_in("nvtx:step"))", R"(no_sync_in("iteration"))"}) {
    const AssertionResult result = steps.answer(text);
    EXPECT_EQ(result.outcome, kFails) << text;
    EXPECT_THAT(result.measured, HasSubstr("13 blocking calls in 12"));
    EXPECT_THAT(result.text,
                AllOf(HasSubstr("cudaStreamSynchronize 12 times from train.py:41 step"),
                      HasSubstr("cudaMemcpy 1 time")));
    EXPECT_THAT(result.place.call_site, HasSubstr("train.py:41"));
  }
}

TEST(NoSync, InARangeIsAboutItsThread) {
  const Steps steps([](TraceBuilder& b, Ns at, int) {
    launch(b, "math", "gemm", at + 10);
    b.thread("other").stream("math").synchronize(at + 20, at + 30);
    b.thread("main");
  });
  EXPECT_EQ(steps.answer(R"(no_sync_in("nvtx:step"))").outcome, kHolds);
  EXPECT_EQ(steps.answer(R"(no_sync_in("iteration"))").outcome, kFails);
}

TEST(NoSync, FindsRangesWithNumbers) {
  Steps steps([](TraceBuilder& b, Ns at, int) {
    launch(b, "math", "gemm", at + 10);
    b.stream("math").synchronize(at + 20, at + 30);
  });
  for (size_t i = 0; i < Steps::kCount; ++i)
    steps.builder.columns().range.name_id[i] = steps.builder.intern("step " + std::to_string(i));
  for (const auto* how : {"nvtx:step", "auto"}) {
    for (const auto* text : {R"(no_sync_in("nvtx:step"))", R"(no_sync_in("iteration"))"}) {
      const AssertionResult result = steps.answer(text, how);
      EXPECT_THAT(result.measured, HasSubstr("12 blocking calls in 12")) << text << how;
    }
  }
  EXPECT_THAT(steps.answer(R"(no_sync_in("nvtx:step 3"))").measured,
              HasSubstr("1 blocking call in 1"));
}

TEST(NoSync, IsNotEvaluableWithoutThePart) {
  const AssertionResult result = independent().answer(R"(no_sync_in("nvtx:forward"))");
  EXPECT_EQ(result.outcome, kNotEvaluable);
  EXPECT_THAT(result.text, HasSubstr("no NVTX range \"forward\""));
  EXPECT_EQ(independent().answer(R"(no_sync_in("iteration"))", "none").outcome, kNotEvaluable);
  EXPECT_EQ(independent().answer(R"(no_sync_in("iteration"))", "nvtx:x").outcome, kNotEvaluable);
}

// ---- counts ----

TEST(Counts, CompareEveryIterationWithTheLimit) {
  const Steps steps([](TraceBuilder& b, Ns at, int i) {
    for (int n = 0; n < (i == 9 ? 4 : 3); ++n) launch(b, "math", "gemm", at + 10 * n);
    b.stream("math").synchronize(at + 100, at + 110);
    b.malloc(0x1000, 64).free(0x1000);
  });
  EXPECT_EQ(steps.answer("launches_per_iteration <= 4").outcome, kHolds);
  const AssertionResult launches = steps.answer("launches_per_iteration <= 3");
  EXPECT_EQ(launches.outcome, kFails);
  EXPECT_EQ(launches.measured, "3 to 4, median 3");
  EXPECT_THAT(launches.text, AllOf(HasSubstr("1 of 12 iterations are outside the limit"),
                                   HasSubstr("iteration 10 (of 12) has 4 launching calls"),
                                   HasSubstr("cudaLaunchKernel 4 times")));
  EXPECT_EQ(steps.answer("launches_per_iteration == 3").outcome, kFails);
  EXPECT_EQ(steps.answer("launches_per_iteration >= 3").outcome, kHolds);
  EXPECT_EQ(steps.answer("syncs_per_iteration < 1").outcome, kFails);
  EXPECT_EQ(steps.answer("syncs_per_iteration == 1").measured, "1 in each iteration");
  EXPECT_EQ(steps.answer("allocations_per_iteration == 2").outcome, kHolds);
  const AssertionResult allocations = steps.answer("allocations_per_iteration == 0");
  EXPECT_EQ(allocations.outcome, kFails);
  EXPECT_THAT(allocations.text,
              AllOf(HasSubstr("cudaMalloc 1 time"), HasSubstr("cudaFree 1 time")));
}

TEST(Counts, AreNotEvaluableWithoutIterations) {
  for (const char* text : {"launches_per_iteration <= 3", "syncs_per_iteration <= 3",
                           "allocations_per_iteration <= 3"}) {
    EXPECT_EQ(independent().answer(text, "none").outcome, kNotEvaluable);
    EXPECT_EQ(independent().answer(text, "nvtx:epoch").outcome, kNotEvaluable);
    Steps lossy = independent();
    lossy.builder.loss("ring-full");
    EXPECT_EQ(lossy.answer(text).outcome, kNotEvaluable);
  }
}

TEST(Counts, LeaveOutOtherProcesses) {
  Steps steps = independent();
  steps.builder.process("other").at(3000);
  for (int i = 0; i < 5; ++i) launch(steps.builder, "theirs", "gemm", 3100);
  EXPECT_EQ(steps.answer("launches_per_iteration == 2").outcome, kHolds);
}

// ---- max_bound ----

// Steps of 100 µs in which the device computes for `busy_us` and the host pauses for the rest.
Trace paced(Ns busy_us) {
  TraceBuilder b;
  b.meta("tier", "times");
  for (Ns i = 0; i < 12; ++i) {
    const Ns at = i * 1000 * kUs;
    b.at(at);
    b.stream("math").kernel("gemm", at + 5 * kUs, at + (5 + busy_us) * kUs);
    b.stream("math").synchronize(at + 10 * kUs, at + (6 + busy_us) * kUs);
    b.range("step", at, at + 999 * kUs);
  }
  return b.trace();
}

TEST(MaxBound, ComparesTheShareOfTheIteration) {
  EXPECT_EQ(answer(paced(950), R"(max_bound("host") <= 20 %)").outcome, kHolds);
  EXPECT_EQ(answer(paced(950), R"(max_bound("kernels") <= 80 %)").outcome, kFails);
  const AssertionResult result = answer(paced(300), R"(max_bound("host") <= 20 %)");
  EXPECT_EQ(result.outcome, kFails);
  EXPECT_THAT(result.text, AllOf(HasSubstr("an iteration of 1.00 ms"), HasSubstr("host")));
  EXPECT_EQ(answer(paced(300), R"(max_bound("device") <= 40 %)").outcome, kHolds);
}

TEST(MaxBound, NeedsTimesAndIterations) {
  EXPECT_EQ(answer(paced(300), R"(max_bound("host") <= 99 %)", "none").outcome, kNotEvaluable);
  Steps steps = independent();
  steps.builder.meta("tier", "structure");
  const AssertionResult result = steps.answer(R"(max_bound("host") <= 99 %)");
  EXPECT_EQ(result.outcome, kNotEvaluable);
  EXPECT_THAT(result.text, HasSubstr("needs times"));
}

TEST(Bounds, CoverEveryShareOnce) {
  std::vector<size_t> seen(kShareCount);
  for (const Bound& bound : bounds()) {
    if (bound.name != "host" && bound.name != "device") {
      ASSERT_EQ(bound.shares.size(), 1u);
      ++seen[static_cast<size_t>(bound.shares[0])];
    }
  }
  EXPECT_THAT(seen, testing::Each(1u));
}

}  // namespace
}  // namespace streamscope::analysis
