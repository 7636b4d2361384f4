// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Host tasks that feed two streams: any free worker prepares blocks of data, then two types of
// work, each with its own stream, send and scale them.

#include <algorithm>
#include <vector>

#include "example.h"

namespace {

constexpr std::size_t kCount = 1024;  // numbers in a block

int run_task_queue(const example::Arguments& arguments) {
  const coord::Device device = coord::Device::open(arguments.device);
  const coord::Stream left = device.create_stream({.name = "left"});
  const coord::Stream right = device.create_stream({.name = "right"});
  coord::TaskQueue queue({.workers = 3, .streams = {left, right}, .name = "blocks"});

  const auto blocks = static_cast<std::size_t>(arguments.iterations);
  const coord::DeviceBuffer<float> data = device.allocate<float>(blocks * kCount);
  const coord::HostBuffer<float> host = device.allocate_host<float>(blocks * kCount);
  std::vector<coord::TaskHandle> prepared;
  for (std::size_t i = 0; i < blocks; ++i) {
    float* const block = host.data() + i * kCount;
    prepared.push_back(queue.submit([=](const coord::TaskPlace&) {
      // Later blocks take longer: work distributed evenly by count is uneven in time.
      for (std::size_t round = 0; round <= 10 * i; ++round)
        std::fill(block, block + kCount, static_cast<float>(round));
      std::fill(block, block + kCount, static_cast<float>(i));
    }));
    queue.submit(
        [=, &data](const coord::TaskPlace& place) {
          float* const there = data.data() + i * kCount;
          coord::StreamRef stream = place.stream;
          stream.copy_to_device(there, block, kCount * sizeof(float));
          stream.launch({.name = "scale", .transform = {there, there, kCount, 2.0f, 1.0f}});
          stream.copy_to_host(block, there, kCount * sizeof(float));
        },
        {.after = {&prepared.back(), 1}, .type = i % 2});
  }
  queue.wait();
  device.synchronize();

  bool right_result = queue.metrics().tasks == 2 * blocks;
  for (std::size_t i = 0; i < blocks * kCount; ++i) {
    const std::size_t block = i / kCount;
    right_result = right_result && host[i] == 2.0f * static_cast<float>(block) + 1.0f;
  }
  example::Counts counts;
  counts.launches = blocks;
  counts.copies = 2 * blocks;
  counts.syncs = 1;
  return counts.finish(right_result);
}

}  // namespace

int main(int argc, char** argv) { return example::run(argc, argv, run_task_queue); }
