// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "job/hang_state.h"

#include <gmock/gmock.h>

#include "support/trace_builder.h"

namespace streamscope::job {
namespace {

using test::TraceBuilder;
using ::testing::SizeIs;

constexpr char kKernel[] = "ncclDevKernel_AllReduce_Sum_f32_RING_LL";

// Three all-reduces, the last two of which have not ended.
TraceBuilder program() {
  TraceBuilder builder;
  for (int i = 0; i < 3; ++i) {
    const trace::Ns at = 10 + i * 10;
    builder.at(at + 2).stream("comm").kernel(kKernel, 100 + i * 100,
                                             i == 0 ? 150 : trace::kUnknownNs);
    trace::CollectiveCall call{.thread_id = 0,
                               .name_id = builder.intern("ncclAllReduce"),
                               .communicator_id = builder.intern("tp0"),
                               .bytes = 4096};
    call.start_ns = at;
    call.end_ns = at + 9;
    builder.add(call);
  }
  return builder;
}

RankHang state_of(const TraceBuilder& builder) {
  const trace::Trace trace = builder.trace();
  analysis::Analyses analyses(trace);
  return hang_state(analyses, {.rank = 3, .world_size = 8});
}

TEST(HangState, IsInTheOldestCollectiveThatHasNotEnded) {
  TraceBuilder builder = program();
  builder.columns().process.end_ns[0] = trace::kUnknownNs;
  const RankHang hang = state_of(builder);
  EXPECT_EQ(hang.identity.rank, 3);
  ASSERT_THAT(hang.calls, SizeIs(1));
  EXPECT_EQ(hang.calls[0].communicator, "tp0");
  EXPECT_EQ(hang.calls[0].kind, CollectiveKind::kAllReduce);
  EXPECT_EQ(hang.calls[0].sequence, 1u);
  EXPECT_EQ(hang.calls[0].issued, 2u);
  EXPECT_EQ(hang.calls[0].bytes, 4096u);
  EXPECT_FALSE(hang.calls[0].ended);
}

// As the driver reports: a kernel has times once it has ended.
TraceBuilder reported(std::initializer_list<bool> ended, bool held = false) {
  TraceBuilder builder;
  trace::Ns at = 10;
  for (const bool has_ended : ended) {
    const trace::Ns start = has_ended ? 10 * at : trace::kUnknownNs;
    if (held && !has_ended)
      builder.stream("comm").memory_wait(0x1000, 1, trace::kUnknownNs, trace::kUnknownNs);
    builder.at(at + 2).stream("comm").kernel(kKernel, start, has_ended ? start + 5 : start);
    trace::CollectiveCall call{.thread_id = 0,
                               .name_id = builder.intern("ncclAllReduce"),
                               .communicator_id = builder.intern("tp0")};
    call.start_ns = at;
    call.end_ns = at + 9;
    builder.add(call);
    at += 10;
  }
  builder.columns().process.end_ns[0] = trace::kUnknownNs;
  return builder;
}

TEST(HangState, IsInACollectiveThatItsStreamHasReached) {
  const LastCall call = state_of(reported({true, false, false})).calls.at(0);
  EXPECT_EQ(call.sequence, 1u);
  EXPECT_TRUE(call.started);
  EXPECT_FALSE(call.ended);
}

TEST(HangState, HasNotBegunWhatIsHeldUpOnItsStream) {
  const LastCall call = state_of(reported({true, false, false}, true)).calls.at(0);
  EXPECT_EQ(call.sequence, 1u);
  EXPECT_FALSE(call.started);
}

TEST(HangState, HasLeftACollectiveWhoseReportIsLost) {
  const LastCall call = state_of(reported({false, true, false})).calls.at(0);
  EXPECT_EQ(call.sequence, 2u);
  EXPECT_TRUE(call.started);
}

TEST(HangState, KnowsNothingOfTheDeviceWithoutItsTimes) {
  TraceBuilder builder = reported({false, false});
  builder.meta("tier", "structure");
  EXPECT_FALSE(state_of(builder).calls.at(0).started);
}

TEST(HangState, CountsSendsAndReceivesApart) {
  TraceBuilder builder = reported({true, false});
  trace::Trace& columns = builder.columns();
  columns.collective_call.name_id[1] = builder.intern("ncclSend");
  const RankHang hang = state_of(builder);
  ASSERT_THAT(hang.calls, SizeIs(1));
  EXPECT_EQ(hang.calls[0].issued, 0u);
  EXPECT_TRUE(hang.calls[0].ended);
  EXPECT_TRUE(hang.in_message);
}

TEST(HangState, CountsMessagesBetweenTwoRanksWhereItKnowsThem) {
  TraceBuilder builder = reported({true, true, true, false});
  auto& calls = builder.columns().collective_call;
  const trace::Id send = builder.intern("ncclSend"), receive = builder.intern("ncclRecv");
  for (trace::Id call = 0; call < 4; ++call) {
    calls.rank[call] = 1;
    calls.rank_count[call] = 3;
    calls.name_id[call] = call == 1 ? receive : send;
    calls.peer[call] = call == 2 ? 0 : 2;
  }
  const RankHang hang = state_of(builder);
  EXPECT_FALSE(hang.in_message);
  ASSERT_THAT(hang.calls, SizeIs(3));
  for (const LastCall& call : hang.calls) {
    EXPECT_EQ(call.communicator, "tp0");
    EXPECT_EQ(call.rank, 1);
    const bool last = call.kind == CollectiveKind::kSend && call.peer == 2;
    EXPECT_EQ(call.sequence, last ? 1u : 0u);
    EXPECT_EQ(call.issued, call.sequence);
    EXPECT_TRUE(call.started);
    EXPECT_EQ(call.ended, !last);
  }
}

TEST(HangState, SaysHowARankEnded) {
  TraceBuilder builder = program();
  auto& process = builder.columns().process;
  process.end_ns[0] = 1000;
  process.exit_code[0] = 0;
  EXPECT_EQ(state_of(builder).state, RankState::kEnded);
  process.exit_code[0] = 3;
  EXPECT_EQ(state_of(builder).state, RankState::kDied);
  EXPECT_EQ(state_of(builder).reason, "ended with exit code 3");
  process.exit_code[0] = trace::kNoSmall;
  process.complete[0] = 0;
  EXPECT_EQ(state_of(builder).reason, "ended abruptly, and may have been killed");
  process.exit_signal[0] = 11;
  EXPECT_EQ(state_of(builder).state, RankState::kDied);
  EXPECT_EQ(state_of(builder).reason, "was ended by signal 11 (Segmentation fault)");
}

}  // namespace
}  // namespace streamscope::job
