// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Neighbors that exchange borders: in each step every stream computes its part from the previous
// step's results of its two neighbors, so that they depend on each other, step by step. Threads
// submit the parts; a barrier ends each phase.

#include <array>
#include <chrono>
#include <cmath>
#include <functional>
#include <vector>

#include "example.h"

namespace {

using namespace std::chrono_literals;

constexpr std::size_t kParts = 4;
constexpr int kStepsOfAPhase = 2;

/// Each part is one number here; a step adds the left neighbor's old one.
std::vector<double> expected(int steps) {
  std::vector<double> parts(kParts, 1);
  for (int step = 0; step < steps; ++step) {
    const std::vector<double> old = parts;
    for (std::size_t i = 0; i < kParts; ++i) parts[i] = 0.5 * old[(i + kParts - 1) % kParts] + 1;
  }
  return parts;
}

int run_stream_group(const example::Arguments& arguments) {
  const coord::Device device = coord::Device::open(arguments.device);
  std::array<coord::Stream, kParts> streams;
  for (std::size_t i = 0; i < kParts; ++i)
    streams[i] = device.create_stream({.name = "part " + std::to_string(i)});
  coord::Coordinator coordinator(device);
  const std::vector<coord::StreamRef> refs(streams.begin(), streams.end());
  coord::StreamGroup group(coordinator, refs, {.name = "phase"});

  // Two copies of the parts: a step reads one and writes the other.
  const coord::DeviceBuffer<float> parts = device.allocate<float>(2 * kParts);
  const coord::HostBuffer<float> host = device.allocate_host<float>(2 * kParts);
  for (float& part : host) part = 1;
  group.submit(
      {.type = coord::OperationType::kMemoryTransfer, .stream = group[0], .description = "load"},
      [&](coord::StreamRef stream) { stream.copy_to_device(parts, host); });
  group.barrier();

  example::Counts counts;
  counts.copies = 2;
  for (int step = 0; step < arguments.iterations; ++step) {
    std::vector<std::function<void(coord::StreamRef)>> pieces;
    const std::size_t from = step % 2 == 0 ? 0 : kParts, to = kParts - from;
    for (std::size_t i = 0; i < kParts; ++i) {
      const float* const left = parts.data() + from + (i + kParts - 1) % kParts;
      float* const mine = parts.data() + to + i;
      pieces.emplace_back([=](coord::StreamRef stream) {
        stream.launch({.name = "step",
                       .duration = 20us + 10us * static_cast<int>(i),
                       .transform = {left, mine, 1, 0.5f, 1.0f}});
      });
    }
    group.execute_parallel(pieces, "step");
    counts.launches += kParts;
    // The next step reads what the left neighbor wrote, and overwrites what the right one read.
    for (std::size_t i = 0; i < kParts; ++i) {
      group.add_dependency(group[i], group[(i + kParts - 1) % kParts]);
      group.add_dependency(group[i], group[(i + 1) % kParts]);
    }
    if (step % kStepsOfAPhase == kStepsOfAPhase - 1) group.barrier();
  }
  group.barrier();
  const coord::OperationHandle store = group.submit(
      {.type = coord::OperationType::kMemoryTransfer, .stream = group[0], .description = "store"},
      [&](coord::StreamRef stream) { stream.copy_to_host(host, parts); });
  coordinator.wait(store);

  const std::vector<double> wanted = expected(arguments.iterations);
  bool right = true;
  for (std::size_t i = 0; i < kParts; ++i) {
    const float part = host[(arguments.iterations % 2 == 0 ? 0 : kParts) + i];
    right = right && std::abs(part - wanted[i]) < 1e-4;
  }
  counts.add(coordinator.metrics());
  return counts.finish(right);
}

}  // namespace

int main(int argc, char** argv) { return example::run(argc, argv, run_stream_group); }
