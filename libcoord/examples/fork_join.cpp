// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A clean fork and join: one stream forks to four and joins them again, without a host wait in
// between.

#include <array>
#include <chrono>
#include <cmath>
#include <string>

#include "example.h"

namespace {

using namespace std::chrono_literals;

constexpr std::size_t kBranches = 4;
constexpr std::size_t kPerBranch = 4096;
constexpr std::size_t kElements = kBranches * kPerBranch;
constexpr float kForkOffset = 1.0f;
constexpr float kBranchScale = 2.0f;
constexpr float kJoinScale = 0.5f;

float branch_offset(std::size_t branch) { return static_cast<float>(branch) * 0.25f - 1.0f; }

/// What the device computes for one element.
float expected(float value, std::size_t branch, int iterations) {
  for (int i = 0; i < iterations; ++i) {
    value = std::fma(1.0f, value, kForkOffset);
    value = std::fma(kBranchScale, value, branch_offset(branch));
    value = std::fma(kJoinScale, value, 0.0f);
  }
  return value;
}

int run_fork_join(const example::Arguments& arguments) {
  const coord::Device device = coord::Device::open(arguments.device);
  const coord::Stream trunk = device.create_stream({.name = "trunk"});
  std::array<coord::Stream, kBranches> branches;
  for (std::size_t b = 0; b < kBranches; ++b) {
    branches[b] = device.create_stream({.name = "branch " + std::to_string(b)});
  }
  const coord::DeviceBuffer<float> data = device.allocate<float>(kElements);
  const coord::HostBuffer<float> host = device.allocate_host<float>(kElements);
  for (std::size_t i = 0; i < kElements; ++i) host[i] = static_cast<float>(i % 64);

  example::Counts counts;
  coord::Coordinator coordinator(device);
  const auto transform = [&](const char* name, std::size_t first, std::size_t count, float scale,
                             float offset, coord::Nanoseconds duration, unsigned blocks) {
    ++counts.launches;
    return coord::KernelSpec{
        .name = name,
        .duration = duration,
        .blocks = blocks,
        .transform = {data.data() + first, data.data() + first, count, scale, offset}};
  };

  coordinator.submit(
      {.type = coord::OperationType::kMemoryTransfer, .stream = trunk, .description = "load"},
      [&](coord::StreamRef stream) { stream.copy_to_device(data, host); });
  for (int iteration = 0; iteration < arguments.iterations; ++iteration) {
    const auto fork =
        coordinator.submit({.stream = trunk, .description = "fork"}, [&](coord::StreamRef stream) {
          stream.launch(transform("prepare", 0, kElements, 1.0f, kForkOffset, 20us, 32));
        });
    coord::Dependencies ends;
    for (std::size_t b = 0; b < kBranches; ++b) {
      ends.push_back(coordinator.submit(
          {.stream = branches[b], .after = {fork}, .description = "branch " + std::to_string(b)},
          [&](coord::StreamRef stream) {
            stream.launch(transform("work", b * kPerBranch, kPerBranch, kBranchScale,
                                    branch_offset(b), 50us + 10us * static_cast<int>(b), 16));
          }));
    }
    coordinator.submit(
        {.type = coord::OperationType::kReduction,
         .stream = trunk,
         .after = ends,
         .description = "join"},
        [&](coord::StreamRef stream) {
          stream.launch(transform("gather", 0, kElements, kJoinScale, 0.0f, 15us, 32));
        });
  }
  const auto store = coordinator.submit(
      {.type = coord::OperationType::kMemoryTransfer, .stream = trunk, .description = "store"},
      [&](coord::StreamRef stream) { stream.copy_to_host(host, data); });
  counts.copies = 2;
  coordinator.wait(store);

  bool right = true;
  const std::size_t step = arguments.verify ? 1 : kPerBranch;
  for (std::size_t i = 0; i < kElements && right; i += step) {
    const float value = expected(static_cast<float>(i % 64), i / kPerBranch, arguments.iterations);
    right = host[i] == value;
    if (!right) std::fprintf(stderr, "element %zu: %g instead of %g\n", i, host[i], value);
  }
  counts.add(coordinator.metrics());
  return counts.finish(right);
}

}  // namespace

int main(int argc, char** argv) { return example::run(argc, argv, run_fork_join); }
