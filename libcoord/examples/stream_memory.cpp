// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Scratch memory for steps on two streams: each step allocates it, and the next step on the other
// stream gets the same memory, because it waits for the previous step anyway.

#include <array>
#include <chrono>

#include "example.h"

namespace {

using namespace std::chrono_literals;

constexpr std::size_t kCount = 1024;

int run_stream_memory(const example::Arguments& arguments) {
  const coord::Device device = coord::Device::open(arguments.device);
  coord::Coordinator coordinator(device);
  coord::StreamOrderedAllocator memory(coordinator, {.name = "scratch"});
  const std::array<coord::Stream, 2> streams{device.create_stream({.name = "even"}),
                                             device.create_stream({.name = "odd"})};
  const coord::DeviceBuffer<float> total = device.allocate<float>(kCount);
  const coord::HostBuffer<float> result = device.allocate_host<float>(kCount);
  example::Counts counts;

  coord::OperationHandle last;
  for (int i = 0; i < arguments.iterations; ++i) {
    coord::OperationOptions step{.stream = streams[static_cast<std::size_t>(i) % 2],
                                 .description = "step"};
    if (last.id().valid()) step.after.push_back(last);
    last = coordinator.submit(step, [&](coord::StreamRef stream) {
      auto* const scratch = static_cast<float*>(memory.allocate(stream, kCount * sizeof(float)));
      const float* const before = i == 0 ? scratch : total.data();
      stream.launch({.name = "expand",
                     .duration = 20us,
                     .transform = {before, scratch, kCount, i == 0 ? 0.0f : 1.0f, 1.0f}});
      stream.copy(total.data(), scratch, kCount * sizeof(float));
      memory.free(stream, scratch);
    });
    ++counts.launches;
    ++counts.copies;
  }
  coordinator.wait(last);
  streams[0].copy_to_host(result, total);
  streams[0].synchronize();
  ++counts.copies;
  ++counts.syncs;
  counts.add(coordinator.metrics());
  const coord::AllocatorStatistics statistics = memory.statistics();
  const bool right = result[0] == static_cast<float>(arguments.iterations) &&
                     result[kCount - 1] == result[0] && statistics.grown == 1 &&
                     statistics.bytes_in_use == 0 && statistics.waits == 0;
  return counts.finish(right);
}

}  // namespace

int main(int argc, char** argv) { return example::run(argc, argv, run_stream_memory); }
