// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Operations: the fewest waits that keep every dependency, callbacks, and failures.

#include <coord/coord.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <thread>

#include "coord/one_stream.h"
#include "support/deadline.h"

namespace {

using namespace std::chrono_literals;
using coord::Coordinator;
using coord::Device;
using coord::OperationHandle;
using coord::Stream;
using streamscope::test::Deadline;

/// A program of operations on streams, and what must hold for it.
struct SubmittedProgram {
  struct Operation {
    std::size_t stream;
    std::vector<std::size_t> after;
  };
  std::size_t stream_count;
  std::vector<Operation> operations;

  static SubmittedProgram random(std::mt19937& generator) {
    const auto pick = [&](std::size_t low, std::size_t high) {
      return std::uniform_int_distribution<std::size_t>(low, high)(generator);
    };
    SubmittedProgram program{pick(1, 6), {}};
    const std::size_t count = pick(1, 24);
    for (std::size_t i = 0; i < count; ++i) {
      Operation operation{pick(0, program.stream_count - 1), {}};
      for (std::size_t d = pick(0, std::min<std::size_t>(i, 4)); d > 0; --d)
        operation.after.push_back(pick(0, i - 1));
      program.operations.push_back(std::move(operation));
    }
    return program;
  }

  /// By brute force: the dependencies without which the order would be lost.
  [[nodiscard]] std::size_t waits_needed() const {
    const std::size_t count = operations.size();
    // edges: dependencies, and each operation's predecessor in its stream
    std::vector<std::vector<bool>> edge(count, std::vector<bool>(count, false));
    std::vector<std::vector<bool>> fifo = edge;
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t before : operations[i].after) edge[before][i] = true;
      for (std::size_t before = i; before-- > 0;) {
        if (operations[before].stream != operations[i].stream) continue;
        edge[before][i] = fifo[before][i] = true;
        break;
      }
    }
    std::size_t needed = 0;
    for (std::size_t from = 0; from < count; ++from) {
      for (std::size_t to = 0; to < count; ++to) {
        if (!edge[from][to] || operations[from].stream == operations[to].stream) continue;
        // Reachable without this edge?
        std::vector<bool> reached(count, false);
        reached[from] = true;
        for (std::size_t at = from; at < count; ++at) {
          for (std::size_t next = at + 1; reached[at] && next < count; ++next) {
            if (edge[at][next] && !(at == from && next == to)) reached[next] = true;
          }
        }
        if (!reached[to]) ++needed;
      }
    }
    return needed;
  }
};

TEST(Elision, PlacesTheTransitiveReductionOnRandomPrograms) {
  std::mt19937 generator(20261121);
  for (int trial = 0; trial < 200; ++trial) {
    const SubmittedProgram program = SubmittedProgram::random(generator);
    const Device device = Device::open("sim");
    std::vector<Stream> streams;
    for (std::size_t i = 0; i < program.stream_count; ++i)
      streams.push_back(device.create_stream());
    Coordinator coordinator(device, {.polled = true});
    std::vector<OperationHandle> handles;
    std::vector<bool> ended(program.operations.size(), false);
    bool ordered = true;
    for (std::size_t i = 0; i < program.operations.size(); ++i) {
      const SubmittedProgram::Operation& operation = program.operations[i];
      coord::Dependencies after;
      for (std::size_t before : operation.after) after.push_back(handles[before]);
      handles.push_back(coordinator.submit(
          {.stream = streams[operation.stream], .after = after}, [&, i](coord::StreamRef stream) {
            // An operation that starts before its dependencies have ended shows that order was
            // lost.
            const auto check = [&, i] {
              for (std::size_t before : program.operations[i].after)
                ordered = ordered && ended[before];
            };
            stream.launch(
                {.duration = coord::Nanoseconds(1000 * ((i * 7) % 13)), .function = check});
            stream.launch({.function = [&, i] { ended[i] = true; }});
          }));
    }
    device.synchronize();
    ASSERT_TRUE(ordered) << "trial " << trial;
    ASSERT_EQ(coordinator.metrics().waits_placed, program.waits_needed()) << "trial " << trial;
  }
}

TEST(Elision, AWaitNeverCoversWhatIsSubmittedAfterTheDependency) {
  const Deadline deadline("the follower waits for the gate");
  const Device device = Device::open("sim");
  const Stream a = device.create_stream(), b = device.create_stream();
  const auto gate = device.allocate_host<std::uint64_t>(1);
  Coordinator coordinator(device, {.polled = true});
  const auto first = coordinator.submit({.stream = a}, kNothing);
  coordinator.submit({.stream = a},
                     [&](coord::StreamRef stream) { stream.wait_value(gate.data(), 1); });
  const auto follower = coordinator.submit({.stream = b, .after = {first}}, kNothing);
  coordinator.wait(follower);  // a deadlock if it waited for the gate
  gate[0] = 1;
  device.synchronize();
}

TEST(Elision, NeedsNoWaitForWhatTheHostHasObservedToComplete) {
  const Device device = Device::open("sim");
  const Stream a = device.create_stream(), b = device.create_stream(), c = device.create_stream();
  Coordinator coordinator(device, {.polled = true});
  const auto first = coordinator.submit({.stream = a}, kNothing);
  const auto second = coordinator.submit({.stream = b, .after = {first}}, kNothing);
  coordinator.wait(second);
  EXPECT_TRUE(coordinator.completed(first));  // known without querying the device
  coordinator.submit({.stream = c, .after = {first, second}}, kNothing);
  const auto metrics = coordinator.metrics();
  EXPECT_EQ(metrics.waits_placed, 1u);
  EXPECT_EQ(metrics.waits_elided, 2u);
  EXPECT_EQ(metrics.completed, 2u);
  EXPECT_EQ(metrics.host_waits, 1u);
}

TEST(Elision, CountsADependencyNamedTwiceOnce) {
  const Device device = Device::open("sim");
  const Stream a = device.create_stream(), b = device.create_stream();
  Coordinator coordinator(device, {.polled = true});
  const auto first = coordinator.submit({.stream = a}, kNothing);
  coordinator.submit({.stream = b, .after = {first, first, first, first, first, first}}, kNothing);
  EXPECT_EQ(coordinator.metrics().waits_placed, 1u);
  EXPECT_EQ(coordinator.metrics().waits_elided, 0u);
}

TEST(Completion, IsReportedByTheDeviceAndNotBySubmission) {
  const Device device = Device::open("sim");
  const Stream stream = device.create_stream();
  Coordinator coordinator(device, {.polled = true});
  const auto slow = coordinator.submit({.stream = stream},
                                       [](coord::StreamRef to) { to.launch({.duration = 1ms}); });
  EXPECT_FALSE(coordinator.completed(slow));
  EXPECT_EQ(coordinator.metrics().submitted, 1u);
  EXPECT_EQ(coordinator.metrics().completed, 0u);
  coord::sim::host_work(device, 2ms);
  EXPECT_TRUE(coordinator.completed(slow));
  EXPECT_EQ(coordinator.metrics().completed, 1u);
}

TEST(Completion, CallbacksRunInWaitAndPollOnTheCallersThread) {
  const Device device = Device::open("sim");
  const Stream a = device.create_stream(), b = device.create_stream();
  Coordinator coordinator(device, {.polled = true});
  const auto launch = [](coord::StreamRef stream) { stream.launch({.duration = 1ms}); };
  const auto first = coordinator.submit({.stream = a}, launch);
  const auto second = coordinator.submit({.stream = b}, launch);
  std::vector<coord::OperationId> called;
  std::thread::id thread;
  const auto note = [&](const coord::Outcome& outcome) {
    EXPECT_EQ(outcome.state, coord::OperationState::kCompleted);
    EXPECT_EQ(outcome.error, nullptr);
    called.push_back(outcome.operation.id());
    thread = std::this_thread::get_id();
  };
  coordinator.on_complete(first, note);
  coordinator.on_complete(second, note);
  EXPECT_EQ(coordinator.poll(), 0u);
  coordinator.wait(first);
  EXPECT_THAT(called, testing::ElementsAre(first.id()));
  coord::sim::host_work(device, 2ms);
  EXPECT_EQ(coordinator.poll(), 1u);
  EXPECT_THAT(called, testing::ElementsAre(first.id(), second.id()));
  EXPECT_EQ(thread, std::this_thread::get_id());
  coordinator.on_complete(first, note);  // already over
  EXPECT_EQ(coordinator.poll(), 1u);
}

TEST(Completion, ACallbackMayUseTheCoordinator) {
  const Device device = Device::open("sim");
  const Stream stream = device.create_stream();
  Coordinator coordinator(device, {.polled = true});
  const auto first = coordinator.submit({.stream = stream}, kNothing);
  OperationHandle next;
  coordinator.on_complete(first, [&](coord::Outcome outcome) {
    next = coordinator.submit({.stream = stream, .after = {outcome.operation}}, kNothing);
  });
  coordinator.wait(first);
  coordinator.wait(next);
  EXPECT_EQ(coordinator.metrics().completed, 2u);
}

TEST(Completion, TheDestructorLosesNoCallback) {
  const Deadline deadline("the destructor waits for operations");
  const Device device = Device::open("sim");
  const Stream stream = device.create_stream();
  int called = 0;
  {
    Coordinator coordinator(device, {.polled = true});
    for (int i = 0; i < 3; ++i) {
      const auto operation = coordinator.submit(
          {.stream = stream}, [](coord::StreamRef to) { to.launch({.duration = 1ms}); });
      coordinator.on_complete(operation, [&](const coord::Outcome&) { ++called; });
    }
  }
  EXPECT_EQ(called, 3);
}

TEST(Failure, OfTheFunctionPropagatesAndEndsTheOperation) {
  const Device device = Device::open("sim");
  const Stream stream = device.create_stream();
  Coordinator coordinator(device, {.polled = true});
  EXPECT_THROW(coordinator.submit({.stream = stream},
                                  [](coord::StreamRef) { throw std::logic_error("no"); }),
               std::logic_error);
  const auto after = coordinator.submit({.stream = stream}, kNothing);
  coordinator.wait(after);
  EXPECT_EQ(coordinator.metrics().failed, 1u);
  EXPECT_EQ(coordinator.metrics().completed, 1u);
}

TEST(Failure, OfTheDeviceReachesEveryWaiterAndCallback) {
  const Device device = Device::open("sim");
  const Stream a = device.create_stream(), b = device.create_stream();
  Coordinator coordinator(device, {.polled = true});
  const auto faulty = coordinator.submit({.stream = a}, [](coord::StreamRef stream) {
    stream.launch({.function = [] { throw std::runtime_error("fault"); }});
  });
  const auto follower = coordinator.submit({.stream = b, .after = {faulty}}, kNothing);
  std::vector<coord::OperationState> states;
  for (const auto& operation : {faulty, follower}) {
    coordinator.on_complete(operation, [&](const coord::Outcome& outcome) {
      states.push_back(outcome.state);
      EXPECT_NE(outcome.error, nullptr);
    });
  }
  EXPECT_THROW(coordinator.wait(follower), coord::Error);
  EXPECT_THROW((void)coordinator.completed(faulty), coord::Error);
  coordinator.poll();
  EXPECT_EQ(states.size(), 2u);
  EXPECT_THAT(states, testing::Each(coord::OperationState::kFailed));
  EXPECT_THROW(coordinator.submit({.stream = b, .after = {faulty}}, kNothing), coord::Error);
}

TEST(Failure, ADeadlockIsThrownByWaitAndTheOperationStaysPending) {
  const Device device = Device::open(coord::sim::Config{.deadlock_patience = 0ms});
  const Stream stream = device.create_stream({.name = "held"});
  const auto flag = device.allocate_host<std::uint64_t>(1);
  Coordinator coordinator(device, {.polled = true});
  const auto held = coordinator.submit({.stream = stream},
                                       [&](coord::StreamRef to) { to.wait_value(flag.data(), 1); });
  try {
    coordinator.wait(held);
    ADD_FAILURE() << "nothing was thrown";
  } catch (const coord::Error& error) {
    EXPECT_EQ(error.kind(), coord::ErrorKind::kDeadlock);
  }
  flag[0] = 1;
  coordinator.wait(held);
  EXPECT_TRUE(coordinator.completed(held));
}

TEST(Submission, MayBeNested) {
  const Device device = Device::open("sim");
  const Stream a = device.create_stream(), b = device.create_stream();
  Coordinator coordinator(device, {.polled = true});
  OperationHandle inner;
  const auto outer = coordinator.submit({.stream = a}, [&](coord::StreamRef) {
    inner = coordinator.submit({.stream = b}, kNothing);
  });
  const auto last = coordinator.submit({.stream = a, .after = {inner, outer}}, kNothing);
  coordinator.wait(last);
  EXPECT_TRUE(coordinator.completed(inner));
  EXPECT_EQ(coordinator.metrics().waits_placed, 1u);
}

TEST(Submission, ManyThreadsOnTheirOwnStreams) {
  const Deadline deadline("a thread waits for an operation");
  const Device device = Device::open("sim");
  Coordinator coordinator(device, {.polled = true});
  std::atomic<int> callbacks{0};
  const auto shared = [&] {
    const Stream stream = device.create_stream();
    return coordinator.submit({.stream = stream}, kNothing);
  }();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      const Stream mine = device.create_stream(), other = device.create_stream();
      for (int i = 0; i < 200; ++i) {
        const auto first = coordinator.submit({.stream = mine, .after = {shared}}, kNothing);
        const auto second = coordinator.submit({.stream = other, .after = {first}}, kNothing);
        coordinator.on_complete(second, [&](const coord::Outcome&) { ++callbacks; });
        if (i % 10 == 0) coordinator.wait(second);
        if (i % 3 == 0) coordinator.poll();
      }
      other.synchronize();
    });
  }
  for (std::thread& thread : threads) thread.join();
  coordinator.poll();
  EXPECT_EQ(callbacks.load(), 800);
}

TEST(Submission, ForgetsWhatNobodyWaitsFor) {
  const Device device = Device::open("sim");
  const Stream stream = device.create_stream();
  Coordinator coordinator(device, {.polled = true});
  for (int i = 0; i < 4000; ++i) coordinator.submit({.stream = stream}, kNothing);
  EXPECT_GT(coordinator.metrics().completed, 2000u);
}

}  // namespace
