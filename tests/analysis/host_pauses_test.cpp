// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Pauses of threads in which another one issues the work, and what follows from them: the critical
// path and the replay go through both threads. Also host time that a change removes.
#include "analysis/delay/host_pauses.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "analysis/analyses.h"
#include "analysis/delay/host_cuts.h"
#include "memory_trace.h"
#include "support/trace_builder.h"
#include "support/units.h"

namespace streamscope::analysis {
namespace {

using test::kUs;
using test::TraceBuilder;
using testing::ElementsAre;

constexpr trace::Small kLaunchKind = number_of(CallKind::kLaunch);

// A thread that calls in these intervals, in µs.
void calls(MemoryTrace& t, Id thread, const std::vector<std::pair<Ns, Ns>>& times,
           trace::Small kind = kLaunchKind) {
  for (const auto& [start, end] : times) t.call(start * kUs, end * kUs, 0, thread, kind);
}

HostPauses pauses_of(const Trace& trace) { return HostPauses(trace, HostTime(trace)); }

// The pauses of the first thread, without the one before its first call.
std::vector<HostPause> between_calls(const MemoryTrace& t) {
  const HostPauses pauses = pauses_of(t.trace);
  EXPECT_FALSE(pauses.of(0).empty());
  return {pauses.of(0).begin() + 1, pauses.of(0).end()};
}

// ---- Pauses ----

TEST(HostPauses, AreTheLongTimesBetweenTwoCallsAndTheTimeBeforeTheFirst) {
  MemoryTrace t;
  t.add_stream();
  calls(t, 0, {{0, 10}, {59, 60}, {110, 120}, {300, 310}});
  const HostPauses pauses = pauses_of(t.trace);
  const auto of = pauses.of(0);
  ASSERT_EQ(of.size(), 3u) << "49 µs are short, 50 µs are not";
  EXPECT_EQ(of[0].start_ns, -kBeforeFirstNs);
  EXPECT_EQ(of[0].end_ns, 0);
  EXPECT_EQ(of[1].start_ns, 60 * kUs);
  EXPECT_EQ(of[1].end_ns, 110 * kUs);
  EXPECT_EQ(of[1].by_thread, kNoId);
  EXPECT_EQ(of[2].start_ns, 120 * kUs);
  EXPECT_EQ(pauses.ended_at(0, 300 * kUs), &of[2]);
  EXPECT_EQ(pauses.ended_at(0, 299 * kUs), nullptr);
  EXPECT_EQ(pauses.ended_at(7, 300 * kUs), nullptr);
  EXPECT_EQ(pauses.last_handed_over(0, 400 * kUs), nullptr) << "nobody else worked";
}

TEST(HostPauses, BelongToTheThreadThatIssuedWorkUntilTheyEnded) {
  MemoryTrace t;
  t.add_stream();
  const Id other = t.add_thread();
  calls(t, 0, {{0, 10}, {900, 910}});
  calls(t, other, {{50, 60}, {400, 420}, {850, 880}});
  const HostPauses pauses = pauses_of(t.trace);
  ASSERT_EQ(pauses.of(0).size(), 2u);
  EXPECT_EQ(pauses.of(0)[1].by_thread, other);
  EXPECT_EQ(pauses.of(0)[1].handed_over_ns, 880 * kUs);
  EXPECT_EQ(pauses.last_handed_over(0, 900 * kUs), &pauses.of(0)[1]);
  EXPECT_EQ(pauses.last_handed_over(0, 880 * kUs), nullptr) << "not handed over by then";
  ASSERT_GE(pauses.of(other).size(), 1u);
  EXPECT_EQ(pauses.of(other)[0].by_thread, 0u) << "the first thread starts the second one";
  EXPECT_EQ(pauses.of(other)[0].handed_over_ns, 10 * kUs);
}

TEST(HostPauses, AreOfTheLastOfSeveralThreads) {
  MemoryTrace t;
  t.add_stream();
  const Id b = t.add_thread(), c = t.add_thread(), d = t.add_thread();
  calls(t, 0, {{0, 10}, {900, 910}});
  calls(t, b, {{800, 820}});
  calls(t, c, {{850, 870}});
  calls(t, d, {{840, 860}});
  EXPECT_EQ(between_calls(t)[0].by_thread, c);
}

TEST(HostPauses, AreNoHandOverIfTheOtherThreadWasDoneLongBefore) {
  // The rest may be 200 µs, or a quarter of the pause: 250 µs and 2 ms.
  for (const Ns late : {-1, 0}) {
    MemoryTrace t;
    t.add_stream();
    const Id other = t.add_thread();
    calls(t, 0, {{0, 10}, {1010, 1020}, {9020, 9030}});
    calls(t, other, {{700, 760 + late}, {7000, 7020 + late}});
    const auto pauses = between_calls(t);
    ASSERT_EQ(pauses.size(), 2u);
    EXPECT_EQ(pauses[0].by_thread, late < 0 ? kNoId : other);
    EXPECT_EQ(pauses[1].by_thread, late < 0 ? kNoId : other);
  }
}

TEST(HostPauses, AreNoHandOverFromAThreadThatIssuesNothingOrIsStillInItsCall) {
  for (const bool issues : {false, true}) {
    MemoryTrace t;
    t.add_stream();
    const Id other = t.add_thread();
    calls(t, 0, {{0, 10}, {900, 910}});
    calls(t, other, {{850, issues ? 901 : 880}},
          number_of(issues ? CallKind::kLaunch : CallKind::kMalloc));
    EXPECT_EQ(between_calls(t)[0].by_thread, kNoId) << issues;
  }
}

// As the thread of a program that records an event while that of the backward pass begins.
TEST(HostPauses, BelongToAThreadThatIsInItsNextCallAlready) {
  MemoryTrace t;
  t.add_stream();
  const Id other = t.add_thread();
  calls(t, 0, {{0, 10}, {900, 910}});
  calls(t, other, {{850, 880}, {895, 950}});
  const HostPause pause = between_calls(t)[0];
  EXPECT_EQ(pause.by_thread, other);
  EXPECT_EQ(pause.handed_over_ns, 880 * kUs);
}

TEST(HostPauses, AreNoHandOverFromAnotherProcess) {
  MemoryTrace t;
  t.add_stream();
  t.add_context();
  const Id other = t.add_thread(1);
  calls(t, 0, {{0, 10}, {900, 910}});
  calls(t, other, {{850, 880}});
  EXPECT_EQ(between_calls(t)[0].by_thread, kNoId);
}

TEST(HostPauses, BelongToAThreadThatLaunchesOnlyGraphs) {
  MemoryTrace t;
  t.add_stream();
  const Id other = t.add_thread();
  calls(t, 0, {{0, 10}, {900, 910}});
  calls(t, other, {{850, 880}}, number_of(CallKind::kGraphLaunch));
  EXPECT_EQ(between_calls(t)[0].by_thread, other);
}

TEST(HostPauses, CountTheirPartOfAnInterval) {
  MemoryTrace t;
  t.add_stream();
  calls(t, 0, {{0, 10}, {110, 120}, {320, 330}});
  const HostPauses pauses = pauses_of(t.trace);
  EXPECT_EQ(pauses.paused_ns(0, 0, 1000 * kUs, kLeastPauseNs), 300 * kUs);
  EXPECT_EQ(pauses.paused_ns(0, 0, 1000 * kUs, 150 * kUs), 200 * kUs);
  EXPECT_EQ(pauses.paused_ns(0, 60 * kUs, 140 * kUs, kLeastPauseNs), 70 * kUs);
  EXPECT_EQ(pauses.paused_ns(0, 110 * kUs, 120 * kUs, kLeastPauseNs), 0);
  EXPECT_EQ(pauses.paused_ns(9, 0, 1000 * kUs, kLeastPauseNs), 0);
}

// Against a search through all calls.
TEST(HostPauses, AgreeWithBruteForceInRandomTraces) {
  for (uint32_t seed = 0; seed < 100; ++seed) {
    std::mt19937 random(seed);
    MemoryTrace t;
    t.add_stream();
    const Id threads = 1 + random() % 4;
    while (t.trace.thread.size() < threads) t.add_thread();
    std::vector<std::vector<std::pair<Ns, Ns>>> made(threads);
    for (Id thread = 0; thread < threads; ++thread) {
      Ns now = static_cast<Ns>(random() % 100);
      for (int i = 0; i < 40; ++i) {
        const Ns end = now + 1 + static_cast<Ns>(random() % 30);
        made[thread].emplace_back(now, end);
        now = end + static_cast<Ns>(random() % (random() % 4 == 0 ? 900 : 70));
      }
      calls(t, thread, made[thread]);
    }
    const HostPauses pauses = pauses_of(t.trace);
    for (Id thread = 0; thread < threads; ++thread) {
      std::vector<HostPause> expected;
      for (size_t i = 0; i < made[thread].size(); ++i) {
        const Ns end = made[thread][i].first * kUs;
        const Ns start = i == 0 ? end - kBeforeFirstNs : made[thread][i - 1].second * kUs;
        if (end - start < kLeastPauseNs) continue;
        HostPause pause{start, end, kNoId, kUnknownNs};
        for (Id other = 0; other < threads; ++other) {
          Ns last = kUnknownNs;
          for (const auto& call : made[other]) {
            if (call.second * kUs <= end) last = call.second * kUs;
          }
          const Ns rest = end - last;
          if (other == thread || last == kUnknownNs || last <= start || rest < 0) continue;
          if (rest > 200 * kUs && rest * 4 > end - start) continue;
          if (last > pause.handed_over_ns) pause.by_thread = other, pause.handed_over_ns = last;
        }
        expected.push_back(pause);
      }
      const auto got = pauses.of(thread);
      ASSERT_EQ(got.size(), expected.size()) << "seed " << seed;
      for (size_t i = 0; i < got.size(); ++i) {
        ASSERT_EQ(got[i].start_ns, expected[i].start_ns) << "seed " << seed;
        ASSERT_EQ(got[i].end_ns, expected[i].end_ns) << "seed " << seed;
        ASSERT_EQ(got[i].by_thread, expected[i].by_thread) << "seed " << seed;
        ASSERT_EQ(got[i].handed_over_ns, expected[i].handed_over_ns) << "seed " << seed;
      }
      for (int i = 0; i < 40; ++i) {
        const Ns from = static_cast<Ns>(random() % 8000) * kUs, to = from + random() % 2'000'000,
                 least = kLeastPauseNs * static_cast<Ns>(1 + random() % 4);
        const HostPause *handed_over = nullptr, *ended = nullptr;
        Ns paused = 0;
        for (const HostPause& pause : got) {
          if (pause.by_thread != kNoId && pause.start_ns < to && pause.handed_over_ns < to)
            handed_over = &pause;
          if (pause.end_ns == from) ended = &pause;
          if (pause.end_ns - pause.start_ns >= least)
            paused += std::max<Ns>(0, std::min(pause.end_ns, to) - std::max(pause.start_ns, from));
        }
        ASSERT_EQ(pauses.last_handed_over(thread, to), handed_over) << "seed " << seed;
        ASSERT_EQ(pauses.ended_at(thread, from), ended) << "seed " << seed;
        ASSERT_EQ(pauses.paused_ns(thread, from, to, least), paused) << "seed " << seed;
      }
    }
  }
}

// ---- Cuts ----

TEST(HostCuts, AreEmptyWithoutAnInterval) {
  HostCuts cuts;
  EXPECT_TRUE(cuts.empty());
  cuts.add(0, 10, 10);
  cuts.add(0, 20, 10);
  EXPECT_TRUE(cuts.empty());
  EXPECT_EQ(cuts.cut_ns(0, 0, 100), 0);
}

TEST(HostCuts, CountOverlappingTimesOnce) {
  HostCuts cuts;
  cuts.add(0, 10, 20);
  cuts.add(0, 40, 60);
  cuts.add(0, 15, 45);
  cuts.add(0, 50, 55);
  EXPECT_FALSE(cuts.empty());
  EXPECT_EQ(cuts.cut_ns(0, 0, 100), 50);
  EXPECT_EQ(cuts.cut_ns(0, 12, 13), 1);
  EXPECT_EQ(cuts.cut_ns(0, 60, 100), 0);
  EXPECT_EQ(cuts.cut_ns(0, 30, 20), 0);
  EXPECT_EQ(cuts.cut_ns(1, 0, 100), 0) << "of another thread";
}

// Intervals that overlap, touch, contain each other, in any order, one by one and from another set.
TEST(HostCuts, AgreeWithBruteForceForRandomIntervals) {
  constexpr Ns kEnd = 300;
  constexpr Id kThreads = 3;
  for (uint32_t seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    HostCuts cuts, others;
    std::vector<std::vector<bool>> cut(kThreads, std::vector<bool>(kEnd));
    const Ns longest = 1 + static_cast<Ns>(random() % 80);
    for (int i = 0; i < 40; ++i) {
      const Id thread = random() % kThreads;
      const Ns from = static_cast<Ns>(random() % (kEnd - longest)),
               to = from + static_cast<Ns>(random() % longest);
      (random() % 4 == 0 ? others : cuts).add(thread, from, to);
      for (Ns at = from; at < to; ++at) cut[thread][static_cast<size_t>(at)] = true;
    }
    cuts.add(others);
    for (int i = 0; i < 100; ++i) {
      const Id thread = random() % kThreads;
      const Ns from = static_cast<Ns>(random() % kEnd), to = static_cast<Ns>(random() % kEnd);
      Ns expected = 0;
      for (Ns at = from; at < to; ++at) expected += cut[thread][static_cast<size_t>(at)];
      ASSERT_EQ(cuts.cut_ns(thread, from, to), expected)
          << "seed " << seed << " [" << from << ", " << to << ")";
    }
  }
}

// ---- Calls that manage memory or copy ----

std::map<HostState, Ns> split(const MemoryTrace& t, Ns from_us, Ns to_us) {
  std::vector<HostPart> parts;
  HostTime(t.trace).split(0, from_us * kUs, to_us * kUs, parts);
  std::map<HostState, Ns> result;
  for (const HostPart& part : parts) result[part.state] += part.duration_ns / kUs;
  return result;
}

TEST(HostTime, CallsThatAllocateOrFreeAreMemoryHoweverShort) {
  MemoryTrace t;
  t.add_stream();
  calls(t, 0, {{10, 11}}, number_of(CallKind::kMalloc));
  calls(t, 0, {{20, 50}}, number_of(CallKind::kFree));
  calls(t, 0, {{60, 62}}, number_of(CallKind::kMallocAsync));
  calls(t, 0, {{70, 73}}, number_of(CallKind::kFreeAsync));
  calls(t, 0, {{80, 84}});
  EXPECT_THAT(split(t, 0, 100),
              ElementsAre(std::pair(HostState::kMemory, 1 + 30 + 2 + 3),
                          std::pair(HostState::kCall, 4), std::pair(HostState::kOutside, 60)));
}

TEST(HostTime, OnlyALongCallThatCopiesIsACopy) {
  MemoryTrace t;
  t.add_stream();
  calls(t, 0, {{10, 29}, {100, 120}}, number_of(CallKind::kMemcpyAsync));
  calls(t, 0, {{200, 250}}, number_of(CallKind::kMemcpy));
  calls(t, 0, {{300, 350}}, number_of(CallKind::kMemsetAsync));
  EXPECT_THAT(split(t, 0, 400),
              ElementsAre(std::pair(HostState::kCopy, 20 + 50), std::pair(HostState::kCall, 69),
                          std::pair(HostState::kOutside, 400 - 139)));
}

TEST(HostTime, NamesTheLongCallThatManagesMemory) {
  MemoryTrace t;
  t.add_stream();
  calls(t, 0, {{10, 15}, {100, 150}}, number_of(CallKind::kMalloc));
  t.trace.api_call.name_id.assign(2, t.text("cudaMalloc"));
  t.trace.api_call.name_id[1] = t.text("cudaHostAlloc");
  std::vector<HostPart> parts;
  HostTime(t.trace).split(0, 0, 200 * kUs, parts);
  const auto memory = std::ranges::find(parts, HostState::kMemory, &HostPart::state);
  ASSERT_NE(memory, parts.end());
  EXPECT_EQ(t.trace.text(memory->call_name), "cudaHostAlloc");
}

// "If several states apply at one instant, the first one counts."
TEST(HostTime, TheProfilerInsideACallThatAllocatesIsTheProfiler) {
  MemoryTrace t;
  t.add_stream();
  calls(t, 0, {{10, 60}}, number_of(CallKind::kMalloc));
  append(t.trace, trace::Overhead{.process_id = 0,
                                  .thread_id = 0,
                                  .name_id = t.text("CUPTI buffer flush"),
                                  .start_ns = 20 * kUs,
                                  .end_ns = 30 * kUs});
  EXPECT_THAT(split(t, 0, 70),
              ElementsAre(std::pair(HostState::kProfiler, 10), std::pair(HostState::kMemory, 40),
                          std::pair(HostState::kOutside, 20)));
  std::vector<HostPart> parts;
  HostTime(t.trace).split_call(0, 10 * kUs, 60 * kUs, parts);
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_EQ(parts[0].state, HostState::kProfiler);
}

TEST(HostTime, AnAllocationThatWaitsForAnotherThreadsCallIsALockUntilThatEnds) {
  MemoryTrace t;
  t.add_stream();
  const Id other = t.add_thread();
  calls(t, other, {{100, 400}});
  calls(t, 0, {{200, 405}}, number_of(CallKind::kMalloc));
  EXPECT_THAT(split(t, 200, 405),
              ElementsAre(std::pair(HostState::kLock, 200), std::pair(HostState::kMemory, 5)));
}

TEST(HostTime, ListsWithinACallNeitherMemoryNorCopies) {
  MemoryTrace t;
  t.add_stream();
  calls(t, 0, {{10, 60}}, number_of(CallKind::kMalloc));
  calls(t, 0, {{70, 100}}, number_of(CallKind::kMemcpy));
  std::vector<HostPart> parts;
  HostTime(t.trace).split_call(0, 0, 200 * kUs, parts);
  EXPECT_THAT(parts, testing::IsEmpty());
}

// ---- The hand-over on the critical path and in a replay ----

// A launch of `thread` whose call lasts [from, to); the kernel starts 5 µs after the call began.
void timed_launch(TraceBuilder& builder, std::string_view thread, Ns from_us, Ns to_us, Ns lasts_us,
                  std::string_view stream = "main") {
  builder.thread(thread).at(from_us * kUs);
  auto of = builder.stream(stream);
  of.kernel("k", (from_us + 5) * kUs, (from_us + 5 + lasts_us) * kUs);
  auto& columns = builder.columns();
  columns.api_call.end_ns[columns.op.api_call_id[of.last_op()]] = to_us * kUs;
}

// Two threads that take turns: main issues a forward pass, the other one the backward pass, main
// the optimizer. Ops 0 and 1 begin, 2 and 3 are forward, 4 and 5 backward, 6 is the optimizer.
TraceBuilder turns() {
  TraceBuilder builder;
  builder.columns().process.clock[0] = trace::kVirtualClock;
  timed_launch(builder, "main", 0, 10, 3);
  timed_launch(builder, "backward", 20, 30, 3);
  timed_launch(builder, "main", 100, 110, 3);
  timed_launch(builder, "main", 290, 300, 3);
  timed_launch(builder, "backward", 320, 330, 3);
  timed_launch(builder, "backward", 560, 570, 3);
  timed_launch(builder, "main", 600, 610, 50);
  return builder;
}
constexpr Id kMain = 0, kBackward = 1;

TEST(HandOver, TheCriticalPathGoesThroughTheThreadThatHandedOver) {
  const Trace trace = turns().trace();
  Analyses analyses(trace);
  using enum trace::PathStepKind;
  EXPECT_THAT(analyses.path(),
              ElementsAre(PathStep{kLaunchStep, 6, kNoId, 0, 10 * kUs, kMain},
                          PathStep{kLaunchStep, 6, kNoId, 10 * kUs, 30 * kUs, kBackward},
                          PathStep{kLaunchStep, 6, kNoId, 30 * kUs, 300 * kUs, kMain},
                          PathStep{kLaunchStep, 6, kNoId, 300 * kUs, 570 * kUs, kBackward},
                          PathStep{kLaunchStep, 6, kNoId, 570 * kUs, 605 * kUs, kMain},
                          PathStep{kOpStep, 6, kNoId, 605 * kUs, 655 * kUs}));
}

TEST(HandOver, TheCriticalPathEndsAtASynchronizationOfTheThreadThatHandedOver) {
  TraceBuilder builder;
  timed_launch(builder, "main", 0, 10, 3);
  timed_launch(builder, "backward", 20, 30, 300);
  builder.thread("backward").synchronize_device(40 * kUs, 330 * kUs);
  timed_launch(builder, "backward", 350, 360, 3);
  timed_launch(builder, "main", 400, 410, 50);
  const Trace trace = builder.trace();
  Analyses analyses(trace);
  const auto path = analyses.path();
  using enum trace::PathStepKind;
  ASSERT_GE(path.size(), 5u);
  const PathStep* last = &path.back();
  EXPECT_EQ(last[0], (PathStep{kOpStep, 3, kNoId, 405 * kUs, 455 * kUs}));
  EXPECT_EQ(last[-1], (PathStep{kLaunchStep, 3, kNoId, 360 * kUs, 405 * kUs, kMain}));
  EXPECT_EQ(last[-2], (PathStep{kLaunchStep, 3, kNoId, 330 * kUs, 360 * kUs, kBackward}));
  EXPECT_EQ(last[-3], (PathStep{kHostSyncStep, kNoId, 0, 325 * kUs, 330 * kUs}));
  EXPECT_EQ(last[-4], (PathStep{kOpStep, 1, kNoId, 25 * kUs, 325 * kUs}));
}

TEST(HandOver, APartOfThePathCoversEverythingFromItsBeginning) {
  const Trace trace = turns().trace();
  Analyses analyses(trace);
  const auto path = analyses.path_part({.last_op = 6, .from_ns = 400 * kUs});
  ASSERT_FALSE(path.empty());
  EXPECT_LE(path.front().start_ns, 400 * kUs);
  EXPECT_EQ(path.back().end_ns, 655 * kUs);
  for (size_t i = 1; i < path.size(); ++i) EXPECT_EQ(path[i].start_ns, path[i - 1].end_ns);
  for (const PathStep& step : path) {
    if (step.start_ns <= 400 * kUs && step.end_ns > 400 * kUs) {
      EXPECT_EQ(step.thread, kBackward);
    }
  }
}

std::vector<Ns> ends(const Replay& replay, const Change& change, Id op_count) {
  std::vector<Id> ops;
  for (Id op = 0; op < op_count; ++op) ops.push_back(op);
  return replay.predict_ends(change, ops);
}

// In a run without recording. Ops keep their lengths.
std::vector<Ns> starts_us(const Trace& trace, const Change& change) {
  Analyses analyses(trace);
  std::vector<Ns> starts = ends(analyses.replay(), change, static_cast<Id>(trace.op.size()));
  for (Id op = 0; op < trace.op.size(); ++op)
    starts[op] = (starts[op] - (trace.op.end_ns[op] - trace.op.start_ns[op])) / kUs;
  return starts;
}

TEST(HandOver, AReplayWithoutAChangeIsTheRecording) {
  EXPECT_THAT(starts_us(turns().trace(), {}), ElementsAre(5, 25, 105, 295, 325, 565, 605));
}

TEST(HandOver, LessTimeOfTheFirstThreadMovesTheWorkOfTheSecondOne) {
  Change change;
  change.cuts.add(kMain, 120 * kUs, 220 * kUs);
  EXPECT_THAT(starts_us(turns().trace(), change), ElementsAre(5, 25, 105, 195, 225, 465, 505));
}

TEST(HandOver, LessTimeOfTheSecondThreadMovesWhatTheFirstOneIssuesAfterIt) {
  Change change;
  change.cuts.add(kBackward, 340 * kUs, 540 * kUs);
  EXPECT_THAT(starts_us(turns().trace(), change), ElementsAre(5, 25, 105, 295, 325, 365, 405));
}

TEST(HandOver, TimeInWhichAThreadOnlyWaitedForTheOtherOneSavesNothing) {
  Change change;
  change.cuts.add(kMain, 350 * kUs, 550 * kUs);
  EXPECT_THAT(starts_us(turns().trace(), change), ElementsAre(5, 25, 105, 295, 325, 565, 605));
}

TEST(HandOver, TheFirstThreadDoesNotGoOnBeforeItsOwnLastCallReturned) {
  Change change;
  change.cuts.add(kBackward, 30 * kUs, 320 * kUs);
  change.cuts.add(kBackward, 330 * kUs, 560 * kUs);
  const std::vector<Ns> starts = starts_us(turns().trace(), change);
  EXPECT_GE(starts[6], starts[3] + 10) << "after the call of op 3";
}

TEST(HandOver, WithoutPausesEachThreadKeepsItsOwnPace) {
  TraceBuilder builder = turns();
  for (const Id op : {1, 4, 5}) builder.columns().op.stream_id[op] = builder.stream("other").id();
  const Trace trace = builder.trace();
  Analyses analyses(trace);
  const Replay replay(analyses.order());
  Change change;
  change.cuts.add(kMain, 120 * kUs, 220 * kUs);
  const auto runs = ends(replay, change, 7);
  EXPECT_EQ(runs[5], 568 * kUs);
  EXPECT_EQ(runs[6], 555 * kUs);
}

// ---- The replay with cuts and graphs ----

// Three launches of 10 µs, with 90 µs between them.
TraceBuilder three_launches() {
  TraceBuilder builder;
  builder.columns().process.clock[0] = trace::kVirtualClock;
  for (Ns at : {0, 100, 200}) timed_launch(builder, "main", at, at + 10, 3);
  return builder;
}

TEST(ReplayWithCuts, CallsMoveForwardByTheTimeCutBeforeThem) {
  Change change;
  change.cuts.add(0, 20 * kUs, 50 * kUs);
  change.cuts.add(0, 40 * kUs, 60 * kUs);
  change.cuts.add(0, 150 * kUs, 155 * kUs);
  EXPECT_THAT(starts_us(three_launches().trace(), change), ElementsAre(5, 65, 160));
}

TEST(ReplayWithCuts, ACallOfWhichAPartIsCutReturnsEarlier) {
  Change change;
  change.cuts.add(0, 102 * kUs, 110 * kUs);
  EXPECT_THAT(starts_us(three_launches().trace(), change), ElementsAre(5, 105, 197));
}

TEST(ReplayWithCuts, TimeOfAnotherThreadChangesNothing) {
  TraceBuilder builder = three_launches();
  builder.thread("idle");
  Change change;
  change.cuts.add(1, 0, 300 * kUs);
  EXPECT_THAT(starts_us(builder.trace(), change), ElementsAre(5, 105, 205));
}

TEST(ReplayWithCuts, ChangesThatAreAddedUpCutBoth) {
  Change change, other;
  change.cuts.add(0, 20 * kUs, 50 * kUs);
  other.cuts.add(0, 110 * kUs, 130 * kUs);
  other.graph_op.add(2);
  change.add(other);
  EXPECT_EQ(change.cuts.cut_ns(0, 0, 200 * kUs), 50 * kUs);
  EXPECT_TRUE(change.graph_op.has(2));
}

TEST(ReplayWithCuts, RemovesTheOverheadOfRecordingOnARealClock) {
  TraceBuilder builder = three_launches();
  builder.columns().process.clock[0] = trace::kMonotonicClock;
  const Trace trace = builder.trace();
  Analyses analyses(trace);
  const Ns recorded = analyses.replay().predict({})[2].end_ns;
  const Ns bare = ends(analyses.replay(), {}, 3)[2];
  EXPECT_EQ(recorded, 208 * kUs);
  EXPECT_LT(bare, recorded);
  EXPECT_GT(bare, recorded - 10 * kUs);
  Change change;
  change.cuts.add(0, 20 * kUs, 50 * kUs);
  EXPECT_EQ(ends(analyses.replay(), change, 3)[2], bare - 30 * kUs);
}

TEST(ReplayWithCuts, PredictsTheOpsThatAreAskedForInTheirOrder) {
  TraceBuilder builder = three_launches();
  timed_launch(builder, "main", 300, 310, 3);
  builder.columns().op.start_ns[1] = builder.columns().op.end_ns[1] = kUnknownNs;
  const Trace trace = builder.trace();
  Analyses analyses(trace);
  const std::vector<Id> ops{2, 0, 1, 2};
  EXPECT_THAT(analyses.replay().predict_ends({}, ops),
              ElementsAre(208 * kUs, 8 * kUs, kUnknownNs, 208 * kUs));
  EXPECT_THAT(analyses.replay().predict_ends({}, {}), testing::IsEmpty());
}

TEST(ReplayWithCuts, NodesOfAGraphFollowEachOtherWithoutAGap) {
  TraceBuilder builder;
  builder.columns().process.clock[0] = trace::kVirtualClock;
  timed_launch(builder, "main", 0, 2, 20);
  auto stream = builder.stream("main");
  stream.at(2 * kUs).kernel("k", 27 * kUs, 47 * kUs);
  stream.at(4 * kUs).kernel("k", 55 * kUs, 75 * kUs);
  Change change;
  for (Id op = 0; op < 3; ++op) change.graph_op.add(op);
  EXPECT_THAT(starts_us(builder.trace(), change), ElementsAre(5, 25, 45));
}

TEST(ReplayWithCuts, ANodeOfAGraphStillWaitsForItsLaunchAndForOtherStreams) {
  TraceBuilder builder;
  builder.columns().process.clock[0] = trace::kVirtualClock;
  timed_launch(builder, "main", 0, 2, 20);
  builder.stream("other").at(2 * kUs).kernel("long", 8 * kUs, 100 * kUs).record("e");
  builder.stream("main").wait("e").kernel("k", 104 * kUs, 110 * kUs);
  timed_launch(builder, "main", 200, 202, 20);
  Change change;
  for (const Id op : {0, 2, 3}) change.graph_op.add(op);
  EXPECT_THAT(starts_us(builder.trace(), change), ElementsAre(5, 8, 100, 205));
}

}  // namespace
}  // namespace streamscope::analysis
