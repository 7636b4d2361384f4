// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "analysis/memory/placed_calls.h"

#include <gtest/gtest.h>

#include "memory_trace.h"

namespace streamscope::analysis {
namespace {

class PlacedCallsTest : public testing::Test {
 protected:
  trace::Id call(trace::Ns at, trace::Id thread, CallKind kind, trace::Small result = 0) {
    const trace::Id id = trace_.call(at, at + 1, 0, thread, number_of(kind));
    trace_.trace.api_call.result[id] = result;
    return id;
  }
  MemoryTrace trace_;  // with thread 0 of process 0
};

TEST_F(PlacedCallsTest, AreNumberedByThreadAndKind) {
  const trace::Id other = trace_.add_thread();
  const trace::Id a = call(30, 0, CallKind::kLaunch), b = call(10, other, CallKind::kLaunch),
                  c = call(20, other, CallKind::kMemsetAsync),
                  d = call(40, other, CallKind::kLaunch), query = call(5, 0, CallKind::kEventQuery);
  const PlacedCalls calls(trace_.trace, 0);
  EXPECT_EQ(calls.place_of(a), (CallPlace{CallKind::kLaunch, 1, 0})) << "its thread came second";
  EXPECT_EQ(calls.place_of(b), (CallPlace{CallKind::kLaunch, 0, 0}));
  EXPECT_EQ(calls.place_of(c), (CallPlace{CallKind::kMemsetAsync, 0, 0}));
  EXPECT_EQ(calls.place_of(d), (CallPlace{CallKind::kLaunch, 0, 1}));
  EXPECT_EQ(calls.place_of(query), std::nullopt);
  for (const trace::Id each : {a, b, c, d}) EXPECT_EQ(calls.find(*calls.place_of(each)), each);
  EXPECT_EQ(calls.find({CallKind::kLaunch, 0, 2}), trace::kNoId);
  EXPECT_EQ(calls.find({CallKind::kLaunch, 2, 0}), trace::kNoId);
}

TEST_F(PlacedCallsTest, AllocationsThatFailedDoNotCount) {
  call(10, 0, CallKind::kMalloc, 2);
  const trace::Id made = call(20, 0, CallKind::kMalloc);
  const PlacedCalls calls(trace_.trace, 0);
  EXPECT_EQ(calls.place_of(made), (CallPlace{CallKind::kMalloc, 0, 0}));
}

TEST_F(PlacedCallsTest, AreThoseOfOneProcess) {
  trace_.add_context();
  const trace::Id stranger = trace_.add_thread(1);
  call(10, stranger, CallKind::kLaunch);
  const trace::Id own = call(20, 0, CallKind::kLaunch);
  EXPECT_EQ(PlacedCalls(trace_.trace, 0).place_of(own), (CallPlace{CallKind::kLaunch, 0, 0}));
  EXPECT_EQ(PlacedCalls(trace_.trace, 1).place_of(own), std::nullopt);
}

}  // namespace
}  // namespace streamscope::analysis
