// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The simulated device: virtual time, resources, determinism, and its deadlock reports.

#include <coord/coord.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <thread>

#include "coord/fake_observer.h"

namespace {

using namespace std::chrono_literals;
using coord::Device;
using coord::Stream;
using coord::sim::h200;
using fake_observer::run;
using testing::HasSubstr;

std::int64_t duration_ns(const fake_observer::Op& op) {
  return op.facts.end_ns - op.facts.begin_ns;
}

bool overlap(const fake_observer::Op& a, const fake_observer::Op& b) {
  return a.facts.begin_ns < b.facts.end_ns && b.facts.begin_ns < a.facts.end_ns;
}

TEST(SimTime, CallsCostTheirThreadAndWorkStartsAfterTheLaunch) {
  const auto observed = run({}, [](const Device& device) {
    const Stream stream = device.create_stream();
    const coord::TimeNs before = device.now();
    stream.launch({.name = "k", .duration = 10us});
    EXPECT_EQ((device.now() - before).count(), h200().launch_ns);
    stream.synchronize();
    EXPECT_EQ((device.now() - before).count(),
              h200().launch_latency_ns + 10'000 + h200().wake_spinning_ns);
  });
  const auto call = observed.calls_named("simLaunchKernel").at(0);
  const auto op = observed.op_named("k");
  EXPECT_EQ(op.facts.correlation_id, call.facts.correlation_id);
  EXPECT_EQ(op.facts.begin_ns, call.facts.begin_ns + h200().launch_latency_ns);
  EXPECT_EQ(duration_ns(op), 10'000);
}

TEST(SimTime, SuccessorStartsOneGapAfterItsPredecessor) {
  const auto observed = run({}, [](const Device& device) {
    const Stream stream = device.create_stream();
    stream.launch({.name = "first", .duration = 20us});
    stream.launch({.name = "second", .duration = 20us});
    stream.synchronize();
  });
  EXPECT_EQ(observed.op_named("second").facts.begin_ns,
            observed.op_named("first").facts.end_ns + h200().successor_gap_ns);
}

TEST(SimTime, UntimedEventsCostTheDeviceNothingTimedOnesDo) {
  for (const bool timing : {false, true}) {
    const auto observed = run({}, [&](const Device& device) {
      const Stream stream = device.create_stream();
      const coord::Event event = device.create_event(
          {.event_class = timing ? coord::EventClass::kTiming : coord::EventClass::kNoTiming});
      stream.launch({.name = "first", .duration = 20us});
      stream.record(event);
      stream.launch({.name = "second", .duration = 20us});
      stream.synchronize();
    });
    const std::int64_t between =
        observed.op_named("second").facts.begin_ns - observed.op_named("first").facts.end_ns;
    EXPECT_EQ(between, h200().successor_gap_ns + (timing ? h200().record_timing_gpu_ns : 0));
  }
}

TEST(SimTime, SynchronizingAnIdleStreamIsCheap) {
  run({}, [](const Device& device) {
    const Stream stream = device.create_stream();
    const coord::TimeNs before = device.now();
    stream.synchronize();
    EXPECT_EQ((device.now() - before).count(), h200().synchronize_idle_ns);
  });
}

TEST(SimTime, BlockingSyncEventsWakeLater) {
  for (const auto event_class : {coord::EventClass::kNoTiming, coord::EventClass::kBlockingSync}) {
    const auto observed = run({}, [&](const Device& device) {
      const Stream stream = device.create_stream();
      const coord::Event event = device.create_event({.event_class = event_class});
      stream.launch({.name = "k", .duration = 50us});
      stream.record(event);
      event.synchronize();
    });
    const std::int64_t woke_ns = observed.calls_named("simEventSynchronize").at(0).facts.end_ns;
    EXPECT_EQ(woke_ns - observed.op_named("k").facts.end_ns,
              event_class == coord::EventClass::kBlockingSync ? h200().wake_blocking_ns
                                                              : h200().wake_spinning_ns);
  }
}

TEST(SimTime, HostWorkDelaysWhatTheHostSubmitsNext) {
  const auto observed = run({}, [](const Device& device) {
    const Stream stream = device.create_stream();
    stream.launch({.name = "first"});
    coord::sim::host_work(device, 1ms);
    stream.launch({.name = "second"});
    stream.synchronize();
  });
  EXPECT_GE(observed.op_named("second").facts.begin_ns - observed.op_named("first").facts.begin_ns,
            1'000'000);
}

TEST(SimTime, EachHostThreadHasItsOwnClock) {
  run({}, [](const Device& device) {
    coord::sim::host_work(device, 1ms);
    std::int64_t other_ns = -1;
    std::thread([&] { other_ns = device.now().value; }).join();
    EXPECT_GE(device.now().value, 1'000'000);
    EXPECT_LT(other_ns, 1'000'000);
  });
}

TEST(SimTime, ThreadsThatUseOneStreamFollowEachOther) {
  const auto observed = run({}, [](const Device& device) {
    const Stream stream = device.create_stream();
    const coord::Event event = device.create_event();
    coord::sim::host_work(device, 1ms);
    stream.record(event);
    std::thread([&] { stream.wait(event); }).join();
  });
  EXPECT_GE(observed.calls_named("simStreamWaitEvent").at(0).facts.begin_ns,
            observed.calls_named("simEventRecord").at(0).facts.end_ns);
}

TEST(SimTime, AHandleIsUsedAgainAfterItsObjectWasDestroyed) {
  const auto observed = run({}, [](const Device& device) {
    std::optional<Stream> stream = device.create_stream();
    std::optional<coord::Event> event = device.create_event();
    coord::sim::host_work(device, 1ms);
    stream.reset();
    event.reset();
    std::thread([&] {  // its clock is behind
      stream = device.create_stream();
      event = device.create_event();
    })
        .join();
  });
  for (const std::string kind : {"simStream", "simEvent"}) {
    const auto created = observed.calls_named(kind + "Create").at(1).facts;
    const auto destroyed = observed.calls_named(kind + "Destroy").at(0).facts;
    EXPECT_EQ(created.object, destroyed.object) << kind;
    EXPECT_EQ(created.stream, destroyed.stream) << kind;
    EXPECT_GE(created.begin_ns, destroyed.end_ns) << kind;
  }
}

TEST(SimKernels, BlocksThatDoNotFitStartLater) {
  for (const unsigned blocks : {66u, 67u}) {
    const auto observed = run({}, [&](const Device& device) {
      const Stream a = device.create_stream(), b = device.create_stream();
      a.launch({.name = "a", .duration = 100us, .blocks = blocks, .blocks_per_sm = 1});
      b.launch({.name = "b", .duration = 100us, .blocks = blocks, .blocks_per_sm = 1});
      device.synchronize();
    });
    EXPECT_TRUE(overlap(observed.op_named("a"), observed.op_named("b")));
    EXPECT_EQ(duration_ns(observed.op_named("b")) == 100'000, blocks == 66) << blocks;
  }
}

TEST(SimKernels, GridLargerThanTheDeviceRunsInWaves) {
  const auto observed = run({}, [](const Device& device) {
    const Stream stream = device.create_stream();
    stream.launch({.name = "one", .duration = 10us, .blocks = 132, .blocks_per_sm = 1});
    stream.launch({.name = "three", .duration = 10us, .blocks = 265, .blocks_per_sm = 1});
    stream.synchronize();
  });
  EXPECT_EQ(duration_ns(observed.op_named("one")), 10'000);
  EXPECT_EQ(duration_ns(observed.op_named("three")), 30'000);
}

TEST(SimKernels, NoMoreRunConcurrentlyThanTheLimit) {
  const auto observed = run({.concurrent_kernels = 2}, [](const Device& device) {
    std::vector<Stream> streams;
    for (int i = 0; i < 5; ++i) {
      streams.push_back(device.create_stream());
      streams.back().launch({.name = "k", .duration = 100us});
    }
    device.synchronize();
  });
  for (const auto& op : observed.ops) {
    const auto beside =
        std::count_if(observed.ops.begin(), observed.ops.end(), [&](const auto& other) {
          return other.facts.begin_ns <= op.facts.begin_ns &&
                 op.facts.begin_ns < other.facts.end_ns;
        });
    EXPECT_LE(beside, 2);
  }
}

TEST(SimKernels, HigherPriorityStartsFirstButInterruptsNothing) {
  const auto observed = run({}, [](const Device& device) {
    const Stream busy = device.create_stream(), low = device.create_stream();
    const Stream high = device.create_stream({.priority = coord::StreamPriority::kHigh});
    busy.launch({.name = "busy", .duration = 100us, .blocks = 132, .blocks_per_sm = 1});
    low.launch({.name = "low", .duration = 10us, .blocks = 132, .blocks_per_sm = 1});
    high.launch({.name = "high", .duration = 10us, .blocks = 132, .blocks_per_sm = 1});
    device.synchronize();
  });
  EXPECT_EQ(duration_ns(observed.op_named("busy")), 100'000);
  EXPECT_GE(observed.op_named("high").facts.begin_ns, observed.op_named("busy").facts.end_ns);
  EXPECT_GE(observed.op_named("low").facts.begin_ns, observed.op_named("high").facts.end_ns);
}

TEST(SimCopies, OneEngineForEachDirection) {
  constexpr std::size_t kBytes = 5'500'000;
  const auto observed = run({}, [](const Device& device) {
    const Stream a = device.create_stream(), b = device.create_stream(), c = device.create_stream();
    const auto host = device.allocate_host<std::uint8_t>(3 * kBytes);
    const auto memory = device.allocate<std::uint8_t>(3 * kBytes);
    a.copy_to_device(memory.data(), host.data(), kBytes);
    b.copy_to_device(memory.data() + kBytes, host.data() + kBytes, kBytes);
    c.copy_to_host(host.data() + 2 * kBytes, memory.data() + 2 * kBytes, kBytes);
    device.synchronize();
  });
  std::vector<fake_observer::Op> up, down;
  for (const auto& op : observed.ops) (op.facts.copy_kind == 1 ? up : down).push_back(op);
  ASSERT_EQ(up.size(), 2u);
  ASSERT_EQ(down.size(), 1u);
  EXPECT_EQ(duration_ns(up[0]), h200().copy_fixed_ns + 100'000);  // 55 bytes in a nanosecond
  EXPECT_FALSE(overlap(up[0], up[1]));
  EXPECT_TRUE(overlap(up[0], down[0]));
  EXPECT_EQ(up[0].facts.bytes, kBytes);
  EXPECT_EQ(up[0].facts.memory_kinds, 2u << 4 | 3u);
}

TEST(SimCopies, PageableMemoryIsSlowerAndBlocksTheHostWhenLarge) {
  const auto observed = run({}, [](const Device& device) {
    const Stream stream = device.create_stream();
    const auto memory = device.allocate<std::uint8_t>(1 << 20);
    const std::vector<std::uint8_t> host(1 << 20);
    stream.copy_to_device(memory.data(), host.data(), 1 << 16);
    EXPECT_FALSE(stream.query());
    stream.copy_to_device(memory, host);
    EXPECT_TRUE(stream.query());
  });
  EXPECT_EQ(observed.ops.at(1).facts.memory_kinds, 1u << 4 | 3u);
  EXPECT_EQ(duration_ns(observed.ops.at(1)), h200().copy_fixed_ns + (1 << 20) / 10);
}

TEST(SimHostFunctions, RunOneAtATimeAcrossStreams) {
  const auto observed = run({}, [](const Device& device) {
    const Stream a = device.create_stream(), b = device.create_stream();
    a.host_function([] {});
    b.host_function([] {});
    device.synchronize();
  });
  ASSERT_EQ(observed.ops.size(), 2u);
  EXPECT_FALSE(overlap(observed.ops[0], observed.ops[1]));
}

TEST(SimMemory, AStoreReleasesAWaitWhenItHappensAndNotBefore) {
  const auto observed = run({}, [](const Device& device) {
    const Stream stream = device.create_stream();
    const auto flag = device.allocate_host<std::uint64_t>(1);
    stream.wait_value(flag.data(), 1);
    coord::sim::host_work(device, 1ms);
    flag[0] = 1;
    stream.synchronize();
  });
  const auto wait = observed.op_named("memory wait");
  EXPECT_GE(wait.facts.end_ns, 1'000'000);
  EXPECT_LT(wait.facts.begin_ns, 100'000);
}

TEST(SimMemory, AStoreComesAfterTheCallBeforeIt) {
  std::int64_t stored_ns = 0;
  const auto observed = run({}, [&](const Device& device) {
    const Stream stream = device.create_stream(), other = device.create_stream();
    const auto flag = device.allocate_host<std::uint64_t>(1);
    stream.wait_value(flag.data(), 1);
    // The wait reads the flag while this launch is being issued.
    coord::sim::host_work(device,
                          coord::Nanoseconds(h200().launch_latency_ns - h200().wait_value_ns - 1));
    other.launch({.name = "k"});
    stored_ns = device.now().value;
    flag[0] = 1;
    stream.synchronize();
  });
  EXPECT_LT(observed.op_named("memory wait").facts.begin_ns, stored_ns);
  EXPECT_GE(observed.op_named("memory wait").facts.end_ns, stored_ns);
}

TEST(SimMemory, IsLimitedAndReusable) {
  run({.memory_bytes = 1000}, [](const Device& device) {
    { const auto first = device.allocate<std::uint8_t>(600); }
    const auto second = device.allocate<std::uint8_t>(600);
    EXPECT_THROW((void)device.allocate<std::uint8_t>(600), coord::Error);
  });
}

TEST(SimMemory, ReleasingWaitsForTheDevice) {
  run({}, [](const Device& device) {
    const Stream stream = device.create_stream();
    {
      const auto memory = device.allocate<float>(1);
      stream.launch({.duration = 1ms, .transform = {memory.data(), memory.data(), 1}});
    }
    EXPECT_TRUE(stream.query());
  });
}

TEST(SimFailure, AThrowingKernelFailsTheDevicePermanently) {
  run({}, [](const Device& device) {
    const Stream stream = device.create_stream(), other = device.create_stream();
    stream.launch({.name = "faulty", .function = [] { throw std::runtime_error("address 0x40"); }});
    stream.launch({.name = "after"});
    for (const Stream* each : {&stream, &other}) {
      try {
        each->synchronize();
        ADD_FAILURE() << "nothing was thrown";
      } catch (const coord::Error& error) {
        EXPECT_EQ(error.kind(), coord::ErrorKind::kDeviceFailure);
        EXPECT_EQ(error.code(), 719);
        EXPECT_THAT(error.what(), HasSubstr("faulty failed: address 0x40"));
      }
    }
    EXPECT_THROW(stream.launch({}), coord::Error);
  });
}

TEST(SimFailure, KernelsMayNotCallTheDevice) {
  run({}, [](const Device& device) {
    const Stream stream = device.create_stream();
    bool refused = false;
    stream.launch({.function = [&] {
      try {
        (void)stream.query();
      } catch (const coord::Error& error) {
        refused = error.kind() == coord::ErrorKind::kNotPermitted;
      }
    }});
    stream.synchronize();
    EXPECT_TRUE(refused);
  });
}

TEST(SimFailure, InvalidConfigIsRefused) {
  EXPECT_THROW((void)Device::open(coord::sim::Config{.sm_count = 0}), coord::Error);
  EXPECT_THROW((void)Device::open(coord::sim::Config{.jitter = -1}), coord::Error);
}

TEST(SimDeadlock, NamesTheStreamsTheirOperationsAndTheCycle) {
  const auto observed = run({.deadlock_patience = 0ms}, [](const Device& device) {
    const Stream left = device.create_stream({.name = "left"}),
                 right = device.create_stream({.name = "right"});
    const Stream behind = device.create_stream({.name = "behind"});
    const auto flags = device.allocate_host<std::uint64_t>(2);
    const coord::Event event = device.create_event();
    left.wait_value(&flags[0], 1);
    left.write_value(&flags[1], 1);
    right.wait_value(&flags[1], 1);
    right.write_value(&flags[0], 1);
    right.record(event);
    behind.wait(event);
    behind.launch({.name = "late"});
    try {
      behind.synchronize();
      ADD_FAILURE() << "nothing was thrown";
    } catch (const coord::Error& error) {
      EXPECT_EQ(error.kind(), coord::ErrorKind::kDeadlock);
      EXPECT_EQ(error.call(), "simStreamSynchronize");
      EXPECT_THAT(error.what(), HasSubstr("of stream \"behind\""));
      EXPECT_THAT(error.what(), HasSubstr("stream \"left\": memory wait for the value 1"));
      EXPECT_THAT(error.what(),
                  HasSubstr("to be written in stream \"right\" behind its memory wait"));
      EXPECT_THAT(error.what(),
                  HasSubstr("stream \"behind\": event wait, behind stream \"right\""));
      EXPECT_THAT(error.what(), HasSubstr("cycle: \"left\" -> \"right\" -> \"left\""));
    }
  });
  EXPECT_THAT(observed.marks, testing::ElementsAre("deadlock"));
  // What never ended is reported as such when the device is closed.
  EXPECT_EQ(observed.op_named("late").facts.begin_ns, -1);
  EXPECT_EQ(observed.op_named("late").facts.end_ns, -1);
  EXPECT_EQ(observed.op_named("memory wait").facts.end_ns, -1);
  EXPECT_GE(observed.op_named("memory wait").facts.begin_ns, 0);
  EXPECT_EQ(observed.calls_named("simStreamSynchronize").at(0).facts.result, 999);
}

TEST(SimDeadlock, ReportsAValueThatNobodyWrites) {
  run({.deadlock_patience = 0ms}, [](const Device& device) {
    const Stream stream = device.create_stream({.name = "lonely"});
    const auto flag = device.allocate_host<std::uint64_t>(1);
    stream.wait_value(flag.data(), 7);
    try {
      device.synchronize();
      ADD_FAILURE() << "nothing was thrown";
    } catch (const coord::Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("for the value 7"));
      EXPECT_THAT(error.what(), HasSubstr("which is 0; no pending operation writes it"));
      EXPECT_THAT(error.what(), testing::Not(HasSubstr("cycle")));
    }
  });
}

TEST(SimDeadlock, IsNotReportedIfAnotherThreadStoresTheValueInTime) {
  run({.deadlock_patience = 10s}, [](const Device& device) {
    const Stream stream = device.create_stream();
    const auto flag = device.allocate_host<std::uint64_t>(1);
    stream.wait_value(flag.data(), 1);
    std::thread helper([&] {
      std::this_thread::sleep_for(20ms);
      std::atomic_ref<std::uint64_t>(flag[0]).store(1);
    });
    stream.synchronize();
    helper.join();
  });
}

TEST(SimDeadlock, IsNotReportedIfAnotherThreadSubmitsTheWriteInTime) {
  run({.deadlock_patience = 10s}, [](const Device& device) {
    const Stream stream = device.create_stream(), writer = device.create_stream();
    const auto flag = device.allocate_host<std::uint64_t>(1);
    stream.wait_value(flag.data(), 1);
    std::thread helper([&] {
      std::this_thread::sleep_for(20ms);
      writer.write_value(flag.data(), 1);
    });
    stream.synchronize();
    helper.join();
  });
}

TEST(SimDeadlock, CanBeResolvedAndTheDeviceContinues) {
  run({.deadlock_patience = 0ms}, [](const Device& device) {
    const Stream stream = device.create_stream();
    const auto flag = device.allocate_host<std::uint64_t>(1);
    stream.wait_value(flag.data(), 1);
    EXPECT_THROW(stream.synchronize(), coord::Error);
    flag[0] = 1;
    stream.synchronize();
    EXPECT_TRUE(stream.query());
  });
}

/// A program with a bit of everything.
void mixed_program(const Device& device) {
  std::vector<Stream> streams;
  for (int i = 0; i < 4; ++i)
    streams.push_back(device.create_stream({.name = "s" + std::to_string(i)}));
  const auto host = device.allocate_host<float>(4096);
  const auto memory = device.allocate<float>(4096);
  const auto flag = device.allocate_host<std::uint64_t>(1);
  std::vector<coord::Event> events;
  for (int i = 0; i < 4; ++i) events.push_back(device.create_event());
  for (std::size_t round = 0; round < 20; ++round) {
    const Stream& stream = streams[round % 4];
    stream.wait(events[(round + 3) % 4]);
    stream.copy_to_device(memory, host);
    stream.launch(
        {.name = "k", .duration = 13us, .blocks = static_cast<unsigned>(20 + 30 * (round % 3))});
    if (round % 5 == 0) stream.host_function([] {});
    if (round % 7 == 0) stream.write_value(flag.data(), round);
    stream.record(events[round % 4]);
  }
  device.synchronize();
}

/// Everything that happened, except the numbers of the device and of the calls, which continue to
/// count within a process.
std::string trace_of(const fake_observer::Observed& observed) {
  std::string text;
  const auto add = [&](auto... values) { ((text += std::to_string(values) + " "), ...); };
  constexpr std::uint64_t kHandles = std::uint64_t{1} << 40;  // of each device of a process
  const std::uint32_t first =
      observed.calls.empty() ? 0 : observed.calls.front().facts.correlation_id;
  for (const auto& call : observed.calls) {
    text += call.name + " ";
    add(call.facts.correlation_id - first, call.facts.result, call.facts.begin_ns,
        call.facts.end_ns, call.facts.stream % kHandles, call.facts.object % kHandles,
        call.facts.value);
  }
  for (const auto& op : observed.ops) {
    text += op.name + " ";
    add(op.facts.kind, op.facts.correlation_id - first, op.facts.stream, op.facts.begin_ns,
        op.facts.end_ns, op.facts.bytes);
  }
  for (const auto& stream : observed.streams) {
    text += stream.name + " ";
    add(stream.stream, stream.handle % kHandles, stream.time_ns);
  }
  return text;
}

TEST(SimDeterminism, EqualProgramsGiveEqualTraces) {
  const auto first = run({.seed = 7, .jitter = 0.3}, mixed_program);
  const auto second = run({.seed = 7, .jitter = 0.3}, mixed_program);
  EXPECT_GT(first.ops.size(), 40u);
  EXPECT_EQ(trace_of(first), trace_of(second));
}

TEST(SimDeterminism, AnotherSeedGivesAnotherTrace) {
  const auto first = run({.seed = 7, .jitter = 0.3}, mixed_program);
  const auto second = run({.seed = 8, .jitter = 0.3}, mixed_program);
  EXPECT_NE(trace_of(first), trace_of(second));
}

}  // namespace
