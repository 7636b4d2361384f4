// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include <coord/coordinator.h>
#include <coord/deadline_queue.h>
#include <coord/error.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <numeric>
#include <random>
#include <stdexcept>
#include <thread>
#include <vector>

#include "coord/one_stream.h"
#include "coord/thrown.h"

namespace {

using namespace std::chrono_literals;
using coord::Nanoseconds;
using coord::OperationHandle;
using coord::StreamRef;
using coord::TimeNs;

class DeadlineQueue : public OneStream {
 protected:
  [[nodiscard]] TimeNs in(Nanoseconds time) const { return {device.now().value + time.count()}; }
  static auto kernel(Nanoseconds duration) {
    return [duration](StreamRef to) { to.launch({.duration = duration}); };
  }

  coord::Coordinator coordinator{device};
};

TEST_F(DeadlineQueue, RunsTheEarliestDeadlineFirstAndEqualOnesInOrder) {
  coord::DeadlineQueue queue(coordinator, stream, {.in_flight = 1});
  std::vector<int> order;
  const auto piece = [&](int number) {
    return [&order, number](StreamRef to) {
      order.push_back(number);
      to.launch({.duration = 10us});
    };
  };
  coord::Stream other = device.create_stream();
  const OperationHandle gate = coordinator.register_operation({.stream = other});
  queue.submit(in(1s), piece(0), {.after = {gate}});  // takes the only slot
  const TimeNs same = in(5ms);
  queue.submit(in(9ms), piece(1));
  queue.submit(same, piece(2));
  queue.submit(same, piece(3));
  queue.submit(in(1ms), piece(4));
  EXPECT_EQ(queue.metrics().waiting, 4u);
  coordinator.submit(gate, kernel(1us));
  queue.wait();
  EXPECT_EQ(order, (std::vector{0, 4, 2, 3, 1}));
  EXPECT_EQ(queue.metrics().completed, 5u);
  EXPECT_EQ(queue.metrics().waiting + queue.metrics().in_flight, 0u);
}

TEST_F(DeadlineQueue, HoldsBackPiecesBeyondTheInFlightLimit) {
  coord::DeadlineQueue queue(coordinator, stream, {.in_flight = 3});
  std::size_t most = 0;
  for (int i = 0; i < 20; ++i) {
    queue.submit(in(1ms), [&](StreamRef to) {
      most = std::max(most, queue.metrics().in_flight);
      to.launch({.duration = 5us});
    });
  }
  queue.wait();
  EXPECT_EQ(most, 3u);
}

TEST_F(DeadlineQueue, CountsMissedDeadlines) {
  coord::DeadlineQueue queue(coordinator, stream);
  queue.submit(in(50us), kernel(200us));
  queue.submit(in(10ms), kernel(200us));
  queue.wait();
  const coord::DeadlineQueueMetrics metrics = queue.metrics();
  EXPECT_EQ(metrics.completed, 2u);
  EXPECT_EQ(metrics.missed, 1u);
  EXPECT_GE(metrics.worst_lateness, 140us);
  EXPECT_LE(metrics.worst_lateness, 400us);
}

TEST_F(DeadlineQueue, ContinuesAfterAPieceThatFailedOrWasCancelled) {
  coord::DeadlineQueue queue(coordinator, stream, {.in_flight = 1});
  coord::Stream other = device.create_stream();
  const OperationHandle gate = coordinator.register_operation({.stream = other});
  queue.submit(in(1ms), kernel(1us), {.after = {gate}});
  const OperationHandle failing =
      queue.submit(in(2ms), [](StreamRef) { throw std::runtime_error("no"); });
  bool ran = false;
  const OperationHandle cancelled = queue.submit(in(3ms), [&](StreamRef) { ran = true; });
  const OperationHandle last = queue.submit(in(4ms), kernel(1us));
  EXPECT_TRUE(coordinator.cancel(cancelled));
  coordinator.submit(gate, kernel(1us));
  EXPECT_THROW(queue.wait(), std::runtime_error);
  EXPECT_FALSE(ran);
  EXPECT_EQ(coordinator.state(failing), coord::OperationState::kFailed);
  EXPECT_TRUE(coordinator.completed(last));
  EXPECT_EQ(queue.metrics().failed, 2u);
}

TEST_F(DeadlineQueue, FunctionsMaySubmitMore) {
  coord::DeadlineQueue queue(coordinator, stream);
  std::atomic<int> runs{0};
  std::function<void(StreamRef)> piece = [&](StreamRef to) {
    to.launch({.duration = 1us});
    if (++runs < 10) queue.submit(in(1ms), piece);
  };
  queue.submit(in(1ms), piece);
  queue.wait();
  EXPECT_EQ(runs, 10);
}

TEST_F(DeadlineQueue, CancelsWaitingPiecesWhenItEnds) {
  coord::Stream other = device.create_stream();
  const OperationHandle gate = coordinator.register_operation({.stream = other});
  OperationHandle waiting;
  std::thread opener;
  {
    coord::DeadlineQueue queue(coordinator, stream, {.in_flight = 1});
    queue.submit(in(1ms), kernel(1us), {.after = {gate}});
    waiting = queue.submit(in(2ms), kernel(1us));
    opener = std::thread([&] {
      while (coordinator.state(waiting) != coord::OperationState::kCancelled)
        std::this_thread::yield();
      coordinator.submit(gate, kernel(1us));
    });
  }
  opener.join();
  EXPECT_EQ(coordinator.state(waiting), coord::OperationState::kCancelled);
}

TEST_F(DeadlineQueue, WorksWithCallbacksThatArePolled) {
  coord::Coordinator polled(device, {.polled = true});
  coord::DeadlineQueue queue(polled, stream, {.in_flight = 1});
  for (int i = 0; i < 5; ++i) queue.submit(in(1ms), kernel(1us));
  queue.wait();
  EXPECT_EQ(queue.metrics().completed, 5u);
}

TEST_F(DeadlineQueue, RefusesInvalidUse) {
  EXPECT_EQ(kind_thrown([&] { coord::DeadlineQueue(coordinator, stream, {.in_flight = 0}); }),
            coord::ErrorKind::kInvalidArgument);
  EXPECT_EQ(kind_thrown([&] { coord::DeadlineQueue(coordinator, StreamRef()); }),
            coord::ErrorKind::kInvalidHandle);
  coord::DeadlineQueue queue(coordinator, stream);
  EXPECT_EQ(kind_thrown([&] { queue.submit(in(1ms), nullptr); }),
            coord::ErrorKind::kInvalidArgument);
}

TEST_F(DeadlineQueue, ThreadsMaySubmitConcurrently) {
  coord::DeadlineQueue queue(coordinator, stream);
  constexpr int kThreads = 16, kPieces = 40;
  std::atomic<int> runs{0};
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&, i] {
        for (int k = 0; k < kPieces; ++k) {
          queue.submit(in(1us * ((7 * i + 3 * k) % 11)), [&](StreamRef to) {
            ++runs;
            to.launch({.duration = 1us});
          });
        }
      });
    }
  }
  queue.wait();
  EXPECT_EQ(runs, kThreads * kPieces);
  EXPECT_EQ(queue.metrics().completed, static_cast<std::uint64_t>(kThreads * kPieces));
}

/// The minimum delay of the worst piece over all orders, one piece at a time.
std::int64_t least_worst(const std::vector<std::int64_t>& takes,
                         const std::vector<std::int64_t>& deadlines) {
  std::vector<std::size_t> order(takes.size());
  std::iota(order.begin(), order.end(), 0);
  std::int64_t least = INT64_MAX;
  do {
    std::int64_t now = 0, worst = INT64_MIN;
    for (const std::size_t i : order) {
      now += takes[i];
      worst = std::max(worst, now - deadlines[i]);
    }
    least = std::min(least, worst);
  } while (std::next_permutation(order.begin(), order.end()));
  return least;
}

TEST_F(DeadlineQueue, NoOtherOrderReducesTheWorstDelay) {
  std::mt19937 random(4);
  for (int round = 0; round < 60; ++round) {
    const std::size_t count = 2 + random() % 5;
    std::vector<std::int64_t> takes, deadlines, started(count);
    for (std::size_t i = 0; i < count; ++i) {
      takes.push_back(1 + random() % 20);
      deadlines.push_back(1 + random() % 80);
    }
    std::vector<std::size_t> order;
    {
      coord::DeadlineQueue queue(coordinator, stream, {.in_flight = 1});
      coord::Stream other = device.create_stream();
      const OperationHandle gate = coordinator.register_operation({.stream = other});
      queue.submit({0}, kernel(1us), {.after = {gate}});
      for (std::size_t i = 0; i < count; ++i) {
        queue.submit({deadlines[i]}, [&, i](StreamRef to) {
          order.push_back(i);
          to.launch({.duration = Nanoseconds(takes[i])});
        });
      }
      coordinator.submit(gate, kernel(1us));
      queue.wait();
    }
    std::int64_t now = 0, worst = INT64_MIN;
    for (const std::size_t i : order) {
      now += takes[i];
      worst = std::max(worst, now - deadlines[i]);
    }
    EXPECT_EQ(order.size(), count);
    EXPECT_EQ(worst, least_worst(takes, deadlines)) << "round " << round;
  }
}

}  // namespace
