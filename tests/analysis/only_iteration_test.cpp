// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A profile of a single step.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "iteration_program.h"
#include "repeated_program.h"

namespace streamscope::analysis {
namespace {

using testing::ElementsAre;

TEST(OnlyIteration, IsANumberedStepIfNothingElseRepeats) {
  const auto find = [](std::string_view name, bool repeats, const char* how = "auto") {
    RepeatedProgram program;
    program.kernel("before", 20);
    const Ns begin = program.now_us;
    for (int i = 0; i < 20; ++i)
      program.kernel(repeats ? std::string(1, static_cast<char>('a' + i % 4))
                             : "k" + std::to_string(i));
    return program.range(name, begin).find(how);
  };
  const Iterations step = find("ProfilerStep#5", false);
  ASSERT_EQ(step.source, IterationSource::kRange);
  EXPECT_EQ(step.name, "ProfilerStep");
  EXPECT_THAT(op_counts(step), ElementsAre(20u));
  EXPECT_EQ(step.steady_count(), 1u);
  EXPECT_EQ(step.median_ns, 20 * 10 * kUs);
  EXPECT_EQ(find("ProfilerStep#5", true).source, IterationSource::kSequence);
  EXPECT_EQ(find("step[EXTEND bs=15 toks=15360]", false).source, IterationSource::kRange);
  EXPECT_EQ(find("execute_context_1(888)_generation_0(0)", false).source, IterationSource::kRange);
  EXPECT_FALSE(find("all_iterations", false).found()) << "it may be the whole loop";
  EXPECT_TRUE(find("all_iterations", false, "nvtx:all_iterations").found());
}

// 20 launches of 10 µs each, after other work or as the first of a recording.
SteppedProgram launching_step(bool after_other_work) {
  SteppedProgram program;
  if (after_other_work) {
    program.launch(5, 100, "before");
    program.synchronize();
  }
  const Ns begin = program.now;
  for (int i = 0; i < 20; ++i) program.launch(10, 3, "k" + std::to_string(i));
  program.builder.thread("main").range("ProfilerStep#3", begin, program.now);
  return program;
}

TEST(OnlyIteration, IsPredictedFromItsOwnBeginning) {
  for (const bool after_other_work : {true, false}) {
    const Trace trace = launching_step(after_other_work).builder.trace();
    Analyses analyses(trace);
    const IterationModel& model = analyses.iteration_model();
    ASSERT_EQ(model.iterations().all.size(), 1u);
    EXPECT_EQ(model.iterations().median_ns, 200 * kUs);
    EXPECT_NEAR(static_cast<double>(model.bare_ns()), 198 * kUs, 2 * kUs);
    EXPECT_EQ(model.bound(), TimeShare::kLaunching);
    EXPECT_LT(model.without_ns(TimeShare::kLaunching), 120 * kUs);
    EXPECT_GT(model.without_ns(TimeShare::kLaunching), 60 * kUs) << "the kernels";
  }
}

// Where a recording begins while the host is ahead, the calls of the work that runs first are
// missing; but it runs.
TEST(OnlyIteration, CountsWorkWithoutItsCallsAsWork) {
  RepeatedProgram program;
  for (int i = 0; i < 10; ++i) {
    program.kernel("early" + std::to_string(i), 10);
    program.builder.columns().op.api_call_id.back() = kNoId;
  }
  for (int i = 0; i < 10; ++i) program.kernel("k" + std::to_string(i), 10);
  program.range("ProfilerStep#3", 0);
  const Trace trace = program.builder.trace();
  Analyses analyses(trace);
  const IterationModel& model = analyses.iteration_model();
  ASSERT_EQ(model.iterations().all.size(), 1u);
  const Shares& shares = model.shares().total;
  EXPECT_GT(shares[static_cast<size_t>(TimeShare::kKernels)], 100 * kUs);
  EXPECT_LT(shares[static_cast<size_t>(TimeShare::kUnknown)], 20 * kUs);
  EXPECT_EQ(model.shares().total_ns(), model.iterations().median_ns);
  EXPECT_EQ(model.bound(), TimeShare::kKernels);
  EXPECT_EQ(model.without_ns(TimeShare::kKernels), kUnknownNs) << "not all of them can be removed";
}

}  // namespace
}  // namespace streamscope::analysis
