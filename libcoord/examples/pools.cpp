// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// How to use a bounded pool of events: each batch records one event behind its work; once all are
// in use, the host waits for the oldest batches and releases their events.

#include <array>
#include <chrono>
#include <string>
#include <vector>

#include "example.h"

namespace {

using namespace std::chrono_literals;

constexpr std::size_t kStreams = 3;
constexpr std::size_t kCapacity = 8;

int run_pools(const example::Arguments& arguments) {
  const coord::Device device = coord::Device::open(arguments.device);
  std::array<coord::Stream, kStreams> streams;
  for (std::size_t s = 0; s < kStreams; ++s)
    streams[s] = device.create_stream({.name = "worker " + std::to_string(s)});
  const coord::DeviceBuffer<float> data = device.allocate<float>(kStreams);
  const coord::HostBuffer<float> result = device.allocate_host<float>(kStreams);
  coord::EventPool pool(
      device,
      {.capacity = kCapacity, .at_capacity = coord::AtCapacity::kFail, .name = "batch events"});
  example::Counts counts;

  for (std::size_t s = 0; s < kStreams; ++s) {
    streams[s].memset(data.data() + s, 0, sizeof(float));
    ++counts.memsets;
  }
  std::vector<coord::EventRef> batches;
  for (int i = 0; i < arguments.iterations; ++i) {
    const std::size_t s = static_cast<std::size_t>(i) % kStreams;
    if (batches.size() == kCapacity) {  // the oldest half, in any stream
      for (std::size_t b = 0; b < kCapacity / 2; ++b) {
        batches[b].synchronize();
        ++counts.syncs;
      }
      pool.release(std::span(batches).first(kCapacity / 2));
      batches.erase(batches.begin(), batches.begin() + kCapacity / 2);
    }
    streams[s].launch({.name = "batch",
                       .duration = 20us,
                       .transform = {data.data() + s, data.data() + s, 1, 1.0f, 1.0f}});
    ++counts.launches;
    batches.push_back(pool.acquire());
    streams[s].record(batches.back());
    ++counts.records;
  }
  for (std::size_t s = 0; s < kStreams; ++s) {
    streams[s].copy_to_host(result.data() + s, data.data() + s, sizeof(float));
    streams[s].synchronize();
    ++counts.copies;
    ++counts.syncs;
  }
  pool.release(batches);

  float total = 0;
  for (const float each : result) total += each;
  const bool right = total == static_cast<float>(arguments.iterations) &&
                     pool.metrics().high_water <= kCapacity && pool.utilization().in_use == 0;
  return counts.finish(right);
}

}  // namespace

int main(int argc, char** argv) { return example::run(argc, argv, run_pools); }
