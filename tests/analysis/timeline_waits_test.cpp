// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "analysis/delay/timeline_waits.h"

#include <gtest/gtest.h>

#include "analysis/analyses.h"
#include "analysis/delay/wait_groups.h"
#include "support/trace_builder.h"
#include "support/units.h"

namespace streamscope::analysis {
namespace {

using test::kUs;
using test::StreamBuilder;
using test::TraceBuilder;

// A timeline that stream "a" signals after its kernel and stream "b" waits for: by an event if the
// value was promised, by a word in memory if not.
struct Coordinated {
  TraceBuilder builder;
  StreamBuilder a = builder.stream("a"), b = builder.stream("b");
  Id timeline = builder.add(trace::Timeline{
      .process_id = 0, .native_id = 1, .name_id = builder.intern("steps"), .initial = 0});

  void report(trace::TimelineAct act, trace::Int value, const StreamBuilder& stream, Ns at) {
    builder.add(trace::TimelinePoint{.timeline_id = timeline,
                                     .act = act,
                                     .value = value,
                                     .thread_id = 0,
                                     .stream_id = stream.id(),
                                     .start_ns = at});
  }
};

TEST(TimelineWaits, AnEventForAValueIsNamed) {
  Coordinated c;
  c.a.at(1 * kUs).kernel("k", 10 * kUs, 100 * kUs);
  c.report(trace::kTimelineSignal, 5, c.a, 2 * kUs);
  c.a.at(2 * kUs).record("e");
  c.report(trace::kTimelineWait, 5, c.b, 3 * kUs);
  c.b.at(3 * kUs + 200).wait("e");
  c.b.kernel("after", 102 * kUs, 110 * kUs);
  // One that the program created itself, much later.
  c.b.at(90 * kUs).wait("e");
  const Trace trace = c.builder.trace();
  const TimelineWaits waits(trace);
  EXPECT_EQ(waits.of_wait(0), (TimelineValue{c.timeline, 5}));
  EXPECT_EQ(timeline_label(trace, *waits.of_wait(0)), "value 5 of timeline steps");
  EXPECT_FALSE(waits.of_wait(1));
  Analyses analyses(trace);
  const auto groups = group_waits(trace, analyses.edges(), analyses.waits());
  ASSERT_FALSE(groups.empty());
  EXPECT_EQ(groups[0].wanted, (TimelineValue{c.timeline, 5}));
}

TEST(TimelineWaits, AWordInMemoryForAValueIsNamed) {
  Coordinated c;
  c.report(trace::kTimelineWait, 7, c.b, 3 * kUs);
  c.b.at(3 * kUs + 200).memory_wait(0x10, 7, 5 * kUs, 80 * kUs);
  const Id wait = c.b.last_op();
  c.b.kernel("after", 82 * kUs, 90 * kUs);
  const Trace trace = c.builder.trace();
  EXPECT_EQ(TimelineWaits(trace).of_op(wait), (TimelineValue{c.timeline, 7}));
  EXPECT_FALSE(TimelineWaits(trace).of_op(c.b.last_op())) << "a kernel";
}

TEST(TimelineWaits, AnEventOfAStreamWithoutPromisesBelongsToTheProgram) {
  Coordinated c;
  c.a.at(1 * kUs).kernel("k", 10 * kUs, 100 * kUs).record("e");
  c.report(trace::kTimelineWait, 5, c.b, 3 * kUs);
  c.b.at(3 * kUs + 200).wait("e");
  const Trace trace = c.builder.trace();
  EXPECT_FALSE(TimelineWaits(trace).of_wait(0));
}

}  // namespace
}  // namespace streamscope::analysis
