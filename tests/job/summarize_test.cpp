// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "job/summarize.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "analysis/threaded_program.h"
#include "job/files/summary_file.h"
#include "summary_of.h"
#include "support/trace_builder.h"

namespace streamscope::job {
namespace {

using analysis::Analyses;
using analysis::kUs;
using analysis::SteppedProgram;
using analysis::TimeShare;
using testing::ElementsAre;
using testing::IsEmpty;

Ns share(const Segment& segment, TimeShare which) {
  return segment.shares[static_cast<size_t>(which)];
}

constexpr const char* kAllReduce = "ncclDevKernel_AllReduce_Sum_f32_RING_LL";

TEST(Summarize, CutsAnIterationIntoCollectivesAndWhatComesBeforeThem) {
  SteppedProgram program;
  program.steps(8, [&](int) {
    program.launch(5, 100, "forward");
    program.launch(5, 40, kAllReduce);
    program.launch(5, 60, "backward");
    program.launch(5, 30, "ncclDevKernel_AllGather_RING_LL");
    program.launch(5, 10, "last");
  });
  const RankSummary summary = summary_of(program.builder, {.rank = 3, .world_size = 8});
  EXPECT_EQ(summary.identity.rank, 3);
  EXPECT_EQ(summary.incomplete, "");
  EXPECT_THAT(summary.communicators, ElementsAre(Membership{"default"}));
  ASSERT_GE(summary.iterations.size(), 4u);
  const RankIteration& middle = summary.iterations[2];
  ASSERT_EQ(middle.collectives.size(), 2u);
  EXPECT_EQ(middle.collectives[0].kind, CollectiveKind::kAllReduce);
  EXPECT_EQ(middle.collectives[1].kind, CollectiveKind::kAllGather);
  EXPECT_EQ(middle.collectives[0].end_ns - middle.collectives[0].start_ns, 40 * kUs);
  EXPECT_EQ(middle.collectives[1].sequence, middle.collectives[0].sequence + 1);
  EXPECT_LT(middle.collectives[0].issued_ns, middle.collectives[0].start_ns);
  ASSERT_EQ(middle.segments.size(), 3u);
  EXPECT_EQ(middle.segments[0].after, -1);
  EXPECT_EQ(middle.segments[1].after, 0);
  EXPECT_EQ(middle.segments[2].after, 1);
  EXPECT_EQ(share(middle.segments[0], TimeShare::kKernels), 100 * kUs);
  EXPECT_EQ(share(middle.segments[1], TimeShare::kKernels), 60 * kUs);
  EXPECT_EQ(share(middle.segments[2], TimeShare::kKernels), 10 * kUs);
  for (const Segment& segment : middle.segments)
    EXPECT_EQ(share(segment, TimeShare::kCollectives), 0);
  EXPECT_EQ(summary.places[middle.segments[0].place], "forward");
  EXPECT_EQ(summary.places[middle.segments[1].place], "backward");
  EXPECT_EQ(middle.segments[1].host_place, 0u);
}

TEST(Summarize, NamesTheLineThatHoldsTheHostUp) {
  SteppedProgram program;
  program.steps(8, [&](int) {
    program.launch(5, 10, "forward");
    program.synchronize();
    program.sampled_pause(600, {program.python("loader.py:12 next_batch")});
    program.launch(5, 900, "long");
    program.launch(5, 40, kAllReduce);
    program.launch(5, 10, "last");
  });
  const RankSummary summary = summary_of(program.builder);
  ASSERT_GE(summary.iterations.size(), 4u);
  const Segment& segment = summary.iterations[2].segments[0];
  EXPECT_EQ(share(segment, TimeShare::kOutside), 600 * kUs);
  EXPECT_EQ(summary.places[segment.place], "long");
  EXPECT_EQ(summary.places[segment.host_place], "loader.py:12 next_batch");
}

// Of an iteration with two all-reduces; the host may wait for the device between them.
std::vector<Segment> segments_around_two_calls(bool waits) {
  SteppedProgram program;
  program.steps(8, [&](int) {
    program.launch(30, 900, "forward");
    program.launch(20, 40, kAllReduce);
    if (waits) program.synchronize();
    program.launch(50, 900, "backward");
    program.launch(10, 40, kAllReduce);
    program.launch(5, 10, "last");
  });
  const RankSummary summary = summary_of(program.builder);
  EXPECT_GE(summary.iterations.size(), 4u);
  EXPECT_EQ(summary.iterations.at(2).segments.size(), 3u);
  return summary.iterations.at(2).segments;
}

TEST(Summarize, TellsWhatTheHostTakesFromCallToCall) {
  const std::vector<Segment> segments = segments_around_two_calls(false);
  EXPECT_EQ(segments.at(1).host_ns, 70 * kUs);
  EXPECT_EQ(segments.at(0).host_ns + segments.at(1).host_ns + segments.at(2).host_ns, 115 * kUs);
}

TEST(Summarize, DoesNotTellItWhereTheHostWaitedForTheDevice) {
  const std::vector<Segment> segments = segments_around_two_calls(true);
  EXPECT_NE(segments.at(0).host_ns, trace::kUnknownNs);
  EXPECT_EQ(segments.at(1).host_ns, trace::kUnknownNs);
}

TEST(Summarize, LeavesWorkBesideTheCriticalPathOutOfASegment) {
  SteppedProgram program;
  program.steps(8, [&](int) {
    program.launch(2, 200, "long");
    program.record("done");
    program.launch(2, 20, "short", "side");
    program.wait("done", "comm");
    program.launch(2, 50, kAllReduce, "comm");
    program.synchronize();
  });
  const RankSummary summary = summary_of(program.builder);
  ASSERT_GE(summary.iterations.size(), 4u);
  const RankIteration& middle = summary.iterations[2];
  EXPECT_EQ(share(middle.segments[0], TimeShare::kKernels), 200 * kUs);
  EXPECT_EQ(middle.segments[1].after, 0);
}

TEST(Summarize, TellsWhatRunsBesideCollectives) {
  SteppedProgram program;
  program.steps(8, [&](int) {
    program.launch(2, 100, "forward");
    program.record("done");
    program.wait("done", "comm");
    program.launch(2, 50, kAllReduce, "comm");
    program.launch(2, 30, "backward");
    program.launch(2, 40, kAllReduce, "comm");
    program.synchronize();
  });
  const RankSummary summary = summary_of(program.builder);
  ASSERT_GE(summary.iterations.size(), 4u);
  const RankIteration& middle = summary.iterations[2];
  ASSERT_EQ(middle.segments.size(), 3u);
  EXPECT_EQ(middle.segments[0].device_ns, 100 * kUs);
  EXPECT_EQ(middle.segments[1].device_ns, 30 * kUs);
  EXPECT_EQ(middle.segments[2].device_ns, 0);
  const Ns both = middle.collectives[0].end_ns - middle.collectives[0].start_ns +
                  middle.collectives[1].end_ns - middle.collectives[1].start_ns;
  EXPECT_EQ(both, 90 * kUs);
  EXPECT_GE(middle.alone_ns, 60 * kUs);
  EXPECT_LT(middle.alone_ns, 65 * kUs);  // but for the start of "backward"
}

TEST(Summarize, PutsCollectivesThatNeverBeganLast) {
  test::TraceBuilder builder;
  builder.stream("comm").kernel(kAllReduce, trace::kUnknownNs, trace::kUnknownNs);
  builder.stream("main").kernel("k", 100, 200).kernel("ncclKernel_AllGather", 300, 400);
  const RankSummary summary = summary_of(builder);
  ASSERT_EQ(summary.iterations.size(), 1u);
  const auto& collectives = summary.iterations[0].collectives;
  ASSERT_EQ(collectives.size(), 2u);
  EXPECT_EQ(collectives[0].kind, CollectiveKind::kAllGather);
  EXPECT_EQ(collectives[0].sequence, 1u);
  EXPECT_EQ(collectives[1].kind, CollectiveKind::kAllReduce);
  EXPECT_EQ(collectives[1].sequence, 0u);
  EXPECT_EQ(collectives[1].start_ns, trace::kUnknownNs);
  EXPECT_NE(collectives[1].issued_ns, trace::kUnknownNs);
  EXPECT_EQ(length_of(summary.iterations[0].segments[1]), 0);
}

TEST(Summarize, OfATraceWithoutIterationsIsTheWholeRun) {
  test::TraceBuilder builder;
  builder.stream("main").kernel("k", 100, 250).kernel(kAllReduce, 300, 400).kernel("m", 450, 500);
  const RankSummary summary = summary_of(builder);
  EXPECT_EQ(summary.first_iteration, 0u);
  ASSERT_EQ(summary.iterations.size(), 1u);
  EXPECT_EQ(summary.iterations[0].start_ns, 0);  // the first launch
  EXPECT_EQ(summary.iterations[0].end_ns, 500);
  EXPECT_EQ(summary.iterations[0].collectives.size(), 1u);
}

TEST(Summarize, OfIterationsWithoutTheCollectivesIsTheWholeRun) {
  const auto iterations = [](bool inside) {
    SteppedProgram program;
    for (int i = 0; i < 8; ++i) program.launch(5, 10, inside ? "k" : kAllReduce);
    program.steps(8, [&](int) {
      program.launch(5, 100, "a");
      program.launch(5, 100, inside ? kAllReduce : "b");
    });
    return summary_of(program.builder).iterations;
  };
  EXPECT_GE(iterations(true).size(), 4u);
  ASSERT_EQ(iterations(false).size(), 1u);
  EXPECT_EQ(iterations(false)[0].collectives.size(), 8u);
}

TEST(Summarize, LeavesOutWhatIsIssuedBeforeTheFirstIteration) {
  SteppedProgram program;
  program.launch(5, 10, "ncclDevKernel_Broadcast_RING_LL");
  program.steps(8, [&](int) {
    program.launch(5, 100, "a");
    program.launch(5, 100, kAllReduce);
  });
  const RankSummary summary = summary_of(program.builder);
  ASSERT_GE(summary.iterations.size(), 4u);
  for (const RankIteration& iteration : summary.iterations) {
    ASSERT_EQ(iteration.collectives.size(), 1u);
    EXPECT_EQ(iteration.collectives[0].kind, CollectiveKind::kAllReduce);
  }
  EXPECT_EQ(summary.iterations[0].collectives[0].sequence, summary.first_iteration + 1);
}

TEST(Summarize, SaysWhatIsMissing) {
  test::TraceBuilder empty;
  const RankSummary nothing = summary_of(empty);
  EXPECT_THAT(nothing.iterations, IsEmpty());
  EXPECT_EQ(nothing.incomplete, "the trace has no work of a device with times");
  test::TraceBuilder lossy;
  lossy.stream("main").kernel("k", 100, 250);
  lossy.loss("ring-full");
  EXPECT_THAT(summary_of(lossy).incomplete, testing::HasSubstr("records"));
}

// A kernel that waits for a collective by an event, and a collective that waits for the kernel.
test::TraceBuilder with_unknown_events(bool reported) {
  test::TraceBuilder builder;
  builder.at(0).stream("comm").kernel(kAllReduce, 10 * kUs, 500 * kUs);
  builder.at(20 * kUs).stream("main").kernel("between", 520 * kUs, 530 * kUs);
  builder.at(30 * kUs).stream("late").kernel(kAllReduce, 545 * kUs, 600 * kUs);
  if (reported) builder.loss("import-unknown-object");
  return builder;
}

TEST(Summarize, FindsWhatOpsWaitedForWhereTheTraceDoesNotSay) {
  const RankIteration found = summary_of(with_unknown_events(true)).iterations[0];
  EXPECT_EQ(found.segments[1].after, 0);
  EXPECT_EQ(share(found.segments[1], TimeShare::kKernels), 10 * kUs);
  EXPECT_EQ(length_of(found.segments[1]), 45 * kUs);
  // Where all events are known, it has another cause.
  EXPECT_EQ(summary_of(with_unknown_events(false)).iterations[0].segments[1].after, -1);
}

TEST(Summarize, FindsWhatTheHostWaitedForWhereTheTraceDoesNotSay) {
  for (const Ns returns_us : {510, 700}) {
    test::TraceBuilder builder;
    builder.at(0).stream("comm").kernel(kAllReduce, 10 * kUs, 500 * kUs);
    builder.add(trace::HostSync{.thread_id = 0,
                                .kind = trace::kStreamSynchronize,
                                .name_id = builder.intern("cudaStreamSynchronize"),
                                .start_ns = 20 * kUs,
                                .end_ns = returns_us * kUs});
    builder.at(800 * kUs).stream("late").kernel(kAllReduce, 805 * kUs, 900 * kUs);
    builder.loss("import-unknown-object");
    const Segment segment = summary_of(builder).iterations[0].segments[1];
    // It returns long after the collective ended only if it waits for something else.
    EXPECT_EQ(segment.after, returns_us == 510 ? 0 : -1);
    if (returns_us == 510) {
      EXPECT_EQ(share(segment, TimeShare::kSynchronizing), 10 * kUs);
    }
  }
}

TEST(Summarize, SumsUpInRandomPrograms) {
  size_t collectives = 0, dependent = 0, found = 0;
  Ns unknown = 0, total = 0;
  for (uint32_t seed = 0; seed < 400; ++seed) {
    const trace::Trace trace = analysis::random_iterations(seed).builder.trace();
    Analyses analyses(trace);
    const RankSummary summary = summarize(analyses, {});
    expect_sums(summary, "seed " + std::to_string(seed));
    if (testing::Test::HasFatalFailure()) return;
    found += summary.iterations.size() > 1;
    for (const RankIteration& iteration : summary.iterations) {
      collectives += iteration.collectives.size();
      for (const Segment& segment : iteration.segments) {
        dependent += segment.after >= 0;
        unknown += share(segment, TimeShare::kUnknown);
        total += length_of(segment);
      }
    }
  }
  EXPECT_GT(found, 300u);
  EXPECT_GT(collectives, 2000u);
  EXPECT_GT(dependent, 500u);
  EXPECT_LT(unknown * 100, total);
}

TEST(Summarize, SumsUpInRecordings) {
  size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(STREAMSCOPE_TRACES)) {
    if (entry.path().extension() != ".sqlite") continue;
    const trace::Trace trace = trace::read(entry.path());
    Analyses analyses(trace);
    expect_sums(summarize(analyses, {}), entry.path().filename());
    ++count;
  }
  EXPECT_GT(count, 10u);
}

TEST(Summarize, StoresFourHundredOpsAndTwentyCollectivesInLessThan3KbPerIteration) {
  constexpr int kSteps = 20;
  SteppedProgram program;
  program.steps(kSteps, [&](int) {
    for (int i = 0; i < 400; ++i) {
      const bool collective = i % 20 == 19;
      program.launch(5, 7 + i % 13,
                     collective ? "ncclDevKernel_AllReduce_Sum_f32" : "k" + std::to_string(i),
                     collective ? "comm" : "main");
      if (collective) {
        program.record("done", "comm");
        program.wait("done", "main");
      }
    }
  });
  const RankSummary summary = summary_of(program.builder, {.rank = 0, .world_size = 8});
  ASSERT_GE(summary.iterations.size(), 10u);
  ASSERT_EQ(summary.iterations[5].collectives.size(), 20u);
  EXPECT_LT(pack(summary).size(), 3000 * summary.iterations.size());
}

}  // namespace
}  // namespace streamscope::job
