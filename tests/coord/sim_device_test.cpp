// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What the simulated device shares with hardware and programs rarely consider: hardware queues, the
// front end, full streams, blocks that spin, pools, peers; and the errors that can be injected.

#include <coord/coord.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "coord/fake_observer.h"
#include "coord/thrown.h"

namespace {

using namespace std::chrono_literals;
using coord::Device;
using coord::Stream;
using coord::sim::h200;
using fake_observer::run;
using testing::HasSubstr;

/// Of 32 streams, `blocked` have a kernel behind a wait that is never satisfied; how many of the
/// others cannot run a kernel then.
int stalled_streams(std::uint32_t connections, int blocked) {
  int stalled = 0;
  run({.max_connections = connections, .deadlock_patience = 0ms}, [&](const Device& device) {
    const auto gate = device.allocate_host<std::uint64_t>(1);
    std::vector<Stream> streams;
    for (int i = 0; i < 32; ++i) streams.push_back(device.create_stream());
    for (int i = 0; i < 32; ++i) {
      if (i < blocked) streams[i].wait_value(gate.data(), 1);
      streams[i].launch({.name = "k", .duration = 1us});
      coord::sim::host_work(device, 50us);
    }
    for (int i = blocked; i < 32; ++i) stalled += streams[i].query() ? 0 : 1;
    gate[0] = 1;
    device.synchronize();
  });
  return stalled;
}

TEST(SimConnections, StallOthersOnceTooManyStreamsAreBlocked) {
  // As observed on an H200: none up to two below the number of queues, half at one below, all from
  // there on.
  EXPECT_EQ(stalled_streams(8, 6), 0);
  EXPECT_NEAR(stalled_streams(8, 7), 25 / 2, 1);
  EXPECT_EQ(stalled_streams(8, 8), 24);
  EXPECT_EQ(stalled_streams(1, 1), 31);
  EXPECT_NEAR(stalled_streams(4, 3), 29 / 2, 1);
  EXPECT_EQ(stalled_streams(32, 12), 0);
}

TEST(SimConnections, PendingWaitsWithNothingBehindThemStallNoStream) {
  run({.max_connections = 1}, [](const Device& device) {
    const auto gate = device.allocate_host<std::uint64_t>(1);
    const Stream blocked = device.create_stream(), free = device.create_stream();
    blocked.wait_value(gate.data(), 1);
    free.launch({.duration = 1us});
    free.synchronize();
    gate[0] = 1;
    device.synchronize();
  });
}

TEST(SimConnections, DeadlockReportNamesTheFalseDependency) {
  run({.max_connections = 1, .deadlock_patience = 0ms}, [](const Device& device) {
    const auto flag = device.allocate_host<std::uint64_t>(1);
    const Stream waits = device.create_stream({.name = "waits"});
    const Stream releases = device.create_stream({.name = "releases"});
    waits.wait_value(flag.data(), 1);
    waits.launch({.name = "behind"});
    releases.launch({.name = "before the write"});
    releases.write_value(flag.data(), 1);
    std::string text;
    EXPECT_EQ(kind_thrown([&] { waits.synchronize(); }, &text), coord::ErrorKind::kDeadlock);
    EXPECT_THAT(text, HasSubstr("\"releases\": kernel before the write, in the same hardware queue "
                                "as blocked work of stream \"waits\""));
    EXPECT_THAT(text, HasSubstr("cycle"));
    flag[0] = 1;
    device.synchronize();
  });
}

TEST(SimFrontEnd, StartsKernelsOneAfterAnother) {
  const auto observed = run({}, [](const Device& device) {
    const auto gate = device.allocate_host<std::uint64_t>(1);
    std::vector<Stream> streams;
    for (int i = 0; i < 4; ++i) {
      streams.push_back(device.create_stream());
      streams.back().wait_value(gate.data(), 1);
      streams.back().launch({.name = std::to_string(i), .duration = 100us});
    }
    coord::sim::host_work(device, 1ms);
    gate[0] = 1;
    device.synchronize();
  });
  EXPECT_EQ(observed.op_named("3").facts.begin_ns - observed.op_named("0").facts.begin_ns,
            3 * h200().kernel_dispatch_ns);
}

TEST(SimFrontEnd, TimedRecordsOfAllStreamsQueueUpThere) {
  const auto makespan = [](coord::EventClass event_class) {
    std::int64_t end_ns = 0;
    run({}, [&](const Device& device) {
      const auto gate = device.allocate_host<std::uint64_t>(1);
      std::vector<Stream> streams;
      std::vector<coord::Event> events;
      for (int i = 0; i < 16; ++i) {
        streams.push_back(device.create_stream());
        events.push_back(device.create_event({.event_class = event_class}));
        streams.back().wait_value(gate.data(), 1);
        streams.back().record(events.back());
      }
      gate[0] = 1;
      const coord::TimeNs begin = device.now();
      device.synchronize();
      end_ns = (device.now() - begin).count();
    });
    return end_ns;
  };
  EXPECT_GE(makespan(coord::EventClass::kTiming),
            makespan(coord::EventClass::kNoTiming) + 12 * h200().record_timing_dispatch_ns);
}

TEST(SimKernels, BlocksOfALargeGridYieldToAMoreUrgentKernel) {
  const auto observed = run({.sm_count = 10}, [](const Device& device) {
    const Stream low = device.create_stream();
    const Stream high = device.create_stream({.priority = coord::StreamPriority::kHigh});
    low.launch({.name = "low", .duration = 100us, .blocks = 40, .blocks_per_sm = 1});
    high.launch({.name = "high", .duration = 10us, .blocks = 10, .blocks_per_sm = 1});
    device.synchronize();
  });
  const auto low = observed.op_named("low").facts, high = observed.op_named("high").facts;
  EXPECT_EQ(high.begin_ns, low.begin_ns + 100'000);  // when the first blocks have ended
  EXPECT_EQ(low.end_ns, low.begin_ns + 410'000);
}

TEST(SimKernels, BlocksShareMultiprocessorsByTheirResources) {
  for (const unsigned per_sm : {2u, 4u}) {
    const auto observed = run({.sm_count = 10}, [&](const Device& device) {
      const Stream stream = device.create_stream();
      stream.launch({.name = "k", .duration = 10us, .blocks = 40, .blocks_per_sm = per_sm});
      stream.synchronize();
    });
    EXPECT_EQ(observed.op_named("k").facts.end_ns - observed.op_named("k").facts.begin_ns,
              per_sm == 2 ? 20'000 : 10'000);
  }
}

TEST(SimKernels, TrafficTakesItsTimeAtTheMemorysBandwidth) {
  const auto observed = run({}, [](const Device& device) {
    const Stream stream = device.create_stream();
    stream.launch({.name = "k", .duration = 3us, .traffic_bytes = 8'000'000});
    stream.synchronize();
  });
  EXPECT_EQ(observed.op_named("k").facts.end_ns - observed.op_named("k").facts.begin_ns,
            3'000 + 8'000'000'000 / h200().device_bytes_per_us);
}

TEST(SimCopies, BothDirectionsShareTheBus) {
  constexpr std::size_t kBytes = 8 << 20;
  const auto observed = run({}, [](const Device& device) {
    const Stream up = device.create_stream({.name = "up"}), down = device.create_stream();
    const auto there = device.allocate<std::byte>(kBytes),
               back = device.allocate<std::byte>(kBytes);
    const auto from = device.allocate_host<std::byte>(kBytes);
    auto to = device.allocate_host<std::byte>(kBytes);
    up.copy_to_device(there, from);
    down.copy_to_host(to, back);
    device.synchronize();
  });
  const std::int64_t alone =
      h200().copy_fixed_ns +
      static_cast<std::int64_t>(kBytes * 1000 / h200().host_to_device_bytes_per_us);
  const auto length = [&](const char* name) {
    return observed.op_named(name).facts.end_ns - observed.op_named(name).facts.begin_ns;
  };
  EXPECT_NEAR(static_cast<double>(length("copy to device")), static_cast<double>(alone), 2)
      << "it was the only one when it began";
  EXPECT_NEAR(static_cast<double>(length("copy to host")),
              static_cast<double>(alone) * 100 / static_cast<double>(h200().both_ways_percent), 2);
}

TEST(SimKernels, SpinUntilTheHostStoresTheValueAndKeepTheirSlots) {
  const auto observed = run({.sm_count = 1}, [](const Device& device) {
    const auto flag = device.allocate_host<std::uint64_t>(1);
    const Stream spins = device.create_stream(), other = device.create_stream();
    spins.launch(
        {.name = "spin", .blocks_per_sm = 1, .spin_address = flag.data(), .spin_value = 3});
    other.launch({.name = "other", .duration = 1us});
    coord::sim::host_work(device, 1ms);
    EXPECT_FALSE(spins.query());
    EXPECT_FALSE(other.query());
    flag[0] = 3;
    device.synchronize();
  });
  EXPECT_GE(observed.op_named("spin").facts.end_ns, 1'000'000);
  EXPECT_GE(observed.op_named("other").facts.begin_ns, observed.op_named("spin").facts.end_ns);
}

TEST(SimKernels, ThatSpinForWorkThatCannotRunConcurrentlyDeadlock) {
  run({.sm_count = 1, .deadlock_patience = 0ms}, [](const Device& device) {
    const auto flag = device.allocate_host<std::uint64_t>(1);
    const Stream spins = device.create_stream({.name = "spins"});
    const Stream releases = device.create_stream({.name = "releases"});
    spins.launch(
        {.name = "spin", .blocks_per_sm = 1, .spin_address = flag.data(), .spin_value = 1});
    releases.launch({.name = "work"});
    releases.write_value(flag.data(), 1);
    std::string text;
    EXPECT_EQ(kind_thrown([&] { device.synchronize(); }, &text), coord::ErrorKind::kDeadlock);
    EXPECT_THAT(text,
                HasSubstr("without a free multiprocessor next to the spinning kernel of stream "
                          "\"spins\""));
    flag[0] = 1;
    device.synchronize();
  });
}

TEST(SimStream, BlocksTheHostWhenItIsFull) {
  const auto observed = run({.stream_queue_depth = 4}, [](const Device& device) {
    const Stream stream = device.create_stream();
    const coord::Event event = device.create_event();
    for (int i = 0; i < 5; ++i) {
      stream.record(event);  // takes no slot
      stream.launch({.name = "k" + std::to_string(i), .duration = 1ms});
    }
    stream.synchronize();
  });
  const auto launches = observed.calls_named("simLaunchKernel");
  EXPECT_LT(launches.at(3).facts.end_ns, observed.op_named("k0").facts.end_ns);
  EXPECT_GE(launches.at(4).facts.begin_ns, observed.op_named("k0").facts.end_ns);
}

TEST(SimStream, ThatStaysFullIsADeadlock) {
  run({.stream_queue_depth = 4, .deadlock_patience = 0ms}, [](const Device& device) {
    const auto flag = device.allocate_host<std::uint64_t>(1);
    const Stream stream = device.create_stream();
    stream.wait_value(flag.data(), 1);
    for (int i = 0; i < 3; ++i) stream.launch({});
    EXPECT_EQ(kind_thrown([&] { stream.launch({}); }), coord::ErrorKind::kDeadlock);
    flag[0] = 1;
    device.synchronize();
  });
}

TEST(SimPool, FaultsOnUseAfterTheRelease) {
  run({}, [](const Device& device) {
    const Stream stream = device.create_stream();
    void* memory = stream.allocate_async(64);
    stream.memset(memory, 1, 64);
    stream.free_async(memory);
    stream.memset(memory, 2, 64);
    std::string text;
    EXPECT_EQ(kind_thrown([&] { stream.synchronize(); }, &text), coord::ErrorKind::kDeviceFailure);
    EXPECT_THAT(text, HasSubstr("memset failed: illegal address: stream-ordered memory"));
    EXPECT_THAT(text, HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS, 700"));
  });
}

TEST(SimPool, FaultsOnUseBeforeTheAllocation) {
  run({}, [](const Device& device) {
    const Stream allocates = device.create_stream(), uses = device.create_stream();
    allocates.launch({.duration = 1ms});
    void* memory = allocates.allocate_async(64);
    uses.memset(memory, 1, 64);
    EXPECT_EQ(kind_thrown([&] { device.synchronize(); }), coord::ErrorKind::kDeviceFailure);
  });
}

TEST(SimPool, ReusesFreedMemoryInItsStream) {
  run({}, [](const Device& device) {
    const Stream stream = device.create_stream(), other = device.create_stream();
    stream.launch({.duration = 1ms});
    void* first = stream.allocate_async(100);
    stream.free_async(first);
    EXPECT_NE(other.allocate_async(100), first);  // the release has not happened yet
    void* second = stream.allocate_async(100);
    EXPECT_EQ(second, first);
    stream.memset(second, 1, 100);
    stream.free_async(second);
    device.synchronize();
    EXPECT_EQ(kind_thrown([&] { stream.free_async(second); }), coord::ErrorKind::kInvalidArgument);
  });
}

TEST(SimPeers, ShareAClockAndWaitForEachOther) {
  fake_observer::start();
  {
    const auto devices = coord::sim::open_devices({}, 2);
    const Stream a = devices[0].create_stream(), b = devices[1].create_stream();
    const auto from = devices[0].allocate<float>(1000), to = devices[1].allocate<float>(1000);
    const coord::Event event = devices[0].create_event();
    a.launch({.name = "produce", .duration = 50us});
    a.copy_peer(devices[1], to.data(), devices[0], from.data(), 4000);
    a.record(event);
    b.wait(event);
    b.launch({.name = "consume", .transform = {to.data(), to.data(), 1000}});
    b.synchronize();
    EXPECT_EQ(devices[0].now().value, devices[1].now().value);
  }
  const auto observed = fake_observer::stop();
  const auto copy = observed.op_named("copy between devices").facts;
  EXPECT_EQ(copy.copy_kind, 10u);
  EXPECT_EQ(copy.end_ns - copy.begin_ns,
            h200().copy_fixed_ns + 4000 * 1000 / h200().peer_bytes_per_us);
  EXPECT_GE(observed.op_named("consume").facts.begin_ns, copy.end_ns);
  EXPECT_NE(observed.op_named("consume").facts.context, observed.op_named("produce").facts.context);
}

TEST(SimPeers, HaveTheirOwnResources) {
  std::int64_t both_ns = 0;
  const auto devices = coord::sim::open_devices({.sm_count = 1}, 2);
  const Stream a = devices[0].create_stream(), b = devices[1].create_stream();
  const coord::TimeNs begin = devices[0].now();
  a.launch({.duration = 1ms, .blocks_per_sm = 1});
  b.launch({.duration = 1ms, .blocks_per_sm = 1});
  devices[0].synchronize();
  devices[1].synchronize();
  both_ns = (devices[0].now() - begin).count();
  EXPECT_LT(both_ns, 1'100'000);
}

TEST(SimPeers, OfAnotherMachineAreUnreachable) {
  const Device one = Device::open("sim"), other = Device::open("sim");
  const auto from = one.allocate<float>(1), to = other.allocate<float>(1);
  const Stream stream = one.create_stream();
  EXPECT_EQ(kind_thrown([&] { stream.copy_peer(other, to.data(), one, from.data(), 4); }),
            coord::ErrorKind::kNotSupported);
}

TEST(SimInjection, FailsTheNthCallOfThatNameOnly) {
  run({.injections = {{.call = "simEventRecord", .nth = 2, .code = 999}}},
      [](const Device& device) {
        const Stream stream = device.create_stream();
        const coord::Event event = device.create_event();
        stream.record(event);
        stream.launch({.duration = 1ms});
        try {
          stream.record(event);
          ADD_FAILURE() << "nothing was thrown";
        } catch (const coord::Error& error) {
          EXPECT_EQ(error.code(), 999);
          EXPECT_EQ(error.call(), "simEventRecord");
        }
        event.synchronize();  // the first record still counts
        EXPECT_FALSE(stream.query());
        stream.record(event);
        stream.synchronize();
      });
}

TEST(SimInjection, OfADeviceFailureIsPermanent) {
  run({}, [](const Device& device) {
    const Stream stream = device.create_stream();
    coord::sim::inject(device, {.call = "*", .nth = 2, .code = 700});
    stream.launch({});
    EXPECT_EQ(kind_thrown([&] { stream.launch({}); }), coord::ErrorKind::kDeviceFailure);
    EXPECT_EQ(kind_thrown([&] { device.synchronize(); }), coord::ErrorKind::kDeviceFailure);
  });
}

TEST(SimInjection, ReachesEveryCall) {
  for (const char* call : {"simStreamCreate",     "simEventCreate",        "simLaunchKernel",
                           "simMemcpyAsync",      "simMemsetAsync",        "simEventRecord",
                           "simStreamWaitEvent",  "simStreamSynchronize",  "simDeviceSynchronize",
                           "simEventQuery",       "simStreamQuery",        "simEventSynchronize",
                           "simMalloc",           "simMallocHost",         "simLaunchHostFunc",
                           "simStreamWaitValue",  "simStreamWriteValue",   "simMallocAsync",
                           "simFreeAsync",        "simStreamBeginCapture", "simStreamEndCapture",
                           "simGraphInstantiate", "simGraphLaunch"}) {
    const Device device = Device::open(coord::sim::Config{});
    coord::sim::inject(device, {.call = call});
    std::string failed;
    try {
      const Stream stream = device.create_stream();
      const coord::Event event = device.create_event();
      const auto memory = device.allocate<float>(4);
      const auto host = device.allocate_host<std::uint64_t>(4);
      stream.launch({});
      stream.copy_to_device(memory.data(), host.data(), 16);
      stream.memset(memory.data(), 0, 16);
      stream.record(event);
      stream.wait(event);
      stream.host_function([] {});
      stream.write_value(host.data(), 1);
      stream.wait_value(host.data(), 1);
      stream.free_async(stream.allocate_async(16));
      (void)event.query();
      (void)stream.query();
      event.synchronize();
      stream.synchronize();
      device.synchronize();
      stream.begin_capture();
      stream.launch({});
      stream.end_capture().instantiate().launch(stream);
    } catch (const coord::Error& error) {
      failed = error.call();
    }
    EXPECT_EQ(failed, call);
  }
}

TEST(SimGraph, NodesFollowEachOtherFasterThanLaunches) {
  const auto observed = run({}, [](const Device& device) {
    const Stream stream = device.create_stream();
    stream.begin_capture();
    for (int i = 0; i < 100; ++i) stream.launch({.duration = 1us});
    const coord::ExecutableGraph graph = stream.end_capture().instantiate();
    const coord::TimeNs begin = device.now();
    graph.launch(stream);
    EXPECT_LT((device.now() - begin).count(), 10'000);
    stream.synchronize();
  });
  const auto op = observed.op_named("graph");
  EXPECT_EQ(op.facts.kind, static_cast<std::uint32_t>(COORD_SIM_GRAPH_LAUNCH));
  EXPECT_NEAR(static_cast<double>(op.facts.end_ns - op.facts.begin_ns),
              100.0 * static_cast<double>(1000 + h200().graph_gap_ns), 1000);
  EXPECT_EQ(observed.calls_named("simLaunchKernel").at(5).facts.flags, 2u);  // captured
}

}  // namespace
