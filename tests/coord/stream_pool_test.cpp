// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Pools of streams: which one a lease gets, what the pool knows without polling, and what it
// learns.

#include <coord/coord.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <thread>

#include "coord/fake_observer.h"
#include "coord/thrown.h"

namespace {

using namespace std::chrono_literals;
using coord::Device;
using coord::PoolStrategy;
using coord::StreamLease;
using coord::StreamPool;
using coord::Workload;

constexpr PoolStrategy kStrategies[] = {PoolStrategy::kRoundRobin, PoolStrategy::kLoadBalanced,
                                        PoolStrategy::kPriority, PoolStrategy::kWorkload};

/// One step of work on a leased stream.
coord::StreamRef run_leased(StreamPool& pool, coord::Nanoseconds duration,
                            Workload workload = Workload::kCompute) {
  const StreamLease lease = pool.lease(workload);
  lease.launch({.duration = duration});
  return lease;
}

void finish(const Device& device) { device.synchronize(); }

// What other pools cannot guarantee: not one lease of a thousand random programs gets a stream with
// work while another one has none, as the device itself confirms before and after.
TEST(StreamPool, NeverGivesABusyStreamWhileAnIdleOneExists) {
  std::mt19937 random(7);
  int busy_leases = 0, idle_leases = 0;
  for (int program = 0; program < 1000; ++program) {
    const Device device = Device::open("sim");
    StreamPool pool(device, {.size = 1 + random() % 6,
                             .strategy = kStrategies[program % 4],
                             .time_one_in = 0});  // else the device has an event to time
    std::map<std::uint64_t, coord::StreamRef> streams;
    {  // all of them, by leases that are held at once
      std::vector<StreamLease> all;
      while (pool.has_ready()) all.push_back(pool.lease());
      for (StreamLease& lease : all) {
        streams.emplace(lease.id().value, lease);
        lease.drop();
      }
    }
    for (int step = 0; step < 40; ++step) {
      const bool one_idle = std::any_of(streams.begin(), streams.end(),
                                        [](const auto& stream) { return stream.second.query(); });
      StreamLease lease = pool.lease(static_cast<Workload>(random() % 4),
                                     static_cast<coord::StreamPriority>(random() % 3));
      const bool got_idle = lease.query();
      EXPECT_TRUE(got_idle || !one_idle) << to_string(pool.strategy()) << ", program " << program;
      (got_idle ? idle_leases : busy_leases) += 1;
      lease.launch({.duration = coord::Nanoseconds(random() % 60'000)});
      lease.end();
      if (random() % 4 == 0) coord::sim::host_work(device, coord::Nanoseconds(random() % 40'000));
    }
    finish(device);
    EXPECT_EQ(pool.ready_count(), streams.size());
  }
  EXPECT_GT(busy_leases, 1000);
  EXPECT_GT(idle_leases, 1000);
}

TEST(StreamPool, LeasingCallsNoDriverAndItsEndCallsItOnce) {
  fake_observer::start();
  {
    const Device device = Device::open("sim");
    StreamPool pool(device, {.size = 3, .time_one_in = 0});
    for (int i = 0; i < 100; ++i) run_leased(pool, 5us);
  }
  const auto observed = fake_observer::stop();
  EXPECT_EQ(observed.calls_named("simStreamWriteValue").size(), 100u);
  EXPECT_TRUE(observed.calls_named("simStreamQuery").empty());
  EXPECT_TRUE(observed.calls_named("simEventQuery").empty());
  EXPECT_TRUE(observed.calls_named("simEventRecord").empty());
}

TEST(StreamPool, WorkThatIsStillRunningMakesTheNextLeaseGoElsewhere) {
  const Device device = Device::open("sim");
  for (const PoolStrategy strategy : kStrategies) {
    StreamPool pool(device, {.size = 4, .strategy = strategy});
    std::set<std::uint64_t> used;
    for (int i = 0; i < 4; ++i) used.insert(run_leased(pool, 10ms).id().value);
    EXPECT_EQ(used.size(), 4u) << to_string(strategy) << " gives one stream to everybody";
    EXPECT_FALSE(pool.has_ready());
    EXPECT_EQ(pool.metrics().busy, 0u);
    finish(device);
    EXPECT_EQ(pool.ready_count(), 4u);
  }
}

TEST(StreamPool, LoadIsTheLeasedUnfinishedWork) {
  const Device device = Device::open("sim");
  StreamPool pool(device, {.size = 2});
  const coord::StreamRef first = run_leased(pool, 1ms), second = run_leased(pool, 50us);
  EXPECT_EQ(pool.load(first), 1u);
  EXPECT_EQ(pool.load(second), 1u);
  run_leased(pool, 50us);
  EXPECT_EQ(pool.load(first) + pool.load(second), 3u);
  second.synchronize();
  EXPECT_EQ(pool.load(second), 0u);
  EXPECT_GE(pool.load(first), 1u);
  const coord::Stream other = device.create_stream();
  EXPECT_EQ(kind_thrown([&] { (void)pool.load(other); }), coord::ErrorKind::kInvalidHandle);
}

TEST(StreamPool, ALeaseThatIsHeldIsNotIdle) {
  const Device device = Device::open("sim");
  StreamPool pool(device, {.size = 2});
  StreamLease a = pool.lease();
  const StreamLease b = pool.lease();
  EXPECT_NE(a.id(), b.id());
  EXPECT_FALSE(pool.has_ready());
  a.drop();
  EXPECT_TRUE(pool.has_ready()) << "nothing was enqueued";
  StreamLease moved = pool.lease();
  StreamLease to;
  to = std::move(moved);
  EXPECT_FALSE(pool.has_ready());
  to.end();
  to.end();  // nothing
  finish(device);
  EXPECT_EQ(pool.ready_count(), 1u);
}

TEST(StreamPool, LeasesOfOneStreamMayEndInAnyOrder) {
  const Device device = Device::open("sim");
  StreamPool pool(device, {.size = 1});
  StreamLease first = pool.lease(), second = pool.lease();
  EXPECT_EQ(first.id(), second.id());
  second.end();
  finish(device);
  EXPECT_FALSE(pool.has_ready()) << "the first is still held";
  first.end();
  finish(device);
  EXPECT_TRUE(pool.has_ready());
}

TEST(StreamPool, LeasesOfOneStreamMayBeDroppedInAnyOrder) {
  const Device device = Device::open("sim");
  StreamPool pool(device, {.size = 1});
  for (const bool first_first : {true, false}) {
    StreamLease first = pool.lease(), second = pool.lease();
    (first_first ? first : second).drop();
    EXPECT_EQ(pool.load(first), 1u);
    EXPECT_FALSE(pool.has_ready());
    StreamLease third = pool.lease();  // of a busy stream in any case
    (first_first ? second : first).drop();
    EXPECT_FALSE(pool.has_ready());
    third.end();
    finish(device);
    EXPECT_TRUE(pool.has_ready());
  }
  EXPECT_EQ(pool.metrics().leases, 2u) << "the others were dropped";
}

TEST(StreamPool, PrioritiesReachTheDevice) {
  const Device device = Device::open("sim");
  StreamPool pool(device, {.size = 6, .strategy = PoolStrategy::kPriority});
  const StreamLease urgent = pool.lease(Workload::kCompute, coord::StreamPriority::kHigh);
  const StreamLease normal = pool.lease(Workload::kCompute, coord::StreamPriority::kNormal);
  EXPECT_EQ(urgent.priority(), device.properties().greatest_priority);
  EXPECT_GT(normal.priority(), urgent.priority());
}

TEST(StreamPool, RoundRobinTakesTurnsAmongIdleAndAmongBusyStreams) {
  const Device device = Device::open("sim");
  StreamPool pool(device, {.size = 3, .strategy = PoolStrategy::kRoundRobin});
  std::map<std::uint64_t, int> idle, busy;
  for (int i = 0; i < 9; ++i) {
    ++idle[run_leased(pool, 1us).id().value];
    finish(device);
  }
  for (const auto& [stream, count] : idle) EXPECT_EQ(count, 3);
  std::vector<StreamLease> held;
  for (int i = 0; i < 3; ++i) held.push_back(pool.lease());
  for (int i = 0; i < 9; ++i) ++busy[run_leased(pool, 1us).id().value];
  EXPECT_EQ(busy.size(), 3u);
  for (const auto& [stream, count] : busy) EXPECT_EQ(count, 3);
}

TEST(StreamPool, WaitsUntilAStreamIsReallyIdle) {
  const Device device = Device::open("sim");
  StreamPool pool(device, {.size = 2});
  EXPECT_TRUE(pool.wait_any_ready(0ns));
  run_leased(pool, 3ms);
  run_leased(pool, 400us);
  const coord::TimeNs before = device.now();
  EXPECT_FALSE(pool.wait_any_ready(0ns));
  EXPECT_FALSE(pool.wait_any_ready(100us));
  EXPECT_GE(device.now() - before, 100us);
  EXPECT_LT(device.now() - before, 300us);
  EXPECT_TRUE(pool.wait_any_ready(10ms));
  EXPECT_GE(device.now() - before, 300us);
  EXPECT_LT(device.now() - before, 600us) << "the other one takes 3 ms";
  EXPECT_GE(pool.metrics().waited, 300us);
}

TEST(StreamPool, WaitingForAFailedDeviceThrows) {
  const Device device = Device::open("sim");
  StreamPool pool(device, {.size = 1});
  {
    const StreamLease lease = pool.lease();
    lease.launch({.function = [] { throw std::runtime_error("fault"); }});
  }
  EXPECT_EQ(kind_thrown([&] { (void)pool.wait_any_ready(1s); }), coord::ErrorKind::kDeviceFailure);
}

TEST(StreamPool, AReservedStreamIsExclusive) {
  const Device device = Device::open("sim");
  StreamPool pool(device, {.size = 2, .max_size = 3});
  {
    const coord::ReservedStream mine = pool.reserve();
    EXPECT_EQ(pool.metrics().reserved, 1u);
    for (int i = 0; i < 20; ++i) EXPECT_NE(run_leased(pool, 100us).id(), mine.id());
    mine.launch({.duration = 10ms});
    EXPECT_EQ(pool.metrics().size, 1u);
    const coord::ReservedStream another = pool.reserve();  // the third, made for it
    EXPECT_NE(another.id(), mine.id());
    EXPECT_EQ(kind_thrown([&] { (void)pool.reserve(); }), coord::ErrorKind::kExhausted);
  }
  EXPECT_EQ(pool.metrics().size, 2u);
  EXPECT_FALSE(pool.has_ready()) << "what its holder enqueued still runs";
  finish(device);
  EXPECT_EQ(pool.ready_count(), 2u);
}

TEST(StreamPool, ReportsThatAllStreamsAreReserved) {
  const Device device = Device::open("sim");
  StreamPool pool(device, {.size = 1, .max_size = 1});
  const coord::ReservedStream mine = pool.reserve();
  std::string text;
  EXPECT_EQ(kind_thrown([&] { (void)pool.lease(); }, &text), coord::ErrorKind::kExhausted);
  EXPECT_NE(text.find("reserved"), std::string::npos) << text;
}

TEST(StreamPool, ResizesWhileWorkGoesOn) {
  const Device device = Device::open("sim");
  StreamPool pool(device, {.size = 4, .max_size = 8});
  for (int i = 0; i < 4; ++i) run_leased(pool, 200us);
  pool.resize(1);
  EXPECT_EQ(pool.metrics().size, 1u);
  finish(device);
  EXPECT_EQ(pool.ready_count(), 1u);
  pool.resize(8);
  EXPECT_EQ(pool.ready_count(), 8u);
  EXPECT_EQ(kind_thrown([&] { pool.resize(9); }), coord::ErrorKind::kInvalidArgument);
  EXPECT_EQ(kind_thrown([&] { pool.resize(0); }), coord::ErrorKind::kInvalidArgument);
  EXPECT_EQ(kind_thrown([&] { StreamPool(device, {.size = 65}); }),
            coord::ErrorKind::kInvalidArgument);
  EXPECT_EQ(kind_thrown([&] { StreamPool(device, {.size = 3, .max_size = 2}); }),
            coord::ErrorKind::kInvalidArgument);
}

TEST(StreamPool, ACapturedLeaseIsNotWaitedFor) {
  const Device device = Device::open("sim");
  StreamPool pool(device, {.size = 1, .time_one_in = 1});
  StreamLease lease = pool.lease();
  lease.begin_capture();
  {
    const StreamLease inside = pool.lease();
    EXPECT_EQ(inside.id(), lease.id());
    inside.launch({.duration = 1us});
  }
  const coord::Graph graph = lease.end_capture();
  EXPECT_EQ(graph.shape().nodes, 1u) << "the pool adds nothing to the program's graph";
  lease.end();
  finish(device);
  EXPECT_TRUE(pool.has_ready());
}

TEST(StreamPool, MeasuresDeviceTimeByKindOfWork) {
  const Device device = Device::open("sim");
  StreamPool pool(device, {.size = 2, .time_one_in = 1});
  for (int i = 0; i < 20; ++i) {
    run_leased(pool, 100us, Workload::kCompute);
    run_leased(pool, 10us, Workload::kMemory);
    finish(device);
  }
  (void)pool.tune();
  const coord::WorkloadTime compute = pool.time_of(Workload::kCompute);
  const coord::WorkloadTime memory = pool.time_of(Workload::kMemory);
  EXPECT_GE(compute.measured, 10u);
  EXPECT_GE(compute.average, 100us);
  EXPECT_LT(compute.average, 110us);
  EXPECT_GE(memory.average, 10us);
  EXPECT_LT(memory.average, 20us);
  EXPECT_EQ(pool.time_of(Workload::kCoordination).measured, 0u);
}

/// The virtual time that a skewed mix of work takes on a pool, in which one lease in four is long.
coord::Nanoseconds makespan(PoolStrategy strategy) {
  const Device device = Device::open("sim");
  StreamPool pool(device, {.size = 4, .strategy = strategy, .time_one_in = 2});
  const auto mix = [&](int count) {
    for (int i = 0; i < count; ++i) {
      const bool longer = i % 4 == 0;
      run_leased(pool, longer ? 400us : 20us, longer ? Workload::kCompute : Workload::kMemory);
    }
  };
  for (int i = 0; i < 16; ++i) {  // measured while there is time
    mix(4);
    finish(device);
  }
  const coord::TimeNs begin = device.now();
  mix(64);
  finish(device);
  return device.now() - begin;
}

TEST(StreamPool, BalancesByTimeIfTheNumberOfLeasesSaysLittle) {
  const coord::Nanoseconds turns = makespan(PoolStrategy::kRoundRobin),
                           time = makespan(PoolStrategy::kWorkload);
  // In turn all 16 long ones come to one stream; by time each has its share.
  EXPECT_GT(turns, 6400us);
  EXPECT_LT(time, 2200us);
}

TEST(StreamPool, TunesItsSizeAndStrategyByMeasurements) {
  const Device device = Device::open("sim");
  StreamPool pool(device, {.size = 2, .strategy = PoolStrategy::kRoundRobin, .time_one_in = 1});
  EXPECT_FALSE(pool.tune().changed) << "nothing was measured";
  const auto crowd = [&](bool skewed) {
    for (int i = 0; i < 60; ++i) {
      run_leased(pool, skewed && i % 2 == 0 ? 300us : 30us,
                 skewed && i % 2 == 0 ? Workload::kCompute : Workload::kMemory);
      if (i % 20 == 19) finish(device);
    }
    finish(device);
  };
  crowd(false);
  coord::PoolTuning tuning = pool.tune();
  EXPECT_TRUE(tuning.changed);
  EXPECT_GT(tuning.size, 2u) << tuning.why;
  EXPECT_EQ(tuning.strategy, PoolStrategy::kLoadBalanced) << tuning.why;
  EXPECT_EQ(pool.strategy(), PoolStrategy::kLoadBalanced);
  crowd(true);
  tuning = pool.tune();
  EXPECT_EQ(tuning.strategy, PoolStrategy::kWorkload) << tuning.why;
  const std::size_t large = tuning.size;
  for (int i = 0; i < 60; ++i) {  // one at a time
    run_leased(pool, 10us);
    finish(device);
  }
  tuning = pool.tune();
  EXPECT_LT(tuning.size, large) << tuning.why;
  EXPECT_EQ(pool.metrics().size, tuning.size);
}

TEST(StreamPool, FindsTheHardwareQueuesOfTheDevice) {
  for (const std::uint32_t connections : {1u, 2u, 4u, 8u, 16u, 32u}) {
    const Device device = Device::open(coord::sim::Config{.max_connections = connections});
    const coord::ConnectionProbe probe = coord::probe_connections(device);
    EXPECT_EQ(probe.connections, connections);
    EXPECT_EQ(probe.stalled.size(), connections + 1u);
    EXPECT_LT(probe.free_of_stalls, connections);
    EXPECT_GE(probe.free_of_stalls + 2, connections);
  }
  const Device device = Device::open("sim");
  EXPECT_EQ(coord::probe_connections(device, 3).connections, 0u) << "not that far";
  EXPECT_EQ(kind_thrown([&] { (void)coord::probe_connections(device, 5, 5); }),
            coord::ErrorKind::kInvalidArgument);
}

TEST(StreamPool, IsReportedToAnObserverWithItsSamples) {
  fake_observer::start();
  {
    const Device device = Device::open("sim");
    StreamPool pool(device, {.size = 3, .max_size = 5, .name = "workers"});
    run_leased(pool, 1ms);
    run_leased(pool, 1ms);
  }
  const auto observed = fake_observer::stop();
  const auto pool = std::find_if(observed.pools.begin(), observed.pools.end(),
                                 [](const auto& one) { return one.kind == COORD_POOL_STREAMS; });
  ASSERT_NE(pool, observed.pools.end());
  EXPECT_EQ(pool->name, "workers");
  EXPECT_EQ(pool->capacity, 5u);
  std::uint64_t most = 0;
  for (const coord_pool_sample_facts& sample : observed.pool_samples) {
    if (sample.pool != pool->pool) continue;
    EXPECT_EQ(sample.available + sample.in_use, 3u);
    most = std::max(most, sample.high_water);
  }
  EXPECT_EQ(most, 2u);
}

TEST(StreamPool, ThreadsLeaseAtTheSameTime) {
  const Device device = Device::open("sim");
  StreamPool pool(device, {.size = 3, .max_size = 6, .time_one_in = 4});
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 100; ++i) {
        run_leased(pool, 2us, static_cast<Workload>(t));
        if (t == 0 && i % 25 == 0) (void)pool.tune();
        if (t == 1 && i % 10 == 0) pool.set_strategy(kStrategies[i / 10 % 4]);
        if (t == 2 && i % 20 == 0) (void)pool.wait_any_ready(1ms);
      }
    });
  }
  threads.clear();
  finish(device);
  const coord::StreamPoolMetrics metrics = pool.metrics();
  EXPECT_EQ(metrics.leases, 400u);
  EXPECT_EQ(pool.ready_count(), metrics.size);
}

TEST(StreamPool, ThreadsDropLeasesAtTheSameTime) {
  const Device device = Device::open("sim");
  StreamPool pool(device, {.size = 3, .max_size = 6, .time_one_in = 0});
  std::vector<std::jthread> threads;
  for (int t = 0; t < 6; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 2000; ++i) {
        StreamLease one = pool.lease();
        if (i % 3 == 0) pool.lease().drop();
        one.drop();
        if (t == 0 && i % 50 == 0) pool.resize(i / 50 % 2 == 0 ? 4 : 3);
        if (t == 1 && i % 50 == 0) pool.set_strategy(kStrategies[i / 50 % 4]);
      }
    });
  }
  threads.clear();
  const coord::StreamPoolMetrics metrics = pool.metrics();
  EXPECT_EQ(metrics.leases, 0u);
  EXPECT_EQ(pool.ready_count(), metrics.size) << "each lease was counted out once";
}

}  // namespace
