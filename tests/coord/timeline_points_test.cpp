// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Single values of timelines: who may promise them, in which order, when they count as reached, and
// whom they wake.

#include <coord/coord.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <thread>
#include <vector>

#include "coord/fake_observer.h"
#include "coord/one_stream.h"
#include "coord/thrown.h"
#include "timeline/timeline_word.h"

namespace {

using namespace std::chrono_literals;
using coord::Stream;

class TimelinePoints : public OneStream {
 protected:
  coord::TimelineSignal timeline{device};
};

TEST_F(TimelinePoints, AWaitWithZeroTimeoutIsAPollAndNotAnEndlessWait) {
  EXPECT_FALSE(timeline.wait_for(1, 0ns));
  timeline.signal(stream, 1);
  stream.synchronize();
  EXPECT_EQ(timeline.completed(), 0u) << "nobody has looked";
  EXPECT_TRUE(timeline.wait_for(1, 0ns)) << "a timeout that is over does not hide what was reached";
}

TEST_F(TimelinePoints, NoPromiseIsLowerThanAnEarlierOne) {
  timeline.signal(stream, 5);
  EXPECT_EQ(kind_thrown([&] { timeline.signal(stream, 5); }), coord::ErrorKind::kInvalidArgument);
  EXPECT_EQ(kind_thrown([&] { timeline.signal(stream, 4); }), coord::ErrorKind::kInvalidArgument);
  EXPECT_EQ(kind_thrown([&] { timeline.signal(4); }), coord::ErrorKind::kInvalidArgument);
  timeline.wait(5);
}

TEST_F(TimelinePoints, AStreamThatIsBeingCapturedPromisesNothing) {
  stream.begin_capture();
  EXPECT_EQ(kind_thrown([&] { timeline.signal(stream, 1); }), coord::ErrorKind::kCapture);
  (void)stream.end_capture();  // the capture is whole
  timeline.signal(stream, 1);
  timeline.wait(1);
}

TEST_F(TimelinePoints, ManySignalsUseFewEvents) {
  fake_observer::start();
  for (std::uint64_t value = 1; value <= 500; ++value) {
    timeline.signal(stream, value);
    timeline.wait(value);
  }
  EXPECT_LT(fake_observer::stop().calls_named("simEventCreate").size(), 20u);
}

TEST_F(TimelinePoints, SignalsOfThreadsThatRaceAreReachedInTheOrderOfTheirValues) {
  constexpr std::uint64_t kValues = 200;
  constexpr int kThreads = 4;
  std::array<std::atomic<bool>, kValues + 1> ended{};
  std::array<std::atomic<bool>, kValues + 1> promised{};
  std::atomic<std::uint64_t> next{1};
  std::vector<Stream> streams;
  for (int t = 0; t < kThreads; ++t) streams.push_back(device.create_stream());
  std::vector<std::thread> threads;
  for (const Stream& stream : streams) {
    threads.emplace_back([&] {
      for (;;) {
        const std::uint64_t value = next++;
        if (value > kValues) return;
        stream.launch({.duration = 1us, .function = [&ended, value] { ended[value] = true; }});
        try {
          timeline.signal(stream, value);
          promised[value] = true;
        } catch (const coord::Error& error) {
          EXPECT_EQ(error.kind(), coord::ErrorKind::kInvalidArgument) << "a larger one was faster";
        }
      }
    });
  }
  std::thread waiter([&] {
    for (std::uint64_t seen = 0; seen < kValues / 2;) {
      timeline.wait(seen + 1);
      for (seen = timeline.completed(); std::uint64_t value : {seen, seen / 2}) {
        // promised[] is set after the signal, so a promise that it shows was made before.
        EXPECT_TRUE(!promised[value] || ended[value]) << value << " of " << seen;
      }
    }
  });
  for (std::thread& thread : threads) thread.join();
  waiter.join();
  timeline.wait(timeline.signaled());
  for (std::uint64_t value = 1; value <= timeline.signaled(); ++value) {
    EXPECT_TRUE(!promised[value] || ended[value]) << value;
  }
  for (const Stream& stream : streams) stream.synchronize();
}

TEST_F(TimelinePoints, ASignalWakesNobodyWhoWaitsForMore) {
  coord::TimelineWord word;
  const std::int64_t long_enough = std::chrono::steady_clock::now().time_since_epoch().count() +
                                   std::chrono::nanoseconds(60s).count();
  int returns = 0;
  std::thread patient([&] {
    while (word.completed.load() < 2) {
      word.sleep(2, long_enough);
      ++returns;
    }
  });
  while (word.sleepers.load() == 0) std::this_thread::yield();
  std::this_thread::sleep_for(5ms);
  std::uint64_t now = 0;
  ASSERT_TRUE(word.raise(now, 1));
  std::this_thread::sleep_for(5ms);
  now = 1;
  ASSERT_TRUE(word.raise(now, 2));
  patient.join();
  EXPECT_LE(returns, 1);
}

}  // namespace
