// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/iterations/steady_syncs.h"

#include "analysis/iterations/graphs.h"
#include "iteration_program.h"

namespace streamscope::analysis {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr trace::Int kSmall = 4, kLarge = 1 << 20;
constexpr int kSteps = 12;

// Steps of a kernel of 100 µs and a synchronous copy of it, which begins 8 µs after the kernel,
// takes 2 µs, and returns 10 µs later.
SteppedProgram copying(test::CopyKind kind, trace::Int bytes) {
  SteppedProgram program;
  return program.steps(kSteps, [&](int) {
    program.launch(5, 100);
    program.copy_and_wait(kind, 8, 2, 10, bytes);
    program.pause(20);
  });
}

struct Answer {
  Ns kernels_us, copies_us, synchronizing_us;
  double sync_count, small_copy_count, copy_count, large_copy_count;
};

Answer answer_of(const SteppedProgram& program) {
  const Trace trace = program.builder.trace();
  Analyses analyses(trace);
  const IterationModel& model = analyses.iteration_model();
  const IterationShares& shares = model.shares();
  const auto each_us = [&](TimeShare share) {
    const Shares& middle = shares.each.at(shares.each.size() / 2);
    return middle[static_cast<size_t>(share)] / kUs;
  };
  return {each_us(TimeShare::kKernels),
          each_us(TimeShare::kCopies),
          each_us(TimeShare::kSynchronizing),
          shares.sync_count,
          shares.small_copy_count,
          shares.copy_count,
          shares.large_copy_count};
}

TEST(SynchronousCopies, LetTheWorkBeforeThemHaveItsTime) {
  for (const trace::Int bytes : {kSmall, kLarge})
    EXPECT_EQ(answer_of(copying(test::kDtoH, bytes)).kernels_us, 100) << bytes;
}

TEST(SynchronousCopies, OfMuchAreCopiesFromTheirBeginningToTheirReturn) {
  const Answer answer = answer_of(copying(test::kDtoH, kLarge));
  EXPECT_EQ(answer.copies_us, 2 + 10);
  EXPECT_EQ(answer.sync_count, 0);
  EXPECT_EQ(answer.copy_count, 1);
  EXPECT_EQ(answer.large_copy_count, 1);
}

TEST(SynchronousCopies, OfLittleAreSynchronizations) {
  for (const auto kind : {test::kDtoH, test::kHtoD}) {
    const Answer answer = answer_of(copying(kind, kSmall));
    EXPECT_EQ(answer.copies_us, 2) << kind;
    EXPECT_GE(answer.synchronizing_us, 10) << kind;
    EXPECT_EQ(answer.sync_count, 1) << kind;
    EXPECT_EQ(answer.small_copy_count, 1) << kind;
    EXPECT_EQ(answer.large_copy_count, 0) << kind;
  }
}

TEST(SynchronousCopies, ThatStageBeforeTheDeviceBeginsAreCopiesMeanwhile) {
  SteppedProgram program;
  program.steps(kSteps, [&](int) {
    program.launch(5, 10);
    program.pause(30);
    program.copy_and_wait(test::kHtoD, 60, 20, 5, kLarge);
  });
  EXPECT_EQ(answer_of(program).copies_us, 60 + 20 + 5);
}

TEST(SteadySyncs, RemoveACopyWithItsCall) {
  const Trace trace = copying(test::kDtoH, kSmall).builder.trace();
  Analyses analyses(trace);
  const IterationModel& model = analyses.iteration_model();
  const SteadySyncs& syncs = model.syncs();
  ASSERT_FALSE(syncs.all().empty());
  Change without, unblocked;
  EXPECT_FALSE(syncs.are_removed(without));
  for (const Id sync : syncs.all()) {
    EXPECT_NE(syncs.copy_of(sync), kNoId);
    EXPECT_EQ(syncs.read_by(sync), syncs.copy_of(sync));
    EXPECT_FALSE(syncs.uploads(sync));
    syncs.remove(sync, without);
    syncs.unblock(sync, unblocked);
  }
  EXPECT_TRUE(syncs.are_removed(without));
  // The kernels follow each other.
  EXPECT_EQ(model.predicted_ns(without), 101'500);
  EXPECT_LT(model.predicted_ns(unblocked), model.bare_ns());
  EXPECT_GT(model.predicted_ns(unblocked), model.predicted_ns(without));
}

TEST(SyncInIteration, FindsWhatASynchronousCopyReads) {
  const Finding finding = only("sync-in-iteration", copying(test::kDtoH, kSmall));
  EXPECT_THAT(finding.title, HasSubstr("each iteration calls cudaMemcpy once"));
  EXPECT_THAT(finding.text, HasSubstr("It reads a value that the device computed."));
  ASSERT_TRUE(finding.iteration.has_value());
  EXPECT_EQ(finding.iteration->after_ns, 102 * kUs) << "as long as the device is busy";
}

TEST(SyncInIteration, FindsWhatASynchronousCopySends) {
  const Finding finding = only("sync-in-iteration", copying(test::kHtoD, kSmall));
  EXPECT_THAT(finding.text, HasSubstr("It waits for a copy to the device."));
  EXPECT_THAT(finding.text, Not(HasSubstr("reads a value")));
}

TEST(SyncInIteration, IsSilentAboutSynchronousCopiesOfMuch) {
  expect_silent("sync-in-iteration", copying(test::kDtoH, kLarge));
}

TEST(SyncInIteration, KnowsThatAnAsynchronousCopyToTheDeviceIsWaitedFor) {
  for (const bool copies_last : {false, true}) {
    SteppedProgram program;
    program.steps(kSteps, [&](int) {
      if (copies_last) program.launch(5, 100);
      program.copy(test::kHtoD, 5, 10);
      if (!copies_last) program.launch(5, 100);
      program.synchronize();
      program.pause(20);
    });
    const Finding finding = only("sync-in-iteration", program);
    EXPECT_EQ(finding.text.starts_with("It waits for a copy to the device."), copies_last);
  }
}

TEST(PageableCopy, IsOneFindingOfADirectionWithItsPlaces) {
  SteppedProgram program;
  const trace::Id first = program.add_stack({program.python("a.py:7 load")}),
                  second = program.add_stack({program.python("a.py:8 load")});
  program.steps(kSteps, [&](int) {
    program.launch(5, 10);
    program.copy_and_wait(test::kHtoD, 60, 20, 5, kLarge, first);
    program.copy_and_wait(test::kHtoD, 30, 20, 5, kLarge, second);
  });
  const Finding finding = only("pageable-copy", program);
  EXPECT_THAT(finding.title, HasSubstr("each iteration waits for 2 copies from pageable memory"));
  EXPECT_THAT(finding.title, HasSubstr("at 2 places"));
  EXPECT_THAT(finding.text, HasSubstr("By place, each alone: a.py:7 load (once, −"));
  EXPECT_THAT(finding.text, HasSubstr("a.py:8 load (once, −"));
}

TEST(Graphs, EndAtSynchronousCopies) {
  for (const bool copies : {false, true}) {
    SteppedProgram program;
    program.steps(kSteps, [&](int) {
      for (int i = 0; i < 12; ++i) {
        if (i == 6 && copies) program.copy_and_wait(test::kHtoD, 8, 2, 5, kLarge);
        program.launch(5, 2);
      }
    });
    const Trace trace = program.builder.trace();
    Analyses analyses(trace);
    const IterationModel& model = analyses.iteration_model();
    for (const auto as : {as_graphs, as_graphs_without_syncs}) {
      const Graphs graphs = as(analyses, model);
      EXPECT_EQ(graphs.count, copies ? 0 : model.iterations().steady_count());
    }
  }
}

}  // namespace
}  // namespace streamscope::analysis
