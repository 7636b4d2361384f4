// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Operations that are registered before they are submitted: deferral, priorities, cycles, groups,
// cancelling; memory ranges; what is known about operations; hangs.

#include <coord/coord.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "coord/fake_observer.h"
#include "coord/one_stream.h"

namespace {

using namespace std::chrono_literals;
using coord::Coordinator;
using coord::Device;
using coord::OperationHandle;
using coord::OperationPriority;
using coord::OperationState;
using coord::Stream;
using testing::ElementsAre;
using testing::HasSubstr;

template <typename Function>
coord::Error error_of(Function function) {
  try {
    function();
  } catch (const coord::Error& error) {
    return error;
  }
  ADD_FAILURE() << "nothing was thrown";
  return coord::Error(coord::ErrorKind::kOther, 0, "", "", "");
}

class Operations : public testing::Test {
 protected:
  Device device = Device::open("sim");
  Stream a = device.create_stream({.name = "a"}), b = device.create_stream({.name = "b"}),
         c = device.create_stream({.name = "c"});
};

TEST_F(Operations, OneThatDependsOnWorkNotYetSubmittedIsDeferred) {
  Coordinator coordinator(device, {.polled = true});
  const auto first = coordinator.register_operation({.stream = a, .description = "first"});
  std::vector<int> order;
  const auto second = coordinator.submit({.stream = b, .after = {first}},
                                         [&](coord::StreamRef) { order.push_back(2); });
  const auto third = coordinator.submit({.stream = c, .after = {second}},
                                        [&](coord::StreamRef) { order.push_back(3); });
  EXPECT_TRUE(order.empty());
  EXPECT_EQ(coordinator.metrics().blocked_now, 2u);
  coordinator.begin(first);
  order.push_back(1);
  coordinator.complete(first);
  EXPECT_THAT(order, ElementsAre(1, 2, 3));
  coordinator.wait(third);
  const auto metrics = coordinator.metrics();
  EXPECT_EQ(metrics.blocked_now, 0u);
  EXPECT_EQ(metrics.deferred, 2u);
  EXPECT_EQ(metrics.waits_placed, 2u);
}

TEST_F(Operations, OneThatDependsOnWorkNotYetSubmittedIsRefusedOnRequest) {
  Coordinator coordinator(device, {.unsubmitted = coord::Unsubmitted::kRefuse, .polled = true});
  const auto first = coordinator.register_operation({.stream = a, .description = "first"});
  const auto error =
      error_of([&] { coordinator.submit({.stream = b, .after = {first}}, kNothing); });
  EXPECT_EQ(error.kind(), coord::ErrorKind::kNotPermitted);
  EXPECT_THAT(error.what(), HasSubstr("\"first\""));
  coordinator.begin(first);
  coordinator.complete(first);
  coordinator.wait(coordinator.submit({.stream = b, .after = {first}}, kNothing));
}

TEST_F(Operations, BeginRefusesWhatIsNotReady) {
  Coordinator coordinator(device, {.polled = true});
  const auto first = coordinator.register_operation({.stream = a});
  const auto second = coordinator.register_operation({.stream = b, .after = {first}});
  EXPECT_EQ(error_of([&] { coordinator.begin(second); }).kind(), coord::ErrorKind::kNotPermitted);
  EXPECT_EQ(error_of([&] { coordinator.complete(first); }).kind(), coord::ErrorKind::kNotPermitted);
  coordinator.begin(first);
  EXPECT_EQ(error_of([&] { coordinator.begin(first); }).kind(), coord::ErrorKind::kNotPermitted);
  coordinator.complete(first);
  coordinator.begin(second);
  coordinator.complete(second);
  coordinator.wait(second);
}

TEST_F(Operations, TheEventCoversTheWorkAndNotWhatWasThereBefore) {
  Coordinator coordinator(device, {.polled = true});
  bool ran = false, before = true;
  const auto slow = coordinator.submit({.stream = a}, [&](coord::StreamRef stream) {
    stream.launch({.duration = 1ms, .function = [] {}});
    stream.launch({.function = [&] { ran = true; }});
  });
  const auto dependent = coordinator.submit(
      {.stream = b, .after = {slow}},
      [&](coord::StreamRef s) { s.launch({.function = [&] { before = ran; }}); });
  coordinator.wait(dependent);
  EXPECT_TRUE(before);
}

TEST_F(Operations, DependenciesAreWaitedForOnTheDeviceNotOnTheHost) {
  Coordinator coordinator(device, {.polled = true});
  const auto slow =
      coordinator.submit({.stream = a}, [](coord::StreamRef s) { s.launch({.duration = 1s}); });
  const auto then = coordinator.submit({.stream = b, .after = {slow}}, kNothing);
  EXPECT_LT(device.now().value, 1'000'000) << "the host has waited";
  EXPECT_EQ(coordinator.metrics().host_waits, 0u);
  coordinator.wait(then);
  EXPECT_GE(device.now().value, 1'000'000'000);
}

TEST_F(Operations, ReadyOnesAreSubmittedByPriorityWhateverTheirOrder) {
  Coordinator coordinator(device, {.ageing = 1h, .polled = true});
  const auto gate = coordinator.register_operation({.stream = a});
  std::vector<OperationPriority> order;
  for (const auto priority :
       {OperationPriority::kCleanup, OperationPriority::kNormal, OperationPriority::kCritical,
        OperationPriority::kLow, OperationPriority::kHigh}) {
    coordinator.submit({.priority = priority, .stream = b, .after = {gate}},
                       [&order, priority](coord::StreamRef) { order.push_back(priority); });
  }
  coordinator.begin(gate);
  coordinator.complete(gate);
  EXPECT_THAT(order, ElementsAre(OperationPriority::kCritical, OperationPriority::kHigh,
                                 OperationPriority::kNormal, OperationPriority::kLow,
                                 OperationPriority::kCleanup));
}

TEST_F(Operations, AnUrgentOneRaisesWhatItDependsOn) {
  Coordinator coordinator(device, {.ageing = 1h, .polled = true});
  const auto gate = coordinator.register_operation({.stream = a});
  std::vector<std::string> order;
  const auto note = [&](const char* name) {
    return [&order, name](coord::StreamRef) { order.emplace_back(name); };
  };
  const auto low = coordinator.submit(
      {.priority = OperationPriority::kLow, .stream = b, .after = {gate}}, note("low"));
  coordinator.submit({.priority = OperationPriority::kNormal, .stream = b, .after = {gate}},
                     note("normal"));
  coordinator.submit({.priority = OperationPriority::kCritical, .stream = c, .after = {low}},
                     note("critical"));
  EXPECT_EQ(coordinator.info(low)->effective_priority, OperationPriority::kCritical);
  EXPECT_EQ(coordinator.info(low)->priority, OperationPriority::kLow);
  EXPECT_GE(coordinator.metrics().priority_inversions, 1u);
  coordinator.begin(gate);
  coordinator.complete(gate);
  EXPECT_THAT(order, ElementsAre("low", "critical", "normal"));
}

TEST_F(Operations, PriorityRisesWithWaitingTime) {
  Coordinator coordinator(device, {.ageing = 1us, .polled = true});
  const auto gate = coordinator.register_operation({.stream = a});
  std::vector<int> order;
  coordinator.submit({.priority = OperationPriority::kLow, .stream = b, .after = {gate}},
                     [&](coord::StreamRef) { order.push_back(1); });
  coord::sim::host_work(device, 1ms);
  coordinator.submit({.priority = OperationPriority::kHigh, .stream = b, .after = {gate}},
                     [&](coord::StreamRef) { order.push_back(2); });
  coordinator.begin(gate);
  coordinator.complete(gate);
  EXPECT_THAT(order, ElementsAre(1, 2));
}

TEST_F(Operations, ALongDeferredChainNeedsNoDeepStack) {
  Coordinator coordinator(device, {.polled = true});
  const auto gate = coordinator.register_operation({.stream = a});
  OperationHandle last = gate;
  for (int i = 0; i < 8000; ++i)
    last = coordinator.submit({.stream = a, .after = {last}}, kNothing);
  coordinator.begin(gate);
  coordinator.complete(gate);
  coordinator.wait(last);
  EXPECT_EQ(coordinator.metrics().completed, 8001u);
}

TEST_F(Operations, ACycleIsRefusedAtRegistrationAndNamed) {
  Coordinator coordinator(device, {.polled = true});
  const auto first = coordinator.register_operation({.stream = a, .description = "first"});
  const auto second =
      coordinator.register_operation({.stream = b, .after = {first}, .description = "second"});
  const auto third =
      coordinator.register_operation({.stream = c, .after = {second}, .description = "third"});
  const auto error = error_of([&] { coordinator.add_dependency(first, third); });
  EXPECT_EQ(error.kind(), coord::ErrorKind::kCycle);
  for (const char* name : {"\"first\"", "\"second\"", "\"third\"", "operation_test.cpp:"})
    EXPECT_THAT(error.what(), HasSubstr(name));
  EXPECT_EQ(error_of([&] { coordinator.add_dependency(first, first); }).kind(),
            coord::ErrorKind::kCycle);
  // A refusal leaves nothing behind: what was not a cycle is still none.
  coordinator.add_dependency(third, first);
  for (const auto operation : {first, second, third}) {
    coordinator.begin(operation);
    coordinator.complete(operation);
  }
  coordinator.wait(third);
}

TEST_F(Operations, AThenBFollowedByBThenAIsNotACycle) {
  Coordinator coordinator(device, {.polled = true});
  OperationHandle last;
  for (int i = 0; i < 10; ++i) {
    const auto on_a = coordinator.submit(
        {.stream = a, .after = i > 0 ? coord::Dependencies{last} : coord::Dependencies{}},
        [](coord::StreamRef s) { s.launch({.duration = 1ms}); });
    last = coordinator.submit({.stream = b, .after = {on_a}}, kNothing);
    EXPECT_FALSE(coord::find_deadlocks().found());
  }
  coordinator.wait(last);
}

TEST_F(Operations, CancellingReachesDependentsAndTheirCallbacks) {
  Coordinator coordinator(device, {.polled = true});
  const auto gate = coordinator.register_operation({.stream = a});
  bool ran = false;
  const auto second =
      coordinator.submit({.stream = b, .after = {gate}}, [&](coord::StreamRef) { ran = true; });
  const auto third =
      coordinator.submit({.stream = c, .after = {second}}, [&](coord::StreamRef) { ran = true; });
  std::vector<OperationState> states;
  for (const auto operation : {gate, third})
    coordinator.on_complete(operation,
                            [&](coord::Outcome outcome) { states.push_back(outcome.state); });
  EXPECT_TRUE(coordinator.cancel(gate));
  EXPECT_FALSE(coordinator.cancel(gate));
  EXPECT_THAT(states, ElementsAre(OperationState::kCancelled, OperationState::kCancelled));
  EXPECT_FALSE(ran);
  EXPECT_EQ(error_of([&] { coordinator.wait(third); }).kind(), coord::ErrorKind::kCancelled);
  EXPECT_EQ(error_of([&] { coordinator.submit({.stream = a, .after = {third}}, kNothing); }).kind(),
            coord::ErrorKind::kCancelled);
  EXPECT_EQ(coordinator.metrics().cancelled, 3u);
  EXPECT_EQ(coordinator.metrics().blocked_now, 0u);
  const auto submitted = coordinator.submit({.stream = a}, kNothing);
  EXPECT_FALSE(coordinator.cancel(submitted));
}

TEST_F(Operations, AFailureOfADeferredFunctionReachesDependents) {
  Coordinator coordinator(device, {.polled = true});
  const auto gate = coordinator.register_operation({.stream = a});
  const auto faulty = coordinator.submit({.stream = b, .after = {gate}},
                                         [](coord::StreamRef) { throw std::logic_error("no"); });
  const auto then = coordinator.submit({.stream = c, .after = {faulty}}, kNothing);
  coordinator.begin(gate);
  coordinator.complete(gate);
  EXPECT_THROW(coordinator.wait(then), std::logic_error);
  EXPECT_EQ(coordinator.metrics().failed, 2u);
}

TEST_F(Operations, OneThatCannotBeginInTimeFails) {
  Coordinator coordinator(device, {.polled = true});
  const auto gate = coordinator.register_operation({.stream = a});
  const auto late = coordinator.submit({.stream = b, .after = {gate}, .timeout = 1ms}, kNothing);
  EXPECT_EQ(error_of([&] { coordinator.wait(late); }).kind(), coord::ErrorKind::kTimedOut);
  coordinator.begin(gate);
  coordinator.complete(gate);
  coordinator.wait(gate);
}

TEST_F(Operations, WaitForGivesUpInTime) {
  Coordinator coordinator(device, {.polled = true});
  const auto flag = device.allocate_host<std::uint64_t>(1);
  const auto held = coordinator.submit(
      {.stream = a}, [&](coord::StreamRef stream) { stream.wait_value(flag.data(), 1); });
  EXPECT_FALSE(coordinator.wait_for(held, 2ms));
  std::atomic_ref<std::uint64_t>(flag[0]).store(1);
  EXPECT_TRUE(coordinator.wait_for(held, 10s));
}

TEST_F(Operations, AGroupIsOneOperationFromOutside) {
  Coordinator coordinator(device, {.polled = true});
  const auto before = coordinator.submit(
      {.stream = c}, [](coord::StreamRef s) { s.launch({.name = "before", .duration = 1ms}); });
  const auto group = coordinator.open_group({.after = {before}, .description = "group"});
  std::vector<int> ended;
  std::vector<OperationHandle> members;
  for (int i = 0; i < 6; ++i) {
    members.push_back(
        coordinator.submit({.stream = i % 2 == 0 ? a : b, .group = group}, [&, i](auto stream) {
          stream.launch({.duration = 1ms, .function = [&, i] { ended.push_back(i); }});
        }));
  }
  std::size_t seen = 0;
  bool called = false;
  const auto after = coordinator.submit({.stream = c, .after = {group}}, [&](auto stream) {
    stream.launch({.function = [&] { seen = ended.size(); }});
  });
  coordinator.on_complete(group, [&](coord::Outcome outcome) {
    called = true;
    EXPECT_EQ(outcome.operation, group);
  });
  EXPECT_EQ(coordinator.info(after)->state, OperationState::kRegistered) << "the group is open";
  EXPECT_FALSE(coordinator.completed(group));
  coordinator.close_group(group);
  EXPECT_EQ(coordinator.info(after)->state, OperationState::kSubmitted);
  coordinator.wait(after);
  EXPECT_EQ(seen, 6u);
  coordinator.wait(group);
  EXPECT_TRUE(coordinator.completed(group));
  EXPECT_TRUE(called);
  EXPECT_EQ(coordinator.metrics().waits_placed, 4u) << "two into the group, two out of it";
  EXPECT_EQ(error_of([&] { coordinator.submit({.stream = a, .group = group}, kNothing); }).kind(),
            coord::ErrorKind::kInvalidArgument);
}

TEST_F(Operations, AnEmptyGroupEndsWithItsClosing) {
  Coordinator coordinator(device, {.polled = true});
  const auto group = coordinator.open_group();
  coordinator.close_group(group);
  EXPECT_TRUE(coordinator.completed(group));
  coordinator.wait(coordinator.submit({.stream = a, .after = {group}}, kNothing));
}

TEST_F(Operations, AGroupFailsWithItsMember) {
  Coordinator coordinator(device, {.polled = true});
  const auto group = coordinator.open_group();
  EXPECT_THROW(coordinator.submit({.stream = a, .group = group},
                                  [](coord::StreamRef) { throw std::logic_error("no"); }),
               std::logic_error);
  coordinator.submit({.stream = b, .group = group}, kNothing);
  coordinator.close_group(group);
  EXPECT_THROW(coordinator.wait(group), std::logic_error);
}

TEST_F(Operations, APostedOneRecordsNoEvent) {
  Coordinator coordinator(device, {.polled = true});
  const auto first = coordinator.submit({.stream = a}, kNothing);
  const auto records = coordinator.metrics().records;
  int ran = 0;
  for (int i = 0; i < 100; ++i)
    coordinator.post({.stream = b, .after = {first}}, [&](coord::StreamRef) { ++ran; });
  EXPECT_EQ(ran, 100);
  EXPECT_LE(coordinator.metrics().records - records, 1u);  // one in 256, for housekeeping
  EXPECT_EQ(coordinator.metrics().waits_placed, 1u);
}

TEST_F(Operations, AllConsumersShareOneRecord) {
  Coordinator coordinator(device, {.polled = true});
  const auto first =
      coordinator.submit({.stream = a}, [](coord::StreamRef s) { s.launch({.duration = 1s}); });
  for (int i = 0; i < 10; ++i) {
    const Stream stream = device.create_stream();
    coordinator.post({.stream = stream, .after = {first}}, kNothing);
  }
  EXPECT_LE(coordinator.metrics().records, 2u);
  EXPECT_EQ(coordinator.metrics().waits_placed, 10u);
}

TEST_F(Operations, DependenciesFollowFromMemoryRanges) {
  Coordinator coordinator(device, {.polled = true});
  const auto memory = device.allocate<float>(64);
  const auto half = [&](int i) { return coord::MemoryRange(memory.data() + 32 * i, 128); };
  const auto submit = [&](const Stream& stream, std::vector<coord::MemoryRange> reads,
                          std::vector<coord::MemoryRange> writes) {
    return coordinator.submit({.stream = stream,
                               .reads = std::move(reads),
                               .writes = std::move(writes),
                               .infer_dependencies = true},
                              kNothing);
  };
  const auto write = submit(a, {}, {memory});
  const auto left = submit(b, {half(0)}, {});
  const auto right = submit(c, {half(1)}, {});
  const auto dependencies = [&](OperationHandle operation) {
    return coordinator.info(operation)->dependencies;
  };
  EXPECT_THAT(dependencies(left), ElementsAre(write.id()));
  EXPECT_THAT(dependencies(right), ElementsAre(write.id())) << "two reads do not conflict";
  const auto again = submit(a, {}, {half(0)});
  EXPECT_THAT(dependencies(again), ElementsAre(write.id(), left.id()));
  const auto whole = submit(b, {memory}, {});
  EXPECT_THAT(dependencies(whole), testing::UnorderedElementsAre(again.id(), write.id()));
  EXPECT_EQ(coordinator.metrics().inferred, 6u);
  EXPECT_EQ(coordinator.metrics().races, 0u);
}

TEST_F(Operations, ConflictsWithoutAnOrderAreRaces) {
  Coordinator coordinator(device, {.polled = true});
  const auto memory = device.allocate<float>(64);
  const auto write = coordinator.submit({.stream = a, .writes = {memory}, .description = "write"},
                                        [](coord::StreamRef s) { s.launch({.duration = 1ms}); });
  coordinator.submit({.stream = b, .after = {write}, .reads = {memory}, .description = "ordered"},
                     kNothing);
  EXPECT_EQ(coordinator.metrics().races, 0u);
  coordinator.submit({.stream = c, .reads = {memory}, .description = "racy"}, kNothing);
  ASSERT_EQ(coordinator.races().size(), 1u);
  const coord::Race race = coordinator.races()[0];
  EXPECT_EQ(race.earlier, write.id());
  EXPECT_EQ(race.range.address, memory.data());
  EXPECT_THAT(race.text, HasSubstr("\"racy\""));
}

TEST_F(Operations, TheHostMustWaitBeforeItTouchesWhatTheDeviceWrites) {
  Coordinator coordinator(device, {.polled = true});
  const auto memory = device.allocate_host<float>(64);
  const auto write =
      coordinator.submit({.stream = a, .writes = {memory}, .description = "download"},
                         [](coord::StreamRef s) { s.launch({.duration = 1ms}); });
  EXPECT_FALSE(coord::host_access(memory, coord::Access::kRead));
  EXPECT_EQ(coordinator.races().size(), 1u);
  coordinator.wait(write);
  EXPECT_TRUE(coord::host_access(memory, coord::Access::kWrite));
  const auto read = coordinator.submit({.stream = a, .reads = {memory}}, kNothing);
  a.synchronize();  // without the Coordinator
  EXPECT_TRUE(coordinator.host_access(memory, coord::Access::kWrite));
  EXPECT_EQ(coordinator.races().size(), 1u);
  coordinator.wait(read);
}

TEST_F(Operations, AllTheirPropertiesAreReported) {
  Coordinator coordinator(device, {.polled = true, .history = 4});
  const auto first = coordinator.submit({.stream = a}, kNothing);
  const auto second = coordinator.submit({.type = coord::OperationType::kReduction,
                                          .priority = OperationPriority::kHigh,
                                          .stream = b,
                                          .after = {first},
                                          .description = "second"},
                                         kNothing);
  coordinator.wait(second);
  const auto info = coordinator.info(second);
  ASSERT_TRUE(info.has_value());
  EXPECT_EQ(info->id, second.id());
  EXPECT_EQ(info->type, coord::OperationType::kReduction);
  EXPECT_EQ(info->priority, OperationPriority::kHigh);
  EXPECT_EQ(info->state, OperationState::kCompleted);
  EXPECT_EQ(info->stream, b.id());
  EXPECT_THAT(info->dependencies, ElementsAre(first.id()));
  EXPECT_EQ(info->description, "second");
  EXPECT_THAT(info->where.file_name(), HasSubstr("operation_test.cpp"));
  EXPECT_LE(info->created, info->begun);
  EXPECT_LE(info->begun, info->submitted);
  EXPECT_LE(info->submitted, info->ended);
  for (int i = 0; i < 20; ++i) coordinator.wait(coordinator.submit({.stream = a}, kNothing));
  EXPECT_FALSE(coordinator.info(second).has_value()) << "history is bounded";
  EXPECT_TRUE(coordinator.completed(second));
  EXPECT_GT(coordinator.metrics().coordination_average, 0ns);
}

TEST_F(Operations, CallbacksRunOnTheExecutorAndNotOnAnyThreadOfTheDriver) {
  std::thread::id executor_thread;
  const auto executor = std::make_shared<coord::Executor>();
  std::atomic<int> called{0};
  {
    Coordinator coordinator(device, {.executor = executor});
    for (int i = 0; i < 20; ++i) {
      const auto operation = coordinator.submit(
          {.stream = i % 2 == 0 ? a : b}, [](coord::StreamRef s) { s.launch({.duration = 5us}); });
      coordinator.on_complete(operation, [&](coord::Outcome outcome) {
        executor_thread = std::this_thread::get_id();
        EXPECT_EQ(outcome.state, OperationState::kCompleted);
        ++called;
      });
    }
  }
  EXPECT_EQ(called, 20) << "none is lost at the end";
  EXPECT_NE(executor_thread, std::this_thread::get_id());
}

TEST_F(Operations, ACallbackThatIsNeverPolledForStillComes) {
  Coordinator coordinator(device);
  const auto operation =
      coordinator.submit({.stream = a}, [](coord::StreamRef s) { s.launch({.duration = 20us}); });
  std::mutex mutex;
  std::condition_variable done;
  bool called = false;
  coordinator.on_complete(operation, [&](coord::Outcome) {
    const std::lock_guard lock(mutex);
    called = true;
    done.notify_one();
  });
  std::unique_lock lock(mutex);
  EXPECT_TRUE(
      done.wait_until(lock, std::chrono::system_clock::now() + 20s, [&] { return called; }));
}

TEST_F(Operations, MoreBlockedStreamsThanHardwareQueuesIsReported) {
  const auto flag = device.allocate_host<std::uint64_t>(1);
  Coordinator coordinator(device, {.polled = true});
  const auto gate = coordinator.submit(
      {.stream = a}, [&](coord::StreamRef stream) { stream.wait_value(flag.data(), 1); });
  std::vector<Stream> streams;
  OperationHandle last;
  for (int i = 0; i < 7; ++i) {
    streams.push_back(device.create_stream());
    last = coordinator.submit({.stream = streams.back(), .after = {gate}}, kNothing);
    EXPECT_EQ(coordinator.metrics().over_connections, i < 6 ? 0u : 1u) << i;
  }
  std::atomic_ref<std::uint64_t>(flag[0]).store(1);
  coordinator.wait(last);
}

TEST_F(Operations, BlockedStreamsAreLimitedToTheHardwareQueuesOnRequest) {
  const auto flag = device.allocate_host<std::uint64_t>(1);
  Coordinator coordinator(device, {.connections = coord::Connections::kHold, .polled = true});
  const auto gate = coordinator.submit(
      {.stream = a}, [&](coord::StreamRef stream) { stream.wait_value(flag.data(), 1); });
  std::vector<Stream> streams;
  std::vector<OperationHandle> operations;
  for (int i = 0; i < 9; ++i) {
    streams.push_back(device.create_stream());
    operations.push_back(coordinator.submit({.stream = streams.back(), .after = {gate}}, kNothing));
  }
  EXPECT_EQ(coordinator.metrics().submitted, 7u) << "the gate and six streams behind it";
  std::atomic_ref<std::uint64_t>(flag[0]).store(1);
  for (const auto operation : operations) coordinator.wait(operation);
  EXPECT_EQ(coordinator.metrics().submitted, 10u);
}

TEST_F(Operations, ManyStreamsThatComeAndGoLeaveNothingBehind) {
  Coordinator coordinator(device, {.polled = true});
  for (int i = 0; i < 500; ++i) {
    const Stream stream = device.create_stream();
    coordinator.wait(coordinator.submit({.stream = stream}, kNothing));
  }
  const auto last = coordinator.submit({.stream = a}, kNothing);
  const auto then = coordinator.submit({.stream = b, .after = {last}}, kNothing);
  coordinator.wait(then);
  EXPECT_EQ(coordinator.metrics().waits_placed, 1u);
}

TEST_F(Operations, AHostWaitInsideTheAwaitedOperationIsReportedAsADeadlock) {
  Coordinator coordinator(device, {.polled = true});
  OperationHandle inner;
  const auto outer = coordinator.register_operation({.stream = a, .description = "outer"});
  coordinator.begin(outer);
  inner = coordinator.submit({.stream = b, .after = {outer}, .description = "inner"}, kNothing);
  const auto error = error_of([&] { coordinator.wait(inner); });
  EXPECT_EQ(error.kind(), coord::ErrorKind::kDeadlock);
  EXPECT_THAT(error.what(), HasSubstr("\"inner\""));
  EXPECT_THAT(error.what(), HasSubstr("\"outer\""));
  EXPECT_THAT(error.what(), HasSubstr("host thread"));
  EXPECT_EQ(coordinator.metrics().deadlock_reports, 1u);
  coordinator.complete(outer);
  coordinator.wait(inner);
}

TEST_F(Operations, WaitingForWorkOfAnotherThreadIsNotADeadlock) {
  Coordinator coordinator(device, {.polled = true});
  const auto first = coordinator.register_operation({.stream = a});
  std::thread other([&] {
    std::this_thread::sleep_for(50ms);
    coordinator.begin(first);
    coordinator.complete(first);
  });
  coordinator.wait(first);
  other.join();
  EXPECT_EQ(coordinator.metrics().deadlock_reports, 0u);
}

TEST(OperationsStress, SixteenThreadsUseEverything) {
  const Device device = Device::open("sim");
  Coordinator coordinator(device);
  std::atomic<int> called{0}, ran{0};
  std::vector<std::thread> threads;
  constexpr int kRounds = 40;
  for (int t = 0; t < 16; ++t) {
    threads.emplace_back([&, t] {
      const Stream mine = device.create_stream(), other = device.create_stream();
      const auto work = [&](coord::StreamRef) { ++ran; };
      for (int i = 0; i < kRounds; ++i) {
        const auto first = coordinator.register_operation(
            {.priority = static_cast<OperationPriority>(i % 5), .stream = mine});
        const auto deferred = coordinator.submit({.stream = other, .after = {first}}, work);
        const auto group = coordinator.open_group({.after = {first}});
        coordinator.begin(first);
        coordinator.complete(first);
        coordinator.post({.stream = mine, .group = group}, work);
        coordinator.close_group(group);
        const auto last = coordinator.submit({.stream = mine, .after = {deferred, group}}, work);
        coordinator.on_complete(last, [&](coord::Outcome) { ++called; });
        (void)coordinator.info(last);
        if (i % 8 == t % 8) coordinator.wait(last);
        if (i % 16 == 0) (void)coordinator.metrics();
        if (i % 16 == 0) {
          EXPECT_TRUE(coord::find_deadlocks().cycles.empty());
        }
      }
      mine.synchronize();
      other.synchronize();
    });
  }
  for (std::thread& thread : threads) thread.join();
  const auto until = std::chrono::steady_clock::now() + 30s;
  while (called < 16 * kRounds && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(1ms);
  EXPECT_EQ(called, 16 * kRounds);
  EXPECT_EQ(ran, 3 * 16 * kRounds);
}

}  // namespace
