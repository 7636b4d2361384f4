// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Pools of events: who owns an event, what a stale handle does, and how many there are.

#include <coord/coord.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <mutex>
#include <set>
#include <thread>

#include "coord/fake_observer.h"
#include "coord/thrown.h"
#include "support/deadline.h"

namespace {

using namespace std::chrono_literals;
using coord::Device;
using coord::EventClass;
using coord::EventPool;
using coord::EventRef;
using streamscope::test::Deadline;

TEST(EventPool, AnEventReturnedTwiceIsAnErrorAndKeepsOneOwner) {
  const Device device = Device::open("sim");
  EventPool pool(device);
  const EventRef first = pool.acquire();
  pool.release(first);
  EXPECT_EQ(kind_thrown([&] { pool.release(first); }), coord::ErrorKind::kInvalidHandle);
  const EventRef a = pool.acquire(), b = pool.acquire();
  EXPECT_NE(a.handle(), b.handle()) << "two owners of one event";
  EXPECT_EQ(kind_thrown([&] { pool.release(first); }), coord::ErrorKind::kInvalidHandle);
  pool.release(a);
  pool.release(b);
  EXPECT_EQ(pool.metrics().in_use(), 0u);
}

TEST(EventPool, AStaleHandleIsDeadEvenIfItsEventIsInUseAgain) {
  const Device device = Device::open("sim");
  const coord::Stream stream = device.create_stream();
  EventPool pool(device);
  const EventRef stale = pool.acquire();
  const std::uint64_t handle = stale.handle();
  pool.release(stale);
  const EventRef fresh = pool.acquire();
  ASSERT_EQ(fresh.handle(), handle);
  EXPECT_NE(fresh.id(), stale.id());
  EXPECT_EQ(kind_thrown([&] { stream.record(stale); }), coord::ErrorKind::kInvalidHandle);
  EXPECT_EQ(kind_thrown([&] { (void)stale.query(); }), coord::ErrorKind::kInvalidHandle);
  stream.record(fresh);
  EXPECT_TRUE((fresh.synchronize(), fresh.query()));
  pool.release(fresh);
}

TEST(EventPool, RefusesForeignAndNullEvents) {
  const Device device = Device::open("sim");
  EventPool pool(device), other(device);
  const EventRef event = other.acquire();
  const coord::Event own = device.create_event();
  EXPECT_EQ(kind_thrown([&] { pool.release(event); }), coord::ErrorKind::kInvalidHandle);
  EXPECT_EQ(kind_thrown([&] { pool.release(own); }), coord::ErrorKind::kInvalidHandle);
  EXPECT_EQ(kind_thrown([&] { pool.release(EventRef()); }), coord::ErrorKind::kInvalidHandle);
  EXPECT_TRUE(event.query()) << "the owner's event is untouched";
  other.release(event);
}

TEST(EventPool, MakesNoCallToTheDriverInSteadyState) {
  fake_observer::start();
  {
    const Device device = Device::open("sim");
    EventPool pool(device);
    for (int i = 0; i < 1000; ++i) pool.release(pool.acquire());
    EXPECT_GT(pool.metrics().hit_rate(), 0.99);
    EXPECT_EQ(pool.metrics().acquired, 1000u);
    EXPECT_EQ(pool.metrics().released, 1000u);
  }
  const auto observed = fake_observer::stop();
  EXPECT_EQ(observed.calls_named("simEventCreate").size(),
            observed.calls_named("simEventDestroy").size());
  EXPECT_LE(observed.calls_named("simEventCreate").size(), 4u);
}

TEST(EventPool, KeepsClassesApart) {
  const Device device = Device::open("sim");
  EventPool pool(device);
  const EventRef plain = pool.acquire(), timing = pool.acquire(EventClass::kTiming),
                 blocking = pool.acquire(EventClass::kBlockingSync);
  EXPECT_EQ(plain.event_class(), EventClass::kNoTiming);
  EXPECT_EQ(timing.event_class(), EventClass::kTiming);
  EXPECT_EQ(blocking.event_class(), EventClass::kBlockingSync);
  const std::size_t timing_free = pool.utilization().timing;
  pool.release(std::array{plain, timing, blocking});
  EXPECT_EQ(pool.utilization().timing, timing_free + 1);
  EXPECT_EQ(pool.utilization().in_use, 0u);
  EXPECT_EQ(pool.acquire(EventClass::kTiming).event_class(), EventClass::kTiming);
  EXPECT_EQ(pool.utilization().in_use, 1u);
}

TEST(EventPool, ABatchIsAcquiredAsAWholeOrNotAtAll) {
  const Device device = Device::open("sim");
  EventPool pool(device, {.capacity = 5, .at_capacity = coord::AtCapacity::kFail});
  std::array<EventRef, 4> batch;
  pool.acquire(EventClass::kNoTiming, batch);
  EXPECT_EQ(pool.utilization().in_use, 4u);
  std::array<EventRef, 2> second;
  EXPECT_EQ(kind_thrown([&] { pool.acquire(EventClass::kNoTiming, second); }),
            coord::ErrorKind::kExhausted);
  EXPECT_EQ(pool.utilization().in_use, 4u) << "what was taken before the failure was given back";
  EXPECT_EQ(second[0], EventRef());
  pool.release(batch);
}

TEST(EventPool, GrowsBlocksOrFailsAtItsCapacity) {
  const Deadline deadline("the pool does not block, or does not let go");
  const Device device = Device::open("sim");
  {
    EventPool pool(device, {.capacity = 1, .at_capacity = coord::AtCapacity::kGrow});
    const EventRef a = pool.acquire(), b = pool.acquire();
    EXPECT_EQ(pool.metrics().over_capacity, 1u);
    pool.release(std::array{a, b});
  }
  {
    EventPool pool(device, {.capacity = 1, .at_capacity = coord::AtCapacity::kFail});
    const EventRef a = pool.acquire();
    EXPECT_EQ(kind_thrown([&] { (void)pool.acquire(); }), coord::ErrorKind::kExhausted);
    EXPECT_EQ(pool.metrics().refused, 1u);
    pool.release(a);
    pool.release(pool.acquire());
  }
  {
    EventPool pool(device, {.capacity = 1, .at_capacity = coord::AtCapacity::kBlock});
    const EventRef held = pool.acquire();
    std::thread other([&] { pool.release(pool.acquire()); });
    while (pool.metrics().blocked == 0) std::this_thread::yield();
    pool.release(held);
    other.join();
    EXPECT_EQ(pool.metrics().created, 1u);
  }
  {
    EventPool pool(device, {.capacity = 1,
                            .at_capacity = coord::AtCapacity::kBlock,
                            .patience = coord::Nanoseconds(1ms)});
    const EventRef held = pool.acquire();
    EXPECT_EQ(kind_thrown([&] { (void)pool.acquire(); }), coord::ErrorKind::kExhausted);
    EXPECT_GT(pool.metrics().blocked_time, 0ns);
    pool.release(held);
  }
}

TEST(EventPool, ALeaseEndsWithItsScopeAndMovesItsOwnership) {
  const Device device = Device::open("sim");
  EventPool pool(device);
  {
    coord::PooledEvent lease = pool.lease();
    coord::PooledEvent moved = std::move(lease);
    coord::PooledEvent other = pool.lease();
    other = std::move(moved);  // gives its own back
    EXPECT_EQ(pool.utilization().in_use, 1u);
    EXPECT_TRUE(other.query());
  }
  EXPECT_EQ(pool.utilization().in_use, 0u);
}

TEST(EventPool, ADiscardedEventIsNotUsedAgain) {
  const Device device = Device::open("sim");
  EventPool pool(device);
  const EventRef captured = pool.acquire();
  pool.discard(captured);
  EXPECT_EQ(kind_thrown([&] { pool.release(captured); }), coord::ErrorKind::kInvalidHandle);
  EXPECT_EQ(pool.metrics().destroyed, 1u);
  EXPECT_EQ(pool.metrics().in_use(), 0u);
}

TEST(EventPool, ShrinksAfterAPeakAndOnRequest) {
  const Device device = Device::open("sim");
  EventPool pool(device);
  std::vector<EventRef> many(2000);
  pool.acquire(EventClass::kNoTiming, many);
  EXPECT_EQ(pool.metrics().high_water, 2000u);
  pool.release(many);
  std::vector<EventRef> few(100);
  for (int round = 0; round < 200; ++round) {
    pool.acquire(EventClass::kNoTiming, few);
    pool.release(few);
  }
  const auto metrics = pool.metrics();
  EXPECT_LT(metrics.created - metrics.destroyed, 400u);
  EXPECT_EQ(metrics.high_water, 2000u);
  pool.trim();
  EXPECT_LE(pool.utilization().available, 64u);
}

TEST(EventPool, RecoversEventsOfAThreadThatEnded) {
  const Device device = Device::open("sim");
  EventPool pool(device);
  for (int i = 0; i < 20; ++i) {
    std::thread([&] { pool.release(pool.acquire()); }).join();
  }
  EXPECT_LE(pool.metrics().created, 4u);
  EXPECT_EQ(pool.metrics().acquired, 20u);
  EXPECT_EQ(pool.utilization().in_use, 0u);
}

TEST(EventPool, AThreadMayOutliveThePoolsItUsed) {
  const Deadline deadline("a thread waits for the other one");
  const Device device = Device::open("sim");
  std::atomic<int> step{0};
  auto pool = std::make_unique<EventPool>(device);
  std::thread user([&] {
    pool->release(pool->acquire());
    step = 1;
    while (step != 2) std::this_thread::yield();
    EventPool next(device);
    next.release(next.acquire());
  });
  while (step != 1) std::this_thread::yield();
  pool.reset();
  step = 2;
  user.join();
}

TEST(EventPool, IsRefusedInTheChildOfAFork) {
  const Device device = Device::open("sim");
  EventPool pool(device);
  pool.release(pool.acquire());
  const pid_t child = fork();
  if (child == 0) {
    int result = 1;
    try {
      (void)pool.acquire();
    } catch (const coord::Error& error) {
      result = error.kind() == coord::ErrorKind::kNotPermitted ? 0 : 2;
    }
    _exit(result);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  pool.release(pool.acquire());
}

TEST(EventPoolStress, SixteenThreadsNeverShareAnEvent) {
  const Deadline deadline("a thread waits for an event");
  const Device device = Device::open("sim");
  EventPool pool(device);
  std::mutex mutex;
  std::deque<EventRef> passed_on;  // acquired by one thread, released by another
  std::vector<std::thread> threads;
  for (int t = 0; t < 16; ++t) {
    threads.emplace_back([&, t] {
      std::vector<EventRef> mine;
      for (int i = 0; i < 400; ++i) {
        const auto event_class = static_cast<EventClass>((i + t) % 3);
        mine.push_back(pool.acquire(event_class));
        if (i % 3 == 0) {
          const std::lock_guard lock(mutex);
          passed_on.push_back(mine.back());
          mine.pop_back();
          if (passed_on.size() > 8) {
            mine.push_back(passed_on.front());
            passed_on.pop_front();
          }
        }
        if (mine.size() > 6u + static_cast<unsigned>(t)) {
          std::set<std::uint64_t> handles;
          for (EventRef event : mine) EXPECT_TRUE(handles.insert(event.handle()).second);
          pool.release(mine);
          mine.clear();
        }
      }
      pool.release(mine);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (EventRef event : passed_on) pool.release(event);
  const auto metrics = pool.metrics();
  EXPECT_EQ(metrics.acquired, 16u * 400u);
  EXPECT_EQ(metrics.in_use(), 0u);
}

TEST(EventPoolStress, ABoundedPoolServesSixteenThreads) {
  const Deadline deadline("a thread waits for an event");
  const Device device = Device::open("sim");
  EventPool pool(device, {.capacity = 4, .at_capacity = coord::AtCapacity::kBlock});
  std::vector<std::thread> threads;
  for (int t = 0; t < 16; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 100; ++i) pool.release(pool.acquire());
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(pool.metrics().created, 4u);
  EXPECT_LE(pool.metrics().high_water, 4u);
}

}  // namespace
