// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What the time of iterations went into: simple programs with known shares, and random ones in
// which the shares must sum to the time.
#include "analysis/iterations/shares.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <set>

#include "analysis/iterations/issued_work.h"
#include "threaded_program.h"

namespace streamscope::analysis {
namespace {

using test::TraceBuilder;
using testing::ElementsAre;

Ns sum_of(const Shares& shares) { return std::accumulate(shares.begin(), shares.end(), Ns{0}); }

void expect_sums(const Iterations& iterations, const IterationShares& shares,
                 const std::string& which) {
  ASSERT_EQ(shares.each.size(), iterations.steady_count()) << which;
  Shares total{};
  for (size_t i = 0; i < shares.each.size(); ++i) {
    const Iteration& iteration = iterations.all[iterations.steady_from + i];
    ASSERT_EQ(sum_of(shares.each[i]), iteration.duration_ns()) << which << ", iteration " << i;
    for (size_t share = 0; share < kShareCount; ++share) {
      total[share] += shares.each[i][share];
      ASSERT_GE(shares.each[i][share], 0)
          << which << ", iteration " << i << ", " << names_of(static_cast<TimeShare>(share)).id;
    }
  }
  ASSERT_EQ(shares.total, total) << which;
  ASSERT_EQ(shares.total_ns(), iterations.steady_end_ns() - iterations.steady_start_ns()) << which;
}

// The shares of an iteration in the middle, in µs, by id.
std::map<std::string_view, double> shares_us(const ThreadedProgram& program) {
  const Trace trace = program.builder.trace();
  Analyses analyses(trace);
  const Iterations iterations = find_iterations(analyses);
  std::map<std::string_view, double> result;
  if (!iterations.found()) return result;
  const IterationShares shares = shares_of(analyses, iterations, SteadySyncs(analyses, iterations));
  expect_sums(iterations, shares, "shares");
  const Shares& middle = shares.each[shares.each.size() / 2];
  for (size_t share = 0; share < kShareCount; ++share) {
    if (middle[share] != 0)
      result[names_of(static_cast<TimeShare>(share)).id] = static_cast<double>(middle[share]) / kUs;
  }
  return result;
}

using Part = std::pair<const std::string_view, double>;

TEST(Shares, HaveDifferentNames) {
  std::set<std::string_view> ids, shown;
  for (size_t share = 0; share < kShareCount; ++share) {
    ids.insert(names_of(static_cast<TimeShare>(share)).id);
    shown.insert(names_of(static_cast<TimeShare>(share)).shown);
  }
  EXPECT_EQ(ids.size(), kShareCount);
  EXPECT_EQ(shown.size(), kShareCount);
  EXPECT_EQ(names_of(TimeShare::kUnknown).id, "unknown");
}

TEST(Shares, APauseIsLongByTheDurationOfAnIterationWithinLimits) {
  Iterations iterations;
  for (const auto& [median, least] : {std::pair<Ns, Ns>{0, kLeastLongPauseNs},
                                      {2'000 * kUs, 100 * kUs},
                                      {4'000 * kUs, 200 * kUs},
                                      {10'000 * kUs, 500 * kUs},
                                      {60'000 * kUs, kMostLongPauseNs}}) {
    iterations.median_ns = median;
    EXPECT_EQ(long_pause_ns(iterations), least) << median;
  }
}

// ---- Known programs ----

TEST(Shares, OfAProgramThatOnlyLaunchesAreLaunching) {
  ThreadedProgram program;
  program.steps(10, [&] {
    for (int i = 0; i < 20; ++i) program.kernel(10 * kUs, 2 * kUs);
  });
  EXPECT_THAT(shares_us(program), ElementsAre(Part("host-launching", 200)));
}

TEST(Shares, OfABusyDeviceAreKernelsAndTheGapsBetweenThem) {
  ThreadedProgram program;
  program.steps(10, [&] {
    for (int i = 0; i < 4; ++i) program.kernel(5 * kUs, 50 * kUs);
  });
  EXPECT_THAT(shares_us(program), ElementsAre(Part("device-latency", 6), Part("kernels", 200)));
}

// As where the file of another tool does not say for which event a stream waits. A device that
// has slept may take half a millisecond to start.
TEST(Shares, OfALongGapThatNothingExplainsAreUnknown) {
  ThreadedProgram program;
  program.steps(10, [&] {
    program.kernel(5 * kUs, 100 * kUs);
    program.kernel(5 * kUs, 2500 * kUs);
    program.builder.columns().op.start_ns.back() += 2000 * kUs;
  });
  EXPECT_THAT(shares_us(program), ElementsAre(Part("device-latency", 11.5), Part("kernels", 600),
                                              Part("unknown", 1991.5)));
}

TEST(Shares, OfWorkThatRunsInAGapThatNothingExplainsAreThatWork) {
  ThreadedProgram program;
  program.steps(10, [&] {
    program.kernel(5 * kUs, 100 * kUs);
    auto& op = program.builder.columns().op;
    const Ns gap = op.end_ns.back();
    program.kernel(5 * kUs, 1 * kUs, "ncclDevKernel_AllReduce", "network");
    op.start_ns.back() = gap + 100 * kUs;
    op.end_ns.back() = gap + 1600 * kUs;
    program.kernel(5 * kUs, 2500 * kUs);
    op.start_ns.back() += 2000 * kUs;
  });
  EXPECT_THAT(shares_us(program),
              ElementsAre(Part("collectives", 1500), Part("device-latency", 11.5),
                          Part("kernels", 600), Part("unknown", 491.5)));
}

TEST(Shares, TellCopiesAndCollectivesFromOtherKernels) {
  ThreadedProgram program;
  program.steps(10, [&] {
    program.copy(5 * kUs, 30 * kUs);
    program.memset(5 * kUs, 10 * kUs);
    program.kernel(5 * kUs, 50 * kUs);
    program.kernel(5 * kUs, 20 * kUs, "ncclDevKernel_AllReduce");
  });
  EXPECT_THAT(shares_us(program), ElementsAre(Part("collectives", 20), Part("copies", 40),
                                              Part("device-latency", 6), Part("kernels", 50)));
}

TEST(Shares, OfASynchronizationAreItsReturnAndTheWayToTheNextKernel) {
  ThreadedProgram program;
  program.steps(10, [&] {
    program.pause(30 * kUs);
    for (int i = 0; i < 10; ++i) program.kernel(5 * kUs, 10 * kUs);
    program.synchronize();
  });
  EXPECT_THAT(shares_us(program),
              ElementsAre(Part("device-latency", 13.5), Part("host-launching", 35),
                          Part("host-synchronization", 2), Part("kernels", 100)));
}

TEST(Shares, OfALongPauseAreOutsideAndOfAShortOneLaunching) {
  for (const Ns pause : {90, 400}) {
    ThreadedProgram program;
    program.steps(10, [&] {
      program.pause(pause * kUs);
      for (int i = 0; i < 5; ++i) program.kernel(10 * kUs, 2 * kUs);
    });
    if (pause == 90) {
      EXPECT_THAT(shares_us(program), ElementsAre(Part("host-launching", 140)));
    } else {
      EXPECT_THAT(shares_us(program),
                  ElementsAre(Part("host-launching", 50), Part("host-outside", 400)));
    }
  }
}

TEST(Shares, NameWhatTheHostDoes) {
  ThreadedProgram program;
  program.steps(10, [&] {
    program.malloc(70 * kUs);
    program.load_module(60 * kUs);
    program.overhead(25 * kUs);
    for (int i = 0; i < 5; ++i) program.kernel(10 * kUs, 2 * kUs);
  });
  EXPECT_THAT(shares_us(program), ElementsAre(Part("code-loading", 60), Part("host-launching", 50),
                                              Part("memory-management", 70), Part("recorder", 25)));
}

TEST(Shares, OfAPauseInWhichAnotherThreadWorksAreWhatThatThreadDoes) {
  ThreadedProgram program;
  program.thread("backward");
  program.kernel(10 * kUs, 2 * kUs);
  program.thread("main").pause(20 * kUs);
  program.steps(10, [&] {
    for (int i = 0; i < 5; ++i) program.kernel(10 * kUs, 2 * kUs);
    const Ns at = program.now();
    program.thread("backward").now() = at;
    program.malloc(130 * kUs);
    for (int i = 0; i < 5; ++i) program.kernel(10 * kUs, 2 * kUs);
    const Ns done = program.now();
    program.thread("main").now() = done;
  });
  EXPECT_THAT(shares_us(program),
              ElementsAre(Part("host-launching", 100), Part("memory-management", 130)));
}

TEST(Shares, CountWhatRunsInAnIteration) {
  ThreadedProgram program;
  program.steps(10, [&] {
    for (int i = 0; i < 4; ++i) program.kernel(5 * kUs, 50 * kUs, "k", i % 2 ? "a" : "b");
    program.copy(5 * kUs, 10 * kUs, "a");
    program.synchronize();
  });
  const Trace trace = program.builder.trace();
  Analyses analyses(trace);
  const Iterations iterations = find_iterations(analyses);
  ASSERT_TRUE(iterations.found());
  const IterationShares shares = shares_of(analyses, iterations, SteadySyncs(analyses, iterations));
  EXPECT_DOUBLE_EQ(shares.kernel_count, 4);
  EXPECT_DOUBLE_EQ(shares.launch_count, 4);
  EXPECT_DOUBLE_EQ(shares.sync_count, 1);
  EXPECT_EQ(shares.median_kernel_ns, 50 * kUs);
  EXPECT_EQ(shares.largest(), TimeShare::kKernels);
  // On a from 10 µs: two kernels, a copy and two gaps; on b from 5 µs, where one gap is left.
  EXPECT_EQ(shares.busy_ns, 5 * kUs + 100 * kUs + 1500 + 10 * kUs);
  EXPECT_EQ(shares.lost_run_ahead_ns, 0);
}

// A single long iteration changes the mean of all, not what an iteration usually is.
TEST(Shares, TheDeviceIsNeverBusyForLongerThanAnIteration) {
  ThreadedProgram program;
  int step = 0;
  program.steps(10, [&] {
    const Ns factor = ++step == 6 ? 3 : 1;
    for (int i = 0; i < 4; ++i) program.kernel(5 * kUs, factor * 50 * kUs);
    program.synchronize();
  });
  const Trace trace = program.builder.trace();
  Analyses analyses(trace);
  const Iterations iterations = find_iterations(analyses);
  ASSERT_TRUE(iterations.found());
  EXPECT_EQ(shares_of(analyses, iterations, SteadySyncs(analyses, iterations)).busy_ns, 200 * kUs);
}

// ---- Random programs ----

// How long the device was busy in each steady iteration: all moments between two ends of ops are
// looked at.
std::vector<Ns> busy_of_each(const Trace& trace, const Iterations& iterations) {
  std::vector<Ns> each;
  for (size_t i = iterations.steady_from; i < iterations.steady_to; ++i) {
    const Iteration& iteration = iterations.all[i];
    std::set<Ns> moments{iteration.start_ns, iteration.end_ns};
    for (Id op = 0; op < trace.op.size(); ++op) {
      for (const Ns at : {trace.op.start_ns[op], trace.op.end_ns[op]})
        if (at > iteration.start_ns && at < iteration.end_ns) moments.insert(at);
    }
    Ns busy = 0;
    for (auto from = moments.begin(), to = std::next(from); to != moments.end(); from = to++) {
      bool runs = false;
      for (Id op = 0; op < trace.op.size() && !runs; ++op)
        runs = trace.op.kind[op] != trace::kMemoryWait && trace.op.start_ns[op] <= *from &&
               trace.op.end_ns[op] >= *to;
      if (runs) busy += *to - *from;
    }
    each.push_back(busy);
  }
  return each;
}

TEST(Shares, AreNeverNegativeAndSumToTheIterationInRandomPrograms) {
  size_t found = 0, of_sequences = 0;
  for (uint32_t seed = 0; seed < 400; ++seed) {
    const Trace trace = random_iterations(seed).builder.trace();
    Analyses analyses(trace);
    const Iterations iterations = find_iterations(analyses);
    if (!iterations.found()) continue;
    ++found;
    of_sequences += iterations.source == IterationSource::kSequence;
    const std::string which = "seed " + std::to_string(seed);
    IterationShares shares = shares_of(analyses, iterations, SteadySyncs(analyses, iterations));
    expect_sums(iterations, shares, which);
    if (HasFatalFailure()) return;
    ASSERT_EQ(shares.busy_ns,
              iterations.usual_ns(busy_of_each(trace, iterations), iterations.steady_durations()))
        << which;
    ASSERT_LE(shares.busy_ns, iterations.median_ns) << which;
    std::mt19937 random(seed);
    charge_run_ahead(shares, static_cast<Ns>(random() % (2 * iterations.median_ns + 1)));
    expect_sums(iterations, shares, which + ", run-ahead charged");
    if (HasFatalFailure()) return;
  }
  EXPECT_GE(found, 300u) << "or the programs show too little";
  EXPECT_GE(of_sequences, 50u);
}

// What bounds an iteration is known, where all calls and times are.
TEST(Shares, LeaveLittleUnknownInRandomPrograms) {
  for (uint32_t seed = 0; seed < 400; ++seed) {
    const Trace trace = random_iterations(seed).builder.trace();
    Analyses analyses(trace);
    const Iterations iterations = find_iterations(analyses);
    if (!iterations.found()) continue;
    const IterationShares shares =
        shares_of(analyses, iterations, SteadySyncs(analyses, iterations));
    // Nothing shows what led to the first call of a thread, so the first iterations do not count.
    Ns unknown = 0, total = 0;
    for (size_t i = 2; i < shares.each.size(); ++i) {
      unknown += shares.each[i][static_cast<size_t>(TimeShare::kUnknown)];
      total += sum_of(shares.each[i]);
    }
    EXPECT_LE(unknown * 20, total) << "seed " << seed;
  }
}

TEST(RandomPrograms, AreReplayedAsRecordedWithoutAChange) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    const Trace trace = random_iterations(seed).builder.trace();
    Analyses analyses(trace);
    std::vector<Id> all(trace.op.size());
    std::iota(all.begin(), all.end(), 0);
    const std::vector<Ns> ends = analyses.replay().predict_ends({}, all);
    for (const Id op : all) ASSERT_EQ(ends[op], trace.op.end_ns[op]) << "seed " << seed;
  }
}

TEST(RandomPrograms, ArePredictedTheSameHoweverManyOpsAreAskedFor) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    const Trace trace = random_iterations(seed).builder.trace();
    Analyses analyses(trace);
    Change change;
    const Ns last = trace.api_call.end_ns.back();
    for (int i = 0; i < 5; ++i) {
      const Ns from = static_cast<Ns>(random() % static_cast<uint64_t>(last));
      change.cuts.add(random() % 2, from, from + static_cast<Ns>(random() % (200 * kUs)));
      change.graph_op.add(static_cast<Id>(random() % trace.op.size()));
    }
    std::vector<Id> all(trace.op.size());
    std::iota(all.begin(), all.end(), 0);
    const std::vector<Ns> ends = analyses.replay().predict_ends(change, all);
    std::vector<Id> some;
    for (int i = 0; i < 4; ++i) some.push_back(static_cast<Id>(random() % (1 + all.size() / 2)));
    const std::vector<Ns> ends_of_some = analyses.replay().predict_ends(change, some);
    for (size_t i = 0; i < some.size(); ++i)
      ASSERT_EQ(ends_of_some[i], ends[some[i]]) << "seed " << seed << " op " << some[i];
  }
}

// ---- Lost run-ahead ----

IterationShares two_iterations() {
  IterationShares shares;
  for (const Ns scale : {1, 3}) {
    Shares one{};
    one[static_cast<size_t>(TimeShare::kKernels)] = 500 * scale;
    one[static_cast<size_t>(TimeShare::kLaunching)] = 100 * scale;
    one[static_cast<size_t>(TimeShare::kLatency)] = 50 * scale;
    one[static_cast<size_t>(TimeShare::kSynchronizing)] = 10 * scale;
    shares.each.push_back(one);
    for (size_t i = 0; i < kShareCount; ++i) shares.total[i] += one[i];
  }
  return shares;
}

TEST(RunAhead, IsChargedToSynchronizationsInProportion) {
  IterationShares shares = two_iterations();
  charge_run_ahead(shares, 20 + 120);  // 20 of an iteration are their own, 300 the host's
  EXPECT_DOUBLE_EQ(shares.lost_run_ahead_ns, 120);
  const auto of = [](const Shares& one, TimeShare share) {
    return one[static_cast<size_t>(share)];
  };
  EXPECT_EQ(of(shares.each[0], TimeShare::kLaunching), 60);
  EXPECT_EQ(of(shares.each[0], TimeShare::kLatency), 30);
  EXPECT_EQ(of(shares.each[0], TimeShare::kSynchronizing), 70);
  EXPECT_EQ(of(shares.each[0], TimeShare::kKernels), 500);
  EXPECT_EQ(of(shares.each[1], TimeShare::kSynchronizing), 210);
  EXPECT_EQ(of(shares.total, TimeShare::kSynchronizing), 280);
  EXPECT_EQ(shares.total_ns(), 4 * 660);
}

TEST(RunAhead, IsNothingIfItIsLessThanTheSynchronizationsThemselves) {
  for (const Ns saved : {-5, 0, 19, 20}) {
    IterationShares shares = two_iterations();
    charge_run_ahead(shares, saved);
    EXPECT_EQ(shares.each, two_iterations().each) << saved;
    EXPECT_EQ(shares.total, two_iterations().total) << saved;
    EXPECT_EQ(shares.lost_run_ahead_ns, 0) << saved;
  }
}

TEST(RunAhead, IsAtMostWhatTheHostSpent) {
  IterationShares shares = two_iterations();
  charge_run_ahead(shares, 100'000);
  EXPECT_DOUBLE_EQ(shares.lost_run_ahead_ns, 300);
  for (const TimeShare share : {TimeShare::kLaunching, TimeShare::kLatency, TimeShare::kOutside})
    EXPECT_EQ(shares.total[static_cast<size_t>(share)], 0);
  EXPECT_EQ(shares.total_ns(), 4 * 660);
}

TEST(RunAhead, KeepsTheSumsOfRandomShares) {
  for (uint32_t seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    IterationShares shares;
    shares.each.resize(1 + random() % 9);
    std::vector<Ns> sums;
    for (Shares& one : shares.each) {
      for (Ns& part : one) part = random() % 3 == 0 ? 0 : static_cast<Ns>(random() % 1'000'000);
      sums.push_back(sum_of(one));
      for (size_t i = 0; i < kShareCount; ++i) shares.total[i] += one[i];
    }
    charge_run_ahead(shares, static_cast<Ns>(random() % 8'000'000));
    Ns all = 0;
    for (size_t i = 0; i < shares.each.size(); ++i) {
      ASSERT_EQ(sum_of(shares.each[i]), sums[i]) << "seed " << seed;
      for (const Ns part : shares.each[i]) ASSERT_GE(part, 0) << "seed " << seed;
      all += sums[i];
    }
    ASSERT_EQ(shares.total_ns(), all) << "seed " << seed;
  }
}

}  // namespace
}  // namespace streamscope::analysis
