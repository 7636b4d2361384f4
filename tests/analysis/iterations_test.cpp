// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Finding the iterations of a program, and its steady part.
#include "analysis/iterations/iterations.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "analysis/iterations/marked_ranges.h"
#include "repeated_program.h"

namespace streamscope::analysis {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::SizeIs;

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
  RepeatedProgram program;
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
  RepeatedProgram program;
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

RepeatedProgram epochs_of_steps(std::string_view step) {
  RepeatedProgram program;
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

// PyTorch's profiler usually records three steps.
TEST(IterationRanges, ThatNameAStepOrAreAskedForMayBeTwo) {
  const auto find = [](const char* name, int count, const char* how) {
    RepeatedProgram program;
    for (int i = 0; i < 2 + count; ++i) {
      const Ns begin = program.now_us;
      if (i >= 2) program.kernels({"a", "b"});
      program.pause(10).range(name, begin);
    }
    return program.find(how).found();
  };
  EXPECT_FALSE(find("ProfilerStep", 1, "auto")) << "of three ranges only one has work";
  EXPECT_TRUE(find("ProfilerStep", 2, "auto"));
  EXPECT_FALSE(find("forward", 2, "nvtx:other"));
  EXPECT_TRUE(find("forward", 2, "nvtx:forward"));
  RepeatedProgram program;
  for (int i = 0; i < 3; ++i) {
    const Ns begin = program.now_us;
    program.kernels({"a", "b"}).range("forward", begin);
  }
  EXPECT_FALSE(program.find().found());
}

TEST(IterationRanges, OfTwoNamesAreThoseWithMostWork) {
  RepeatedProgram program;
  for (int i = 0; i < 8; ++i) {
    const Ns begin = program.now_us;
    program.kernel("a", 1);
    const Ns copied = program.now_us;
    program.kernels({"b", "c", "d"}).range("batch", copied).range("step", begin);
  }
  EXPECT_EQ(program.find().name, "step");
}

TEST(IterationRanges, ThatNameAStepMayBeNumbered) {
  const auto find = [](const std::function<std::string(int)>& name, const char* how = "auto") {
    RepeatedProgram program;
    for (int i = 0; i < 24; ++i) {
      const Ns begin = program.now_us;
      program.kernels({"a", "b", i % 2 == 0 ? "c" : "d"}).range(name(i), begin);
    }
    return program.find(how);
  };
  const auto numbered = [](int i) { return fmt::format("iteration{}", i); };
  EXPECT_EQ(find(numbered).name, "iteration");
  EXPECT_THAT(find(numbered).all, SizeIs(24));
  EXPECT_THAT(find(numbered, "nvtx:iteration").all, SizeIs(24));
  EXPECT_THAT(find(numbered, "nvtx:iteration7").all, SizeIs(1));
  EXPECT_EQ(find([](int i) { return fmt::format("step {}/24", i + 1); }).name, "step");
  EXPECT_EQ(find([](int i) { return fmt::format("iter[{}]", i); }).name, "iter");
  EXPECT_EQ(find([](int i) { return fmt::format("batch {}", i % 16); }).name, "batch")
      << "of two epochs";
  EXPECT_EQ(find([](int i) { return fmt::format("step {}", i % 2 + 1); }).source,
            IterationSource::kSequence)
      << "of an algorithm";
  EXPECT_EQ(find([](int i) { return fmt::format("layer{}", i); }).source,
            IterationSource::kSequence);
}

TEST(IterationRanges, OfOtherNamesAreTheOuterOnes) {
  const Iterations found = epochs_of_steps("work").find();
  EXPECT_EQ(found.name, "epoch");
  EXPECT_THAT(op_counts(found), ElementsAre(18, 18, 18, 18, 18));
}

TEST(IterationRanges, OfOperatorsAndCollectivesAreNoIterations) {
  for (const char* name : {"aten::linear", "c10d::alltoall_base_", "nccl:all_reduce",
                           "ncclAllReduce", "gloo:all_reduce", "model.py(7): forward", "forward"}) {
    RepeatedProgram program;
    for (int i = 0; i < 6; ++i) {
      const Ns begin = program.now_us;
      program.kernels({"a", "b"}).range(name, begin);
    }
    EXPECT_EQ(program.find().source == IterationSource::kRange, name == std::string("forward"))
        << name;
  }
}

// Imported from a profile of PyTorch, whose categories are domains.
TEST(IterationRanges, AreNoOperatorsOfALibraryThatOnlyTheProfilerMarks) {
  const auto find = [](std::string_view name, std::string_view domain) {
    RepeatedProgram program;
    for (int i = 0; i < 6; ++i) {
      const Ns begin = program.now_us;
      program.kernels({"a", "b"});
      program.builder.range(name, begin * kUs, program.now_us * kUs, domain);
    }
    return program.find().source;
  };
  EXPECT_EQ(find("aiter::gemm_a16w16", "user_annotation"), IterationSource::kRange);
  EXPECT_EQ(find("aiter::gemm_a16w16", "cpu_op"), IterationSource::kSequence);
  EXPECT_EQ(find("step", "python_function"), IterationSource::kSequence);
  EXPECT_EQ(find("ProfilerStep#1", "cpu_op"), IterationSource::kRange);
}

TEST(IterationRanges, AreThoseThatAreAskedFor) {
  const RepeatedProgram program = epochs_of_steps("step");
  EXPECT_EQ(program.find("nvtx:backward").name, "backward");
  EXPECT_THAT(program.find("nvtx:backward").all, SizeIs(30));
  EXPECT_EQ(program.find("nvtx:epoch").name, "epoch");
  EXPECT_FALSE(program.find("nvtx:missing").found());
}

TEST(IterationRanges, OfThePyTorchProfilerCountAsOneName) {
  RepeatedProgram program;
  for (int i = 0; i < 6; ++i) {
    const Ns begin = program.now_us;
    program.kernels({"a", "b"}).range("ProfilerStep#" + std::to_string(i + 9), begin);
  }
  EXPECT_EQ(program.find().name, "ProfilerStep");
  EXPECT_THAT(program.find().all, SizeIs(6));
  EXPECT_THAT(program.find("nvtx:ProfilerStep").all, SizeIs(6));
  EXPECT_THAT(program.find("nvtx:ProfilerStep#10").all, SizeIs(1));
  EXPECT_EQ(without_number("ProfilerStep#12"), "ProfilerStep");
  EXPECT_EQ(without_number("layer12"), "layer12");
  EXPECT_EQ(without_number("#12"), "#12");
  EXPECT_EQ(without_number("12"), "12");
  EXPECT_EQ(without_number("step#"), "step");
  EXPECT_EQ(without_number(""), "");
}

TEST(IterationRanges, InsideOneOfTheSameNameArePartOfIt) {
  RepeatedProgram program;
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
  RepeatedProgram program;
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
  RepeatedProgram program;
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
    RepeatedProgram program;
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

TEST(IterationRanges, NeedNotHoldTheDataBeforeOrTheResultsAfter) {
  const auto source_of = [](test::CopyKind before, test::CopyKind after) {
    RepeatedProgram program;
    for (int i = 0; i < 3; ++i) program.copy(before, 5000);
    for (int i = 0; i < 6; ++i) {
      const Ns begin = program.now_us;
      program.kernel(i % 2 == 0 ? "a" : "b", 5).copy(test::kHtoD, 5).range("work", begin);
    }
    program.copy(after, 5000);
    return program.find().source;
  };
  EXPECT_EQ(source_of(test::kHtoD, test::kDtoH), IterationSource::kRange);
  EXPECT_NE(source_of(test::kHtoD, test::kHtoD), IterationSource::kRange);
  EXPECT_NE(source_of(test::kDtoH, test::kDtoH), IterationSource::kRange);
}

TEST(Iterations, AreOfTheProcessWithMostDeviceTime) {
  RepeatedProgram program;
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

RepeatedProgram with_durations(const std::vector<Ns>& durations_us) {
  RepeatedProgram program;
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

// What _exit() leaves behind: the host's side of all iterations, the device's of the first ones.
TEST(SteadyPart, EndsWhereTimesAreMissing) {
  const auto steady_of = [](int timed) {
    RepeatedProgram program;
    for (int i = 0; i < 20; ++i) {
      const Ns begin = program.now_us;
      program.kernel("a");
      i < timed ? program.kernel("b") : program.untimed_kernel("b");
      program.pause(i < timed ? 80 : 20).range("step", begin);
    }
    const Iterations found = program.find("nvtx:step");
    return found.found() ? std::pair(found.steady_from, found.steady_to) : std::pair(0ul, 0ul);
  };
  EXPECT_EQ(steady_of(8), std::pair(0ul, 8ul)) << "the later ones are more, but not known";
  EXPECT_EQ(steady_of(4), std::pair(0ul, 4ul));
  EXPECT_EQ(steady_of(1), std::pair(0ul, 0ul)) << "fewer than two are none";
}

// Where recording was off for a moment, or a buffer was lost.
TEST(SteadyPart, GoesOnAfterAMissingTime) {
  RepeatedProgram program;
  for (int i = 0; i < 20; ++i) {
    const Ns begin = program.now_us;
    program.kernel("a");
    i == 0 || i == 9 || i == 19 ? program.untimed_kernel("b") : program.kernel("b");
    program.range("step", begin);
  }
  const Iterations found = program.find();
  EXPECT_EQ(found.steady_from, 1u);
  EXPECT_EQ(found.steady_to, 19u);
}

// A profiler that is started while the host is ahead of the device sees work without its calls.
TEST(SteadyPart, BeginsWhereTheCallsOfTheWorkAreKnown) {
  const auto steady_of = [](int without_calls) {
    RepeatedProgram program;
    for (int i = 0; i < 20; ++i) {
      const Ns begin = program.now_us;
      program.kernel("a");
      if (i < without_calls) program.builder.columns().op.api_call_id.back() = kNoId;
      program.kernel("b").range("step", begin);
    }
    const Iterations found = program.find();
    return std::pair(found.steady_from, found.steady_to);
  };
  EXPECT_EQ(steady_of(0), std::pair(0ul, 20ul));
  EXPECT_EQ(steady_of(5), std::pair(5ul, 20ul));
  EXPECT_EQ(steady_of(20), std::pair(0ul, 20ul)) << "some profiles have no calls at all";
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
