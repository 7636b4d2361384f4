// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Detectors of how an iteration's work is divided among streams: each with a program in which it
// finds a planted problem, and similar ones in which it stays silent.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "analysis/delay/what_if.h"
#include "analysis/iterations/branches.h"
#include "iteration_program.h"

namespace streamscope::analysis {
namespace {

using testing::HasSubstr;

// All kernels have this many blocks, of which a multiprocessor holds two.
SteppedProgram with_grid(SteppedProgram program, trace::Small grid_x) {
  program.builder.columns().device.sm_count[0] = 100;
  const trace::Id shape =
      program.builder.add(trace::LaunchShape{.grid_x = grid_x, .block_x = 1024});
  for (trace::Id& id : program.builder.columns().op.launch_shape_id) id = shape;
  return program;
}

// ---- SS309 ----

struct Shares {
  int on_a = 4, on_b = 1;  // kernels of each iteration
  Ns alone_us = 100;       // how long one takes
  Ns beside_us = 100;      // the same while the other stream runs one
  bool joined = true;      // each iteration begins when both streams are done
  const char* on_b_name = "slice";
  Ns call_us = 2;
};

SteppedProgram divided(const Shares& shares) {
  SteppedProgram program;
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

// Which part of the work the other stream does in one iteration is chance.
TEST(ImbalanceBetweenStreams, DividesTheWorkEquallyInEachIteration) {
  SteppedProgram program;
  program.steps(12, [&](int step) {
    for (int i = 0; i < 6; ++i) {
      program.launch(2, 100, "slice", "a");
      if (i < (step % 2 == 0 ? 2 : 1)) program.launch(2, 100, "slice", "b");
    }
    program.record("a done", "a");
    program.record("b done", "b");
    program.wait("a done", "b");
    program.wait("b done", "a");
  });
  const Finding finding = only("imbalance-between-streams", program);
  // Seven and a half kernels of 100 µs on two streams, and 1.5 µs before each of the six.
  expect_iteration(finding, 609 * kUs, 384 * kUs, 12);
}

TEST(ImbalanceBetweenStreams, FindsStreamsThatTheHostJoins) {
  SteppedProgram program;
  program.steps(12, [&](int) {
    for (int i = 0; i < 4; ++i) {
      program.launch(2, 100, "slice", "a");
      if (i == 0) program.launch(2, 100, "slice", "b");
    }
    program.synchronize();
  });
  // The synchronization returns 2 µs after the work, and the next kernel starts 5 µs later.
  const Finding finding = only("imbalance-between-streams", program);
  ASSERT_TRUE(finding.iteration.has_value());
  EXPECT_EQ(finding.iteration->gain_ns(), 150 * kUs);
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
  SteppedProgram program;
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
  expect_silent("imbalance-between-streams", with_grid(divided({}), 10'000));
}

// ---- SS310 ----

constexpr trace::Int kFirstData = 0x1000'0000, kSecondData = 0x2000'0000, kWeights = 0x3000'0000,
                     kBytes = 1 << 20;

// Two chains of kernels on one stream: each kernel reads and writes the data of its chain, and
// reads what both share.
struct Chains {
  trace::Int second = kSecondData;  // the data of the second chain
  trace::Small grid_x = 100;        // of 100 multiprocessors with 2 blocks each: half the device
  bool known = true;                // the accesses of all kernels
  bool shared_is_written = false;
  Ns call_us = 2;
};

SteppedProgram chains(const Chains& chains) {
  SteppedProgram program;
  program.steps(12, [&](int) {
    for (const trace::Int data : {kFirstData, chains.second}) {
      for (int i = 0; i < 4; ++i) {
        program.launch(chains.call_us, 100);
        auto stream = program.builder.stream("main");
        if (!chains.known && i == 2) continue;
        stream.writes(data, kBytes);
        chains.shared_is_written ? stream.writes(kWeights, kBytes) : stream.reads(kWeights, kBytes);
      }
    }
  });
  return with_grid(std::move(program), chains.grid_x);
}

TEST(IndependentBranches, FindsTwoChainsOnOneStream) {
  const Finding finding = only("independent-branches", chains({}));
  // Eight kernels of 100 µs, and 1.5 µs before each: four of them beside the others.
  expect_iteration(finding, 812 * kUs, 406 * kUs, 12);
  EXPECT_EQ(finding.confidence, Confidence::kSuspected);
  EXPECT_THAT(finding.title, HasSubstr("400 µs of an iteration on stream 7 main could run beside"));
  EXPECT_THAT(finding.text, HasSubstr("By the memory that they access, 4 ops of each iteration"));
}

TEST(IndependentBranches, WaitsForFreeMultiprocessors) {
  // Kernels of three quarters of the device do not fit beside each other.
  expect_silent("independent-branches", chains({.grid_x = 150}));
}

TEST(IndependentBranches, IsSilentIfTheSecondChainNeedsTheResultOfTheFirst) {
  expect_silent("independent-branches", chains({.second = kFirstData}));
}

TEST(IndependentBranches, IsSilentIfBothChainsWriteTheSameMemory) {
  expect_silent("independent-branches", chains({.shared_is_written = true}));
}

TEST(IndependentBranches, IsSilentIfTheHostIsTheBound) {
  expect_silent("independent-branches", chains({.call_us = 110}));
}

// Kernels of unknown accesses are the third of each chain: only what is between the two may run
// beside each other, which is the end of the first chain and the beginning of the second.
TEST(IndependentBranches, KeepsTheOrderAroundKernelsOfUnknownAccesses) {
  const Finding finding = only("independent-branches", chains({.known = false}));
  EXPECT_EQ(finding.count, 24u);
  EXPECT_THAT(finding.title, HasSubstr("100 µs of an iteration"));
  ASSERT_TRUE(finding.iteration.has_value());
  EXPECT_EQ(finding.iteration->gain_ns(), Ns{101'500});
}

// The same by kernels' parameters: they show allocations, and what is const.
SteppedProgram by_parameters(trace::Int second, bool allocated = true) {
  SteppedProgram program;
  for (const trace::Int address : {kFirstData, kSecondData, kWeights}) {
    if (allocated) program.builder.at(program.now).malloc(address, kBytes);
    program.now += kUs;
  }
  program.steps(12, [&](int) {
    for (const trace::Int data : {kFirstData, second}) {
      for (int i = 0; i < 4; ++i) {
        program.launch(2, 100, "_Z5chainPKfPf");
        program.builder.stream("main").parameter(0, kWeights).parameter(1, data + 256 * i);
      }
    }
  });
  return with_grid(std::move(program), 100);
}

TEST(IndependentBranches, AreOnlyPossibleByParameters) {
  const Finding finding = only("independent-branches", by_parameters(kSecondData));
  expect_iteration(finding, 812 * kUs, 406 * kUs, 12);
  EXPECT_EQ(finding.confidence, Confidence::kPossible);
  EXPECT_THAT(finding.text, HasSubstr("By the parameters of kernels, 4 ops"));
}

TEST(IndependentBranches, IsSilentIfParametersPointIntoOneAllocation) {
  expect_silent("independent-branches", by_parameters(kFirstData + 4096));
}

TEST(IndependentBranches, IsSilentIfAllocationsAreUnknown) {
  expect_silent("independent-branches", by_parameters(kSecondData, false));
}

// Random accesses: whatever conflicts keeps its order, directly or through others.
TEST(IndependentBranches, KeepTheOrderOfAllConflicts) {
  uint64_t moved = 0;
  for (uint32_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    SteppedProgram program;
    struct Use {
      trace::Int begin, end;
      bool write;
    };
    std::vector<std::vector<Use>> uses;  // by op
    program.steps(5, [&](int) {
      for (size_t i = 4 + random() % 10; i > 0; --i) {
        program.launch(1, 5 + static_cast<Ns>(random() % 20));
        uses.emplace_back();
        for (size_t use = random() % 4; use > 0; --use) {
          const trace::Int begin = kFirstData + static_cast<trace::Int>(random() % 24),
                           bytes = 1 + static_cast<trace::Int>(random() % 6);
          const bool write = random() % 3 == 0;
          auto stream = program.builder.stream("main");
          write ? stream.writes(begin, bytes) : stream.reads(begin, bytes);
          uses.back().push_back({begin, begin + bytes, write});
        }
      }
    });
    program = with_grid(std::move(program), 100);
    const Trace trace = program.builder.trace();
    Analyses analyses(trace);
    const IterationModel& model = analyses.iteration_model();
    if (!model.found()) continue;
    const Branches branches = find_branches(analyses, model.iterations(), 0, 1000);
    moved += branches.count;
    const size_t count = trace.op.size();
    std::vector<std::vector<bool>> before(count, std::vector<bool>(count));
    for (Id op = 0; op < count; ++op) {
      const auto held = branches.change.held_only_by.find(op);
      std::vector<Id> others;
      if (held != branches.change.held_only_by.end()) others = held->second;
      for (Id other = 0; held == branches.change.held_only_by.end() && other < op; ++other)
        others.push_back(other);
      for (const Id other : others) {
        ASSERT_LT(other, op);
        before[op][other] = true;
        for (Id i = 0; i < other; ++i) before[op][i] = before[op][i] || before[other][i];
      }
      for (Id other = 0; other < op; ++other) {
        const bool conflict = uses[op].empty() || uses[other].empty() ||  // unknown
                              std::ranges::any_of(uses[op], [&](const Use& a) {
                                return std::ranges::any_of(uses[other], [&](const Use& b) {
                                  return a.begin < b.end && b.begin < a.end && (a.write || b.write);
                                });
                              });
        EXPECT_TRUE(!conflict || before[op][other]) << other << " before " << op;
      }
    }
  }
  EXPECT_GT(moved, 500u) << "most programs have branches";
}

TEST(WhatIf, SplitsAStreamByWhatItsWorkAccesses) {
  const Trace trace = chains({}).builder.trace();
  Analyses analyses(trace);
  Change change;
  ASSERT_TRUE(add_change(analyses, "split-stream:0", change));
  EXPECT_EQ(analyses.iteration_model().predicted_ns(change), 406 * kUs);
  const Trace one = chains({.second = kFirstData}).builder.trace();
  Analyses serial(one);
  EXPECT_FALSE(add_change(serial, "split-stream:0", change)) << "nothing can be split";
  EXPECT_FALSE(add_change(analyses, "split-stream:9", change));
}

}  // namespace
}  // namespace streamscope::analysis
