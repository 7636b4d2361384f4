// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Iterations behind the steady part that take another time.
#include <gtest/gtest.h>

#include "analysis/iterations/other_level.h"
#include "iteration_program.h"

namespace streamscope::analysis {
namespace {

// Steps of ten launches: of the host's time, a launch takes `launch_us`, the rest of it
// `between_us`.
void add_steps(SteppedProgram& program, int count, Ns launch_us, Ns between_us) {
  program.steps(count, [&](int) {
    for (int i = 0; i < 10; ++i) {
      program.launch(launch_us, 2);
      program.pause(between_us);
    }
  });
}

std::optional<OtherLevel> other_level_of(const SteppedProgram& program) {
  const Trace trace = program.builder.trace();
  Analyses analyses(trace);
  const IterationModel& model = analyses.iteration_model();
  EXPECT_TRUE(model.found());
  return find_other_level(analyses, model,
                          host_pace(analyses, model.iterations(), model.shares().threads));
}

TEST(OtherLevel, IsThatOfALaterPart) {
  SteppedProgram program;
  add_steps(program, 30, 10, 20);
  add_steps(program, 20, 10, 10);
  const auto other = other_level_of(program);
  ASSERT_TRUE(other.has_value());
  EXPECT_EQ(other->from, 30u);
  EXPECT_EQ(other->to, 50u);
  EXPECT_EQ(other->median_ns, 200 * kUs);
  EXPECT_EQ(other->host_slowdown, 1) << "launches take as long";
}

TEST(OtherLevel, MayBeThatOfAnotherPaceOfTheHost) {
  SteppedProgram slower, faster;
  add_steps(slower, 30, 10, 20);
  add_steps(slower, 20, 15, 40);
  add_steps(faster, 30, 10, 20);
  add_steps(faster, 20, 5, 10);
  const auto after = other_level_of(slower), before = other_level_of(faster);
  ASSERT_TRUE(after.has_value());
  EXPECT_DOUBLE_EQ(after->host_slowdown, 1.5) << "the less of the two";
  ASSERT_TRUE(before.has_value());
  EXPECT_DOUBLE_EQ(before->host_slowdown, 0.5);
}

TEST(OtherLevel, IsNotThatOfTheStart) {
  SteppedProgram program;
  add_steps(program, 20, 15, 40);
  add_steps(program, 30, 10, 20);
  EXPECT_FALSE(other_level_of(program));
}

TEST(OtherLevel, NeedsAFifthOfTheIterations) {
  SteppedProgram few, enough;
  add_steps(few, 41, 10, 20);
  add_steps(few, 9, 10, 40);
  add_steps(enough, 40, 10, 20);
  add_steps(enough, 10, 10, 40);
  EXPECT_FALSE(other_level_of(few));
  EXPECT_TRUE(other_level_of(enough));
}

TEST(OtherLevel, IsNothingWhereIterationsTakeAsLong) {
  SteppedProgram program;
  add_steps(program, 50, 10, 20);
  EXPECT_FALSE(other_level_of(program));
}

}  // namespace
}  // namespace streamscope::analysis
