// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Finding steps that consist of equal rounds by the pauses of the host.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "analysis/iterations/equal_rounds.h"
#include "repeated_program.h"

namespace streamscope::analysis {
namespace {

using testing::AllOf;
using testing::Each;
using testing::Field;
using testing::Optional;

// ---- Rhythm ----

// Pauses of 5 to 15 µs, of which one in fifty lasts up to 200 µs.
std::vector<Ns> random_pauses(size_t count, std::mt19937& random) {
  std::uniform_int_distribution<Ns> usual(5'000, 15'000), seldom(15'000, 200'000);
  std::vector<Ns> pauses;
  for (size_t i = 0; i < count; ++i)
    pauses.push_back(random() % 50 == 0 ? seldom(random) : usual(random));
  return pauses;
}

TEST(Rhythm, IsFoundInRandomPausesOfWhichEachFewAreLonger) {
  std::mt19937 random(11);
  for (int round = 0; round < 100; ++round) {
    const size_t period = 3 + random() % 60, first = random() % period;
    std::vector<Ns> pauses = random_pauses(period * (40 + random() % 20), random);
    for (size_t i = first; i < pauses.size(); i += period) pauses[i] += 9'000;
    EXPECT_THAT(find_rhythm(pauses),
                Optional(AllOf(Field(&Rhythm::period, period), Field(&Rhythm::first, first))))
        << "round " << round;
  }
}

TEST(Rhythm, IsNoneOfRandomPauses) {
  std::mt19937 random(12);
  for (int round = 0; round < 100; ++round)
    EXPECT_EQ(find_rhythm(random_pauses(16 + random() % 2000, random)), std::nullopt) << round;
}

TEST(Rhythm, IsNoneOfEqualPausesOfFewAndOfTwoInTurn) {
  EXPECT_EQ(find_rhythm(std::vector<Ns>(400, 10'000)), std::nullopt);
  EXPECT_EQ(find_rhythm(std::vector<Ns>(400, 0)), std::nullopt);
  EXPECT_EQ(find_rhythm({}), std::nullopt);
  std::vector<Ns> pauses;
  for (size_t i = 0; i < 400; ++i) pauses.push_back(i % 2 == 0 ? 10'000 + i : 30'000 + i);
  EXPECT_EQ(find_rhythm(pauses), std::nullopt);
}

// ---- Steps ----

constexpr size_t kRounds = 6;

// Steps of six rounds of the same kernels, before each of which the host pauses for longer.
RepeatedProgram steps_of_rounds(Ns longer_us, int count = 60, size_t kernels = 2,
                                const std::function<void(RepeatedProgram&, size_t)>& also = {}) {
  RepeatedProgram program;
  for (int step = 0; step < count; ++step) {
    program.pause(longer_us);
    for (size_t round = 0; round < kRounds; ++round) {
      program.pause((step * 7 + static_cast<int>(round) * 5) % 4);
      for (size_t i = 0; i < kernels; ++i) program.kernel(i % 2 == 0 ? "a" : "b", 3);
      program.kernel("c");
      if (also) also(program, round);
    }
  }
  return program;
}

TEST(StepsOfRounds, BeginWhereTheHostPausesForLonger) {
  const RepeatedProgram program = steps_of_rounds(12);
  const Iterations found = program.find();
  ASSERT_EQ(found.source, IterationSource::kSequence);
  EXPECT_EQ(how_found(found), "18 ops in 6 equal rounds that repeat, 100 % alike");
  EXPECT_EQ(found.rounds, kRounds);
  EXPECT_THAT(op_counts(found), Each(3 * kRounds));
  EXPECT_EQ(found.all.size(), 60u);
  EXPECT_EQ(found.all.front().issued_ns, 12 * kUs);
  expect_no_gaps(found);
}

TEST(StepsOfRounds, MayConsistOfOneKernelAgainAndAgain) {
  RepeatedProgram program;
  for (int step = 0; step < 60; ++step) {
    program.pause(12);
    for (int i = 0; i < 10; ++i) program.pause((step + 3 * i) % 4).kernel("a");
  }
  const Iterations found = program.find();
  ASSERT_EQ(found.source, IterationSource::kSequence);
  EXPECT_EQ(how_found(found), "10 ops in 10 equal rounds that repeat, 100 % alike");
  EXPECT_EQ(found.all.size(), 60u);
}

TEST(StepsOfRounds, AreFoundInEachEpoch) {
  RepeatedProgram program;
  for (int epoch = 0; epoch < 3; ++epoch) {
    for (int step = 0; step < 60; ++step) {
      program.pause(12);
      for (int round = 0; round < 6; ++round)
        program.pause((step * 7 + round * 5) % 4).kernels({"a", "b", "c"});
    }
    program.pause(500).kernels({"evaluate", "evaluate", "evaluate", "evaluate"});
  }
  const Iterations found = program.find();
  ASSERT_EQ(found.source, IterationSource::kSequence);
  EXPECT_EQ(found.rounds, kRounds);
  const std::vector<uint64_t> counts = op_counts(found);
  EXPECT_EQ(std::ranges::count(counts, 18u), 178) << "a step before an evaluation has its ops, too";
  EXPECT_EQ(std::ranges::count(counts, 22u), 2);
}

// The iterations that were found without looking at pauses: the rounds.
void expect_rounds(const RepeatedProgram& program) {
  const Iterations found = program.find();
  EXPECT_EQ(found.source, IterationSource::kSequence);
  EXPECT_EQ(found.rounds, 1u);
  EXPECT_GE(found.all.size(), 60 * kRounds - 1);
}

TEST(StepsOfRounds, AreNotFoundIfNoPauseIsLonger) { expect_rounds(steps_of_rounds(0)); }

TEST(StepsOfRounds, AreNotFoundIfThePausesAreLongerByLittle) {
  RepeatedProgram program;
  for (int step = 0; step < 60; ++step) {
    program.pause(1);
    for (size_t round = 0; round < kRounds; ++round) program.kernels({"a", "b", "c"});
  }
  expect_rounds(program);
}

TEST(StepsOfRounds, AreNotFoundIfRoundsAreAsLongAsSteps) {
  expect_rounds(steps_of_rounds(12, 60, 64));
}

// The host waits for work that takes longer in each sixth round.
TEST(StepsOfRounds, AreNotFoundByHowLongTheHostWaitsForTheDevice) {
  expect_rounds(steps_of_rounds(0, 60, 2, [](RepeatedProgram& program, size_t round) {
    program.done_us += round == 5 ? 60 : 10;
    program.synchronize();
  }));
}

TEST(StepsOfRounds, AreFoundInRandomPrograms) {
  std::mt19937 random(13);
  for (int round = 0; round < 20; ++round) {
    const int rounds = 3 + static_cast<int>(random() % 20),
              ops = 2 + static_cast<int>(random() % 5),
              steps = 40 + static_cast<int>(random() % 20);
    RepeatedProgram program;
    for (int step = 0; step < steps; ++step) {
      program.pause(10);
      for (int i = 0; i < rounds; ++i) {
        program.pause(static_cast<Ns>(random() % 8));
        for (int op = 0; op < ops; ++op)
          program.kernel(std::string(1, static_cast<char>('a' + op)));
      }
    }
    const Iterations found = program.find();
    ASSERT_EQ(found.rounds, static_cast<size_t>(rounds)) << "round " << round;
    EXPECT_EQ(found.all.size(), static_cast<size_t>(steps));
    EXPECT_THAT(op_counts(found), Each(static_cast<uint64_t>(rounds * ops)));
  }
}

}  // namespace
}  // namespace streamscope::analysis
