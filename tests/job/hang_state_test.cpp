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
  process.exit_signal[0] = 11;
  EXPECT_EQ(state_of(builder).state, RankState::kDied);
  EXPECT_EQ(state_of(builder).reason, "was ended by signal 11 (Segmentation fault)");
}

}  // namespace
}  // namespace streamscope::job
