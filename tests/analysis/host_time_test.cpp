// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/delay/host_time.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "memory_trace.h"
#include "support/units.h"

namespace streamscope::analysis {
namespace {

using test::kUs;

std::map<HostState, Ns> parts_within(const Trace& trace, Id thread, Ns from, Ns to) {
  std::vector<HostPart> parts;
  HostTime(trace).split(thread, from, to, parts);
  std::map<HostState, Ns> result;
  for (const HostPart& part : parts) result[part.state] += part.duration_ns;
  return result;
}

void overhead(MemoryTrace& t, std::string_view name, Ns start, Ns end, Id thread = 0) {
  append(t.trace, trace::Overhead{.process_id = 0,
                                  .thread_id = thread,
                                  .name_id = t.text(name),
                                  .start_ns = start,
                                  .end_ns = end});
}

TEST(HostTime, DistinguishesSynchronizationsCallsAndTheRestWithinTheInterval) {
  MemoryTrace t;
  const Id a = t.add_stream();
  t.sync(trace::kStreamSynchronize, 10, 20, a);
  const Id last = t.sync(trace::kStreamSynchronize, 30, 50, a);
  t.call(60, 90, a);
  EXPECT_THAT(parts_within(t.trace, 0, 15, 70),
              testing::ElementsAre(std::pair(HostState::kSync, 25), std::pair(HostState::kCall, 10),
                                   std::pair(HostState::kOutside, 20)));
  EXPECT_THAT(parts_within(t.trace, 0, 20, 30),
              testing::ElementsAre(std::pair(HostState::kOutside, 10)));
  EXPECT_THAT(parts_within(t.trace, 0, 35, 36),
              testing::ElementsAre(std::pair(HostState::kSync, 1)));
  EXPECT_THAT(parts_within(t.trace, 7, 0, 100),
              testing::ElementsAre(std::pair(HostState::kOutside, 100)));
  std::vector<HostPart> parts;
  HostTime(t.trace).split(0, 0, 100, parts);
  EXPECT_EQ(parts[0].host_sync, last);
}

TEST(HostTime, CountsASynchronousCopyAsBlocking) {
  MemoryTrace t;
  t.sync(trace::kSynchronousCopy, 10, 20, t.add_stream());
  t.sync(trace::kStreamQuery, 30, 35);
  EXPECT_THAT(parts_within(t.trace, 0, 0, 40),
              testing::ElementsAre(std::pair(HostState::kSync, 10), std::pair(HostState::kCall, 5),
                                   std::pair(HostState::kOutside, 25)));
}

TEST(HostTime, NamesTheLongestOfTheLongCalls) {
  MemoryTrace t;
  const Id a = t.add_stream();
  for (Ns i = 0; i < 100; ++i)
    t.call(i * 100 * kUs, i * 100 * kUs + (i % 10 == 0 ? 30 : 1) * kUs, a);
  t.trace.api_call.name_id.assign(100, t.text("cudaLaunchKernel"));
  t.trace.api_call.name_id[57] = t.text("cudaMalloc");
  t.trace.api_call.end_ns[57] += 39 * kUs;
  const auto calls_in = [&](Ns from, Ns to) {
    std::vector<HostPart> parts;
    HostTime(t.trace).split(0, from * 100 * kUs, to * 100 * kUs, parts);
    EXPECT_EQ(parts[0].state, HostState::kCall);
    return parts[0];
  };
  EXPECT_EQ(t.trace.text(calls_in(10, 90).call_name), "cudaMalloc");
  EXPECT_EQ(calls_in(10, 90).duration_ns, (8 * 30 + 72 - 1 + 40) * kUs);
  EXPECT_EQ(t.trace.text(calls_in(60, 90).call_name), "cudaLaunchKernel");
  EXPECT_EQ(calls_in(61, 70).call_name, kNoId);
}

TEST(HostTime, OverheadsGoToTheProfilerOrToCodeLoading) {
  MemoryTrace t;
  t.call(100, 200, t.add_stream());
  overhead(t, "lazy function loading", 110, 150);
  overhead(t, "CUPTI buffer flush", 160, 170);
  overhead(t, "command buffer full", 180, 190);  // the work of the call
  EXPECT_THAT(parts_within(t.trace, 0, 0, 300),
              testing::ElementsAre(
                  std::pair(HostState::kProfiler, 10), std::pair(HostState::kCodeLoading, 40),
                  std::pair(HostState::kCall, 50), std::pair(HostState::kOutside, 200)));
}

TEST(HostTime, AModuleLoadIsCodeLoading) {
  MemoryTrace t;
  t.call(10 * kUs, 50 * kUs, t.add_stream(), 0, 36);
  EXPECT_THAT(parts_within(t.trace, 0, 0, 60 * kUs),
              testing::ElementsAre(std::pair(HostState::kCodeLoading, 40 * kUs),
                                   std::pair(HostState::kOutside, 20 * kUs)));
}

TEST(HostTime, ALongCallThatReturnsRightAfterAnotherThreadsWaitedForIt) {
  for (const bool together : {true, false}) {
    MemoryTrace t;
    const Id a = t.add_stream(), other = t.add_thread();
    t.call(100 * kUs, 400 * kUs, a, other);
    // Returns with the other one, or long after.
    const Ns end = together ? 405 * kUs : 800 * kUs;
    t.call(200 * kUs, end, a, 0);
    const Ns locked = together ? 200 * kUs : 0;
    const auto parts = parts_within(t.trace, 0, 0, 1000 * kUs);
    EXPECT_EQ(parts.count(HostState::kLock) ? parts.at(HostState::kLock) : 0, locked);
    EXPECT_EQ(parts.at(HostState::kCall), end - 200 * kUs - locked);
  }
}

TEST(HostTime, ASynchronizationHoldsNoLock) {
  MemoryTrace t;
  const Id a = t.add_stream(), other = t.add_thread();
  t.sync(trace::kStreamSynchronize, 100 * kUs, 400 * kUs, a, kNoId, other);
  t.call(200 * kUs, 405 * kUs, a, 0);
  EXPECT_THAT(parts_within(t.trace, 0, 200 * kUs, 405 * kUs),
              testing::ElementsAre(std::pair(HostState::kCall, 205 * kUs)));
}

// Against a check of every call, instant by instant.
TEST(HostTime, AgreesWithBruteForceInRandomTraces) {
  for (uint32_t seed = 0; seed < 100; ++seed) {
    std::mt19937 random(seed);
    MemoryTrace t;
    const Id a = t.add_stream();
    std::vector<HostState> at(2000, HostState::kOutside);
    Ns now = 0;
    while (now < 1900) {
      const Ns start = now + static_cast<Ns>(random() % 12), end = start + 1 + random() % 9;
      const bool sync = random() % 3 == 0;
      switch (sync ? 4 : random() % 3) {
        case 0:
          append(t.trace, trace::EventRecord{.thread_id = 0, .start_ns = start, .end_ns = end});
          break;
        case 1:
          append(t.trace, trace::EventWait{.thread_id = 0, .start_ns = start, .end_ns = end});
          break;
        case 2:
          t.call(start, end, a);
          break;
        default:
          t.sync(trace::kDeviceSynchronize, start, end);
      }
      for (Ns i = start; i < end; ++i)
        at[static_cast<size_t>(i)] = sync ? HostState::kSync : HostState::kCall;
      if (random() % 10 == 0) {
        overhead(t, "CUPTI buffer flush", start, end);
        for (Ns i = start; i < end; ++i) at[static_cast<size_t>(i)] = HostState::kProfiler;
      }
      now = end;
    }
    const HostTime host_time(t.trace);
    for (int i = 0; i < 50; ++i) {
      const Ns from = random() % 1900, to = from + 1 + random() % (1900 - from);
      std::map<HostState, Ns> expected, got;
      for (Ns n = from; n < to; ++n) ++expected[at[static_cast<size_t>(n)]];
      std::vector<HostPart> parts;
      host_time.split(0, from, to, parts);
      for (const HostPart& part : parts) got[part.state] += part.duration_ns;
      ASSERT_EQ(got, expected) << "seed " << seed << " [" << from << ", " << to << ")";
    }
  }
}

}  // namespace
}  // namespace streamscope::analysis
