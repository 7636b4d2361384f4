// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Steps of very different length on a pool of streams: each gets an idle stream if there is one.
// After every burst the pool is tuned based on the measured times.

#include <chrono>

#include "example.h"

namespace {

using namespace std::chrono_literals;

constexpr int kBurst = 16;

int run_stream_pool(const example::Arguments& arguments) {
  const coord::Device device = coord::Device::open(arguments.device);
  coord::StreamPool pool(device, {.size = 2,
                                  .max_size = 4,
                                  .strategy = coord::PoolStrategy::kRoundRobin,
                                  .time_one_in = 0,
                                  .name = "workers"});
  const auto steps = static_cast<std::size_t>(arguments.iterations);
  const coord::DeviceBuffer<float> data = device.allocate<float>(steps);
  const coord::HostBuffer<float> result = device.allocate_host<float>(steps);
  example::Counts counts;

  for (int i = 0; i < arguments.iterations; ++i) {
    const bool longer = i % 4 == 0;
    const coord::StreamLease stream =
        pool.lease(longer ? coord::Workload::kCompute : coord::Workload::kMemory);
    float* const number = data.data() + i;
    stream.memset(number, 0, sizeof(float));
    stream.launch({.name = longer ? "long" : "short",
                   .duration = longer ? 200us : 20us,
                   .transform = {number, number, 1, 1.0f, static_cast<float>(i)}});
    stream.copy_to_host(result.data() + i, number, sizeof(float));
    ++counts.memsets;
    ++counts.launches;
    ++counts.copies;
    if (i % kBurst == kBurst - 1) pool.tune();
  }
  device.synchronize();
  ++counts.syncs;

  bool right = pool.metrics().leases == steps && pool.ready_count() == pool.metrics().size;
  for (std::size_t i = 0; i < steps; ++i) right = right && result[i] == static_cast<float>(i);
  return counts.finish(right);
}

}  // namespace

int main(int argc, char** argv) { return example::run(argc, argv, run_stream_pool); }
