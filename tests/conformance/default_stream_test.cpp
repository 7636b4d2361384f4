// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The legacy default stream, and which streams it orders itself with.

#include "conformance/backends.h"

namespace conformance {
namespace {

class DefaultStream : public OnDevice {
 protected:
  coord::StreamRef legacy() { return device().legacy_stream(); }
  coord::StreamRef per_thread() { return device().per_thread_stream(); }

  /// Whether an event recorded in `stream` now stays pending.
  bool held(coord::StreamRef stream) {
    const coord::Event event = this->event();
    stream.record(event);
    // Free work needs a moment to complete: that has passed once other free work shows as complete.
    const coord::Stream other = this->stream();
    other.launch({.duration = std::chrono::microseconds(200)});
    other.synchronize();
    return !event.query();
  }
};
CONFORMANCE_SUITE(DefaultStream);

TEST_P(DefaultStream, LegacyFollowsBlockingStreams) {
  Gate gate(device());
  const coord::Stream blocking = blocking_stream();
  gate.close(blocking);
  EXPECT_FALSE(legacy().query());
  EXPECT_TRUE(held(legacy()));
}

TEST_P(DefaultStream, LegacyFollowsThePerThreadStream) {
  Gate gate(device());
  gate.close(per_thread());
  EXPECT_TRUE(held(legacy()));
}

TEST_P(DefaultStream, LegacyIgnoresNonBlockingStreams) {
  Gate gate(device());
  const coord::Stream independent = stream();
  gate.close(independent);
  EXPECT_TRUE(legacy().query());
  EXPECT_FALSE(held(legacy()));
}

TEST_P(DefaultStream, BlockingAndPerThreadStreamsFollowLegacy) {
  Gate gate(device());
  const coord::Stream blocking = blocking_stream(), independent = stream();
  gate.close(legacy());
  EXPECT_TRUE(held(blocking));
  EXPECT_TRUE(held(per_thread()));
  EXPECT_FALSE(held(independent));
}

TEST_P(DefaultStream, RecordOnLegacyIsABarrier) {
  Gate gate(device());
  const coord::Stream first = blocking_stream(), second = blocking_stream();
  const coord::Event event = this->event();
  gate.close(first);
  EXPECT_FALSE(held(second));
  legacy().record(event);
  EXPECT_TRUE(held(second));
}

TEST_P(DefaultStream, WaitOnLegacyHoldsBlockingStreamsAtOnce) {
  Gate gate(device());
  const coord::Stream source = stream(), blocking = blocking_stream(), independent = stream();
  const coord::Event event = this->event();
  gate.close(source);
  source.record(event);
  legacy().wait(event);
  EXPECT_TRUE(held(blocking));
  EXPECT_TRUE(held(per_thread()));
  EXPECT_FALSE(held(independent));
}

TEST_P(DefaultStream, WaitOnLegacyForACompleteRecordIsStillABarrier) {
  Gate gate(device());
  const coord::Stream source = stream(), first = blocking_stream(), second = blocking_stream();
  const coord::Event event = this->event();
  source.record(event);
  event.synchronize();
  gate.close(first);
  legacy().wait(event);
  EXPECT_TRUE(held(second));
}

TEST_P(DefaultStream, WaitOnLegacyForAnUnrecordedEventIsNoBarrier) {
  Gate gate(device());
  const coord::Stream first = blocking_stream(), second = blocking_stream();
  const coord::Event event = this->event();
  gate.close(first);
  legacy().wait(event);
  EXPECT_FALSE(held(second));
}

TEST_P(DefaultStream, MemsetOnLegacyIsABarrier) {
  Cell cell(device());
  Gate gate(device());
  const coord::Stream first = blocking_stream(), second = blocking_stream();
  gate.close(first);
  legacy().memset(cell.data(), 0, sizeof(float));
  EXPECT_TRUE(held(second));
}

TEST_P(DefaultStream, HostFunctionOnLegacyIsABarrier) {
  Gate gate(device());
  const coord::Stream first = blocking_stream(), second = blocking_stream();
  gate.close(first);
  legacy().host_function([] {});
  EXPECT_TRUE(held(second));
}

TEST_P(DefaultStream, SynchronizingLegacyWaitsForBlockingStreams) {
  Cell cell(device());
  const coord::Stream blocking = blocking_stream();
  blocking.launch({.duration = std::chrono::microseconds(300)});
  set(blocking, cell.data(), 6);
  legacy().synchronize();
  EXPECT_TRUE(blocking.query());
  EXPECT_EQ(cell.value(), 6.0f);
}

}  // namespace
}  // namespace conformance
