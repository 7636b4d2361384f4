// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Barriers over streams, and forking and joining.

#include <coord/coord.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "coord/fake_observer.h"

namespace {

using namespace std::chrono_literals;
using coord::Barrier;
using coord::Coordinator;
using coord::Device;
using coord::Stream;
using coord::StreamRef;

struct Streams {
  Streams(const Device& device, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) owned.push_back(device.create_stream());
    refs.assign(owned.begin(), owned.end());
  }
  std::vector<Stream> owned;
  std::vector<StreamRef> refs;
};

TEST(Barrier, OrdersAllBeforeItBeforeAllAfterIt) {
  for (std::size_t count = 1; count <= 6; ++count) {
    const Device device = Device::open("sim");
    const Streams streams(device, count);
    Coordinator coordinator(device, {.polled = true});
    Barrier barrier(coordinator, streams.refs);
    std::size_t ended = 0;
    bool ordered = true;
    for (int phase = 0; phase < 3; ++phase) {
      for (std::size_t i = 0; i < count; ++i) {
        coordinator.submit({.stream = streams.refs[i]}, [&, i, phase](StreamRef stream) {
          stream.launch(
              {.duration = coord::Nanoseconds(1000 * (1 + (i * 7) % 5)), .function = [&, phase] {
                 ordered &= ended >= static_cast<std::size_t>(phase) * count;
               }});
          stream.launch({.function = [&] { ++ended; }});
        });
      }
      const auto before = coordinator.metrics();
      barrier.pass();
      const auto after = coordinator.metrics();
      const std::size_t calls =
          after.records - before.records + after.waits_placed - before.waits_placed;
      EXPECT_LE(calls, 2 * count - 1) << count << " streams";
    }
    device.synchronize();
    EXPECT_TRUE(ordered) << count << " streams";
    EXPECT_EQ(ended, 3 * count);
  }
}

TEST(Barrier, ASecondOneWithoutWorkInBetweenIsFree) {
  const Device device = Device::open("sim");
  const Streams streams(device, 4);
  Coordinator coordinator(device, {.polled = true});
  Barrier barrier(coordinator, streams.refs, "phase");
  for (StreamRef stream : streams.refs)
    coordinator.submit({.stream = stream}, [](StreamRef s) { s.launch({.duration = 1ms}); });
  const auto first = barrier.pass();
  const auto before = coordinator.metrics();
  EXPECT_EQ(barrier.pass(), first);
  EXPECT_EQ(coordinator.metrics().records, before.records);
  EXPECT_EQ(coordinator.metrics().waits_placed, before.waits_placed);
  EXPECT_EQ(barrier.metrics().uses, 2u);
  EXPECT_EQ(barrier.metrics().waits, 6u);
  EXPECT_EQ(barrier.metrics().elided, 6u);
  coordinator.wait(first);
}

TEST(Barrier, IssuesOnlyWhatIsNotImplied) {
  const Device device = Device::open("sim");
  const Streams streams(device, 3);
  Coordinator coordinator(device, {.polled = true});
  Barrier barrier(coordinator, streams.refs);
  const auto nothing = [](StreamRef s) { s.launch({.duration = 1ms}); };
  const auto second = coordinator.submit({.stream = streams.refs[1]}, nothing);
  coordinator.submit({.stream = streams.refs[2]}, nothing);
  coordinator.submit({.stream = streams.refs[0], .after = {second}}, nothing);
  barrier.pass();
  EXPECT_EQ(barrier.metrics().waits, 3u) << "the first stream waits for the second already";
  device.synchronize();
}

TEST(Barrier, CoversPostedOperations) {
  const Device device = Device::open("sim");
  const Streams streams(device, 2);
  Coordinator coordinator(device, {.polled = true});
  Barrier barrier(coordinator, streams.refs);
  bool ended = false, seen = false;
  coordinator.post({.stream = streams.refs[1]}, [&](StreamRef s) {
    s.launch({.duration = 1ms});
    s.launch({.function = [&] { ended = true; }});
  });
  barrier.pass();
  coordinator.post({.stream = streams.refs[0]},
                   [&](StreamRef s) { s.launch({.function = [&] { seen = ended; }}); });
  device.synchronize();
  EXPECT_TRUE(seen);
}

TEST(Barrier, GivesAHandleToWaitForAfterPostedOperations) {
  const Device device = Device::open("sim");
  const Streams streams(device, 2);
  Coordinator coordinator(device, {.polled = true});
  Barrier one(coordinator, std::span(streams.refs).first(1)), both(coordinator, streams.refs);
  for (int i = 0; i < 200; ++i) {  // past every operation that has an event for other reasons
    coordinator.post({.stream = streams.refs[i % 2]},
                     [&](StreamRef s) { s.launch({.duration = 1us}); });
    coordinator.wait(both.pass());
    coordinator.post({.stream = streams.refs[0]},
                     [&](StreamRef s) { s.launch({.duration = 1us}); });
    coordinator.wait(one.pass());
  }
}

TEST(Barrier, RefusesAnEmptyListAndDuplicates) {
  const Device device = Device::open("sim");
  const Streams streams(device, 1);
  Coordinator coordinator(device, {.polled = true});
  EXPECT_THROW(Barrier(coordinator, std::vector<StreamRef>{}), coord::Error);
  const std::vector<StreamRef> twice{streams.refs[0], streams.refs[0]};
  EXPECT_THROW(Barrier(coordinator, twice), coord::Error);
}

TEST(Barrier, ThreadsThatArriveOneByOneAndReuseIt) {
  const Device device = Device::open("sim");
  const Streams streams(device, 8);
  Coordinator coordinator(device, {.polled = true});
  Barrier barrier(coordinator, streams.refs);
  std::atomic<int> ended{0};
  std::atomic<bool> ordered{true};
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int phase = 0; phase < 10; ++phase) {
        coordinator.submit({.stream = streams.refs[t]}, [&, phase](StreamRef stream) {
          stream.launch({.function = [&, phase] {
            if (ended < 8 * phase) ordered = false;
            ++ended;
          }});
        });
        barrier.arrive_and_wait(streams.refs[t]);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  device.synchronize();
  EXPECT_TRUE(ordered);
  EXPECT_EQ(ended, 80);
  EXPECT_EQ(barrier.metrics().uses, 10u);
}

TEST(Barrier, ReportsWhoIsMissing) {
  const Device device = Device::open("sim");
  const Streams streams(device, 2);
  Coordinator coordinator(device, {.polled = true});
  Barrier barrier(coordinator, streams.refs, "phase");
  std::thread early([&] { barrier.arrive_and_wait(streams.refs[0]); });
  std::string text;
  for (int i = 0; i < 10'000 && text.empty(); ++i) {
    text = coord::find_deadlocks().text();
    std::this_thread::sleep_for(1ms);
  }
  EXPECT_THAT(text, testing::HasSubstr("\"phase\""));
  EXPECT_THAT(text, testing::HasSubstr("missing: " + std::to_string(streams.refs[1].id().value)));
  barrier.arrive_and_wait(streams.refs[1]);
  early.join();
}

TEST(ForkJoin, ReplacesHostSyncsByRecordsAndWaits) {
  const Device device = Device::open("sim");
  const Streams streams(device, 5);
  Coordinator coordinator(device, {.polled = true});
  int stage = 0;
  bool ordered = true;
  fake_observer::start();
  streams.refs[0].launch({.duration = 1ms});
  streams.refs[0].launch({.function = [&] { stage = 1; }});
  {
    coord::ForkJoin fork(coordinator, streams.refs[0], std::span(streams.refs).subspan(1));
    for (std::size_t i = 1; i < 5; ++i) {
      streams.refs[i].launch({.duration = 1ms, .function = [&] { ordered &= stage >= 1; }});
      streams.refs[i].launch({.function = [&] { ++stage; }});
    }
    fork.join();
  }
  streams.refs[0].launch({.function = [&] { ordered &= stage == 5; }});
  const auto observed = fake_observer::stop();
  EXPECT_EQ(observed.calls_named("simEventRecord").size(), 5u);
  EXPECT_EQ(observed.calls_named("simStreamWaitEvent").size(), 8u);
  EXPECT_TRUE(observed.calls_named("simStreamSynchronize").empty());
  streams.refs[0].synchronize();
  EXPECT_TRUE(ordered);
  coordinator.wait(coordinator.submit({.stream = streams.refs[0]}, [](StreamRef) {}));
  EXPECT_EQ(coordinator.event_utilization().in_use, 0u);
}

TEST(ForkJoin, AnExceptionInBetweenLeavesNothingUnjoinedAndNoEventInUse) {
  const Device device = Device::open("sim");
  const Streams streams(device, 3);
  Coordinator coordinator(device, {.polled = true});
  bool ended = false, seen = false;
  EXPECT_THROW(
      {
        coord::ForkJoin fork(coordinator, streams.refs[0], std::span(streams.refs).subspan(1));
        streams.refs[1].launch({.duration = 1ms});
        streams.refs[1].launch({.function = [&] { ended = true; }});
        throw std::runtime_error("no");
      },
      std::runtime_error);
  streams.refs[0].launch({.function = [&] { seen = ended; }});
  streams.refs[0].synchronize();
  EXPECT_TRUE(seen);
  coordinator.wait(coordinator.submit({.stream = streams.refs[0]}, [](StreamRef) {}));
  EXPECT_EQ(coordinator.event_utilization().in_use, 0u);
}

TEST(ForkJoin, AFailedForkReturnsItsEvents) {
  const Device device = Device::open("sim");
  const Streams streams(device, 2);
  Coordinator coordinator(device, {.polled = true});
  StreamRef gone;
  {
    const Stream temporary = device.create_stream();
    gone = temporary;
  }
  const std::vector<StreamRef> branches{streams.refs[1], gone};
  EXPECT_THROW(coord::ForkJoin(coordinator, streams.refs[0], branches), coord::Error);
  coordinator.wait(coordinator.submit({.stream = streams.refs[0]}, [](StreamRef) {}));
  EXPECT_EQ(coordinator.event_utilization().in_use, 0u);
  device.synchronize();
}

TEST(ForkJoin, PlacesNoWaitThatIsImplied) {
  const std::vector<Device> devices = coord::sim::open_devices({}, 2);
  const Stream trunk = devices[0].create_stream();
  const Stream left = devices[0].create_stream(), right = devices[1].create_stream();
  Coordinator coordinator(devices[0], {.polled = true});
  const auto work = [](StreamRef stream) { stream.launch({.duration = 1us}); };
  coord::ForkJoin fork(coordinator, trunk, std::vector<StreamRef>{left, right});
  EXPECT_EQ(coordinator.metrics().waits_placed, 2u);
  const auto first = coordinator.submit({.stream = left}, work);
  coordinator.submit({.stream = right, .after = {first}}, work);
  const auto last = coordinator.submit({.stream = right}, work);
  coordinator.submit({.stream = left, .after = {last}}, work);
  EXPECT_EQ(coordinator.metrics().waits_placed, 4u);
  fork.join();
  EXPECT_EQ(coordinator.metrics().waits_placed, 6u)
      << "nothing orders the ends of the two branches before each other";
  coord::ForkJoin again(coordinator, trunk, std::vector<StreamRef>{trunk});
  again.join();
  EXPECT_EQ(coordinator.metrics().waits_placed, 6u) << "the stream itself";
}

TEST(Capture, MakesAGraphWithOnlyTheEdgesThatAreNeeded) {
  const Device device = Device::open("sim");
  const Streams streams(device, 3);
  Coordinator coordinator(device, {.polled = true});
  const auto work = [](StreamRef stream) { stream.launch({.duration = 1us}); };
  // Known before the capture; must not count inside.
  const auto outside = coordinator.submit({.stream = streams.refs[0]}, work);
  coordinator.submit({.stream = streams.refs[1], .after = {outside}}, work);
  coordinator.wait(outside);

  streams.refs[0].begin_capture();
  const auto first = coordinator.submit({.stream = streams.refs[0], .after = {outside}}, work);
  const auto left = coordinator.submit({.stream = streams.refs[1], .after = {first}}, work);
  const auto right = coordinator.submit({.stream = streams.refs[2], .after = {first, left}}, work);
  coordinator.submit({.stream = streams.refs[0], .after = {first, left, right}}, work);
  EXPECT_EQ(coordinator.info(left)->state, coord::OperationState::kCaptured);
  EXPECT_THROW(coordinator.wait(left), coord::Error);
  const coord::Graph graph = streams.refs[0].end_capture();
  EXPECT_EQ(graph.shape().nodes, 4u);
  // first -> left -> right -> last, and last follows first in its stream
  EXPECT_LE(graph.shape().edges, 4u);
  EXPECT_EQ(coordinator.metrics().waits_placed, 1u + 3u);

  const coord::ExecutableGraph executable = graph.instantiate();
  executable.launch(streams.refs[0]);
  // Afterwards the streams are unchanged.
  const auto later = coordinator.submit({.stream = streams.refs[1]}, work);
  coordinator.wait(coordinator.submit({.stream = streams.refs[0], .after = {later}}, work));
  EXPECT_THROW(coordinator.submit({.stream = streams.refs[2], .after = {right}}, work),
               coord::Error);
}

}  // namespace
