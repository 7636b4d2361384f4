// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Collectives that run on the host, as MPI's do: the rank that arrives last is the one that the
// others wait for, and what it did until then is the reason.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/threaded_program.h"
#include "job/job.h"
#include "summary_of.h"

namespace streamscope::job {
namespace {

using analysis::kUs;
using analysis::SteppedProgram;
using analysis::TimeShare;
using testing::ElementsAre;
using testing::IsEmpty;

void all_reduce(SteppedProgram& program, Ns lasts_us) {
  program.builder.add(
      trace::CollectiveCall{.thread_id = 0,
                            .name_id = program.builder.intern("MPI_Allreduce"),
                            .communicator_id = program.builder.intern("MPI_COMM_WORLD"),
                            .bytes = 64,
                            .start_ns = program.now,
                            .end_ns = program.now + lasts_us * kUs});
  program.pause(lasts_us);
}

void in_range(SteppedProgram& program, const char* name, Ns lasts_us) {
  program.builder.add(trace::Range{.thread_id = 0,
                                   .kind = trace::kPushPop,
                                   .name_id = program.builder.intern(name),
                                   .start_ns = program.now,
                                   .end_ns = program.now + lasts_us * kUs});
  program.pause(lasts_us);
}

TEST(HostCollectives, WaitForTheirThreadAndHoldItUp) {
  SteppedProgram program;
  program.steps(8, [&](int) {
    program.launch(5, 100, "forward");
    program.synchronize();
    program.pause(40);
    all_reduce(program, 30);
    program.pause(20);
    all_reduce(program, 10);
    program.launch(5, 60, "backward");
    program.synchronize();
  });
  const RankSummary summary = summary_of(program.builder);
  ASSERT_GE(summary.iterations.size(), 4u);
  const RankIteration& middle = summary.iterations[2];
  ASSERT_EQ(middle.collectives.size(), 2u);
  EXPECT_EQ(middle.collectives[0].kind, CollectiveKind::kAllReduce);
  EXPECT_EQ(middle.segments[0].after, -1);
  EXPECT_EQ(middle.segments[0].shares[static_cast<size_t>(TimeShare::kKernels)], 100 * kUs);
  EXPECT_EQ(middle.segments[1].after, 0);
  EXPECT_EQ(length_of(middle.segments[1]), 20 * kUs);
  EXPECT_EQ(middle.segments[2].after, 1);
  EXPECT_EQ(middle.segments[2].shares[static_cast<size_t>(TimeShare::kKernels)], 60 * kUs);
}

TEST(HostCollectives, AtTheEndOfAnIterationHoldUpTheNextOne) {
  for (const bool marked : {true, false}) {
    SteppedProgram program;
    for (int step = 0; step < 12; ++step) {
      const Ns begin = program.now;
      program.launch(5, 100, "forward");
      program.launch(5, 50, "backward");
      program.synchronize();
      program.pause(40);
      all_reduce(program, 300);
      if (marked) {
        program.builder.add(trace::Range{.thread_id = 0,
                                         .kind = trace::kPushPop,
                                         .name_id = program.builder.intern("step"),
                                         .start_ns = begin,
                                         .end_ns = program.now});
      }
    }
    const RankSummary summary = summary_of(program.builder);
    ASSERT_GE(summary.iterations.size(), 4u);
    const RankIteration& middle = summary.iterations[2];
    ASSERT_EQ(middle.collectives.size(), 1u);
    // Marked, it ends the iteration; by its work, the iteration begins with it.
    EXPECT_EQ(middle.segments[marked ? 0 : 1].shares[static_cast<size_t>(TimeShare::kKernels)],
              150 * kUs);
    EXPECT_EQ(middle.segments[1].after, 0);
    for (const Segment& segment : middle.segments) EXPECT_LT(length_of(segment), 300 * kUs);
  }
}

/// Four ranks that read their input, compute and meet; `late` reads for 900 µs longer, -1: none.
Job job_of_ranks(int late) {
  StepReader reader;
  for (int rank = 0; rank < 4; ++rank) {
    SteppedProgram program;
    program.steps(10, [&](int) {
      in_range(program, "read_input", rank == late ? 1000 : 100);
      program.launch(5, 400, "compute");
      program.synchronize();
      all_reduce(program, late >= 0 && rank != late ? 910 : 10);
    });
    reader.add(summary_of(program.builder, {.rank = rank, .world_size = 4}));
  }
  return analyze(reader.take());
}

TEST(HostCollectives, NameTheRankThatArrivesLastAndItsRegion) {
  const Job job = job_of_ranks(2);
  ASSERT_FALSE(job.delays.empty());
  EXPECT_THAT(job.delays[0].ranks, ElementsAre(2));
  EXPECT_EQ(job.delays[0].share, TimeShare::kOutside);
  EXPECT_EQ(job.delays[0].place, "read_input");
  EXPECT_NEAR(job.delays[0].cost_ns, 900 * kUs, 50 * kUs);
  ASSERT_EQ(job.stragglers.size(), 1u);
  EXPECT_EQ(job.stragglers[0].rank_row, 2u);
}

TEST(HostCollectives, AccuseNobodyWhereAllArriveTogether) {
  const Job job = job_of_ranks(-1);
  EXPECT_THAT(job.delays, IsEmpty());
  EXPECT_THAT(job.stragglers, IsEmpty());
}

}  // namespace
}  // namespace streamscope::job
