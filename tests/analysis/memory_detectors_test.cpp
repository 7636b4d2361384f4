// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Accesses of memory without an order: each detector finds its mistake and is silent on the fixed
// program; on random programs races are found exactly where brute force finds them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "memory_places.h"
#include "random_program.h"
#include "run_detector.h"

namespace streamscope::analysis {
namespace {

using test::kDtoD;
using test::kDtoH;
using test::kHtoD;
using test::TraceBuilder;
using testing::HasSubstr;

// --- stream-race

TraceBuilder race(bool repaired, trace::Int distance = 0) {
  TraceBuilder builder;
  builder.stream("copies").memcpy(kHtoD, 100, 200, 64).writes(kA, 64).record("loaded");
  if (repaired) builder.stream("math").wait("loaded");
  builder.stream("math").memset(150, 250, 64).writes(kA + distance, 64);
  return builder;
}

TEST(StreamRace, NamesBothOpsTheMemoryAndTheMissingEdge) {
  const Verdict verdict = run("stream-race", race(false, 32));
  ASSERT_EQ(verdict.findings.size(), 1u);
  const Finding& finding = verdict.findings[0];
  EXPECT_EQ(finding.title,
            "memcpy HtoD on stream 7 copies and memset on stream 8 math access the same memory "
            "without ordering");
  EXPECT_THAT(finding.text, HasSubstr("32 B at 0x7f0000000020"));
  EXPECT_THAT(finding.text,
              HasSubstr("Record an event on stream 7 copies after memcpy HtoD and let "
                        "stream 8 math wait for it before memset."));
  EXPECT_THAT(finding.text, HasSubstr("on thread main"));
  EXPECT_EQ(finding.first_op, 0u);
  EXPECT_EQ(finding.second_op, 1u);
  EXPECT_EQ(finding.confidence, Confidence::kCertain);
  EXPECT_EQ(finding.count, 1u);
}

TEST(StreamRace, StaysSilentWhenAnEventOrdersThemOrTheyTouchOtherMemory) {
  EXPECT_EQ(run("stream-race", race(true)).outcome, Outcome::kClean);
  EXPECT_EQ(run("stream-race", race(false, 64)).outcome, Outcome::kClean);
  TraceBuilder reads;
  reads.stream("a").memcpy(kDtoD, 1, 2).reads(kA, 64);
  reads.stream("b").memcpy(kDtoD, 1, 2).reads(kA, 64);
  EXPECT_EQ(run("stream-race", reads).outcome, Outcome::kClean);
}

TEST(StreamRace, IsOneOfItsTwoCallsWhileTheyTouchTheSameBytes) {
  for (const trace::Int distance : {0, 64}) {
    const trace::Trace trace = race(false, distance).trace();
    Analyses analyses(trace);
    const MemoryConflicts& conflicts = analyses.memory_conflicts();
    const Id first = trace.op.api_call_id[0], second = trace.op.api_call_id[1];
    EXPECT_EQ(is_race_of(conflicts, trace, first, second), distance == 0);
    EXPECT_FALSE(is_race_of(conflicts, trace, second, first)) << "in the order of their calls";
    EXPECT_FALSE(is_race_of(conflicts, trace, first, kNoId));
  }
}

TEST(StreamRace, CountsALoopOnceInBothDirections) {
  TraceBuilder builder;
  for (int i = 0; i < 5; ++i) {
    builder.stream("a").memset(100, 200).writes(kA, 64);
    builder.stream("b").memcpy(kDtoD, 150, 250).reads(kA, 64);
  }
  const Verdict verdict = run("stream-race", builder);
  ASSERT_EQ(verdict.findings.size(), 1u);
  EXPECT_EQ(verdict.findings[0].count, 9u);
}

TEST(StreamRace, ChecksEveryReaderSinceTheLastWrite) {
  TraceBuilder builder;
  for (const char* stream : {"a", "b", "c"})
    builder.stream(stream).memcpy(kDtoD, 1, 2).reads(kA, 64).record(stream);
  builder.stream("w").wait("a").wait("c").memset(10, 20).writes(kA, 64);
  const Verdict verdict = run("stream-race", builder);
  ASSERT_EQ(verdict.findings.size(), 1u);
  EXPECT_THAT(verdict.findings[0].title, HasSubstr("stream 8 b"));
}

TEST(StreamRace, ChecksTheRowsOfAPlaneAndNotTheGaps) {
  for (const trace::Int offset : {0, 16}) {
    TraceBuilder builder;
    for (const char* stream : {"a", "b"}) {
      builder.stream(stream).memset(1, 2).writes(kA + (stream[0] == 'b' ? offset : 0), 16);
      auto& access = builder.columns().access;
      access.rows.back() = 8;
      access.pitch_bytes.back() = 32;
    }
    EXPECT_EQ(run("stream-race", builder).outcome, offset == 0 ? Outcome::kFound : Outcome::kClean);
  }
}

TEST(StreamRace, AppliesAnOperationsDeclarationToAllOfItsOps) {
  for (const bool repaired : {false, true}) {
    TraceBuilder builder;
    auto math = builder.stream("math");
    const trace::Id operation = builder.operation("step", math);
    math.kernel("a", 100, 200);
    builder.add(trace::OperationOp{.operation_id = operation, .op_id = math.last_op()});
    if (!repaired) math.record("too early");
    math.kernel("b", 200, 300);
    builder.add(trace::OperationOp{.operation_id = operation, .op_id = math.last_op()});
    if (repaired) math.record("done");
    builder.add(trace::Access{.process_id = 0,
                              .thread_id = 0,
                              .source = 1,
                              .writes = 1,
                              .address = kA,
                              .bytes = 64,
                              .operation_id = operation});
    builder.stream("out")
        .wait(repaired ? "done" : "too early")
        .memcpy(kDtoH, 250, 350)
        .reads(kA, 64);
    EXPECT_EQ(run("stream-race", builder).outcome, repaired ? Outcome::kClean : Outcome::kFound);
  }
}

TEST(StreamRace, FollowsGraphLaunchesToTheCallsThatWereCaptured) {
  for (const bool nodes : {false, true}) {
    TraceBuilder builder;
    const trace::Id graph = builder.add(trace::Graph{
        .process_id = 0, .native_id = 6, .executable = 1, .handle = 0x600, .created_ns = 0});
    builder.add(
        trace::GraphNode{.graph_id = graph, .native_id = 77, .kind = 2, .call_number = 1000});
    builder.add(trace::Access{.process_id = 0,
                              .thread_id = 0,
                              .source = 0,
                              .writes = 1,
                              .address = kA,
                              .bytes = 64,
                              .call_number = 1000});
    builder.stream("a").at(10).graph_launch(100, 200);
    builder.columns().api_call.object.back() = 0x600;
    if (nodes) {
      builder.columns().op.kind.back() = trace::kMemset;
      builder.columns().op.graph_node.back() = 77;
    }
    builder.stream("b").memcpy(kDtoH, 150, 250).reads(kA, 64);
    EXPECT_EQ(run("stream-race", builder).outcome, Outcome::kFound) << nodes;
  }
}

TEST(StreamRace, KnowsTheParametersOfKernelsInGraphsByTheNodesNames) {
  TraceBuilder builder;
  builder.meta("kernel_arguments", "1").malloc(kA, 4096);
  const trace::Id graph = builder.add(trace::Graph{
      .process_id = 0, .native_id = 6, .executable = 1, .handle = 0x600, .created_ns = 0});
  builder.add(trace::GraphNode{.graph_id = graph,
                               .native_id = 77,
                               .kind = 0,
                               .name_id = builder.intern("_Z3getPKf"),
                               .call_number = 1000});
  builder.add(trace::Access{.process_id = 0,
                            .thread_id = 0,
                            .source = 3,
                            .address = kA,
                            .call_number = 1000,
                            .parameter = 0});
  builder.stream("a").at(10).graph_launch(100, 200);
  builder.columns().api_call.object.back() = 0x600;
  builder.stream("b").memcpy(kHtoD, 150, 250).writes(kA, 8);
  const Verdict verdict = run("stream-race", builder);
  ASSERT_EQ(verdict.findings.size(), 1u);
  EXPECT_EQ(verdict.findings[0].confidence, Confidence::kPossible);
  EXPECT_THAT(verdict.findings[0].text, HasSubstr("may read"));
  builder.meta("kernel_arguments", "0").columns().access.address[0] = 0;
  EXPECT_EQ(run("stream-race", builder).outcome, Outcome::kNotAtThisTier);
}

TEST(StreamRace, TreatsKernelParametersAsPossibleUsesAlsoIfTheyPointToConst) {
  const auto verdict_of = [](const char* kernel, trace::Int copied) {
    TraceBuilder builder;
    builder.meta("kernel_arguments", "1").malloc(kA, 4096);
    builder.stream("math").kernel(kernel, 100, 200).parameter(0, kA).parameter(1, 0x123456789);
    builder.stream("copies").memcpy(kHtoD, 150, 250).writes(copied, 64);
    return run("stream-race", builder);
  };
  const Verdict written = verdict_of("_Z3putPf", kA + 1024);
  ASSERT_EQ(written.findings.size(), 1u);
  EXPECT_EQ(written.findings[0].confidence, Confidence::kPossible);
  EXPECT_THAT(written.findings[0].title, HasSubstr("may access the same memory"));
  EXPECT_THAT(written.findings[0].text, HasSubstr("the bytes that a kernel accesses"));
  // Reads from there on, perhaps as far as the copy, and not even its first byte for certain.
  EXPECT_EQ(verdict_of("_Z3getPKf", kA + 1024).findings.at(0).confidence, Confidence::kPossible);
  const Verdict read = verdict_of("_Z3getPKf", kA);
  ASSERT_EQ(read.findings.size(), 1u);
  EXPECT_EQ(read.findings[0].confidence, Confidence::kPossible);
  EXPECT_EQ(verdict_of("_Z3putPf", kA + 4096).outcome, Outcome::kClean);
}

TEST(StreamRace, ReportsACertainRaceDespiteAPossibleOne) {
  TraceBuilder builder;
  builder.meta("kernel_arguments", "1").malloc(kA, 4096);
  builder.stream("a").memset(100, 200).writes(kA, 64).record("set");
  builder.stream("b").wait("set").kernel("_Z3putPf", 200, 300).parameter(0, kA).record("put");
  builder.stream("c").memset(100, 200).writes(kA, 64);
  const Verdict verdict = run("stream-race", builder);
  ASSERT_EQ(verdict.findings.size(), 2u);
  EXPECT_EQ(verdict.findings[0].confidence == Confidence::kCertain ||
                verdict.findings[1].confidence == Confidence::kCertain,
            true);
}

TEST(StreamRace, IsNotEvaluatedIfKernelAccessesAreUnknown) {
  TraceBuilder builder = race(true);
  builder.stream("math").kernel("k", 300, 400);
  const Verdict verdict = run("stream-race", builder);
  EXPECT_EQ(verdict.outcome, Outcome::kNotAtThisTier);
  EXPECT_THAT(verdict.reason, HasSubstr("the accesses of 1 kernel"));
  builder.meta("kernel_arguments", "1");
  EXPECT_EQ(run("stream-race", builder).outcome, Outcome::kClean);
  TraceBuilder nothing;
  nothing.stream("a").kernel("k", 1, 2);
  EXPECT_EQ(run("stream-race", nothing).outcome, Outcome::kNotAtThisTier);
}

TEST(StreamRace, BehindAMemoryWaitOfUnknownWriterIsOnlyPossible) {
  TraceBuilder builder;
  builder.stream("a").memset(100, 200).writes(kA, 64);
  builder.stream("b").memory_wait(0x1000, 1, 50, 260).memset(300, 400).writes(kA, 64);
  EXPECT_EQ(run("stream-race", builder).findings.at(0).confidence, Confidence::kPossible);
}

TEST(StreamRace, BehindAHostFunctionThatTheHostMayHaveWaitedForIsOnlyPossible) {
  const auto confidence = [](Ns first_ends, bool with_function, bool behind) {
    TraceBuilder builder;
    auto copies = builder.stream("copies"), other = builder.stream("other");
    if (with_function && !behind) copies.host_function(first_ends, first_ends + 1);
    copies.memcpy(kDtoH, 1, first_ends, 64).writes(kA, 64);
    if (with_function && behind) {
      copies.record("copied");
      other.wait("copied").host_function(first_ends, first_ends + 1);
    }
    builder.at(600).stream("second").memcpy(kDtoH, 700, 800, 64).writes(kA, 64);
    return run("stream-race", builder).findings.at(0).confidence;
  };
  EXPECT_EQ(confidence(400, true, true), Confidence::kPossible);
  EXPECT_EQ(confidence(trace::kUnknownNs, true, true), Confidence::kPossible);
  EXPECT_EQ(confidence(400, false, false), Confidence::kCertain);
  EXPECT_EQ(confidence(400, true, false), Confidence::kCertain) << "it runs before the copy";
  EXPECT_EQ(confidence(750, true, true), Confidence::kCertain)
      << "the first copy was under way when the second was issued, so the function had not run";
}

TEST(StreamRace, FindsTheWriteForAMemoryWaitAlsoIfItNeverRan) {
  for (const bool repaired : {false, true}) {
    TraceBuilder builder;
    auto left = builder.stream("left"), right = builder.stream("right");
    left.memory_wait(0x1000, 1, 100, trace::kUnknownNs);
    if (repaired) right.memset(100, 200).writes(kA, 64);
    left.memset(trace::kUnknownNs, trace::kUnknownNs).writes(kA, 64);
    left.memory_write(0x2000, 1, trace::kUnknownNs, trace::kUnknownNs);
    right.memory_wait(0x2000, 1, 300, trace::kUnknownNs);
    right.memory_write(0x1000, 1, trace::kUnknownNs, trace::kUnknownNs);
    if (!repaired) builder.stream("other").memset(100, 200).writes(kA, 64);
    const Verdict verdict = run("stream-race", builder);
    EXPECT_EQ(verdict.findings.size(), repaired ? 0u : 1u);
  }
}

TEST(PointsToConst, ReadsParametersOfNames) {
  // void scale<float>(float const*, Pair<int, float const*>, float*, float const&, float const*
  // const*)
  const char* name = "_Z5scaleIfEvPKT_4PairIiS2_EPS0_RS1_PKS2_";
  EXPECT_TRUE(points_to_const(name, 0));
  EXPECT_FALSE(points_to_const(name, 1));
  EXPECT_FALSE(points_to_const(name, 2));
  EXPECT_FALSE(points_to_const(name, 3));
  EXPECT_TRUE(points_to_const(name, 4));
  EXPECT_FALSE(points_to_const(name, 5));
  EXPECT_FALSE(points_to_const("gemm", 0));
  EXPECT_TRUE(points_to_const("_ZN12_GLOBAL__N_13getEPKf", 0));
  EXPECT_TRUE(points_to_const("(anonymous namespace)::get(float const*, float*)", 0));
  EXPECT_FALSE(points_to_const("(anonymous namespace)::get(float const*, float*)", 1));
}

// --- host-race

TEST(HostRace, FindsAResultReadBeforeItsCopyIsKnownToHaveEnded) {
  for (const bool repaired : {false, true}) {
    TraceBuilder builder;
    builder.stream("out").at(100).memcpy(kDtoH, 150, 250).writes(kB, 64);
    if (repaired) builder.stream("out").synchronize(110, 300);
    builder.host_reads(kB + 32, 4);
    const Verdict verdict = run("host-race", builder);
    EXPECT_EQ(verdict.outcome, repaired ? Outcome::kClean : Outcome::kFound);
    if (repaired) continue;
    EXPECT_THAT(verdict.findings[0].title, HasSubstr("host code on thread main"));
    EXPECT_THAT(verdict.findings[0].text, HasSubstr("Synchronize with stream 7 out"));
    EXPECT_EQ(verdict.findings[0].first_op, 0u);
    EXPECT_EQ(verdict.findings[0].confidence, Confidence::kCertain);
  }
}

TEST(HostRace, FindsASourceThatIsOverwrittenWhileItIsCopied) {
  for (const bool pageable : {false, true}) {
    TraceBuilder builder;
    builder.stream("in").at(100).memcpy(kHtoD, 150, 250).reads(kB, 64);
    if (pageable) builder.columns().op.memory_kinds.back() = 1 << 4 | 3;  // staged by the call
    builder.host_writes(kB, 64);
    EXPECT_EQ(run("host-race", builder).outcome, pageable ? Outcome::kClean : Outcome::kFound);
  }
}

TEST(HostRace, TreatsHostCodeBeforeTheCallAsDone) {
  TraceBuilder builder;
  builder.at(100).host_writes(kB, 64);
  builder.stream("in").memcpy(kHtoD, 150, 250).reads(kB, 64);
  EXPECT_EQ(run("host-race", builder).outcome, Outcome::kClean);
  // Another thread accesses it during the call.
  builder.thread("other").at(0);
  builder.columns().access.start_ns[0] = 101;
  builder.columns().access.thread_id[0] = 1;
  builder.columns().api_call.end_ns[0] = 102;
  EXPECT_EQ(run("host-race", builder).outcome, Outcome::kFound);
}

TEST(HostRace, IsNotEvaluatedWithoutHostAccesses) {
  const Verdict verdict = run("host-race", race(true));
  EXPECT_EQ(verdict.outcome, Outcome::kNotAtThisTier);
  EXPECT_THAT(verdict.reason, HasSubstr("coord::host_access"));
}

// --- use-before-alloc

TEST(UseBeforeAlloc, FindsAUseOnAnotherStreamThatNothingOrdersAfterTheAllocation) {
  for (const bool repaired : {false, true}) {
    TraceBuilder builder;
    builder.stream("pool").malloc_async(kA, 256).record("made");
    if (repaired) builder.stream("math").wait("made");
    builder.stream("math").memset(100, 200).writes(kA + 16, 64);
    const Verdict verdict = run("use-before-alloc", builder);
    EXPECT_EQ(verdict.outcome, repaired ? Outcome::kClean : Outcome::kFound);
    if (repaired) continue;
    EXPECT_EQ(verdict.findings.size(), 1u);
    EXPECT_THAT(verdict.findings[0].title, HasSubstr("memset on stream 8 math uses memory that "
                                                     "cudaMallocAsync on stream 7 pool"));
    EXPECT_EQ(verdict.findings[0].confidence, Confidence::kCertain);
  }
}

TEST(UseBeforeAlloc, StaysSilentOnTheStreamOfTheAllocationAndAfterASynchronization) {
  TraceBuilder builder;
  builder.stream("pool").malloc_async(kA, 256).memset(100, 200).writes(kA, 64);
  builder.stream("pool").synchronize(210, 220);
  builder.stream("math").memset(300, 400).writes(kA, 64);
  EXPECT_EQ(run("use-before-alloc", builder).outcome, Outcome::kClean);
}

TEST(UseBeforeAlloc, TreatsAReleaseAsAUse) {
  for (const bool repaired : {false, true}) {
    TraceBuilder builder;
    builder.stream("pool").malloc_async(kA, 256).memset(100, 200).writes(kB, 64).record("made");
    if (repaired) builder.stream("other").wait("made");
    builder.stream("other").free_async(kA);
    const Verdict verdict = run("use-before-alloc", builder);
    EXPECT_EQ(verdict.outcome, repaired ? Outcome::kClean : Outcome::kFound);
    if (repaired) continue;
    EXPECT_THAT(verdict.findings[0].title, HasSubstr("cudaFreeAsync on stream 8 other"));
  }
}

// --- use-after-free

TEST(UseAfterFree, FindsAFreeThatIsNotOrderedAfterAUse) {
  for (const bool repaired : {false, true}) {
    TraceBuilder builder;
    builder.stream("pool").malloc_async(kA, 256).record("made");
    builder.stream("math").wait("made").memset(100, 200).writes(kA, 64).record("used");
    if (repaired) builder.stream("pool").wait("used");
    builder.stream("pool").free_async(kA);
    const Verdict verdict = run("use-after-free", builder);
    EXPECT_EQ(verdict.outcome, repaired ? Outcome::kClean : Outcome::kFound);
    if (repaired) continue;
    EXPECT_EQ(verdict.findings.size(), 1u);
    EXPECT_THAT(verdict.findings[0].title, HasSubstr("frees memory"));
    EXPECT_THAT(verdict.findings[0].text, HasSubstr("let stream 7 pool wait"));
  }
}

TEST(UseAfterFree, FindsAUseIssuedAfterTheFreeUntilTheMemoryIsReused) {
  TraceBuilder builder;
  builder.stream("pool").malloc_async(kA, 256).free_async(kA);
  builder.stream("pool").malloc_async(kA, 128).memset(100, 200).writes(kA, 64).free_async(kA);
  EXPECT_EQ(run("use-after-free", builder).outcome, Outcome::kClean);
  builder.stream("pool").memset(300, 400).writes(kA, 64);
  builder.columns().op.detail.back() = kDevice;
  const Verdict verdict = run("use-after-free", builder);
  ASSERT_EQ(verdict.findings.size(), 1u);
  EXPECT_THAT(verdict.findings[0].title, HasSubstr("uses memory after cudaFreeAsync"));
}

TEST(UseAfterFree, KnowsThatCudaFreeWaitsButNotForWhatComesLater) {
  TraceBuilder builder;
  builder.malloc(kA, 256);
  builder.stream("math").memset(100, 200).writes(kA, 64);
  builder.free(kA);
  EXPECT_EQ(run("use-after-free", builder).outcome, Outcome::kClean);
  builder.stream("math").memset(300, 400).writes(kA, 64);
  EXPECT_EQ(run("use-after-free", builder).outcome, Outcome::kFound);
  // Stream-ordered memory that cudaFree releases is not waited for.
  for (const bool repaired : {false, true}) {
    TraceBuilder pool;
    pool.stream("pool").malloc_async(kA, 256).memset(100, 200).writes(kA, 64);
    if (repaired) pool.stream("pool").synchronize(300, 301);
    pool.free(kA);
    EXPECT_EQ(run("use-after-free", pool).outcome, repaired ? Outcome::kClean : Outcome::kFound);
  }
}

TEST(UseAfterFree, DoesNotTreatTheLegacyStreamAsABarrierForAllocations) {
  TraceBuilder builder;
  builder.stream("b", trace::kBlockingStream).malloc_async(kA, 256).memset(1, 2).writes(kA, 64);
  builder.stream("legacy", trace::kLegacyStream).free_async(kA);
  EXPECT_EQ(run("use-after-free", builder).outcome, Outcome::kFound);
}

// --- random programs

TEST(MemoryConflicts, MatchBruteForce) {
  size_t races = 0, clean = 0;
  for (uint32_t seed = 0; seed < 300; ++seed) {
    RandomProgram program = random_program(seed);
    std::mt19937 random(seed + 1000);
    const std::vector<Set> before = order_by_rules(program, HostRule::kObserved);
    struct Touch {
      size_t item;
      trace::Int begin, end;
      bool write;
    };
    std::vector<Touch> touches;
    Trace& trace = program.t.trace;
    for (size_t i = 0; i < program.items.size(); ++i) {
      if (program.items[i].kind != ProgramItem::kOp || random() % 8 != 0) continue;
      const trace::Int begin = kA + random() % 64, end = begin + 1 + random() % 32;
      const bool write = random() % 3 == 0;
      touches.push_back({i, begin, end, write});
      append(trace, trace::Access{.process_id = trace.process_of_stream(program.items[i].stream),
                                  .thread_id = program.items[i].thread,
                                  .source = 0,
                                  .writes = write ? 1 : 0,
                                  .address = begin,
                                  .bytes = end - begin,
                                  .call_number = trace.op.call_number[program.items[i].id]});
    }
    bool expected = false;
    for (size_t b = 0; b < touches.size(); ++b) {
      for (size_t a = 0; a < b; ++a) {
        const Touch &x = touches[a], &y = touches[b];
        if (x.begin < y.end && y.begin < x.end && (x.write || y.write) &&
            trace.process_of_stream(program.items[x.item].stream) ==
                trace.process_of_stream(program.items[y.item].stream) &&
            !before[y.item][x.item] && program.items[x.item].stream != program.items[y.item].stream)
          expected = true;
      }
    }
    const IssueOrder order(trace);
    const HappensBefore observed(order, {.relation = Relation::kObserved});
    const MemoryConflicts conflicts = find_memory_conflicts(order, observed);
    EXPECT_EQ(!conflicts.found.empty(), expected) << "seed " << seed;
    ++(expected ? races : clean);
  }
  EXPECT_GT(races, 50u);
  EXPECT_GT(clean, 50u);
}

}  // namespace
}  // namespace streamscope::analysis
