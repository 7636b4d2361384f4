// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Finding iterations that nothing marks, and finding none where there are none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <random>
#include <set>

#include "analysis/iterations/periods.h"
#include "repeated_program.h"

namespace streamscope::analysis {
namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::SizeIs;

// ---- Sequences ----

TEST(IterationSequence, IsTheLongestThatRepeats) {
  RepeatedProgram program;
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
  RepeatedProgram program;
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
  RepeatedProgram program;
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
  RepeatedProgram program;
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

// Weights and data come to the device first, and results leave it at the end, which may take longer
// than a short run.
TEST(IterationSequence, NeedNotHoldTheDataBeforeOrTheResultsAfter) {
  RepeatedProgram program;
  for (int i = 0; i < 3; ++i) program.copy(test::kHtoD, 5000);
  for (int i = 0; i < 8; ++i) program.pause(20).copy(test::kHtoD, 2).kernels({"a", "b", "c"});
  program.pause(20).copy(test::kDtoH, 5000);
  const Iterations found = program.find();
  ASSERT_EQ(found.source, IterationSource::kSequence);
  EXPECT_THAT(op_counts(found), AllOf(SizeIs(8), Each(4u)));
  program.copy(test::kHtoD, 5000);
  EXPECT_FALSE(program.find().found()) << "these are neither";
}

TEST(IterationSequence, BeginsAfterThePauseIfTheRecordingIsCutShort) {
  RepeatedProgram program;
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
  RepeatedProgram program;
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
  RepeatedProgram program;
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
RepeatedProgram starved(bool marked) {
  RepeatedProgram program;
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
  RepeatedProgram program;
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
  RepeatedProgram program;
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

// Between the epochs is other work and a pause that takes most of the time. The host also pauses
// within a step, and where code is loaded.
TEST(IterationSequence, GoesOnAfterAFewEpochs) {
  for (const auto& [epochs, is_found] : {std::pair{3, true}, {12, false}}) {
    RepeatedProgram program;
    std::vector<Ns> begins;
    for (int epoch = 0; epoch < epochs; ++epoch) {
      for (int i = 0; i < 40; ++i) {
        begins.push_back(program.now_us);
        program.kernels({"a", "b", "c"}).pause(begins.size() == 1 ? 25'000 : 15);
        program.kernels({"d", "e"}).pause(10);
      }
      for (int i = 0; i <= epoch; ++i) program.kernels({"validate", "b", "sum"});
      program.pause(20'000);
    }
    const Iterations found = program.find("sequence");
    if (is_found) {
      EXPECT_EQ(issued_us(found), begins);
    } else {
      EXPECT_NE(found.op_count, 5u) << "by their pauses, these could be the layers of a step";
    }
  }
}

// Which of its kernels PyTorch launches depends on addresses, which differ from step to step.
TEST(IterationSequence, IsOneStepAlthoughKernelsDifferByTheAlignmentOfTheData) {
  RepeatedProgram program;
  std::vector<Ns> begins;
  const std::string head = "void at::native::",
                    add = "AddFunctor<float>, std::array<char*, 3ul> >()",
                    exp = "exp(at::Iterator&)::{lambda(float, int)#1}, std::array<char*, 2ul> >()";
  for (int i = 0; i < 24; ++i) {
    begins.push_back(program.now_us);
    const std::string kernel =
        std::array{"vectorized_elementwise_kernel<2, ", "unrolled_elementwise_kernel<",
                   "vectorized_elementwise_kernel<(int)4, "}[i % 3 * i % 2 + i % 2];
    program.kernel("gemm").kernel(head + kernel + add).kernel(head + kernel + exp);
    program.kernel(head + kernel + add).pause(40);
  }
  const Iterations found = program.find();
  ASSERT_EQ(found.source, IterationSource::kSequence);
  EXPECT_EQ(issued_us(found), begins);
  EXPECT_DOUBLE_EQ(found.repeated, 1);
}

TEST(IterationSequence, TellsElementWiseKernelsByWhatTheyCompute) {
  RepeatedProgram program;
  for (int i = 0; i < 24; ++i) {
    for (const char* functor : {"Add", "Add", "Mul", "Add", "Exp", "Exp"})
      program.kernel(std::string("void at::native::vectorized_elementwise_kernel<4, ") + functor +
                     "<float>, std::array<char*, 2ul> >()");
  }
  EXPECT_THAT(op_counts(program.find()), Each(6u));
}

TEST(IterationSequence, OfAlikeOpsIsWhatLiesBetweenSynchronizations) {
  RepeatedProgram program;
  program.kernel("initialize");
  for (int i = 0; i < 8; ++i) program.kernels({"k", "k", "k"}).synchronize();
  program.kernels({"k", "k"});
  const Iterations found = program.find();
  ASSERT_EQ(found.source, IterationSource::kSequence);
  EXPECT_THAT(op_counts(found), ElementsAre(3, 3, 3, 3, 3, 3, 3, 3, 2));
  EXPECT_EQ(how_found(found), "3 ops that repeat, 92 % alike");
  expect_no_gaps(found);

  RepeatedProgram one;
  for (int i = 0; i < 8; ++i) one.kernel("k").synchronize();
  EXPECT_THAT(op_counts(one.find()), AllOf(SizeIs(8), Each(1u)));
  EXPECT_EQ(how_found(one.find()), "1 op that repeats, 100 % alike");

  RepeatedProgram at_two_places;
  for (trace::Id i = 0; i < 16; ++i) {
    at_two_places.kernel("k").synchronize();
    at_two_places.builder.columns().host_sync.stack_id.back() = i % 2;
  }
  EXPECT_THAT(op_counts(at_two_places.find()), AllOf(SizeIs(8), Each(2u)));
}

TEST(IterationSequence, HasAPeriodWithItsMedianTime) {
  RepeatedProgram program;
  for (int i = 0; i < 10; ++i) program.kernels({"a", "b", "c"}).pause(30);
  const Trace trace = program.builder.trace();
  Analyses analyses(trace);
  const IssuedWork work(analyses);
  EXPECT_EQ(work.device_ns_around(0, 0, work.size()), 30 * 3 * kUs);
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
    RepeatedProgram program;
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
  RepeatedProgram program;
  for (int i = 0; i < 6; ++i) program.graph().pause(40);
  const Iterations found = program.find();
  ASSERT_EQ(found.source, IterationSource::kGraph);
  EXPECT_EQ(how_found(found), "launches of one graph");
  EXPECT_THAT(issued_us(found), ElementsAre(0, 50, 100, 150, 200, 250));
  EXPECT_EQ(found.median_ns, 50 * kUs);
  expect_no_gaps(found);
}

TEST(IterationGraph, NeedNotHoldTheDataBeforeOrTheResultsAfter) {
  RepeatedProgram program;
  program.copy(test::kHtoD, 5000);
  for (int i = 0; i < 6; ++i) program.graph().pause(40);
  program.copy(test::kDtoH, 5000);
  EXPECT_EQ(program.find().source, IterationSource::kGraph);
  program.copy(test::kHtoD, 5000);
  EXPECT_FALSE(program.find().found());
}

TEST(IterationGraph, IsTheOneWithMostDeviceTimeAndKeepsWhatFollowsEachLaunch) {
  RepeatedProgram program;
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
  RepeatedProgram program;
  for (int i = 0; i < 40; ++i) program.kernel("k");
  EXPECT_FALSE(program.find().found());
  EXPECT_EQ(how_found(program.find()), "");
}

TEST(NoIterations, BetweenSynchronizationsOfAlikeOpsInVaryingNumber) {
  RepeatedProgram program;
  for (int count = 1; count < 10; ++count) {
    for (int i = 0; i < count; ++i) program.kernel("k");
    program.synchronize();
  }
  EXPECT_FALSE(program.find().found());

  RepeatedProgram few;
  for (int i = 0; i < 3; ++i) few.kernels({"k", "k"}).synchronize();
  EXPECT_FALSE(few.find().found());
}

// PyTorch's profiler marks which module is called.
TEST(NoIterations, ThatAreLayersOfANetwork) {
  const auto find = [](const std::function<std::string(int)>& module) {
    RepeatedProgram program;
    program.kernels({"embedding"});
    for (int i = 0; i < 12; ++i) {
      const Ns begin = program.now_us;
      program.kernels({"norm", "attention", "linear"}).range("nn.Module: " + module(i), begin);
      program.range("nn.Module: SiLU_0", begin + 1);
    }
    return program.kernels({"head"}).find().source;
  };
  const auto layer = [](int i) { return "Layer_" + std::to_string(i); };
  EXPECT_EQ(find(layer), IterationSource::kNone);
  EXPECT_EQ(find([&](int) { return layer(0); }), IterationSource::kSequence)
      << "a model, called often";
}

TEST(NoIterations, IfThereAreFewerThanFour) {
  for (const int count : {3, 4}) {
    RepeatedProgram ranges, sequence, graphs;
    for (int i = 0; i < count; ++i) {
      const Ns begin = ranges.now_us;
      ranges.kernels({"a", "b"}).range("work", begin);
      sequence.kernels({"a", "b", "c"}).pause(20);
      graphs.graph();
    }
    EXPECT_EQ(ranges.find().found(), count == 4) << count;
    EXPECT_EQ(sequence.find().found(), count == 4) << count;
    EXPECT_EQ(graphs.find().found(), count == 4) << count;
  }
}

TEST(NoIterations, WithoutDeviceTimes) {
  RepeatedProgram program;
  for (int i = 0; i < 8; ++i) {
    const Ns begin = program.now_us;
    program.kernels({"a", "b"}).range("step", begin);
  }
  ASSERT_TRUE(program.find().found());
  auto& op = program.builder.columns().op;
  for (Id id = 0; id < op.size(); ++id) op.start_ns[id] = op.end_ns[id] = kUnknownNs;
  EXPECT_FALSE(program.find().found());
  EXPECT_FALSE(RepeatedProgram().find().found());
}

// A program whose graphs were captured while their kernels were tried: only these have times.
TEST(NoIterations, IfTheTimesOfMostWorkWereLost) {
  for (const auto& [later, is_found] : {std::pair{60, true}, {90, false}}) {
    RepeatedProgram program;
    for (int i = 0; i < 20; ++i) program.kernels({"a", "b", "c"}).pause(20);
    for (int i = 0; i < later; ++i) program.untimed_kernel("graph");
    EXPECT_EQ(program.find().found(), is_found) << later;
  }
}

TEST(NoIterations, IfNoneAreWanted) {
  RepeatedProgram program;
  for (int i = 0; i < 8; ++i) {
    const Ns begin = program.now_us;
    program.kernels({"a", "b"}).range("step", begin);
  }
  EXPECT_FALSE(program.find("none").found());
  EXPECT_FALSE(program.find("graph").found());
  EXPECT_EQ(program.find("sequence").source, IterationSource::kSequence);
}

TEST(NoIterations, InRandomWork) {
  RepeatedProgram program;
  std::mt19937 random(1);
  for (int i = 0; i < 300; ++i) program.kernel("k" + std::to_string(random() % 40));
  const Iterations found = program.find();
  EXPECT_FALSE(found.found()) << how_found(found);
}

// What follows is of the same kernels, so that all of them recur at this distance here and there.
TEST(NoIterations, IfASequenceFollowsItselfOnlyInStartUp) {
  for (const auto& [later, found] : {std::pair{20, true}, {300, false}}) {
    RepeatedProgram program;
    for (int i = 0; i < 40; ++i) program.kernels({"a", "b", "c", "d", "e"});
    std::mt19937 random(7);
    for (int i = 0; i < later; ++i)
      program.kernel(std::string(1, static_cast<char>('a' + random() % 3)), 20);
    EXPECT_EQ(program.find().found(), found) << later;
  }
}

}  // namespace
}  // namespace streamscope::analysis
