// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What a profiler is notified of, and that it can put it together.

#include <coord/coord.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <stdexcept>
#include <thread>

#include "coord/fake_observer.h"

namespace {

using coord::Device;
using coord::Stream;

TEST(Observer, IsNotifiedOfTheDeviceAndAllStreamsIncludingTheLegacyOne) {
  fake_observer::start();
  {
    const Device device = Device::open("sim");
    const Stream named =
        device.create_stream({.priority = coord::StreamPriority::kHigh, .name = "math"});
    const Stream blocking = device.create_stream({.non_blocking = false});
    device.per_thread_stream().synchronize();
  }
  const auto observed = fake_observer::stop();
  ASSERT_EQ(observed.devices.size(), 1u);
  EXPECT_EQ(observed.devices[0].simulated, 1u);
  EXPECT_EQ(observed.devices[0].sm_count, 132u);
  EXPECT_EQ(observed.devices[0].name, "Simulated H200");

  ASSERT_EQ(observed.streams.size(), 6u);
  const auto& legacy = observed.streams[0];
  EXPECT_EQ(legacy.kind, 0u);
  EXPECT_EQ(legacy.handle, 0u);
  EXPECT_EQ(legacy.context, observed.devices[0].context);
  EXPECT_EQ(observed.streams[1].name, "math");
  EXPECT_EQ(observed.streams[1].kind, 3u);
  EXPECT_EQ(observed.streams[1].priority, -5);
  EXPECT_EQ(observed.streams[2].kind, 2u);
  EXPECT_EQ(observed.streams[3].kind, 1u);
  EXPECT_EQ(observed.streams[3].handle, 2u);
  EXPECT_TRUE(observed.streams[4].destroyed);
  EXPECT_TRUE(observed.streams[5].destroyed);
}

TEST(Observer, SeesAStreamBeginAndEndInsideTheCallsThatMakeAndEndIt) {
  fake_observer::start();
  {
    const Device device = Device::open("sim");
    const Stream stream = device.create_stream();
  }
  const auto observed = fake_observer::stop();
  const auto create = observed.calls_named("simStreamCreate").at(0).facts;
  const auto destroy = observed.calls_named("simStreamDestroy").at(0).facts;
  EXPECT_EQ(create.stream, observed.streams.at(1).handle);
  EXPECT_EQ(create.value & 0xffffffff, 1u);  // non-blocking
  EXPECT_GT(observed.streams.at(1).time_ns, create.begin_ns);
  EXPECT_LT(observed.streams.at(1).time_ns, create.end_ns);
  EXPECT_GT(observed.streams.at(2).time_ns, destroy.begin_ns);
  EXPECT_LT(observed.streams.at(2).time_ns, destroy.end_ns);
}

TEST(Observer, SeesHandlesUsedAgain) {
  fake_observer::start();
  {
    const Device device = Device::open("sim");
    std::uint64_t first = 0;
    {
      const Stream stream = device.create_stream();
      first = stream.handle();
    }
    EXPECT_EQ(device.create_stream().handle(), first);
  }
  const auto observed = fake_observer::stop();
  EXPECT_EQ(observed.streams.at(1).handle, observed.streams.at(3).handle);
  EXPECT_NE(observed.streams.at(1).stream, observed.streams.at(3).stream);
}

TEST(Observer, EveryOpBelongsToTheCallThatSubmittedIt) {
  fake_observer::start();
  {
    const Device device = Device::open("sim");
    const Stream stream = device.create_stream();
    const auto memory = device.allocate<float>(16);
    const auto host = device.allocate_host<std::uint64_t>(1);
    std::vector<float> data(16);
    stream.memset(memory.data(), 0, memory.bytes());
    stream.copy_to_device(memory, data);
    stream.launch({.name = "k", .blocks = 3});
    stream.host_function([] {});
    stream.write_value(host.data(), 1);
    stream.wait_value(host.data(), 1);
    stream.synchronize();
  }
  const auto observed = fake_observer::stop();
  std::map<std::uint32_t, std::string> call_of;
  for (const auto& call : observed.calls) {
    EXPECT_TRUE(call_of.emplace(call.facts.correlation_id, call.name).second)
        << "correlation ids are unique";
    EXPECT_GE(call.facts.begin_ns, 0);
    EXPECT_GE(call.facts.end_ns, call.facts.begin_ns);
    EXPECT_EQ(call.facts.context, observed.devices.at(0).context);
  }
  std::vector<std::pair<std::uint32_t, std::string>> seen;
  for (const auto& op : observed.ops) {
    seen.emplace_back(op.facts.kind, call_of[op.facts.correlation_id]);
    EXPECT_EQ(op.facts.stream, observed.streams.at(1).stream);
  }
  EXPECT_THAT(seen, testing::ElementsAre(std::pair{COORD_SIM_MEMSET, "simMemsetAsync"},
                                         std::pair{COORD_SIM_MEMCPY, "simMemcpyAsync"},
                                         std::pair{COORD_SIM_KERNEL, "simLaunchKernel"},
                                         std::pair{COORD_SIM_HOST_FUNCTION, "simLaunchHostFunc"},
                                         std::pair{COORD_SIM_MEMORY_WRITE, "simStreamWriteValue"},
                                         std::pair{COORD_SIM_MEMORY_WAIT, "simStreamWaitValue"}));
  EXPECT_EQ(observed.op_named("k").facts.grid[0], 3u);
}

TEST(Observer, SeesEventsByHandleFlagsAndName) {
  fake_observer::start();
  std::uint64_t handle = 0;
  {
    const Device device = Device::open("sim");
    const Stream stream = device.create_stream();
    const coord::Event event = device.create_event({.name = "uploaded"});
    const coord::Event timing = device.create_event({.event_class = coord::EventClass::kTiming});
    handle = event.handle();
    stream.launch({.duration = std::chrono::milliseconds(1)});
    stream.record(event);
    stream.wait(event);
    EXPECT_FALSE(event.query());
    event.synchronize();
  }
  const auto observed = fake_observer::stop();
  EXPECT_THAT(observed.event_names,
              testing::ElementsAre(std::pair{handle, std::string("uploaded")}));
  const auto created = observed.calls_named("simEventCreate");
  EXPECT_EQ(created.at(0).facts.value, 2u);  // disable timing
  EXPECT_EQ(created.at(1).facts.value, 0u);
  for (const char* name :
       {"simEventRecord", "simStreamWaitEvent", "simEventQuery", "simEventSynchronize"}) {
    EXPECT_EQ(observed.calls_named(name).at(0).facts.object, handle) << name;
  }
  EXPECT_EQ(observed.calls_named("simEventQuery").at(0).facts.result, 600);
}

TEST(Observer, FailedCallsCarryTheirCode) {
  fake_observer::start();
  {
    const Device device = Device::open("sim");
    const Stream stream = device.create_stream();
    float not_device_memory = 0;
    EXPECT_THROW(stream.memset(&not_device_memory, 0, sizeof(float)), coord::Error);
  }
  EXPECT_EQ(fake_observer::stop().calls_named("simMemsetAsync").at(0).facts.result, 1);
}

TEST(Observer, CallsAfterANestedOperationBelongToTheOuterOne) {
  fake_observer::start();
  {
    const Device device = Device::open("sim");
    const Stream a = device.create_stream(), b = device.create_stream();
    coord::Coordinator coordinator(device);
    coordinator.submit({.stream = a}, [&](coord::StreamRef outer) {
      coordinator.submit({.stream = b},
                         [](coord::StreamRef inner) { inner.launch({.name = "inner"}); });
      outer.launch({.name = "outer"});
    });
    a.launch({.name = "neither"});
    device.synchronize();
  }
  const auto observed = fake_observer::stop();
  const std::uint32_t outer = observed.operations.at(0).operation;
  const auto launches = observed.calls_named("simLaunchKernel");
  EXPECT_EQ(launches.at(0).operation, outer + 1);
  EXPECT_EQ(launches.at(1).operation, outer);
  EXPECT_EQ(launches.at(2).operation, COORD_NONE);
}

TEST(Observer, CallsBelongToNoOperationThatAnotherThreadHasEnded) {
  fake_observer::start();
  {
    const Device device = Device::open("sim");
    const Stream a = device.create_stream(), b = device.create_stream();
    coord::Coordinator coordinator(device);
    const auto first = coordinator.register_operation({.stream = a});
    coordinator.begin(first);
    a.launch({.name = "of the first"});
    std::thread([&] {
      coordinator.submit({.stream = b}, [&](coord::StreamRef stream) {
        coordinator.complete(first);
        stream.launch({.name = "of the second"});
      });
    }).join();
    a.launch({.name = "of none"});
    coordinator.submit({.stream = a}, [](coord::StreamRef) {});
    a.launch({.name = "of none"});
    device.synchronize();
  }
  const auto observed = fake_observer::stop();
  std::vector<std::uint32_t> of;
  for (const auto& launch : observed.calls_named("simLaunchKernel")) of.push_back(launch.operation);
  EXPECT_THAT(of,
              testing::ElementsAre(observed.operations.at(0).operation,
                                   observed.operations.at(1).operation, COORD_NONE, COORD_NONE));
}

TEST(Observer, CallsBelongToNoOperationThatEndsBeforeOneBegunWithinIt) {
  fake_observer::start();
  {
    const Device device = Device::open("sim");
    const Stream a = device.create_stream(), b = device.create_stream();
    coord::Coordinator coordinator(device);
    const auto first = coordinator.register_operation({.stream = a});
    const auto second = coordinator.register_operation({.stream = b});
    coordinator.begin(first);
    coordinator.begin(second);
    coordinator.complete(first);
    b.launch({.name = "of the second"});
    coordinator.complete(second);
    b.launch({.name = "of none"});
    device.synchronize();
  }
  const auto observed = fake_observer::stop();
  const auto launches = observed.calls_named("simLaunchKernel");
  EXPECT_EQ(launches.at(0).operation, observed.operations.at(1).operation);
  EXPECT_EQ(launches.at(1).operation, COORD_NONE);
}

TEST(Observer, IsNotifiedOnceOfSharedPropertiesOfOperations) {
  fake_observer::keep_ends(true);
  fake_observer::start();
  const Device device = Device::open("sim");
  const Stream streams[] = {device.create_stream(), device.create_stream()};
  coord::Coordinator coordinator(device, {.polled = true});
  const auto nothing = [](coord::StreamRef) {};
  const auto submit = [&](int i, coord::OperationOptions options) {
    options.stream = streams[i % 2];
    return coordinator.submit(options, nothing);
  };
  std::vector<coord::OperationHandle> all;
  // The first of each stream makes the kind.
  for (int i = 0; i < 6; ++i) all.push_back(submit(i, {.description = "step"}));
  const auto group = coordinator.open_group({.description = "group"});
  for (const coord::OperationOptions& other : std::vector<coord::OperationOptions>{
           {.type = coord::OperationType::kReduction, .description = "step"},
           {.priority = coord::OperationPriority::kHigh, .description = "step"},
           {.description = "stop"},
           {.description = "steps"},
           {},
           {.description = "a description that is longer than what is kept of it to be compared"},
           {.group = group, .description = "step"},
           {.description = "step"}}) {
    all.push_back(submit(0, other));
  }
  all.push_back(submit(0, {.after = {all[1], all[2]}, .description = "step"}));
  coordinator.close_group(group);
  const fake_observer::Observed observed = fake_observer::stop();
  fake_observer::keep_ends(false);

  std::map<std::uint32_t, fake_observer::Operation> by_number;
  for (const auto& one : observed.operations) by_number[one.operation] = one;
  for (const coord::OperationHandle& operation : all) {
    const coord::OperationInfo info = *coordinator.info(operation);
    const auto& one = by_number.at(static_cast<std::uint32_t>(operation.id().value));
    EXPECT_EQ(one.name, info.description);
    EXPECT_EQ(one.type, static_cast<std::uint32_t>(info.type));
    EXPECT_EQ(one.priority, static_cast<std::uint32_t>(info.priority));
    EXPECT_EQ(one.time_ns, info.created.value);
    EXPECT_EQ(one.dependencies.size(), info.dependencies.size());
    EXPECT_THAT(one.call_site, testing::HasSubstr("observer_test.cpp:"));
    const auto order = static_cast<std::size_t>(&operation - all.data());
    EXPECT_EQ(one.stream, observed.streams.at(1 + (order < 6 ? order % 2 : 0)).handle);
  }
  EXPECT_EQ(observed.of_kinds, 4u + 2u);
}

TEST(Observer, IsQueriedAgainForAKindThatItDeclined) {
  fake_observer::start();
  const Device device = Device::open("sim");
  const Stream stream = device.create_stream();
  coord::Coordinator coordinator(device, {.polled = true});
  for (int i = 0; i < 5; ++i) {
    fake_observer::keep_ends(i >= 2);  // then it wants kinds, too
    coordinator.post({.stream = stream, .description = "step"}, [](coord::StreamRef) {});
  }
  const fake_observer::Observed observed = fake_observer::stop();
  fake_observer::keep_ends(false);
  EXPECT_EQ(observed.operations.size(), 5u);
  EXPECT_EQ(observed.of_kinds, 2u) << "all but the two before, and the one that makes the kind";
}

TEST(Observer, GetsTheEndOfASubmissionUnlessAnotherOneCameInBetween) {
  fake_observer::keep_ends(true);
  fake_observer::start();
  const Device device = Device::open("sim");
  const coord::Stream stream = device.create_stream(), other = device.create_stream();
  coord::Coordinator coordinator(device, {.polled = true});
  const auto work = [](coord::StreamRef on) { on.launch({.name = "work"}); };
  const auto plain = coordinator.submit({.stream = stream}, work);
  const std::uint64_t stored = fake_observer::last_end();
  coord::OperationHandle inner;
  const auto outer = coordinator.submit({.stream = stream}, [&](coord::StreamRef) {
    inner = coordinator.submit({.stream = other}, work);
    EXPECT_EQ(fake_observer::last_end(), 0u) << "the outer operation continues";
  });
  const std::uint64_t stored_of_outer = fake_observer::last_end();
  const auto by_another_thread = coordinator.register_operation({.stream = stream});
  std::thread([&] { coordinator.begin(by_another_thread); }).join();
  coordinator.complete(by_another_thread);
  const fake_observer::Observed observed = fake_observer::stop();
  fake_observer::keep_ends(false);

  const auto ends_reported = [&](const coord::OperationHandle& operation) {
    return std::count_if(observed.states.begin(), observed.states.end(), [&](const auto& state) {
      return state.operation == operation.id().value && state.state == COORD_OPERATION_SUBMITTED;
    });
  };
  EXPECT_EQ(stored, static_cast<std::uint64_t>(coordinator.info(plain)->submitted.value));
  EXPECT_GT(stored, 0u);
  EXPECT_EQ(ends_reported(plain), 0);
  EXPECT_EQ(ends_reported(inner), 1);
  EXPECT_EQ(ends_reported(by_another_thread), 1);
  EXPECT_EQ(stored_of_outer, 0u);
  EXPECT_EQ(ends_reported(outer), 1);
}

TEST(Observer, IsNotifiedOfOperationsWithTheirWorkAndTheirWaits) {
  fake_observer::start();
  {
    const Device device = Device::open("sim");
    const Stream a = device.create_stream(), b = device.create_stream();
    coord::Coordinator coordinator(device);
    const auto nothing = [](coord::StreamRef) {};
    const auto first =
        coordinator.submit({.type = coord::OperationType::kMemoryTransfer,
                            .priority = coord::OperationPriority::kHigh,
                            .stream = a,
                            .description = "first"},
                           [](coord::StreamRef stream) { stream.launch({.name = "of first"}); });
    const auto second =
        coordinator.submit({.stream = a, .after = {first}, .description = "second"}, nothing);
    const auto third = coordinator.submit(
        {.stream = b, .after = {first, second}, .description = "third"}, nothing);
    b.launch({.name = "of nobody"});
    coordinator.wait(third);
    b.synchronize();
  }
  const auto observed = fake_observer::stop();
  ASSERT_EQ(observed.operations.size(), 3u);
  const auto& first = observed.operations[0];
  EXPECT_EQ(first.name, "first");
  EXPECT_EQ(first.type, COORD_OPERATION_MEMORY_TRANSFER);
  EXPECT_EQ(first.priority, COORD_PRIORITY_HIGH);
  EXPECT_EQ(first.stream, observed.streams.at(1).handle);
  EXPECT_THAT(first.call_site, testing::HasSubstr("observer_test.cpp:"));
  const std::uint32_t base = first.operation;
  EXPECT_THAT(observed.operations[2].dependencies, testing::ElementsAre(base, base + 1));

  std::vector<std::tuple<std::uint32_t, std::uint32_t, bool>> dependencies;
  for (const auto& each : observed.dependencies) {
    dependencies.emplace_back(each.operation - base, each.depends_on - base, each.elided);
    EXPECT_FALSE(each.inferred);
  }
  EXPECT_THAT(dependencies, testing::ElementsAre(std::tuple{1u, 0u, true},     // same stream
                                                 std::tuple{2u, 0u, true},     // second implies it
                                                 std::tuple{2u, 1u, false}));  // the one wait

  for (const char* name : {"simLaunchKernel", "simStreamWaitEvent"}) {
    EXPECT_EQ(observed.calls_named(name).at(0).operation,
              name == std::string("simLaunchKernel") ? base : base + 2);
  }
  EXPECT_EQ(observed.calls_named("simLaunchKernel").at(1).operation, COORD_NONE);
  EXPECT_EQ(observed.calls_named("simStreamWaitEvent").size(), 1u);

  std::map<std::uint32_t, std::vector<std::uint32_t>> states;
  for (const auto& state : observed.states) states[state.operation - base].push_back(state.state);
  for (std::uint32_t i = 0; i < 3; ++i) {
    EXPECT_THAT(states[i], testing::ElementsAre(COORD_OPERATION_BEGUN, COORD_OPERATION_SUBMITTED,
                                                COORD_OPERATION_COMPLETED));
  }
}

TEST(Observer, IsNotifiedWhyAWaitWasNotNeeded) {
  fake_observer::start();
  {
    const Device device = Device::open("sim");
    const Stream a = device.create_stream(), b = device.create_stream();
    coord::Coordinator coordinator(device, {.polled = true});
    const auto nothing = [](coord::StreamRef) {};
    const auto work = [](coord::StreamRef s) {
      s.launch({.duration = std::chrono::milliseconds(1)});
    };
    const auto early = coordinator.submit({.stream = a}, nothing);
    coordinator.wait(early);
    const auto first = coordinator.submit({.stream = a}, work);
    const auto second = coordinator.submit({.stream = a}, work);
    coordinator.submit({.stream = b, .after = {early, first, second}}, nothing);
    coordinator.submit({.stream = b, .after = {first}}, nothing);
    coordinator.submit({.stream = a, .after = {first}}, nothing);
    device.synchronize();
  }
  std::vector<std::uint32_t> reasons;
  for (const auto& each : fake_observer::stop().dependencies) reasons.push_back(each.because);
  EXPECT_THAT(reasons,
              testing::ElementsAre(COORD_ELIDED_ENDED, COORD_ELIDED_OTHER_DEPENDENCY, COORD_WAITED,
                                   COORD_ELIDED_EARLIER_WAIT, COORD_ELIDED_SAME_STREAM));
}

TEST(Observer, IsNotifiedOfDeferredOperationsBeforeTheyBegin) {
  fake_observer::start();
  {
    const Device device = Device::open("sim");
    const Stream a = device.create_stream(), b = device.create_stream();
    coord::Coordinator coordinator(device, {.polled = true});
    const auto later = coordinator.register_operation({.stream = a, .description = "later"});
    const auto after = coordinator.submit({.stream = b, .after = {later}, .description = "after"},
                                          [](coord::StreamRef) {});
    coordinator.begin(later);
    coordinator.complete(later);
    coordinator.wait(after);
  }
  const auto observed = fake_observer::stop();
  ASSERT_EQ(observed.operations.size(), 2u) << "each once";
  EXPECT_EQ(observed.operations[0].name, "later");
  EXPECT_EQ(observed.operations[1].name, "after");
  EXPECT_THAT(observed.operations[1].dependencies,
              testing::ElementsAre(observed.operations[0].operation));
  ASSERT_EQ(observed.dependencies.size(), 1u) << "and how it was satisfied once it began";
  EXPECT_EQ(observed.dependencies[0].because, std::uint32_t{COORD_WAITED});
}

TEST(Observer, IsNotifiedOfEveryActionOfATimeline) {
  fake_observer::start();
  std::uint64_t handle = 0;
  {
    const Device device = Device::open("sim");
    const Stream producer = device.create_stream(), consumer = device.create_stream();
    handle = producer.handle();
    coord::TimelineSignal timeline(device, {.initial = 3, .name = "steps"});
    producer.launch({.duration = std::chrono::milliseconds(1)});
    timeline.signal(producer, 4);
    timeline.wait(consumer, 4);
    timeline.wait(4);
    EXPECT_FALSE(timeline.wait_for(9, std::chrono::nanoseconds(0)));
    timeline.signal(5);
    timeline.fail(std::make_exception_ptr(std::runtime_error("broken")));
  }
  const auto observed = fake_observer::stop();
  ASSERT_EQ(observed.timelines.size(), 1u);
  EXPECT_EQ(observed.timelines[0].name, "steps");
  EXPECT_EQ(observed.timelines[0].initial, 3u);
  std::vector<std::tuple<std::uint32_t, std::uint64_t, bool>> acts;
  for (const auto& act : observed.timeline_acts) {
    acts.emplace_back(act.act, act.value, act.context != COORD_NONE);
    EXPECT_EQ(act.timeline, observed.timelines[0].timeline);
    EXPECT_GT(act.time_ns, 0) << "virtual time";
  }
  EXPECT_THAT(
      acts,
      testing::ElementsAre(
          std::tuple{COORD_TIMELINE_SIGNAL, 4u, true}, std::tuple{COORD_TIMELINE_WAIT, 4u, true},
          std::tuple{COORD_TIMELINE_WAIT, 4u, false}, std::tuple{COORD_TIMELINE_REACH, 4u, false},
          std::tuple{COORD_TIMELINE_RELEASE, 4u, false}, std::tuple{COORD_TIMELINE_WAIT, 9u, false},
          std::tuple{COORD_TIMELINE_GIVE_UP, 9u, false},
          std::tuple{COORD_TIMELINE_SIGNAL, 5u, false}, std::tuple{COORD_TIMELINE_REACH, 5u, false},
          std::tuple{COORD_TIMELINE_FAIL, 5u, false}));
  EXPECT_EQ(observed.timeline_acts[0].stream, handle);
}

TEST(Observer, IsNotifiedOfPoolsAndTheirContent) {
  fake_observer::start();
  {
    const Device device = Device::open("sim");
    coord::EventPool pool(device, {.capacity = 4, .name = "four"});
    const auto first = pool.acquire(), second = pool.acquire();
    pool.release(first);
    pool.release(second);
  }
  const auto observed = fake_observer::stop();
  ASSERT_EQ(observed.pools.size(), 1u);
  EXPECT_EQ(observed.pools[0].name, "four");
  EXPECT_EQ(observed.pools[0].capacity, 4u);
  std::vector<std::uint64_t> in_use;
  for (const auto& sample : observed.pool_samples) {
    EXPECT_EQ(sample.pool, observed.pools[0].pool);
    in_use.push_back(sample.in_use);
  }
  EXPECT_THAT(in_use, testing::ElementsAre(1u, 2u, 1u, 0u));
  EXPECT_EQ(observed.pool_samples.back().high_water, 2u);
  EXPECT_EQ(observed.pool_samples.back().available, 2u);
}

TEST(Observer, IsNotifiedOfBarriersWithTheirStreams) {
  fake_observer::start();
  {
    const Device device = Device::open("sim");
    const Stream a = device.create_stream(), b = device.create_stream();
    coord::Coordinator coordinator(device, {.polled = true});
    const std::vector<coord::StreamRef> streams{a, b};
    coord::Barrier barrier(coordinator, streams, "phase");
    for (const auto stream : streams)
      coordinator.submit({.stream = stream}, [](coord::StreamRef s) { s.launch({}); });
    barrier.pass();
    device.synchronize();
  }
  const auto observed = fake_observer::stop();
  ASSERT_EQ(observed.barriers.size(), 1u);
  EXPECT_EQ(observed.barriers[0].name, "phase");
  EXPECT_EQ(observed.barriers[0].operation, observed.operations.back().operation);
  ASSERT_EQ(observed.barriers[0].streams.size(), 2u);
  EXPECT_EQ(observed.barriers[0].streams[1].stream, observed.streams.at(2).handle);
  EXPECT_EQ(observed.barriers[0].streams[1].elided, 0u);
}

TEST(Observer, IsNotifiedOfAccessedMemoryByTraceAddresses) {
  fake_observer::start();
  std::uint32_t operation = 0;
  {
    const Device device = Device::open("sim");
    const Stream stream = device.create_stream();
    const auto pinned = device.allocate_host<float>(64);
    const auto buffer = device.allocate<float>(64);
    stream.copy_to_device(buffer, pinned);
    stream.memset(buffer.data(), 0, buffer.bytes());
    coord::Coordinator coordinator(device, {.polled = true});
    const auto handle = coordinator.submit({.stream = stream, .reads = {buffer}},
                                           [](coord::StreamRef s) { s.launch({}); });
    operation = static_cast<std::uint32_t>(handle.id().value);
    coordinator.wait(handle);
    coord::host_access({pinned.data(), 16}, coord::Access::kWrite);
  }
  const auto observed = fake_observer::stop();
  const auto copy = observed.calls_named("simMemcpyAsync").at(0),
             set = observed.calls_named("simMemsetAsync").at(0);
  const std::uint64_t host = observed.calls_named("simMallocHost").at(0).facts.object;
  const std::uint64_t device = observed.calls_named("simMalloc").at(0).facts.object;
  ASSERT_EQ(observed.accesses.size(), 5u);
  const auto is = [&](std::size_t index, std::uint32_t of, std::uint32_t call,
                      std::uint64_t address, std::uint64_t bytes, bool writes) {
    const coord_access_facts& access = observed.accesses[index];
    EXPECT_EQ(access.operation, of) << index;
    EXPECT_EQ(access.correlation_id, call) << index;
    EXPECT_EQ(access.address, address) << index;
    EXPECT_EQ(access.bytes, bytes) << index;
    EXPECT_EQ(access.writes, writes ? 1u : 0u) << index;
  };
  is(0, COORD_NONE, copy.facts.correlation_id, host, 256, false);
  is(1, COORD_NONE, copy.facts.correlation_id, device, 256, true);
  is(2, COORD_NONE, set.facts.correlation_id, device, 256, true);
  is(3, operation, COORD_NONE, device, 256, false);
  is(4, COORD_NONE, COORD_NONE, host, 16, true);
  EXPECT_GE(observed.accesses[4].time_ns, set.facts.end_ns);
}

TEST(Observer, CanQueryWhoIsMissingAtABarrier) {
  fake_observer::start();
  std::uint64_t operation = 0;
  {
    const Device device = Device::open("sim");
    const Stream a = device.create_stream(), b = device.create_stream();
    coord::Coordinator coordinator(device, {.polled = true});
    fake_observer::ask_for_waits();
    const std::vector<coord::StreamRef> streams{a, b};
    coord::Barrier barrier(coordinator, streams, "phase");
    operation = coordinator
                    .submit({.stream = b, .description = "gather"},
                            [](coord::StreamRef s) { s.launch({}); })
                    .id()
                    .value;
    std::thread early([&] { barrier.arrive_and_wait(a); });
    while (coord::find_deadlocks().orphans.empty()) std::this_thread::yield();
    fake_observer::ask_for_waits();
    barrier.arrive_and_wait(b);
    early.join();
  }
  const auto observed = fake_observer::stop();
  ASSERT_EQ(observed.waits.size(), 2u);
  EXPECT_TRUE(observed.waits[0].parties.empty()) << "nobody waited";
  const fake_observer::Waits& waits = observed.waits[1];
  EXPECT_FALSE(waits.given_up);
  const auto index_of = [&](std::uint32_t kind) {
    const auto found = std::find_if(waits.parties.begin(), waits.parties.end(),
                                    [&](const auto& party) { return party.kind == kind; });
    EXPECT_NE(found, waits.parties.end()) << kind;
    return static_cast<std::uint32_t>(found - waits.parties.begin());
  };
  const std::uint32_t barrier = index_of(COORD_WAITS_BARRIER);
  const std::uint32_t thread = index_of(COORD_WAITS_THREAD);
  const std::uint32_t last = index_of(COORD_WAITS_OPERATION);
  EXPECT_EQ(waits.parties[barrier].flags, std::uint32_t{COORD_WAITS_UNPROMISED});
  EXPECT_THAT(waits.parties[barrier].label, testing::HasSubstr("\"phase\""));
  EXPECT_THAT(waits.parties[barrier].label, testing::HasSubstr("\"gather\""));
  EXPECT_EQ(waits.parties[last].object, operation);
  EXPECT_THAT(waits.parties[last].label, testing::HasSubstr("observer_test.cpp:"));
  EXPECT_NE(waits.parties[thread].object, 0u) << "the system's number of the thread";
  const auto linked = [&](std::uint32_t from, std::uint32_t to) {
    return std::any_of(waits.links.begin(), waits.links.end(), [&](const coord_wait_link& link) {
      return link.from == from && link.to == to;
    });
  };
  EXPECT_TRUE(linked(thread, barrier));
  EXPECT_TRUE(linked(barrier, last));
}

TEST(Observer, IsNotifiedOfTheCycleThatMakesAWaitFail) {
  fake_observer::start();
  {
    const Device device = Device::open("sim");
    const Stream a = device.create_stream(), b = device.create_stream();
    coord::TimelineSignal left(device, {.name = "left"}), right(device, {.name = "right"});
    left.wait(a, 1);
    right.signal(a, 1);
    right.wait(b, 1);
    left.signal(b, 1);
    EXPECT_THROW(left.wait(1), coord::Error);
    left.fail(std::make_exception_ptr(std::runtime_error("given up")));
    b.synchronize();
  }
  const auto observed = fake_observer::stop();
  ASSERT_EQ(observed.waits.size(), 1u);
  EXPECT_TRUE(observed.waits[0].given_up);
  const auto in_cycle = [](const fake_observer::WaitParty& party) {
    return (party.flags & COORD_WAITS_IN_CYCLE) != 0;
  };
  EXPECT_GE(
      std::count_if(observed.waits[0].parties.begin(), observed.waits[0].parties.end(), in_cycle),
      4);
}

TEST(Observer, IsNotifiedWhenEachStreamArrivesAtABarrier) {
  fake_observer::start();
  {
    const Device device = Device::open("sim");
    const Stream a = device.create_stream(), b = device.create_stream();
    coord::Coordinator coordinator(device, {.polled = true});
    const std::vector<coord::StreamRef> streams{a, b};
    coord::Barrier barrier(coordinator, streams, "phase");
    for (const auto stream : streams)
      coordinator.submit({.stream = stream}, [](coord::StreamRef s) { s.launch({}); });
    std::thread early([&] { barrier.arrive_and_wait(b); });
    while (coord::find_deadlocks().orphans.empty()) std::this_thread::yield();
    coord::sim::host_work(device, std::chrono::milliseconds(5));
    barrier.arrive_and_wait(a);
    early.join();
    device.synchronize();
  }
  const auto observed = fake_observer::stop();
  ASSERT_EQ(observed.barriers.size(), 1u);
  ASSERT_EQ(observed.arrivals.size(), 2u);
  EXPECT_EQ(observed.arrivals[0].operation, observed.barriers[0].operation);
  EXPECT_EQ(observed.arrivals[0].stream, observed.streams.at(1).handle);
  EXPECT_EQ(observed.arrivals[1].stream, observed.streams.at(2).handle);
  EXPECT_GT(observed.arrivals[0].arrival_ns, observed.arrivals[1].arrival_ns);
}

}  // namespace
