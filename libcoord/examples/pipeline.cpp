// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A clean pipeline: upload, compute and download overlap, each in its own stream, with two sets of
// buffers.
//
// The dependencies are stated where they arise; the Coordinator turns them into the required waits.
// The host blocks only before it accesses a page-locked buffer that a copy may still use.

#include <array>
#include <chrono>
#include <cmath>

#include "example.h"

namespace {

using namespace std::chrono_literals;

constexpr std::size_t kElements = 256 * 1024;  // 1 MiB: about 20 us over the bus
constexpr int kSlots = 2;
constexpr float kScale = 1.5f;
constexpr float kOffset = -2.0f;

struct Slot {
  coord::HostBuffer<float> input, output;
  coord::DeviceBuffer<float> from, to;
  coord::OperationHandle upload, compute, download;
  int batch = -1;
};

float input_value(int batch, std::size_t i) {
  return static_cast<float>(batch) + static_cast<float>(i % 1024) / 16;
}

/// Waits for the slot's batch and checks its result. False if a number is wrong.
bool collect(coord::Coordinator& coordinator, const Slot& slot, bool verify) {
  if (slot.batch < 0) return true;
  coordinator.wait(slot.download);
  const std::size_t step = verify ? 1 : kElements - 1;
  for (std::size_t i = 0; i < kElements; i += step) {
    const float expected = std::fma(kScale, input_value(slot.batch, i), kOffset);
    if (slot.output[i] != expected) {
      std::fprintf(stderr, "batch %d, element %zu: %g instead of %g\n", slot.batch, i,
                   slot.output[i], expected);
      return false;
    }
  }
  return true;
}

int run_pipeline(const example::Arguments& arguments) {
  const coord::Device device = coord::Device::open(arguments.device);
  const coord::Stream uploads = device.create_stream({.name = "uploads"});
  const coord::Stream math =
      device.create_stream({.priority = coord::StreamPriority::kHigh, .name = "math"});
  const coord::Stream downloads = device.create_stream({.name = "downloads"});
  example::Counts counts;
  coord::Coordinator coordinator(device);

  std::array<Slot, kSlots> slots;
  for (Slot& slot : slots) {
    slot.input = device.allocate_host<float>(kElements);
    slot.output = device.allocate_host<float>(kElements);
    slot.from = device.allocate<float>(kElements);
    slot.to = device.allocate<float>(kElements);
    slot.compute = slot.upload = slot.download = coordinator.submit(
        {.type = coord::OperationType::kMemoryTransfer, .stream = math, .description = "clear"},
        [&](coord::StreamRef stream) { stream.memset(slot.to.data(), 0, slot.to.bytes()); });
    ++counts.memsets;
  }

  bool right = true;
  for (int batch = 0; batch < arguments.iterations; ++batch) {
    Slot& slot = slots[static_cast<std::size_t>(batch) % kSlots];
    right = collect(coordinator, slot, arguments.verify) && right;
    for (std::size_t i = 0; i < kElements; ++i) slot.input[i] = input_value(batch, i);
    slot.batch = batch;

    slot.upload = coordinator.submit(
        {.type = coord::OperationType::kMemoryTransfer,
         .stream = uploads,
         .after = {slot.compute},
         .description = "upload"},
        [&](coord::StreamRef stream) { stream.copy_to_device(slot.from, slot.input); });
    slot.compute = coordinator.submit(
        {.stream = math, .after = {slot.upload, slot.download}, .description = "compute"},
        [&](coord::StreamRef stream) {
          stream.launch(
              {.name = "scale",
               .duration = 40us,
               .blocks = 64,
               .transform = {slot.from.data(), slot.to.data(), kElements, kScale, kOffset}});
        });
    slot.download = coordinator.submit(
        {.type = coord::OperationType::kMemoryTransfer,
         .stream = downloads,
         .after = {slot.compute},
         .description = "download"},
        [&](coord::StreamRef stream) { stream.copy_to_host(slot.output, slot.to); });
    counts.copies += 2;
    ++counts.launches;
  }
  for (const Slot& slot : slots) right = collect(coordinator, slot, arguments.verify) && right;

  counts.add(coordinator.metrics());
  return counts.finish(right);
}

}  // namespace

int main(int argc, char** argv) { return example::run(argc, argv, run_pipeline); }
