// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Sums per iteration: simple programs with known medians, and random ones in which every instant is
// looked at.
#include "analysis/iterations/iteration_sums.h"

#include <algorithm>
#include <random>

#include "analysis/delay/wait_groups.h"
#include "analysis/usage/host_syncs.h"
#include "iteration_program.h"

namespace streamscope::analysis {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<Ns> by_slot(const IterationSeries& series, uint32_t slots) {
  std::vector<Ns> result(slots);
  for (const IterationSeries::Sum& sum : series.sums()) result[sum.slot] += sum.time_ns;
  return result;
}

Iterations cut_at(std::vector<Ns> bounds) {
  Iterations iterations;
  iterations.source = IterationSource::kRange;
  for (size_t i = 0; i + 1 < bounds.size(); ++i)
    iterations.all.push_back(
        {.start_ns = bounds[i], .end_ns = bounds[i + 1], .issued_ns = bounds[i]});
  iterations.steady_to = iterations.all.size();
  measure_steady(iterations);
  return iterations;
}

TEST(IterationSlots, CoverTheTimeBeforeBetweenAndAfter) {
  IterationSlots slots = IterationSlots::of_device(cut_at({100, 200, 300}));
  EXPECT_EQ(slots.count(), 4u);
  for (const auto& [at, slot] : {std::pair<Ns, uint32_t>{99, 0},
                                 {300, 3},
                                 {100, 1},
                                 {250, 2},
                                 {199, 1},
                                 {200, 2},
                                 {kUnknownNs, 0},
                                 {1'000'000, 3}})
    EXPECT_EQ(slots.of(at), slot) << at;
  std::vector<std::pair<uint32_t, Ns>> parts;
  slots.cut(50, 320, [&](uint32_t slot, Ns time) { parts.emplace_back(slot, time); });
  EXPECT_THAT(parts, ElementsAre(std::pair(0u, 50), std::pair(1u, 100), std::pair(2u, 100),
                                 std::pair(3u, 20)));
  EXPECT_EQ(IterationSlots().of(5), 0u);
  EXPECT_FALSE(IterationSlots().is_steady(5));
}

TEST(IterationSeries, SumsInAnyOrder) {
  std::mt19937 random(1);
  IterationSeries series;
  std::vector<Ns> wanted(50);
  for (int i = 0; i < 5000; ++i) {
    const uint32_t slot = random() % 50;
    const Ns time = random() % 1000;
    wanted[slot] += time;
    series.add(slot, time);
  }
  EXPECT_EQ(by_slot(series, 50), wanted);
  EXPECT_EQ(series.sums().size(), 50u);
}

TEST(InterquartileMean, IsThatOfTheMiddleHalf) {
  EXPECT_EQ(interquartile_mean({}), 0);
  EXPECT_EQ(interquartile_mean({5}), 5);
  EXPECT_EQ(interquartile_mean({5, 8}), 6.5);
  EXPECT_EQ(interquartile_mean({300, 5, 8}), 8);
  EXPECT_EQ(interquartile_mean({7, 5, 300, 8}), 7.5);
  EXPECT_EQ(interquartile_mean({1, 2, 3, 4, 5, 6, 7, 800}), 4.5);
  EXPECT_EQ(interquartile_mean({10, 20, 10, 20, 10, 20, 10, 20}), 15) << "of two kinds in turn";
}

// Whether the median is that of the shorter or the longer ones is chance.
TEST(Iterations, HaveOfAQuantityWhatIsInProportionToTheMedianDuration) {
  const Iterations even = cut_at({0, 100, 200, 300, 400, 500});
  EXPECT_EQ(even.usual_ns({60, 60, 60, 60, 60}, {100, 100, 100, 100, 100}), 60);
  const Iterations in_turn = cut_at({0, 100, 300, 400, 600, 700, 900, 1000, 1200});
  EXPECT_EQ(in_turn.median_ns, 200);
  const std::vector<Ns> durations{100, 200, 100, 200, 100, 200, 100, 200};
  EXPECT_EQ(in_turn.usual_ns({90, 180, 90, 180, 90, 180, 90, 180}, durations), 180);
  EXPECT_EQ(in_turn.usual_ns({90, 180, 90}, {100, 200, 100}), 180) << "of some";
  EXPECT_EQ(in_turn.usual_ns({0, 0, 0}, {100, 200, 100}), 0);
  EXPECT_EQ(in_turn.usual_ns({}, {}), 0);
}

TEST(PerIteration, HasQuartilesOverAllIterationsAndNamesOutliers) {
  const Iterations iterations = cut_at({0, 100, 200, 300, 400, 500, 600, 700, 800, 900, 1000});
  IterationSeries series;
  for (const auto& [slot, time] : {std::pair<uint32_t, Ns>{0, 5000},
                                   {2, 20},
                                   {3, 20},
                                   {4, 20},
                                   {5, 22},
                                   {6, 24},
                                   {7, 90},
                                   {8, 30},
                                   {11, 9000}})
    series.add(slot, time);
  const PerIteration each = per_iteration(series, iterations);
  EXPECT_EQ(each.usual.low_ns, 0);  // of 0, 0, 0, 20, 20, 20, 22, 24, 30, 90
  EXPECT_EQ(each.usual.median_ns, 20);
  EXPECT_EQ(each.usual.high_ns, 24);
  ASSERT_EQ(each.outliers.size(), 1u);
  EXPECT_EQ(each.outliers[0].iteration, 6u);
  EXPECT_EQ(each.outliers[0].time_ns, 90);
  EXPECT_EQ(series.steady_ns(iterations), 226);
}

TEST(PerIteration, OfWhatIsRareIsZero) {
  const Iterations iterations = cut_at({0, 100, 200, 300, 400, 500, 600, 700, 800});
  IterationSeries series;
  series.add(3, 2);
  const PerIteration each = per_iteration(series, iterations);
  EXPECT_EQ(each.usual.median_ns, 0);
  EXPECT_THAT(each.outliers, IsEmpty()) << "2 ns of an iteration of 100 ns do not matter";
}

// Each step copies for 20 µs, computes for 30 µs after that on another stream, and waits for it;
// the first one loads code. Step 7 copies five times as long.
SteppedProgram program() {
  SteppedProgram program;
  return program.steps(10, [&](int step) {
    if (step == 0) program.load_module(500);
    program.copy(test::kHtoD, 2, step == 7 ? 100 : 20, "copies");
    program.record("copied", "copies");
    program.wait("copied", "main");
    program.launch(2, 30);
    program.synchronize();
  });
}

TEST(IterationSums, OfAKnownProgramAreItsMedians) {
  const Trace trace = program().builder.trace();
  Analyses analyses(trace);
  const Iterations& iterations = analyses.iteration_model().iterations();
  ASSERT_TRUE(iterations.found());
  const IterationSums sums = iteration_sums(analyses, iterations);
  ASSERT_EQ(sums.streams.size(), 2u);
  const auto usual = [&](const IterationSeries& series) {
    return per_iteration(series, iterations).usual.median_ns;
  };
  const StreamSums &copies = sums.streams[0], &main = sums.streams[1];
  EXPECT_EQ(usual(copies.busy), 20 * kUs);
  EXPECT_EQ(usual(main.busy), 30 * kUs);
  EXPECT_EQ(main.steady.kernels, iterations.steady_count());
  EXPECT_EQ(copies.steady.copies, iterations.steady_count());
  EXPECT_EQ(copies.steady.records, iterations.steady_count());
  EXPECT_EQ(main.steady.waits, iterations.steady_count());
  ASSERT_EQ(sums.devices.size(), 1u);
  EXPECT_EQ(usual(sums.devices[0].kernels), 30 * kUs);
  EXPECT_EQ(usual(sums.devices[0].copies), 20 * kUs);
  EXPECT_EQ(usual(sums.devices[0].idle()), iterations.median_ns - 50 * kUs);
  EXPECT_EQ(usual(sums.path[PathShare::kKernels]), 30 * kUs);
  EXPECT_EQ(usual(sums.path[PathShare::kCopies]), 20 * kUs);
  EXPECT_EQ(usual(sums.path[PathShare::kHostSync]), 2 * kUs);
  const PerIteration copied = per_iteration(sums.path[PathShare::kCopies], iterations);
  ASSERT_EQ(copied.outliers.size(), 1u);
  EXPECT_EQ(copied.outliers[0].iteration, 7u);
  EXPECT_EQ(copied.outliers[0].time_ns, 100 * kUs);

  const auto syncs = host_syncs_by_cost(trace, IterationSlots::of_host(iterations));
  ASSERT_EQ(syncs.size(), 1u);
  EXPECT_EQ(syncs[0].steady_count, iterations.steady_count());
  const auto waits =
      group_waits(trace, analyses.edges(), analyses.waits(), IterationSlots::of_device(iterations));
  ASSERT_FALSE(waits.empty());
  EXPECT_EQ(waits[0].longest.cause, WaitCause::kEvent);
  EXPECT_EQ(waits[0].steady_count, iterations.steady_count());
}

// The longest wait of a group is one of the steady part, though start-up has a longer one.
TEST(WaitGroups, NameTheLongestOfTheSteadyPart) {
  SteppedProgram stepped;
  stepped.steps(10, [&](int step) {
    stepped.copy(test::kHtoD, 2, step == 0 ? 5000 : 20, "copies");
    stepped.record("copied", "copies");
    stepped.wait("copied", "main");
    stepped.launch(2, 30);
    stepped.synchronize();
  });
  const Trace trace = stepped.builder.trace();
  Analyses analyses(trace);
  const Iterations& iterations = analyses.iteration_model().iterations();
  ASSERT_TRUE(iterations.found());
  ASSERT_EQ(iterations.steady_from, 1u);
  const IterationSlots slots = IterationSlots::of_device(iterations);
  for (const WaitGroup& group : group_waits(trace, analyses.edges(), analyses.waits(), slots)) {
    if (group.longest.cause != WaitCause::kEvent) continue;
    EXPECT_EQ(group.count, group.steady_count + 1);
    EXPECT_LT(group.longest.duration_ns, 100 * kUs);
  }
  const auto syncs = host_syncs_by_cost(trace, IterationSlots::of_host(iterations));
  EXPECT_LT(syncs[0].longest_ns, 100 * kUs);
  EXPECT_GT(syncs[0].times.total_ns(), 5000 * kUs);
}

// Random work on three streams in steps of random length.
SteppedProgram random_steps(uint32_t seed) {
  std::mt19937 random(seed);
  const auto pick = [&](Ns n) { return static_cast<Ns>(random() % static_cast<size_t>(n)); };
  constexpr std::array kStreams{"a", "b", "c"};
  SteppedProgram program;
  bool recorded = false;
  program.steps(static_cast<int>(2 + pick(6)), [&](int) {
    for (Ns i = 2 + pick(8); i > 0; --i) {
      const char* stream = kStreams[static_cast<size_t>(pick(3))];
      switch (pick(7)) {
        case 0:
          program.copy(test::kHtoD, 1 + pick(4), 1 + pick(30), stream);
          break;
        case 1:
          program.record("e", stream);
          recorded = true;
          break;
        case 2:
          if (recorded) program.wait("e", stream);
          break;
        case 3:
          program.synchronize();
          break;
        case 4:
          program.pause(pick(40));
          break;
        default:
          program.launch(1 + pick(4), 1 + pick(30), "k", stream);
          break;
      }
    }
  });
  program.launch(1, 5, "last", "a");
  return program;
}

// What the sums of each slot must be: looks at each interval in which nothing begins or ends.
struct Wanted {
  std::vector<std::vector<Ns>> busy, idle;  // by stream and slot
  std::vector<Ns> kernels, copies, both, nothing;
};
Wanted brute_force(const Trace& trace, const Iterations& iterations, const StreamOps& stream_ops) {
  std::vector<Ns> bounds{iterations.all.front().start_ns};
  for (const Iteration& iteration : iterations.all) bounds.push_back(iteration.end_ns);
  std::vector<Ns> points = bounds;
  for (Id op = 0; op < trace.op.size(); ++op) {
    points.push_back(trace.op.start_ns[op]);
    points.push_back(trace.op.end_ns[op]);
  }
  std::ranges::sort(points);
  const size_t slots = bounds.size() + 1, streams = trace.stream.size();
  const std::vector<Ns> none(slots);
  Wanted wanted{.busy = std::vector(streams, none),
                .idle = std::vector(streams, none),
                .kernels = none,
                .copies = none,
                .both = none,
                .nothing = none};
  for (size_t i = 0; i + 1 < points.size(); ++i) {
    const Ns at = points[i], span = points[i + 1] - at;
    const auto slot =
        static_cast<size_t>(std::ranges::count_if(bounds, [&](Ns bound) { return bound <= at; }));
    std::vector<bool> runs(streams);
    bool kernel = false, copy = false;
    for (Id op = 0; op < trace.op.size(); ++op) {
      if (trace.op.start_ns[op] > at || trace.op.end_ns[op] <= at) continue;
      runs[trace.op.stream_id[op]] = true;
      kernel |= trace.op.kind[op] == trace::kKernel;
      copy |= trace.op.kind[op] == trace::kMemcpy;
    }
    for (Id stream = 0; stream < streams; ++stream) {
      const StreamActivity& activity = stream_ops.activity(stream);
      if (runs[stream]) wanted.busy[stream][slot] += span;
      if (!runs[stream] && at >= activity.first_start_ns && at < activity.last_end_ns)
        wanted.idle[stream][slot] += span;
    }
    if (kernel) wanted.kernels[slot] += span;
    if (copy) wanted.copies[slot] += span;
    if (kernel && copy) wanted.both[slot] += span;
    if (!kernel && !copy && at >= stream_ops.first_start_ns() && at < stream_ops.last_end_ns())
      wanted.nothing[slot] += span;
  }
  return wanted;
}

Ns total(const std::vector<Ns>& sums) {
  Ns result = 0;
  for (const Ns sum : sums) result += sum;
  return result;
}

// Streams: at each instant busy or waiting. Devices: as seen at each instant.
void expect_work(const IterationSums& sums, const Wanted& wanted, const StreamOps& stream_ops,
                 uint32_t slots) {
  for (Id stream = 0; stream < sums.streams.size(); ++stream) {
    const StreamSums& found = sums.streams[stream];
    EXPECT_EQ(by_slot(found.busy, slots), wanted.busy[stream]);
    EXPECT_EQ(found.busy.total_ns(), stream_ops.activity(stream).busy_ns);
    std::vector<Ns> waiting(slots);
    for (const IterationSeries& series : found.waiting) {
      const std::vector<Ns> each = by_slot(series, slots);
      for (size_t slot = 0; slot < each.size(); ++slot) waiting[slot] += each[slot];
    }
    EXPECT_EQ(waiting, wanted.idle[stream]);
    EXPECT_EQ(total(waiting), stream_ops.activity(stream).idle_ns());
  }
  ASSERT_EQ(sums.devices.size(), 1u);
  const DeviceOverlap& device = sums.devices[0];
  EXPECT_EQ(by_slot(device.kernels, slots), wanted.kernels);
  EXPECT_EQ(by_slot(device.copies, slots), wanted.copies);
  EXPECT_EQ(by_slot(device.both, slots), wanted.both);
  EXPECT_EQ(by_slot(device.idle(), slots), wanted.nothing);
  Ns all = 0;
  for (const IterationSeries& series : device.concurrency) all += series.total_ns();
  EXPECT_EQ(all, device.window_ns());
}

// The path covers each instant from its first step to its last once.
void expect_path(Analyses& analyses, const PathSums& sums, const Iterations& iterations,
                 uint32_t slots) {
  const std::vector<PathStep>& path = analyses.path();
  std::vector<Ns> found(slots), wanted(slots);
  for (const IterationSeries& series : sums.shares) {
    const std::vector<Ns> each = by_slot(series, slots);
    for (size_t slot = 0; slot < slots; ++slot) found[slot] += each[slot];
  }
  for (size_t slot = 0; slot < slots; ++slot) {
    const Ns from = slot == 0 ? path.front().start_ns
                              : std::max(path.front().start_ns,
                                         slot + 1 == slots ? iterations.all.back().end_ns
                                                           : iterations.all[slot - 1].start_ns),
             to = slot + 1 == slots
                      ? path.back().end_ns
                      : std::min(path.back().end_ns, slot == 0 ? iterations.all.front().start_ns
                                                               : iterations.all[slot - 1].end_ns);
    wanted[slot] = std::max<Ns>(0, to - from);
  }
  EXPECT_EQ(found, wanted);
  EXPECT_EQ(sums.total_ns(), path.back().end_ns - path.front().start_ns);
}

TEST(IterationSums, OfRandomProgramsWithStartUpAndTailAreThoseOfTheWholeRun) {
  std::mt19937 random(7);
  for (uint32_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    const Trace trace = random_steps(seed).builder.trace();
    Analyses analyses(trace);
    const StreamOps& stream_ops = analyses.stream_ops();
    // Iterations that begin and end anywhere, some of them empty.
    std::vector<Ns> bounds;
    const auto end = static_cast<size_t>(stream_ops.last_end_ns());
    for (size_t i = 0; i < 2 + seed % 7; ++i)
      bounds.push_back(static_cast<Ns>(random() % (end + end / 4)));
    std::ranges::sort(bounds);
    const Iterations iterations = cut_at(bounds);
    const auto slots = static_cast<uint32_t>(bounds.size() + 1);
    const IterationSums sums = iteration_sums(analyses, iterations);
    expect_work(sums, brute_force(trace, iterations, stream_ops), stream_ops, slots);
    expect_path(analyses, sums.path, iterations, slots);

    Ns groups = 0, parts = 0, synced = 0, syncs = 0;
    for (const WaitGroup& group : group_waits(trace, analyses.edges(), analyses.waits(),
                                              IterationSlots::of_device(iterations)))
      groups += total(by_slot(group.times, slots));
    for (const WaitPart& part : analyses.waits()) parts += is_wait(part) ? part.duration_ns : 0;
    EXPECT_EQ(groups, parts);
    for (const SyncGroup& group : host_syncs_by_cost(trace, IterationSlots::of_host(iterations)))
      synced += total(by_slot(group.times, slots));
    for (Id sync = 0; sync < trace.host_sync.size(); ++sync)
      syncs += trace.host_sync.end_ns[sync] - trace.host_sync.start_ns[sync];
    EXPECT_EQ(synced, syncs);
  }
}

TEST(IterationSums, WithoutIterationsAreThoseOfTheWholeRun) {
  const Trace trace = program().builder.trace();
  Analyses analyses(trace);
  const IterationSums sums = iteration_sums(analyses, {});
  for (Id stream = 0; stream < sums.streams.size(); ++stream) {
    const StreamActivity& activity = analyses.stream_ops().activity(stream);
    EXPECT_THAT(by_slot(sums.streams[stream].busy, 1), ElementsAre(activity.busy_ns));
    EXPECT_EQ(sums.streams[stream].steady.kernels + sums.streams[stream].steady.copies,
              activity.op_count);
  }
}

}  // namespace
}  // namespace streamscope::analysis
