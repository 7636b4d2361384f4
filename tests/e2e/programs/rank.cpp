// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A rank of a job on a simulated device: its collectives are kernels with NCCL's names in ranges
// with NCCL's names and payload.
#include <coord/coord.h>

#include <chrono>

#include "support/nccl_range.h"

using namespace std::chrono_literals;

int main() {
  const coord::Device device = coord::Device::open("sim");
  const coord::Stream compute = device.create_stream({.name = "compute"});
  const coord::Stream network = device.create_stream({.name = "network"});
  const coord::Event computed = device.create_event(), reduced = device.create_event();
  nvtxDomainHandle_t nccl = nvtxDomainCreateA("NCCL");
  for (int step = 0; step < 10; ++step) {
    nvtxRangePushA("step");
    compute.launch({.name = "forward", .duration = 80us});
    compute.record(computed);
    network.wait(computed);
    {
      const streamscope::test::NcclRange call(nccl, "ncclAllReduce", 0xd0, 1 << 20);
      network.launch({.name = "ncclDevKernel_AllReduce_Sum_f32_RING_LL", .duration = 40us});
    }
    network.record(reduced);
    compute.wait(reduced);
    compute.launch({.name = "optimizer", .duration = 20us});
    nvtxRangePop();
  }
  compute.synchronize();
}
