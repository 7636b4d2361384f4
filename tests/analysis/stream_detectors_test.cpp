// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Detectors of how an iteration's work is divided among streams: each with a program in which it
// finds a planted problem, and similar ones in which it stays silent.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/delay/what_if.h"
#include "iteration_program.h"

namespace streamscope::analysis {
namespace {

using testing::HasSubstr;

using Program = SteppedProgram;

// ---- SS309 ----

struct Shares {
  int on_a = 4, on_b = 1;  // kernels of each iteration
  Ns alone_us = 100;       // how long one takes
  Ns beside_us = 100;      // the same while the other stream runs one
  bool joined = true;      // each iteration begins when both streams are done
  const char* on_b_name = "slice";
  Ns call_us = 2;
};

Program divided(const Shares& shares) {
  Program program;
  return program.steps(12, [&](int) {
    for (int i = 0; i < std::max(shares.on_a, shares.on_b); ++i) {
      const Ns lasts = i < std::min(shares.on_a, shares.on_b) ? shares.beside_us : shares.alone_us;
      if (i < shares.on_a) program.launch(shares.call_us, lasts, "slice", "a");
      if (i < shares.on_b) program.launch(shares.call_us, lasts, shares.on_b_name, "b");
    }
    if (!shares.joined) return;
    program.record("a done", "a");
    program.record("b done", "b");
    program.wait("a done", "b");
    program.wait("b done", "a");
  });
}

// All kernels of a program fill the device.
Program filling(Program program) {
  program.builder.columns().device.sm_count[0] = 100;
  const trace::Id shape =
      program.builder.add(trace::LaunchShape{.grid_x = 10'000, .block_x = 1024});
  for (trace::Id& id : program.builder.columns().op.launch_shape_id) id = shape;
  return program;
}

TEST(ImbalanceBetweenStreams, FindsAStreamWithFourFifthsOfTheWork) {
  const Finding finding = only("imbalance-between-streams", divided({}));
  // Five kernels of 100 µs on two streams, and 1.5 µs before each.
  expect_iteration(finding, 406 * kUs, 256 * kUs, 12);
  EXPECT_EQ(finding.confidence, Confidence::kSuspected);
  EXPECT_THAT(finding.title,
              HasSubstr("is busy for 400 µs of an iteration, and 1 stream waits for it"));
  EXPECT_THAT(finding.text, HasSubstr("busy for 100 µs on average"));
  EXPECT_THAT(finding.text, HasSubstr("an equal part: 250 µs."));
}

TEST(ImbalanceBetweenStreams, CountsHowMuchSlowerKernelsAreBesideOthers) {
  const Finding finding = only("imbalance-between-streams", divided({.beside_us = 120}));
  // Beside each other each of the five takes 120 µs.
  ASSERT_TRUE(finding.iteration.has_value());
  EXPECT_EQ(finding.iteration->before_ns, 426 * kUs);
  EXPECT_EQ(finding.iteration->after_ns, 306 * kUs);
  EXPECT_THAT(finding.text, HasSubstr("kernels take 20 % longer beside"));
}

TEST(ImbalanceBetweenStreams, IsSilentIfKernelsBesideEachOtherTakeTwiceAsLong) {
  expect_silent("imbalance-between-streams", divided({.beside_us = 200}));
}

TEST(ImbalanceBetweenStreams, IsSilentIfAllStreamsAreEquallyBusy) {
  expect_silent("imbalance-between-streams", divided({.on_a = 4, .on_b = 3}));
}

TEST(ImbalanceBetweenStreams, IsSilentIfTheStreamsRunOtherKernels) {
  expect_silent("imbalance-between-streams", divided({.on_b_name = "other"}));
}

TEST(ImbalanceBetweenStreams, IsSilentIfNoStreamWaitsForTheOther) {
  expect_silent("imbalance-between-streams", divided({.joined = false}));
}

TEST(ImbalanceBetweenStreams, IsSilentIfTheWorkIsOneKernel) {
  Program program;
  program.steps(12, [&](int step) {
    // Beside the short one every second time, so that it is known to be as fast.
    program.launch(2, 400, "slice", "a");
    if (step % 2 == 0) program.launch(2, 100, "slice", "b");
    program.record("a done", "a");
    program.record("b done", "b");
    program.wait("a done", "b");
    program.wait("b done", "a");
  });
  expect_silent("imbalance-between-streams", program);
}

TEST(ImbalanceBetweenStreams, IsSilentIfTheHostIsTheBound) {
  expect_silent("imbalance-between-streams", divided({.call_us = 90}));
}

TEST(ImbalanceBetweenStreams, IsSilentIfEachKernelFillsTheDevice) {
  expect_silent("imbalance-between-streams", filling(divided({})));
}

}  // namespace
}  // namespace streamscope::analysis
