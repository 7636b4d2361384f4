// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Steps of a copy and a kernel on two streams of the simulated device.
#include <coord/coord.h>

#include <string_view>
#include <vector>

int main() {
  using namespace std::chrono_literals;
  constexpr std::size_t kElements = 1 << 16;
  constexpr std::string_view planted = PLANTED;
  const coord::Device device = coord::Device::open("sim");
  const coord::Stream copies = device.create_stream({.name = "copies"});
  const coord::Stream math = device.create_stream({.name = "math"});
  const coord::HostBuffer<float> input = device.allocate_host<float>(kElements);
  const coord::DeviceBuffer<float> batch = device.allocate<float>(kElements);
  const coord::DeviceBuffer<float> sum = device.allocate<float>(kElements);
  coord::Coordinator coordinator(device);

  coord::OperationHandle summed;
  for (int step = 0; step < 20; ++step) {
    std::vector<coord::OperationHandle> before;
    if (planted != "race" && step > 0) before.push_back(summed);
    const auto loaded =
        coordinator.submit({.stream = copies, .after = before, .description = "load"},
                           [&](coord::StreamRef stream) { stream.copy_to_device(batch, input); });
    summed = coordinator.submit(
        {.stream = math,
         .after = {loaded},
         .reads = {batch},
         .writes = {sum},
         .description = "sum"},
        [&](coord::StreamRef stream) {
          stream.launch({.name = "sum",
                         .duration = planted == "slow" ? 90us : 30us,
                         .transform = {batch.data(), sum.data(), kElements, 1.0f, 0.0f}});
        });
    if (planted == "sync") math.synchronize();
  }
  coordinator.wait(summed);
}
