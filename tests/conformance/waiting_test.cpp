// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// How the host learns what a device has reached, and streams what the host or others have reached:
// waiters and timelines.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "conformance/backends.h"

namespace conformance {
namespace {

using namespace std::chrono_literals;
using coord::TimelineSignal;

class Waiting : public OnDevice {
 protected:
  static bool soon(const std::function<bool()>& condition) {
    for (int i = 0; i < 10'000 && !condition(); ++i) std::this_thread::sleep_for(1ms);
    return condition();
  }
};
CONFORMANCE_SUITE(Waiting);

TEST_P(Waiting, CallsOnceThePointIsReachedFromAThreadThatMayUseTheDevice) {
  Gate gate(device());
  const coord::Stream stream = this->stream();
  coord::AsyncWaiter waiter(device());
  std::atomic<int> called{0};
  gate.close(stream);
  waiter.when_reached(stream, [&](const coord::WaitOutcome& outcome) {
    EXPECT_EQ(outcome.result, coord::WaitResult::kReached);
    const coord::Event event = device().create_event();
    stream.record(event);
    event.synchronize();
    ++called;
  });
  std::this_thread::sleep_for(5ms);
  EXPECT_EQ(called, 0);
  gate.open();
  EXPECT_TRUE(soon([&] { return called == 1; }));
}

TEST_P(Waiting, CancelsTimesOutAndEnds) {
  Gate gate(device());
  const coord::Stream stream = this->stream();
  std::atomic<int> cancelled{0}, timed_out{0};
  const auto count = [&](const coord::WaitOutcome& outcome) {
    if (outcome.result == coord::WaitResult::kCancelled) ++cancelled;
    if (outcome.result == coord::WaitResult::kTimedOut) ++timed_out;
  };
  gate.close(stream);
  {
    coord::AsyncWaiter waiter(device());
    const auto wait = waiter.when_reached(stream, count);
    waiter.when_reached(stream, count, 1ms);
    waiter.when_reached(stream, count);
    EXPECT_TRUE(waiter.cancel(wait));
    EXPECT_FALSE(waiter.cancel(wait));
    EXPECT_TRUE(soon([&] { return timed_out == 1; }));
  }
  EXPECT_EQ(cancelled, 2) << "remaining waits are cancelled at the end";
  gate.open();
  stream.synchronize();
}

TEST_P(Waiting, FunctionsOfAStreamAreCalledInItsOrder) {
  Gate gate(device());
  const coord::Stream stream = this->stream();
  coord::AsyncWaiter waiter(device());
  std::vector<int> order;  // of one thread: that of the executor
  std::atomic<int> called{0};
  gate.close(stream);
  for (int i = 0; i < 50; ++i) {
    stream.launch({});
    waiter.when_reached(stream, [&, i](const coord::WaitOutcome&) {
      order.push_back(i);
      ++called;
    });
  }
  gate.open();
  ASSERT_TRUE(soon([&] { return called == 50; }));
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST_P(Waiting, PollingForCallbacksBreaksNoCapture) {
  Gate gate(device());
  const coord::Stream waited = stream(), captured = stream();
  Cell cell(device());
  coord::AsyncWaiter waiter(device());
  std::atomic<bool> called{false};
  gate.close(waited);
  waiter.when_reached(waited, [&](const coord::WaitOutcome&) { called = true; });
  captured.begin_capture();
  set(captured, cell.data(), 3);
  std::this_thread::sleep_for(5ms);  // many polls
  const coord::Graph graph = captured.end_capture();
  gate.open();
  EXPECT_TRUE(soon([&] { return called.load(); }));
}

TEST_P(Waiting, ATimelineIsReachedWhenTheDeviceHasRunAndNotBefore) {
  Gate gate(device());
  const coord::Stream stream = this->stream();
  TimelineSignal timeline(device());
  gate.close(stream);
  timeline.signal(stream, 3);
  EXPECT_EQ(timeline.signaled(), 3u);
  EXPECT_FALSE(timeline.wait_for(3, 2ms));
  EXPECT_EQ(timeline.completed(), 0u);
  std::thread opener([&] {
    std::this_thread::sleep_for(2ms);
    gate.open();
  });
  timeline.wait(3);
  EXPECT_EQ(timeline.completed(), 3u);
  opener.join();
}

TEST_P(Waiting, AStreamMayWaitForAValueBeforeItIsSignaled) {
  const coord::Stream producer = stream(), consumer = stream();
  Cell from(device()), to(device());
  TimelineSignal timeline(device());
  timeline.wait(consumer, 2);
  consumer.copy(to.data(), from.data(), sizeof(float));
  timeline.signal(1);
  set(producer, from.data(), 7);
  EXPECT_FALSE(consumer.query());
  timeline.signal(producer, 2);
  consumer.synchronize();
  EXPECT_EQ(to.value(), 7.0f);
}

TEST_P(Waiting, AStreamWaitsForTheExactPoint) {
  Gate gate(device());
  const coord::Stream producer = stream(), consumer = stream();
  TimelineSignal timeline(device());
  timeline.signal(producer, 1);
  gate.close(producer);
  timeline.signal(producer, 2);
  timeline.wait(consumer, 1);
  consumer.synchronize();  // would hang if it waited for 2
  gate.open();
  timeline.wait(2);
}

}  // namespace
}  // namespace conformance
