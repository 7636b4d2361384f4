// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// How long the simulated device takes for a million operations.

#include <coord/coord.h>

#include <chrono>
#include <vector>

#include "bench/budget.h"

namespace {

using namespace std::chrono_literals;
namespace bench = streamscope::bench;

/// Kernels, copies, records and waits on eight streams that hand work to each other: `count`
/// operations, submitted without waiting for any. Returns real seconds.
double run(size_t count) {
  constexpr size_t kStreams = 8;
  const coord::Device device = coord::Device::open(coord::sim::Config{});
  std::vector<coord::Stream> streams;
  std::vector<coord::Event> events;
  for (size_t i = 0; i < kStreams; ++i) {
    streams.push_back(device.create_stream());
    events.push_back(device.create_event());
  }
  const auto host = device.allocate_host<float>(1024);
  const auto memory = device.allocate<float>(1024);
  const auto begin = std::chrono::steady_clock::now();
  for (size_t done = 0, i = 0; done < count; done += 5, ++i) {
    const coord::Stream& stream = streams[i % kStreams];
    stream.wait(events[(i + 1) % kStreams]);
    stream.copy_to_device(memory.data(), host.data(), 64);
    stream.launch({.name = "first", .duration = 5us, .blocks = 64});
    stream.launch({.name = "second", .duration = 3us, .blocks = 200});
    stream.record(events[i % kStreams]);
  }
  device.synchronize();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

int main() {
  std::vector<double> seconds;
  for (int i = 0; i < (bench::smoke() ? 1 : 5); ++i)
    seconds.push_back(run(bench::scaled(1'000'000)));
  bench::budget("sim_million_operations_s", bench::median(seconds), "s", 2, bench::Better::kLess);
}
