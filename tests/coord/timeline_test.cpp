// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Timelines: what counts as reached, waits before and after signals, failures, several processes.

#include <coord/coord.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "coord/thrown.h"
#include "support/deadline.h"

namespace {

using namespace std::chrono_literals;
using coord::Device;
using coord::Stream;
using coord::TimelineSignal;
using streamscope::test::Deadline;

TEST(HostTimeline, GrowsOnly) {
  TimelineSignal timeline(coord::TimelineOptions{.initial = 3});
  EXPECT_EQ(timeline.completed(), 3u);
  timeline.signal(5);
  EXPECT_EQ(timeline.completed(), 5u);
  EXPECT_EQ(kind_thrown([&] { timeline.signal(5); }), coord::ErrorKind::kInvalidArgument);
  EXPECT_EQ(kind_thrown([&] { timeline.signal(4); }), coord::ErrorKind::kInvalidArgument);
  EXPECT_TRUE(timeline.try_wait(4));
  EXPECT_FALSE(timeline.try_wait(6));
  EXPECT_FALSE(timeline.wait_for(6, 0ns)) << "zero is no time, not all time";
  EXPECT_FALSE(timeline.wait_for(6, 1ms));
  timeline.wait(5);
}

TEST(HostTimeline, NoWakeUpIsLostBetweenThePollAndTheSleep) {
  const Deadline deadline("a wake-up was lost");
  // Ping-pong: one lost wake-up in either direction would stop it forever.
  TimelineSignal ping, pong;
  constexpr std::uint64_t kRounds = 3000;
  std::thread other([&] {
    for (std::uint64_t i = 1; i <= kRounds; ++i) {
      ping.wait(i);
      pong.signal(i);
    }
  });
  for (std::uint64_t i = 1; i <= kRounds; ++i) {
    ping.signal(i);
    pong.wait(i);
  }
  other.join();
  EXPECT_EQ(pong.completed(), kRounds);
}

TEST(HostTimeline, ASignalWakesAllWhoseValueItReaches) {
  const Deadline deadline("a signal did not wake every waiter");
  TimelineSignal timeline;
  std::atomic<int> woken{0};
  std::vector<std::thread> threads;
  for (std::uint64_t value = 1; value <= 8; ++value) {
    threads.emplace_back([&, value] {
      timeline.wait(value * 5);
      EXPECT_GE(timeline.completed(), value * 5);
      ++woken;
    });
  }
  std::this_thread::sleep_for(5ms);
  EXPECT_EQ(woken, 0);
  timeline.signal(20);
  for (int i = 0; i < 4; ++i) threads[static_cast<std::size_t>(i)].join();
  EXPECT_EQ(woken, 4);
  timeline.signal(100);
  for (int i = 4; i < 8; ++i) threads[static_cast<std::size_t>(i)].join();
}

TEST(HostTimeline, AFailureWakesAllWaitersAndPersists) {
  const Deadline deadline("the failure did not wake the waiter");
  TimelineSignal timeline;
  std::thread waiter([&] { EXPECT_THROW(timeline.wait(1), std::runtime_error); });
  std::this_thread::sleep_for(2ms);
  timeline.fail(std::make_exception_ptr(std::runtime_error("broken")));
  timeline.fail(std::make_exception_ptr(std::logic_error("later")));
  waiter.join();
  EXPECT_TRUE(timeline.failed());
  EXPECT_THROW((void)timeline.try_wait(1), std::runtime_error);
}

TEST(HostTimeline, NeedsADeviceForStreams) {
  const Device device = Device::open("sim");
  const Stream stream = device.create_stream();
  TimelineSignal timeline;
  EXPECT_EQ(kind_thrown([&] { timeline.signal(stream, 1); }), coord::ErrorKind::kNotSupported);
  EXPECT_EQ(kind_thrown([&] { timeline.wait(stream, 1); }), coord::ErrorKind::kNotSupported);
}

TEST(DeviceTimeline, CountsNothingAsReachedBeforeTheDeviceHasRun) {
  const Device device = Device::open("sim");
  const Stream stream = device.create_stream();
  TimelineSignal timeline(device);
  stream.launch({.duration = 10ms});
  timeline.signal(stream, 7);
  EXPECT_EQ(timeline.signaled(), 7u);
  EXPECT_EQ(timeline.completed(), 0u);
  EXPECT_FALSE(timeline.try_wait(7));
  coord::sim::host_work(device, 20ms);
  EXPECT_TRUE(timeline.try_wait(7));
  EXPECT_EQ(timeline.completed(), 7u);
}

TEST(DeviceTimeline, AValueIsReachedOnlyWithAllSmallerOnes) {
  const Device device = Device::open("sim");
  const Stream slow = device.create_stream(), fast = device.create_stream();
  TimelineSignal timeline(device);
  slow.launch({.duration = 10ms});
  timeline.signal(slow, 1);
  timeline.signal(fast, 2);
  timeline.signal(3);  // the host's as well
  coord::sim::host_work(device, 1ms);
  EXPECT_FALSE(timeline.try_wait(2));
  EXPECT_EQ(timeline.completed(), 0u) << "the host's signal made pending work look done";
  coord::sim::host_work(device, 20ms);
  EXPECT_TRUE(timeline.try_wait(3));
}

TEST(DeviceTimeline, AHostWaitIsForTheExactPointAndNotForALaterOne) {
  const Deadline deadline("the host waits for 2 instead of 1");
  const Device device = Device::open("sim");
  const Stream first = device.create_stream(), second = device.create_stream();
  const auto flag = device.allocate_host<std::uint64_t>(1);
  TimelineSignal timeline(device);
  timeline.signal(first, 1);
  // The producer of 2 depends on what the host does after its wait for 1.
  second.wait_value(flag.data(), 1);
  timeline.signal(second, 2);
  timeline.wait(1);
  std::atomic_ref<std::uint64_t>(flag[0]).store(1);
  timeline.wait(2);
}

TEST(DeviceTimeline, AStreamWaitIsForTheExactPointAndNotForALaterOne) {
  const Deadline deadline("the consumer waits for 2 instead of 1");
  const Device device = Device::open("sim");
  const Stream producer = device.create_stream(), consumer = device.create_stream();
  const auto flag = device.allocate_host<std::uint64_t>(1);
  TimelineSignal timeline(device);
  producer.launch({.duration = 1ms});
  timeline.signal(producer, 1);
  producer.wait_value(flag.data(), 1);
  timeline.signal(producer, 2);
  timeline.wait(consumer, 1);
  consumer.synchronize();  // a deadlock if it waited for 2
  std::atomic_ref<std::uint64_t>(flag[0]).store(1);
  timeline.wait(2);
}

TEST(DeviceTimeline, ManyPointsEachKeepTheirOwnEvent) {
  const Deadline deadline("a wait for 1 became one for a later value");
  const Device device = Device::open("sim");
  const Stream producer = device.create_stream(), consumer = device.create_stream();
  TimelineSignal timeline(device);
  const auto flag = device.allocate_host<std::uint64_t>(1);
  timeline.signal(producer, 1);
  producer.wait_value(flag.data(), 1);
  for (std::uint64_t value = 2; value <= 300; ++value) timeline.signal(producer, value);
  timeline.wait(consumer, 1);
  consumer.synchronize();  // no ring has made 1 a later event
  timeline.wait(1);
  std::atomic_ref<std::uint64_t>(flag[0]).store(1);
  timeline.wait(300);
}

TEST(DeviceTimeline, AStreamMayWaitBeforeTheSignalOfAnotherStream) {
  const Deadline deadline("the signal did not release the stream");
  const Device device = Device::open("sim");
  const Stream producer = device.create_stream(), consumer = device.create_stream();
  TimelineSignal timeline(device);
  bool produced = false, seen = false;
  timeline.wait(consumer, 1);
  consumer.launch({.function = [&] { seen = produced; }});
  producer.launch({.duration = 1ms, .function = [] {}});
  producer.launch({.function = [&] { produced = true; }});
  timeline.signal(producer, 1);
  consumer.synchronize();
  EXPECT_TRUE(seen);
}

TEST(DeviceTimeline, AStreamMayWaitBeforeTheSignalOfTheHost) {
  const Deadline deadline("the signal did not release the stream");
  const Device device = Device::open("sim");
  const Stream consumer = device.create_stream();
  TimelineSignal timeline(device);
  timeline.wait(consumer, 2);
  EXPECT_FALSE(consumer.query());
  timeline.signal(1);
  EXPECT_FALSE(consumer.query());
  timeline.signal(2);
  consumer.synchronize();
}

TEST(DeviceTimeline, TheHostMayWaitBeforeTheSignalOfAStream) {
  const Deadline deadline("the signal did not wake the host");
  const Device device = Device::open("sim");
  TimelineSignal timeline(device);
  std::thread waiter([&] { timeline.wait(1); });
  std::this_thread::sleep_for(2ms);
  const Stream stream = device.create_stream();
  stream.launch({.duration = 10us});
  timeline.signal(stream, 1);
  waiter.join();
  EXPECT_EQ(timeline.completed(), 1u);
}

TEST(DeviceTimeline, AGateWaitsForSmallerValuesOfOtherStreamsToo) {
  const Deadline deadline("the gate did not open");
  const Device device = Device::open("sim");
  const Stream a = device.create_stream(), b = device.create_stream(), c = device.create_stream();
  TimelineSignal timeline(device);
  int order = 0, a_ended = 0, c_ran = 0;
  timeline.wait(c, 2);
  c.launch({.function = [&] { c_ran = ++order; }});
  a.launch({.duration = 100us});
  a.launch({.function = [&] { a_ended = ++order; }});
  timeline.signal(a, 1);
  timeline.signal(b, 2);
  timeline.wait(2);
  c.synchronize();
  EXPECT_LT(a_ended, c_ran);
}

TEST(DeviceTimeline, AFailureOfTheDeviceIsAFailureOfTheTimeline) {
  const Device device = Device::open("sim");
  const Stream stream = device.create_stream();
  TimelineSignal timeline(device);
  stream.launch({.function = [] { throw std::runtime_error("fault"); }});
  timeline.signal(stream, 1);
  EXPECT_EQ(kind_thrown([&] { timeline.wait(1); }), coord::ErrorKind::kDeviceFailure);
  EXPECT_TRUE(timeline.failed());
  EXPECT_EQ(timeline.completed(), 0u) << "an error is not an end";
}

TEST(DeviceTimeline, AFailureReleasesStreams) {
  const Deadline deadline("the stream was not released");
  const Device device = Device::open("sim");
  const Stream stream = device.create_stream();
  {
    TimelineSignal timeline(device);
    timeline.wait(stream, 1);
    timeline.fail(std::make_exception_ptr(std::runtime_error("broken")));
    stream.synchronize();
  }
  {
    TimelineSignal timeline(device);
    timeline.wait(stream, 1);
  }
  stream.synchronize();  // its end does as well
}

TEST(DeviceTimeline, CircularWaitsAreReportedWithTheirNames) {
  const Deadline deadline("the cycle was not released");
  const Device device = Device::open("sim");
  const Stream a = device.create_stream(), b = device.create_stream();
  TimelineSignal left(device, {.name = "left"}), right(device, {.name = "right"});
  left.wait(a, 1);
  right.signal(a, 1);
  EXPECT_TRUE(coord::find_deadlocks().cycles.empty());
  EXPECT_EQ(coord::find_deadlocks().orphans.size(), 1u) << "nobody has promised left's 1";
  right.wait(b, 1);
  left.signal(b, 1);
  const auto report = coord::find_deadlocks();
  ASSERT_EQ(report.cycles.size(), 1u) << report.text();
  EXPECT_THAT(report.text(), testing::HasSubstr("\"left\""));
  EXPECT_THAT(report.text(), testing::HasSubstr("\"right\""));
  std::string text;
  EXPECT_EQ(kind_thrown([&] { left.wait(1); }, &text), coord::ErrorKind::kDeadlock);
  EXPECT_THAT(text, testing::HasSubstr("\"right\""));
  left.fail(std::make_exception_ptr(std::runtime_error("given up")));
  b.synchronize();
}

TEST(SharedTimeline, ReachesAnotherProcess) {
  const Deadline deadline("a signal did not reach the other process");
  TimelineSignal here(coord::TimelineOptions{.shared = true, .name = "shared"});
  const std::string name = here.share_name();
  const pid_t child = fork();
  if (child == 0) {
    const Deadline of_child("no signal reached the child");
    int result = 1;
    try {
      const auto there = TimelineSignal::import(name);
      there->wait(1);
      there->signal(2);
      result = there->completed() == 2 ? 0 : 2;
    } catch (const coord::Error&) {
      result = 3;
    }
    _exit(result);
  }
  here.signal(1);
  here.wait(2);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(SharedTimeline, ReportsThatItsCreatorIsGone) {
  const Deadline deadline("the end of the maker was not noticed");
  int pipe_ends[2];
  ASSERT_EQ(pipe(pipe_ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    const Deadline of_child("no signal reached the child");
    TimelineSignal made(coord::TimelineOptions{.shared = true});
    const std::string name = made.share_name();
    char answer = 0;
    if (write(pipe_ends[1], name.c_str(), name.size() + 1) < 0) _exit(1);
    while (made.completed() == 0) usleep(1000);  // imported
    (void)answer;
    _exit(0);  // without notice
  }
  char name[128] = {};
  ASSERT_GT(read(pipe_ends[0], name, sizeof name - 1), 0);
  const auto here = TimelineSignal::import(name);
  here->signal(1);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(kind_thrown([&] { here->wait(2); }), coord::ErrorKind::kCancelled);
  close(pipe_ends[0]);
  close(pipe_ends[1]);
  EXPECT_EQ(kind_thrown([] { (void)TimelineSignal::import("/coord-timeline-none"); }),
            coord::ErrorKind::kInvalidHandle);
  unlink((std::string("/dev/shm") + name).c_str());
}

TEST(TimelineStress, SixteenThreadsSignalAndWait) {
  const Deadline deadline("a thread waits for a value that was signaled");
  const Device device = Device::open("sim");
  TimelineSignal host, mixed(device);
  std::atomic<std::uint64_t> next{1};
  std::mutex order;
  std::vector<std::thread> threads;
  for (int t = 0; t < 16; ++t) {
    threads.emplace_back([&, t] {
      const Stream stream = device.create_stream();
      for (std::uint64_t i = 1; i <= 30; ++i) {
        if (t % 2 == 0) {
          std::uint64_t value = 0;
          {
            const std::lock_guard lock(order);
            value = next++;
            t % 4 == 0 ? mixed.signal(stream, value) : mixed.signal(value);
            host.signal(value);
          }
          if (i % 5 == 0) mixed.wait(value);
        } else {
          host.wait(i * 4);
          if (i % 3 == 0) mixed.wait(stream, i * 4);
          if (i % 7 == 0) mixed.wait(i * 2);
        }
      }
      stream.synchronize();
    });
  }
  for (std::thread& thread : threads) thread.join();
  mixed.wait(240);
  EXPECT_EQ(host.completed(), 240u);
  EXPECT_EQ(mixed.completed(), 240u);
}

}  // namespace
