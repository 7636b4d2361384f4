// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Finding the iterations of a program, and its steady part.
#include "analysis/iterations/iterations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "analysis/iterations/marked_ranges.h"
#include "analysis/iterations/periods.h"
#include "support/trace_builder.h"

namespace streamscope::analysis {
namespace {

using test::TraceBuilder;
using testing::Each;
using testing::ElementsAre;
using testing::SizeIs;

constexpr Ns kUs = 1000;

// A program of one thread and one stream: the host issues an op every 10 µs, and each op starts 5
// µs after that, or when the one before it ended.
class Program {
 public:
  TraceBuilder builder;
  Ns now_us = 0, done_us = 0;

  Program& kernel(std::string_view name, Ns lasts_us = 3) {
    const Ns start = std::max(now_us + 5, done_us);
    builder.at(now_us * kUs).stream("main").kernel(name, start * kUs, (start + lasts_us) * kUs);
    return issued(start + lasts_us);
  }
  Program& kernels(std::initializer_list<std::string_view> names) {
    for (const std::string_view name : names) kernel(name);
    return *this;
  }
  Program& graph(Ns lasts_us = 30) {
    const Ns start = std::max(now_us + 5, done_us);
    builder.at(now_us * kUs).stream("main").graph_launch(start * kUs, (start + lasts_us) * kUs);
    return issued(start + lasts_us);
  }
  Program& pause(Ns us) {
    now_us += us;
    return *this;
  }
  Program& range(std::string_view name, Ns from_us) {
    builder.range(name, from_us * kUs, now_us * kUs);
    return *this;
  }
  Iterations find(std::string_view how = "auto") const {
    const Trace trace = builder.trace();
    IterationRequest request;
    EXPECT_TRUE(parse(how, request)) << how;
    Analyses analyses(trace);
    return find_iterations(analyses, request);
  }

 private:
  Program& issued(Ns until_us) {
    done_us = until_us;
    now_us += 10;
    return *this;
  }
};

std::vector<Ns> issued_us(const Iterations& iterations) {
  std::vector<Ns> result;
  for (const Iteration& iteration : iterations.all) result.push_back(iteration.issued_ns / kUs);
  return result;
}

std::vector<uint64_t> op_counts(const Iterations& iterations) {
  std::vector<uint64_t> result;
  for (const Iteration& iteration : iterations.all) result.push_back(iteration.op_count);
  return result;
}

void expect_no_gaps(const Iterations& iterations) {
  for (size_t i = 0; i < iterations.all.size(); ++i) {
    EXPECT_GE(iterations.all[i].duration_ns(), 0) << i;
    if (i > 0) {
      EXPECT_EQ(iterations.all[i].start_ns, iterations.all[i - 1].end_ns) << i;
    }
  }
}

// ---- Requests ----

TEST(IterationRequest, IsOneOfFiveWords) {
  IterationRequest request;
  EXPECT_TRUE(parse("auto", request));
  EXPECT_EQ(request, IterationRequest{});
  EXPECT_TRUE(parse("none", request));
  EXPECT_EQ(request, (IterationRequest{.off = true}));
  EXPECT_TRUE(parse("graph", request));
  EXPECT_EQ(request, (IterationRequest{.source = IterationSource::kGraph}));
  EXPECT_TRUE(parse("sequence", request));
  EXPECT_EQ(request, (IterationRequest{.source = IterationSource::kSequence}));
  EXPECT_TRUE(parse("nvtx:my step", request));
  EXPECT_EQ(request, (IterationRequest{.source = IterationSource::kRange, .range = "my step"}));
}

TEST(IterationRequest, KeepsNothingOfTheOneBefore) {
  IterationRequest request;
  ASSERT_TRUE(parse("nvtx:step", request));
  ASSERT_TRUE(parse("auto", request));
  EXPECT_EQ(request, IterationRequest{});
}

TEST(IterationRequest, IsNothingElse) {
  IterationRequest request;
  for (const char* text :
       {"", "nvtx", "nvtx:", "Auto", "graphs", " graph", "sequence ", "nvtx step"})
    EXPECT_FALSE(parse(text, request)) << text;
}

// ---- Ranges ----

TEST(IterationRanges, EachIsAnIterationFromTheEndOfTheOneBefore) {
  Program program;
  for (int i = 0; i < 6; ++i) {
    const Ns begin = program.now_us;
    program.kernels({"a", "b"}).range("step", begin);
  }
  const Iterations found = program.find();
  ASSERT_EQ(found.source, IterationSource::kRange);
  EXPECT_EQ(found.name, "step");
  EXPECT_EQ(found.process_id, 0u);
  EXPECT_EQ(found.thread_id, 0u);
  EXPECT_EQ(how_found(found), "NVTX range \"step\"");
  EXPECT_THAT(issued_us(found), ElementsAre(0, 20, 40, 60, 80, 100));
  EXPECT_THAT(op_counts(found), Each(2u));
  EXPECT_EQ(found.op_count, 2u);
  expect_no_gaps(found);
  EXPECT_EQ(found.all[0].start_ns, 0);
  EXPECT_EQ(found.all[0].end_ns, 20 * kUs) << "the work was done before the range ended";
  EXPECT_EQ(found.all[3].last_op, 7u);
  EXPECT_EQ(found.median_ns, 20 * kUs);
  EXPECT_EQ(found.steady_count(), 6u);
  EXPECT_EQ(found.outlier_count, 0u);
}

TEST(IterationRanges, EndWhenTheirWorkIsDoneIfTheHostIsFarAhead) {
  Program program;
  for (int i = 0; i < 6; ++i) {
    const Ns begin = program.now_us;
    program.kernel("a", 100).kernel("b", 50).range("step", begin);
  }
  const Iterations found = program.find();
  ASSERT_EQ(found.source, IterationSource::kRange);
  expect_no_gaps(found);
  for (size_t i = 0; i < 6; ++i)
    EXPECT_EQ(found.all[i].end_ns, static_cast<Ns>(5 + 150 * (i + 1)) * kUs) << i;
  EXPECT_THAT(issued_us(found), ElementsAre(0, 20, 40, 60, 80, 100));
  EXPECT_EQ(found.median_ns, 150 * kUs);
  EXPECT_EQ(found.issued_from_ns(), 0);
  EXPECT_EQ(found.issued_to_ns(), found.all.back().end_ns);
}

Program epochs_of_steps(std::string_view step) {
  Program program;
  for (int epoch = 0; epoch < 5; ++epoch) {
    const Ns epoch_begin = program.now_us;
    for (int i = 0; i < 6; ++i) {
      const Ns begin = program.now_us;
      program.kernel("a");
      const Ns inner = program.now_us;
      program.kernels({"b", "c"}).range("backward", inner);
      program.range(step, begin);
    }
    program.range("epoch", epoch_begin);
  }
  return program;
}

TEST(IterationRanges, ThatAreNamedAfterAStepArePreferredToOuterAndInnerOnes) {
  for (const char* name : {"train_step", "Iteration", "my batch", "FRAME"}) {
    const Iterations found = epochs_of_steps(name).find();
    EXPECT_EQ(found.name, name);
    EXPECT_THAT(found.all, SizeIs(30));
  }
}

TEST(IterationRanges, OfOtherNamesAreTheOuterOnes) {
  const Iterations found = epochs_of_steps("work").find();
  EXPECT_EQ(found.name, "epoch");
  EXPECT_THAT(op_counts(found), ElementsAre(18, 18, 18, 18, 18));
}

TEST(IterationRanges, OfOperatorsAndCollectivesAreNoIterations) {
  for (const char* name : {"aten::linear", "c10d::alltoall_base_", "nccl:all_reduce",
                           "ncclAllReduce", "gloo:all_reduce", "model.py(7): forward", "forward"}) {
    Program program;
    for (int i = 0; i < 6; ++i) {
      const Ns begin = program.now_us;
      program.kernels({"a", "b"}).range(name, begin);
    }
    EXPECT_EQ(program.find().source == IterationSource::kRange, name == std::string("forward"))
        << name;
  }
}

TEST(IterationRanges, AreThoseThatAreAskedFor) {
  const Program program = epochs_of_steps("step");
  EXPECT_EQ(program.find("nvtx:backward").name, "backward");
  EXPECT_THAT(program.find("nvtx:backward").all, SizeIs(30));
  EXPECT_EQ(program.find("nvtx:epoch").name, "epoch");
  EXPECT_FALSE(program.find("nvtx:missing").found());
}

TEST(IterationRanges, OfThePyTorchProfilerCountAsOneName) {
  Program program;
  for (int i = 0; i < 6; ++i) {
    const Ns begin = program.now_us;
    program.kernels({"a", "b"}).range("ProfilerStep#" + std::to_string(i + 9), begin);
  }
  EXPECT_EQ(program.find().name, "ProfilerStep");
  EXPECT_THAT(program.find().all, SizeIs(6));
  EXPECT_EQ(program.find("nvtx:ProfilerStep#10").all.size(), 6u);
  EXPECT_EQ(without_number("ProfilerStep#12"), "ProfilerStep");
  EXPECT_EQ(without_number("layer12"), "layer12");
  EXPECT_EQ(without_number("#12"), "#12");
  EXPECT_EQ(without_number("12"), "12");
  EXPECT_EQ(without_number("step#"), "step");
  EXPECT_EQ(without_number(""), "");
}

TEST(IterationRanges, InsideOneOfTheSameNameArePartOfIt) {
  Program program;
  for (int i = 0; i < 5; ++i) {
    const Ns begin = program.now_us;
    program.kernel("a");
    const Ns inner = program.now_us;
    program.kernel("b").range("step", inner).kernel("c").range("step", begin);
  }
  const Iterations found = program.find();
  EXPECT_THAT(op_counts(found), ElementsAre(3, 3, 3, 3, 3));
}

TEST(IterationRanges, OfTheThreadWithMostOfThemCount) {
  Program program;
  for (int i = 0; i < 8; ++i) {
    const Ns begin = program.now_us;
    program.builder.thread("loader");
    if (i % 2 == 0) program.builder.range("step", begin * kUs, (begin + 1) * kUs);
    program.builder.thread("trainer");
    program.kernels({"a", "b"}).range("step", begin);
  }
  const Iterations found = program.find();
  EXPECT_THAT(found.all, SizeIs(8));
  EXPECT_EQ(found.thread_id, 2u);
}

TEST(IterationRanges, ThatHoldLittleOfTheWorkAreNoIterations) {
  Program program;
  for (int i = 0; i < 5; ++i) {
    const Ns begin = program.now_us;
    program.kernel("warm", 1).range("step", begin);
  }
  for (int i = 0; i < 10; ++i) program.kernels({"a", "b", "c"}).pause(20);
  const Iterations found = program.find();
  EXPECT_EQ(found.source, IterationSource::kSequence);
  EXPECT_EQ(program.find("nvtx:step").source, IterationSource::kRange) << "if they are asked for";
}

TEST(IterationRanges, ThatNameAStepNeedNotHoldTheWorkOfALongStartUp) {
  const auto source_of = [](const char* name, int start_up_kernels) {
    Program program;
    for (int i = 0; i < start_up_kernels; ++i)
      program.kernel("load " + std::to_string(i * i % 97), 5);
    for (int i = 0; i < 6; ++i) {
      const Ns begin = program.now_us;
      program.kernel(i % 2 == 0 ? "a" : "b", 5).kernel("c", 5).range(name, begin);
    }
    const Iterations found = program.find();
    return found.source == IterationSource::kRange ? found.name : "";
  };
  EXPECT_EQ(source_of("train_step", 18), "train_step");  // of 150 µs, 60 are in the steps
  EXPECT_EQ(source_of("work", 18), "");
  EXPECT_EQ(source_of("val_step", 60), "") << "less than a quarter";
}

// ---- Sequences ----

TEST(IterationSequence, IsTheLongestThatRepeats) {
  Program program;
  for (int i = 0; i < 8; ++i) program.pause(20).kernels({"a", "b", "c", "d"});
  const Iterations found = program.find();
  ASSERT_EQ(found.source, IterationSource::kSequence);
  EXPECT_EQ(found.name, "");
  EXPECT_EQ(found.thread_id, kNoId);
  EXPECT_EQ(how_found(found), "4 ops that repeat, 100 % alike");
  EXPECT_DOUBLE_EQ(found.repeated, 1);
  EXPECT_THAT(issued_us(found), ElementsAre(20, 80, 140, 200, 260, 320, 380, 440));
  EXPECT_THAT(op_counts(found), Each(4u));
  EXPECT_EQ(found.median_ns, 60 * kUs);
  expect_no_gaps(found);
}

TEST(IterationSequence, GoesOnAfterAnIterationWithAnotherOp) {
  Program program;
  std::vector<Ns> begins;
  for (int i = 0; i < 12; ++i) {
    program.pause(20);
    begins.push_back(program.now_us);
    program.kernels({"a", "b", "c"});
    if (i == 6) program.kernels({"print", "copy"});
    program.kernels({"d", "e"});
  }
  const Iterations found = program.find();
  ASSERT_EQ(found.source, IterationSource::kSequence);
  EXPECT_EQ(issued_us(found), begins);
  EXPECT_THAT(op_counts(found), ElementsAre(5, 5, 5, 5, 5, 5, 7, 5, 5, 5, 5, 5));
  EXPECT_EQ(found.op_count, 5u);
  expect_no_gaps(found);
}

TEST(IterationSequence, GoesOnAfterALongIterationWithAnOpMoreOrLessNearItsEnd) {
  Program program;
  std::vector<Ns> begins;
  for (int i = 0; i < 12; ++i) {
    begins.push_back(program.now_us);
    for (int op = 0; op < 24; ++op) {
      if (i != 9 || op != 20) program.kernel("k" + std::to_string(op));
      if (i == 6 && op == 20) program.kernel("print");
    }
    program.pause(50);
  }
  const Iterations found = program.find();
  ASSERT_EQ(found.source, IterationSource::kSequence);
  EXPECT_EQ(issued_us(found), begins);
  EXPECT_THAT(op_counts(found), ElementsAre(24, 24, 24, 24, 24, 24, 25, 24, 24, 23, 24, 24));
}

TEST(IterationSequence, BeginsAfterTheWorkOfTheStart) {
  Program program;
  program.kernels({"init", "fill", "fill", "init", "load"}).pause(500);
  std::vector<Ns> begins;
  for (int i = 0; i < 10; ++i) {
    begins.push_back(program.now_us);
    program.kernels({"a", "b", "c"}).pause(30);
  }
  const Iterations found = program.find();
  ASSERT_EQ(found.source, IterationSource::kSequence);
  EXPECT_EQ(issued_us(found), begins);
}

TEST(IterationSequence, BeginsAfterThePauseIfTheRecordingIsCutShort) {
  Program program;
  std::vector<Ns> begins;
  program.kernels({"c", "d"}).pause(40);  // the rest of one
  for (int i = 0; i < 10; ++i) {
    begins.push_back(program.now_us);
    program.kernels({"a", "b", "c", "d"}).pause(40);
  }
  program.kernels({"a", "b"});  // the beginning of one
  const Iterations found = program.find();
  ASSERT_EQ(found.source, IterationSource::kSequence);
  const std::vector<Ns> got = issued_us(found);
  ASSERT_GE(got.size(), 9u);
  EXPECT_TRUE(std::ranges::includes(begins, got)) << "each begins where one of the program does";
  EXPECT_THAT(op_counts(found), Each(4u));
}

TEST(IterationSequence, IsAWholeStepAndNotALayerOfIt) {
  Program program;
  std::vector<Ns> begins;
  for (int i = 0; i < 8; ++i) {
    begins.push_back(program.now_us);
    program.kernel("embed");
    for (int layer = 0; layer < 6; ++layer) program.kernels({"norm", "gemm", "act"});
    program.kernels({"loss", "adam"}).pause(50);
  }
  const Iterations found = program.find();
  ASSERT_EQ(found.source, IterationSource::kSequence);
  EXPECT_EQ(issued_us(found), begins);
  EXPECT_THAT(op_counts(found), Each(21u));
}

TEST(IterationSequence, IsAWholeStepAlthoughNearlyAllOfItIsOneKernel) {
  Program program;
  for (int i = 0; i < 8; ++i) {
    program.kernels({"scale", "scale", "scale"});
    for (int op = 0; op < 6; ++op) program.kernel("sum");
    for (int op = 0; op < 60; ++op) program.kernel("add");
    program.pause(50);
  }
  const Iterations found = program.find();
  ASSERT_EQ(found.source, IterationSource::kSequence);
  EXPECT_THAT(op_counts(found), Each(69u));
}

// Every third step waits for its batch, for five times as long as the other two take together.
Program starved(bool marked) {
  Program program;
  for (int i = 0; i < 24; ++i) {
    const Ns begin = program.now_us;
    program.pause(i % 3 == 0 ? 500 : 0).kernels({"a", "b", "c", "d", "e"});
    if (marked) program.range("step", begin);
  }
  return program;
}

TEST(Iterations, AreFoundIfSomeWaitForLong) {
  EXPECT_EQ(starved(true).find().source, IterationSource::kRange);
  EXPECT_EQ(starved(false).find("sequence").source, IterationSource::kSequence);
}

TEST(IterationSequence, IsFoundAlthoughAnOpVariesFromTimeToTime) {
  Program program;
  std::vector<Ns> begins;
  for (int i = 0; i < 16; ++i) {
    begins.push_back(program.now_us);
    program.kernels({"a", "b", i % 5 == 3 ? "odd" : "c", "d", "e", "f"}).pause(50);
  }
  const Iterations found = program.find();
  ASSERT_EQ(found.source, IterationSource::kSequence);
  EXPECT_EQ(issued_us(found), begins);
}

TEST(IterationSequence, KnowsThatNotAllOfItsWorkRepeats) {
  Program program;
  for (int i = 0; i < 16; ++i) {
    for (int op = 0; op < 24; ++op) program.kernel("k" + std::to_string(op));
    if (std::set{1, 4, 6, 11, 12}.contains(i)) program.kernel("odd");
    program.pause(50);
  }
  const Iterations found = program.find();
  ASSERT_EQ(found.source, IterationSource::kSequence);
  EXPECT_GT(found.repeated, 0.8);
  EXPECT_LT(found.repeated, 1);
}

TEST(IterationSequence, HasAPeriodWithItsMedianTime) {
  Program program;
  for (int i = 0; i < 10; ++i) program.kernels({"a", "b", "c"}).pause(30);
  const Trace trace = program.builder.trace();
  Analyses analyses(trace);
  const IssuedWork work(analyses);
  EXPECT_EQ(work.device_ns(), 30 * 3 * kUs);
  EXPECT_EQ(work.first_issued(0), 0u);
  EXPECT_EQ(work.first_issued(60 * kUs), 3u);
  EXPECT_EQ(work.first_issued(60 * kUs + 1), 4u);
  const std::vector<Period> periods = find_periods(work);
  ASSERT_FALSE(periods.empty());
  EXPECT_EQ(periods[0].length, 3u);
  EXPECT_DOUBLE_EQ(periods[0].score, 1);
  EXPECT_DOUBLE_EQ(periods[0].device_share, 1);
  EXPECT_EQ(periods[0].median_ns, 60 * kUs);
  EXPECT_DOUBLE_EQ(periods[0].count(), 10);
}

// Random sequences of ops that are all different, with random irregular iterations between.
TEST(IterationSequence, BoundsAreRightInRandomPrograms) {
  for (uint32_t seed = 0; seed < 100; ++seed) {
    std::mt19937 random(seed);
    Program program;
    const size_t length = 2 + random() % 12;
    std::vector<std::string> names;
    for (size_t i = 0; i < length; ++i) names.push_back("k" + std::to_string(i));
    std::vector<Ns> begins;
    const size_t count = 8 + random() % 20;
    const size_t irregular = 3 + random() % (count - 6);
    for (size_t i = 0; i < count; ++i) {
      begins.push_back(program.now_us);
      for (const std::string& name : names) program.kernel(name);
      if (i == irregular) program.kernel("extra");
      program.pause(30 + static_cast<Ns>(random() % 5));
    }
    const Iterations found = program.find();
    ASSERT_EQ(found.source, IterationSource::kSequence) << "seed " << seed;
    ASSERT_EQ(issued_us(found), begins) << "seed " << seed;
    expect_no_gaps(found);
  }
}

// ---- Graphs ----

TEST(IterationGraph, IsEachLaunchOfOneGraph) {
  Program program;
  for (int i = 0; i < 6; ++i) program.graph().pause(40);
  const Iterations found = program.find();
  ASSERT_EQ(found.source, IterationSource::kGraph);
  EXPECT_EQ(how_found(found), "launches of one graph");
  EXPECT_THAT(issued_us(found), ElementsAre(0, 50, 100, 150, 200, 250));
  EXPECT_EQ(found.median_ns, 50 * kUs);
  expect_no_gaps(found);
}

TEST(IterationGraph, IsTheOneWithMostDeviceTimeAndKeepsWhatFollowsEachLaunch) {
  Program program;
  for (int i = 0; i < 6; ++i) {
    program.graph(40);
    program.builder.columns().api_call.object.back() = 1;
    for (int small = 0; small < 2; ++small) {
      program.graph(1);
      program.builder.columns().api_call.object.back() = 2;
    }
    program.kernel("after").pause(50);
  }
  const Iterations found = program.find("graph");
  ASSERT_EQ(found.source, IterationSource::kGraph);
  EXPECT_THAT(issued_us(found), ElementsAre(0, 90, 180, 270, 360, 450));
  EXPECT_THAT(op_counts(found), Each(4u));
}

// ---- None ----

TEST(NoIterations, InALoopOfOneKernel) {
  Program program;
  for (int i = 0; i < 40; ++i) program.kernel("k");
  EXPECT_FALSE(program.find().found());
  EXPECT_EQ(how_found(program.find()), "");
}

TEST(NoIterations, IfThereAreFewerThanFour) {
  for (const int count : {3, 4}) {
    Program ranges, sequence, graphs;
    for (int i = 0; i < count; ++i) {
      const Ns begin = ranges.now_us;
      ranges.kernels({"a", "b"}).range("step", begin);
      sequence.kernels({"a", "b", "c"}).pause(20);
      graphs.graph();
    }
    EXPECT_EQ(ranges.find("nvtx:step").found(), count == 4) << count;
    EXPECT_EQ(ranges.find().found(), count == 4) << count;
    EXPECT_EQ(sequence.find().found(), count == 4) << count;
    EXPECT_EQ(graphs.find().found(), count == 4) << count;
  }
}

TEST(NoIterations, WithoutDeviceTimes) {
  Program program;
  for (int i = 0; i < 8; ++i) {
    const Ns begin = program.now_us;
    program.kernels({"a", "b"}).range("step", begin);
  }
  ASSERT_TRUE(program.find().found());
  auto& op = program.builder.columns().op;
  for (Id id = 0; id < op.size(); ++id) op.start_ns[id] = op.end_ns[id] = kUnknownNs;
  EXPECT_FALSE(program.find().found());
  EXPECT_FALSE(Program().find().found());
}

TEST(NoIterations, IfNoneAreWanted) {
  Program program;
  for (int i = 0; i < 8; ++i) {
    const Ns begin = program.now_us;
    program.kernels({"a", "b"}).range("step", begin);
  }
  EXPECT_FALSE(program.find("none").found());
  EXPECT_FALSE(program.find("graph").found());
  EXPECT_EQ(program.find("sequence").source, IterationSource::kSequence);
}

TEST(NoIterations, InRandomWork) {
  Program program;
  std::mt19937 random(1);
  for (int i = 0; i < 300; ++i) program.kernel("k" + std::to_string(random() % 40));
  const Iterations found = program.find();
  EXPECT_FALSE(found.found()) << how_found(found);
}

// What follows is of the same kernels, so that all of them recur at this distance here and there.
TEST(NoIterations, IfASequenceFollowsItselfOnlyInStartUp) {
  for (const auto& [later, found] : {std::pair{20, true}, {300, false}}) {
    Program program;
    for (int i = 0; i < 40; ++i) program.kernels({"a", "b", "c", "d", "e"});
    std::mt19937 random(7);
    for (int i = 0; i < later; ++i)
      program.kernel(std::string(1, static_cast<char>('a' + random() % 3)), 20);
    EXPECT_EQ(program.find().found(), found) << later;
  }
}

TEST(Iterations, AreOfTheProcessWithMostDeviceTime) {
  Program program;
  program.builder.process("trainer");
  for (int i = 0; i < 8; ++i) {
    const Ns begin = program.now_us;
    program.kernel("a", 4).kernel("b", 4).range("step", begin);
  }
  program.builder.process("other");
  program.now_us = 0;
  for (int i = 0; i < 10; ++i) {
    const Ns begin = program.now_us;
    program.builder.stream("x").at(begin * kUs).kernel("x", begin * kUs, (begin + 1) * kUs);
    program.now_us += 10;
    program.range("step", begin);
  }
  const Iterations found = program.find();
  EXPECT_EQ(found.process_id, 1u);
  EXPECT_THAT(found.all, SizeIs(8));
}

// ---- The steady part ----

Program with_durations(const std::vector<Ns>& durations_us) {
  Program program;
  for (const Ns duration : durations_us) {
    const Ns begin = program.now_us;
    program.kernels({"a", "b"}).pause(duration - 20).range("step", begin);
  }
  return program;
}

TEST(SteadyPart, LeavesOutTheSlowFirstIterations) {
  const Iterations found =
      with_durations({900, 400, 300, 100, 101, 99, 100, 102, 100, 98, 100, 100, 101}).find();
  ASSERT_TRUE(found.found());
  EXPECT_EQ(found.steady_from, 3u);
  EXPECT_EQ(found.steady_to, 13u);
  EXPECT_EQ(found.steady_start_ns(), 1600 * kUs);
  EXPECT_EQ(found.steady_end_ns(), found.all.back().end_ns);
  EXPECT_EQ(found.issued_from_ns(), 1600 * kUs);
  EXPECT_EQ(found.median_ns, 100 * kUs);
  EXPECT_EQ(found.low_ns, 100 * kUs);
  EXPECT_EQ(found.high_ns, 101 * kUs);
  EXPECT_EQ(found.outlier_count, 0u);
}

TEST(SteadyPart, KeepsAndCountsALaterOutlier) {
  const Iterations found = with_durations({100, 100, 100, 100, 160, 100, 149, 100, 100}).find();
  ASSERT_TRUE(found.found());
  EXPECT_EQ(found.steady_count(), 9u);
  EXPECT_EQ(found.outlier_count, 1u);
  EXPECT_EQ(found.median_ns, 100 * kUs);
}

TEST(SteadyPart, EndsWhereWhatFollowsIsIssued) {
  std::vector<Ns> durations(20, 100);
  for (Ns i = 0; i < 20; ++i) durations[static_cast<size_t>(i)] += i % 3;
  durations.insert(durations.end(), 6, 200);
  const Iterations found = with_durations(durations).find();
  ASSERT_TRUE(found.found());
  EXPECT_EQ(found.steady_from, 0u);
  ASSERT_EQ(found.steady_to, 20u);
  EXPECT_EQ(found.issued_to_ns(), found.all[20].issued_ns);
  EXPECT_EQ(found.steady_end_ns(), found.all[19].end_ns);
}

}  // namespace
}  // namespace streamscope::analysis
