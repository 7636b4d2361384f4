// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Which streams are captured, by the rules of CUDA (tests/conformance/graph_test.cpp verifies them
// on a GPU).
#include "collect/calls/captures.h"

#include <gtest/gtest.h>

namespace streamscope::collect {
namespace {

constexpr uint64_t kA = 0xa00a, kB = 0xb00b, kC = 0xc00c, kEvent = 0xe00e, kOther = 0xe11e;
constexpr uint32_t kContext = 1, kSecondContext = 2;
constexpr int32_t kSuccess = 0, kInvalidValue = 1, kIllegalState = 401, kInvalidated = 901,
                  kUnmatched = 903, kUnjoined = 904, kWrongThread = 908;

/// A capture of A that B has joined.
Captures forked() {
  Captures captures;
  captures.begin(kA, kContext);
  captures.record(kA, kEvent);
  captures.wait(kB, kEvent);
  return captures;
}

TEST(Captures, SpreadAlongWaitsForEventsRecordedInThem) {
  Captures captures = forked();
  EXPECT_TRUE(captures.contains(kB));
  EXPECT_FALSE(captures.contains(kC));
  captures.record(kB, kOther);
  captures.wait(kC, kOther);
  EXPECT_TRUE(captures.contains(kC));
  EXPECT_EQ(captures.count(), 1u);
}

TEST(Captures, DoNotSpreadAlongEventsThatWereRecordedElsewhereSince) {
  Captures captures = forked();
  captures.record(kC, kEvent);  // not captured: the event now refers to something else
  captures.wait(0xd00d, kEvent);
  EXPECT_FALSE(captures.contains(0xd00d));
  captures.record(kA, kEvent);
  captures.end_event(kEvent);  // destroyed, and its handle given to a new event
  captures.wait(0xd00d, kEvent);
  EXPECT_FALSE(captures.contains(0xd00d));
}

TEST(Captures, EndForAllTheirStreamsAndEventsAtOnce) {
  Captures captures = forked();
  captures.begin(kC, kContext);
  captures.end(kA, kSuccess);
  EXPECT_FALSE(captures.contains(kA) || captures.contains(kB));
  EXPECT_TRUE(captures.contains(kC));  // of another capture
  captures.wait(kB, kEvent);
  EXPECT_FALSE(captures.contains(kB));
  captures.end(kC, kSuccess);
  EXPECT_EQ(captures.count(), 0u);
}

TEST(Captures, EndAlsoIfTheCallFailsUnlessItWasRefused) {
  for (const int32_t result : {kInvalidated, kUnjoined, kIllegalState}) {
    Captures captures = forked();
    captures.end(kA, result);
    EXPECT_EQ(captures.count(), 0u) << result;
    EXPECT_FALSE(captures.contains(kB)) << result;
  }
  for (const int32_t result : {kInvalidValue, kUnmatched, kWrongThread}) {
    Captures captures = forked();
    captures.end(result == kUnmatched ? kB : kA, result);
    EXPECT_TRUE(captures.contains(kA) && captures.contains(kB)) << result;
    captures.end(kA, kSuccess);
    EXPECT_EQ(captures.count(), 0u) << result;
  }
}

TEST(Captures, LoseAStreamThatIsDestroyedAndEndWithTheOneTheyBeganOn) {
  Captures captures = forked();
  captures.end_stream(kC);  // unrelated to it
  captures.end_stream(kB);
  EXPECT_FALSE(captures.contains(kB));
  EXPECT_TRUE(captures.contains(kA));
  captures.wait(kB, kEvent);  // the handle is reused, and the new stream joins
  EXPECT_TRUE(captures.contains(kB));
  captures.end_stream(kA);
  EXPECT_EQ(captures.count(), 0u);
  EXPECT_FALSE(captures.contains(kB));
}

TEST(Captures, EndWithTheirContext) {
  Captures captures = forked();
  captures.begin(kC, kSecondContext);
  captures.end_context(kContext);
  EXPECT_FALSE(captures.contains(kA) || captures.contains(kB));
  EXPECT_TRUE(captures.contains(kC));
}

TEST(Captures, RestartIfAnEndWasNotSeen) {
  Captures captures = forked();
  captures.begin(kA, kContext);
  EXPECT_EQ(captures.count(), 1u);
  EXPECT_FALSE(captures.contains(kB));
}

TEST(Captures, KnowDefaultStreamsByThreadAndContextAndNeverCaptureTheLegacyOne) {
  const auto own = Captures::stream(2, false, kContext, 100);
  EXPECT_EQ(own, Captures::stream(0, true, kContext, 100));
  EXPECT_NE(own, Captures::stream(2, false, kContext, 101));
  EXPECT_NE(own, Captures::stream(2, false, kSecondContext, 100));
  EXPECT_EQ(Captures::stream(kA, true, kContext, 100), kA);
  for (const uint64_t legacy : {0, 1}) {
    Captures captures = forked();
    const auto stream = Captures::stream(legacy, false, kContext, 100);
    captures.begin(stream, kContext);
    captures.wait(stream, kEvent);
    EXPECT_FALSE(captures.contains(stream));
    EXPECT_EQ(captures.count(), 1u);
  }
}

}  // namespace
}  // namespace streamscope::collect
