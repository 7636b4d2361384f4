// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A race typical of real programs: two batches share a buffer, and the copies do not wait until the
// buffer is free.
//
// "copies" loads one batch after another into one device buffer, "math" sums each of them. Every
// sum waits for its batch, but no load waits until the previous batch is summed: that wait is
// missing. Whether a sum is wrong depends on timing; the recording shows the race in any case. With
// --repaired each load depends on the last sum, and all sums are right.

#include <vector>

#include "example.h"

namespace {

using namespace std::chrono_literals;

constexpr std::size_t kElements = 1 << 16;

int run_race(const example::Arguments& arguments) {
  const coord::Device device = coord::Device::open(arguments.device);
  const coord::Stream copies = device.create_stream({.name = "copies"});
  const coord::Stream math = device.create_stream({.name = "math"});
  const auto batch_count = static_cast<std::size_t>(arguments.iterations);
  const coord::HostBuffer<float> batches = device.allocate_host<float>(batch_count * kElements);
  const coord::DeviceBuffer<float> batch = device.allocate<float>(kElements);
  const coord::DeviceBuffer<float> sum = device.allocate<float>(kElements);
  const coord::HostBuffer<float> result = device.allocate_host<float>(kElements);
  for (std::size_t i = 0; i < batches.size(); ++i) {
    const std::size_t number = i / kElements;
    batches[i] = static_cast<float>(number + 1);
  }

  example::Counts counts;
  coord::Coordinator coordinator(device);
  coord::OperationHandle summed;
  for (std::size_t i = 0; i < batch_count; ++i) {
    std::vector<coord::OperationHandle> before;
    if (arguments.repaired && i > 0) before.push_back(summed);
    const auto loaded = coordinator.submit(
        {.type = coord::OperationType::kMemoryTransfer,
         .stream = copies,
         .after = before,
         .description = "load batch"},
        [&](coord::StreamRef stream) {
          stream.copy_to_device(batch.data(), &batches[i * kElements], batch.bytes());
        });
    summed = coordinator.submit(
        {.stream = math,
         .after = {loaded},
         .reads = {batch},
         .writes = {sum},
         .description = "sum batch"},
        [&](coord::StreamRef stream) {
          stream.launch({.name = "sum",
                         .duration = 20us,
                         .transform = {batch.data(), sum.data(), kElements, 1.0f, 0.0f}});
        });
    ++counts.copies;
    ++counts.launches;
  }
  math.copy_to_host(result, sum);
  math.synchronize();
  counts.copies += 1;
  counts.syncs += 1;
  counts.add(coordinator.metrics());
  const bool right = result[0] == static_cast<float>(batch_count);
  return counts.finish(right || !arguments.repaired);
}

}  // namespace

int main(int argc, char** argv) { return example::run(argc, argv, run_race); }
