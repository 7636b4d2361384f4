// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Functions that are called once a stream has passed a point.

#include <coord/coord.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;
using coord::AsyncWaiter;
using coord::Device;
using coord::Stream;
using coord::WaitOutcome;
using coord::WaitResult;

/// Counts outcomes, and lets the test wait for them.
class Outcomes {
 public:
  std::function<void(WaitOutcome)> add() {
    return [this](const WaitOutcome& outcome) {
      const std::lock_guard lock(mutex_);
      ++counts_[outcome.result];
      last_ = outcome;
      ++total_;
      changed_.notify_all();
    };
  }
  bool reach(int total) {
    std::unique_lock lock(mutex_);
    return changed_.wait_until(lock, std::chrono::system_clock::now() + 30s,
                               [&] { return total_ >= total; });
  }
  int count(WaitResult result) {
    const std::lock_guard lock(mutex_);
    return counts_[result];
  }
  WaitOutcome last() {
    const std::lock_guard lock(mutex_);
    return last_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<WaitResult, int> counts_;
  WaitOutcome last_;
  int total_ = 0;
};

TEST(AsyncWaiter, CallsOnceThePointIsReachedAndNoLater) {
  const Device device = Device::open("sim");
  const Stream stream = device.create_stream();
  const auto flag = device.allocate_host<std::uint64_t>(1);
  AsyncWaiter waiter(device);
  Outcomes outcomes;
  stream.launch({.duration = 20us});
  waiter.when_reached(stream, outcomes.add());
  stream.wait_value(flag.data(), 1);  // what comes after does not matter
  waiter.when_reached(stream, outcomes.add());
  EXPECT_TRUE(outcomes.reach(1));
  EXPECT_EQ(outcomes.count(WaitResult::kReached), 1);
  EXPECT_EQ(waiter.pending(), 1u);
  std::atomic_ref<std::uint64_t>(flag[0]).store(1);
  stream.launch({});  // lets the simulated device check its memory
  EXPECT_TRUE(outcomes.reach(2));
}

TEST(AsyncWaiter, CancelsAndTimesOut) {
  const Device device = Device::open("sim");
  const Stream stream = device.create_stream();
  const auto flag = device.allocate_host<std::uint64_t>(1);
  Outcomes outcomes;
  {
    AsyncWaiter waiter(device);
    stream.wait_value(flag.data(), 1);
    const auto cancelled = waiter.when_reached(stream, outcomes.add());
    waiter.when_reached(stream, outcomes.add(), 1ms);
    waiter.when_reached(stream, outcomes.add(), 100s);
    EXPECT_TRUE(waiter.cancel(cancelled));
    EXPECT_FALSE(waiter.cancel(cancelled));
    EXPECT_TRUE(outcomes.reach(2));
    EXPECT_EQ(outcomes.count(WaitResult::kCancelled), 1);
    EXPECT_EQ(outcomes.count(WaitResult::kTimedOut), 1);
    EXPECT_EQ(waiter.pending(), 1u);
  }
  EXPECT_EQ(outcomes.count(WaitResult::kCancelled), 2) << "none is lost at the end";
  std::atomic_ref<std::uint64_t>(flag[0]).store(1);
  stream.synchronize();
}

TEST(AsyncWaiter, DeliversTheFailureOfTheDevice) {
  const Device device = Device::open("sim");
  const Stream a = device.create_stream(), b = device.create_stream(), c = device.create_stream();
  const auto never = device.allocate_host<std::uint64_t>(1),
             start = device.allocate_host<std::uint64_t>(1);
  AsyncWaiter waiter(device);
  Outcomes outcomes;
  b.wait_value(never.data(), 1);
  waiter.when_reached(b, outcomes.add());
  a.wait_value(start.data(), 1);
  a.launch({.function = [] { throw std::runtime_error("fault"); }});
  waiter.when_reached(a, outcomes.add());
  c.write_value(start.data(), 1);  // a call after the fault would throw
  EXPECT_TRUE(outcomes.reach(2));
  EXPECT_EQ(outcomes.count(WaitResult::kFailed), 2);
  EXPECT_NE(outcomes.last().error, nullptr);
}

TEST(AsyncWaiter, ThousandsOfWaits) {
  const Device device = Device::open("sim");
  Outcomes outcomes;
  AsyncWaiter waiter(device);
  std::vector<Stream> streams;
  for (int s = 0; s < 32; ++s) streams.push_back(device.create_stream());
  for (int i = 0; i < 3000; ++i)
    waiter.when_reached(streams[static_cast<std::size_t>(i % 32)], outcomes.add(),
                        i % 3 == 0 ? coord::Nanoseconds(100s) : coord::Nanoseconds::max());
  EXPECT_TRUE(outcomes.reach(3000));
  EXPECT_EQ(outcomes.count(WaitResult::kReached), 3000);
  EXPECT_EQ(waiter.pending(), 0u);
}

TEST(AsyncWaiter, AFunctionMayUseTheWaiter) {
  const Device device = Device::open("sim");
  const Stream stream = device.create_stream();
  Outcomes outcomes;
  AsyncWaiter waiter(device);
  waiter.when_reached(stream,
                      [&](const WaitOutcome&) { waiter.when_reached(stream, outcomes.add()); });
  EXPECT_TRUE(outcomes.reach(1));
}

TEST(AsyncWaiterStress, SixteenThreads) {
  const Device device = Device::open("sim");
  Outcomes outcomes;
  {
    AsyncWaiter waiter(device, {.executor = std::make_shared<coord::Executor>(3)});
    std::vector<std::thread> threads;
    for (int t = 0; t < 16; ++t) {
      threads.emplace_back([&] {
        const Stream stream = device.create_stream();
        for (int i = 0; i < 60; ++i) {
          const auto wait =
              waiter.when_reached(stream, outcomes.add(),
                                  i % 4 == 0 ? coord::Nanoseconds(100us) : coord::Nanoseconds(50s));
          if (i % 3 == 0) (void)waiter.cancel(wait);
        }
        stream.synchronize();
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  EXPECT_TRUE(outcomes.reach(16 * 60));
}

TEST(Executor, RunsInOrderAndEndsWithoutMissingFunctions) {
  std::vector<int> ran;
  {
    coord::Executor executor;
    for (int i = 0; i < 1000; ++i) {
      executor.expect();
      executor.post([&ran, i] { ran.push_back(i); });
      if (i % 100 == 0) std::this_thread::sleep_for(200us);  // longer than its thread polls
    }
    executor.expect();  // nothing comes: the end does not wait for it
  }
  ASSERT_EQ(ran.size(), 1000u);
  EXPECT_TRUE(std::is_sorted(ran.begin(), ran.end()));
}

}  // namespace
