// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Kernels that order themselves through a flag in memory (access.signals).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "run_detector.h"
#include "vocabulary/access_source.h"
#include "vocabulary/kernel_signals.h"

namespace streamscope::analysis {
namespace {

using test::TraceBuilder;
using testing::HasSubstr;

constexpr trace::Int kData = 0x7f0000000000, kFlag = 0x7f0000100000, kOther = 0x7f0000200000;
constexpr trace::Small kNone = trace::kNoSmall;

// A touch of the newest kernel.
void touches(TraceBuilder& builder, trace::Int address, AccessKind kind, trace::Small signals) {
  const trace::Id op = static_cast<trace::Id>(builder.columns().op.size() - 1);
  builder.add(trace::Access{.process_id = 0,
                            .thread_id = 0,
                            .source = static_cast<trace::Small>(AccessSource::kObserved),
                            .writes = static_cast<trace::Small>(kind),
                            .address = address,
                            .bytes = address == kData ? 4096 : 4,
                            .call_number = builder.columns().op.call_number[op],
                            .signals = signals});
}

struct SignallingKernels {
  trace::Small producer = kMaySignal, waiter = kMayWait;
  trace::Int flag_of_waiter = kFlag;
  bool consumer_apart = false;  // it follows the waiter in its stream
};

std::vector<Finding> races(const SignallingKernels& program) {
  TraceBuilder builder;
  builder.meta("tier", "structure").meta("observed_accesses", "1");
  builder.stream("left").kernel("produce", 100, 200);
  touches(builder, kData, AccessKind::kWritten, program.producer);
  touches(builder, kFlag, AccessKind::kWritten, program.producer);
  builder.stream("right").kernel("wait", 100, 200);
  touches(builder, program.flag_of_waiter, AccessKind::kRead, program.waiter);
  if (program.consumer_apart) {
    builder.stream("right").kernel("consume", 200, 300);
    touches(builder, kData, AccessKind::kRead, kNone);
  } else {
    touches(builder, kData, AccessKind::kRead, program.waiter);
  }
  return run("stream-race", builder).findings;
}

bool any_certain(const std::vector<Finding>& findings) {
  return std::ranges::any_of(
      findings, [](const Finding& finding) { return finding.confidence == Confidence::kCertain; });
}

TEST(SignalWords, AKernelThatMayWaitForTheOtherMakesTheRacePossible) {
  const auto found = races({});
  ASSERT_FALSE(found.empty());
  EXPECT_FALSE(any_certain(found));
  EXPECT_THAT(found[0].text, HasSubstr("may wait for a value at 0x7f00001"));
}

TEST(SignalWords, SoDoesOneBeforeTheConsumer) {
  const auto found = races({.consumer_apart = true});
  ASSERT_FALSE(found.empty());
  EXPECT_FALSE(any_certain(found));
}

TEST(SignalWords, OthersLeaveItCertain) {
  EXPECT_TRUE(any_certain(races({.producer = kNone}))) << "nobody signals";
  EXPECT_TRUE(any_certain(races({.waiter = kNone}))) << "nobody waits";
  EXPECT_TRUE(any_certain(races({.producer = kMayWait, .waiter = kMayWait})));
  EXPECT_TRUE(any_certain(races({.flag_of_waiter = kOther, .consumer_apart = true})))
      << "it waits for something else";
}

}  // namespace
}  // namespace streamscope::analysis
