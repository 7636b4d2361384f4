// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Every order of what can happen to waits: each ends exactly once, by what came first.

#include <coord/coord.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>

namespace {

using namespace std::chrono_literals;
using coord::AsyncWaiter;
using coord::Device;
using coord::Stream;
using coord::WaitResult;

struct Ending {
  std::atomic<int> times{0};
  std::atomic<WaitResult> result{};
};

void wait_until_ended(const Ending& ending) {
  while (ending.times == 0) std::this_thread::yield();
}

/// One wait that is cancelled (c), one that times out (t), one that is only reached (o), a waiter
/// that ends (e), in the order of the letters.
void end_in_order(const std::string& order) {
  SCOPED_TRACE(order);
  const Device device = Device::open("sim");
  const Stream stream = device.create_stream();
  const auto gate = device.allocate_host<std::uint64_t>(1);
  stream.wait_value(gate.data(), 1);
  Ending cancelled, timed, plain;
  auto waiter = std::make_unique<AsyncWaiter>(device);
  const auto note = [](Ending& ending) {
    return [&ending](const coord::WaitOutcome& outcome) {
      ending.result = outcome.result;
      ++ending.times;
    };
  };
  const bool times_out = order.find('t') < std::min(order.find('o'), order.find('e'));
  const coord::WaitId to_cancel = waiter->when_reached(stream, note(cancelled));
  waiter->when_reached(stream, note(timed), times_out ? coord::Nanoseconds(200us) : 100s);
  waiter->when_reached(stream, note(plain));
  WaitResult of_cancelled{}, of_timed{}, of_plain{};
  bool cancelled_over = false, timed_over = false, plain_over = false;
  const auto end = [](bool& over, WaitResult& result, WaitResult by) {
    if (!over) result = by;
    over = true;
  };
  for (const char act : order) {
    switch (act) {
      case 'c':
        if (waiter == nullptr) break;
        EXPECT_EQ(waiter->cancel(to_cancel), !cancelled_over);
        EXPECT_FALSE(waiter->cancel(to_cancel));
        end(cancelled_over, of_cancelled, WaitResult::kCancelled);
        break;
      case 't':
        if (times_out) wait_until_ended(timed);
        if (times_out) end(timed_over, of_timed, WaitResult::kTimedOut);
        break;
      case 'o':
        std::atomic_ref<std::uint64_t>(gate[0]).store(1);
        if (waiter == nullptr) break;
        for (const Ending* each : {&cancelled, &timed, &plain}) wait_until_ended(*each);
        end(cancelled_over, of_cancelled, WaitResult::kReached);
        end(timed_over, of_timed, WaitResult::kReached);
        end(plain_over, of_plain, WaitResult::kReached);
        EXPECT_EQ(waiter->pending(), 0u);
        break;
      default:
        waiter.reset();
        end(cancelled_over, of_cancelled, WaitResult::kCancelled);
        end(timed_over, of_timed, WaitResult::kCancelled);
        end(plain_over, of_plain, WaitResult::kCancelled);
    }
  }
  EXPECT_EQ(cancelled.times, 1);
  EXPECT_EQ(timed.times, 1);
  EXPECT_EQ(plain.times, 1);
  EXPECT_EQ(cancelled.result, of_cancelled);
  EXPECT_EQ(timed.result, of_timed);
  EXPECT_EQ(plain.result, of_plain);
  std::atomic_ref<std::uint64_t>(gate[0]).store(1);
  stream.synchronize();
}

TEST(AsyncWaiter, EndsEachWaitOnceInEveryOrderOfEvents) {
  std::string order = "ceot";
  do {
    end_in_order(order);
  } while (std::next_permutation(order.begin(), order.end()));
}

/// Cancelling, reaching and ending at the same time, from threads: one of them wins.
TEST(AsyncWaiter, EndsEachWaitOnceHoweverCancellingRaces) {
  const Device device = Device::open("sim");
  const Stream stream = device.create_stream();
  const auto gate = device.allocate_host<std::uint64_t>(1);
  for (std::uint64_t round = 1; round <= 100; ++round) {
    std::array<Ending, 4> endings;
    stream.wait_value(gate.data(), round);
    auto waiter = std::make_unique<AsyncWaiter>(device);
    std::array<coord::WaitId, 4> waits;
    for (std::size_t i = 0; i < waits.size(); ++i) {
      waits[i] = waiter->when_reached(
          stream,
          [&ending = endings[i]](const coord::WaitOutcome& outcome) {
            ending.result = outcome.result;
            ++ending.times;
          },
          i == 3 ? coord::Nanoseconds(1us) : coord::Nanoseconds::max());
    }
    std::thread opener([&] { std::atomic_ref<std::uint64_t>(gate[0]).store(round); });
    std::array<bool, 2> was_cancelled{};
    std::thread canceller([&] { was_cancelled[0] = waiter->cancel(waits[0]); });
    was_cancelled[1] = waiter->cancel(waits[1]);
    canceller.join();
    if (round % 2 == 0) waiter.reset();
    opener.join();
    if (waiter != nullptr) {
      for (const Ending& ending : endings) wait_until_ended(ending);
      waiter.reset();
    }
    for (const Ending& ending : endings) EXPECT_EQ(ending.times, 1);
    for (std::size_t i = 0; i < 2; ++i) {
      if (was_cancelled[i]) {
        EXPECT_EQ(endings[i].result, WaitResult::kCancelled);
      }
    }
    stream.synchronize();
  }
}

}  // namespace
