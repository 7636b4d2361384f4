// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Pools of streams: what they know about the device matches what the device does.

#include "conformance/backends.h"

namespace conformance {
namespace {

using namespace std::chrono_literals;

class Pools : public OnDevice {};
CONFORMANCE_SUITE(Pools);

TEST_P(Pools, AStreamIsBusyUntilTheDeviceHasDoneItsWork) {
  Gate gate(device());
  coord::StreamPool pool(device(), {.size = 2});
  coord::StreamRef blocked;
  {
    const coord::StreamLease lease = pool.lease();
    gate.close(lease);
    blocked = lease;
  }
  EXPECT_EQ(pool.load(blocked), 1u);
  EXPECT_EQ(pool.ready_count(), 1u);
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(pool.wait_any_ready(10s)) << "the other one";
    const coord::StreamLease lease = pool.lease();
    EXPECT_NE(lease.id(), blocked.id());
    lease.launch({});
  }
  EXPECT_EQ(pool.load(blocked), 1u);
  gate.open();
  blocked.synchronize();
  EXPECT_EQ(pool.load(blocked), 0u);
}

TEST_P(Pools, WaitsAreBounded) {
  Gate gate(device());
  coord::StreamPool pool(device(), {.size = 1});
  {
    const coord::StreamLease lease = pool.lease();
    gate.close(lease);
  }
  EXPECT_FALSE(pool.wait_any_ready(2ms));
  gate.open();
  EXPECT_TRUE(pool.wait_any_ready(10s));
}

TEST_P(Pools, LeasedStreamsTakeOperations) {
  Cell cell(device());
  coord::StreamPool pool(device(), {.size = 3, .time_one_in = 1});
  coord::Coordinator coordinator(device());
  coord::OperationHandle last;
  for (int i = 1; i <= 12; ++i) {
    const coord::StreamLease lease = pool.lease();
    coord::OperationOptions options{.stream = lease};
    if (last.id().valid()) options.after.push_back(last);
    last = coordinator.submit(options, [&](coord::StreamRef stream) {
      stream.launch({.duration = 20us, .transform = {cell.data(), cell.data(), 1, 1.0f, 1.0f}});
    });
  }
  coordinator.wait(last);
  EXPECT_EQ(cell.value(), 12.0f);
  EXPECT_TRUE(pool.wait_any_ready(10s));
}

TEST_P(Pools, TimesOfWorkAreTheDevices) {
  coord::StreamPool pool(device(), {.size = 1, .time_one_in = 1});
  for (int i = 0; i < 6; ++i) {
    {
      const coord::StreamLease lease = pool.lease(coord::Workload::kCompute);
      lease.launch({.duration = 2ms});
    }
    ASSERT_TRUE(pool.wait_any_ready(10s));
  }
  const coord::WorkloadTime time = pool.time_of(coord::Workload::kCompute);
  EXPECT_GE(time.measured, 4u);
  EXPECT_GE(time.average, 1900us);
  EXPECT_LT(time.average, 20ms);
}

TEST_P(Pools, AsManyBlockedStreamsAsHardwareQueuesStallAllOthers) {
  const coord::ConnectionProbe probe = coord::probe_connections(device());
  EXPECT_EQ(probe.connections, device().properties().max_connections);
  EXPECT_LT(probe.free_of_stalls, probe.connections);
}

}  // namespace
}  // namespace conformance
