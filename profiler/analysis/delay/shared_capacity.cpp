// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "shared_capacity.h"

#include <cmath>

namespace streamscope::analysis {
namespace {

double share_of(const Trace& trace, Id shape, Id device) {
  const auto& shapes = trace.launch_shape;
  const auto known = [](auto value, double otherwise) {
    return value > 0 ? static_cast<double>(value) : otherwise;
  };
  // Limits of every GPU since Ampere; only their order of magnitude matters.
  constexpr double kThreads = 2048, kBlocks = 32, kRegisters = 65536, kSharedBytes = 227 << 10;
  constexpr double kSimulatedThreads = 128;  // coord::KernelSpec: the simulator has no block size
  const bool simulated = trace.device.simulated[device] == 1;
  const double threads = simulated
                             ? kSimulatedThreads
                             : known(shapes.block_x[shape], 1) * known(shapes.block_y[shape], 1) *
                                   known(shapes.block_z[shape], 1);
  const double blocks = known(shapes.grid_x[shape], 1) * known(shapes.grid_y[shape], 1) *
                        known(shapes.grid_z[shape], 1);
  double held = std::min(kBlocks, kThreads / threads);
  if (shapes.registers[shape] > 0)
    held = std::min(held, kRegisters / (threads * static_cast<double>(shapes.registers[shape])));
  const double shared =
      known(shapes.static_shared_bytes[shape], 0) + known(shapes.dynamic_shared_bytes[shape], 0);
  if (shared > 0) held = std::min(held, kSharedBytes / shared);
  held = std::max(1.0, std::floor(held));
  const double processors = known(trace.device.sm_count[device], 132);
  return std::min(1.0, blocks / (processors * held));
}

}  // namespace

DeviceShares::DeviceShares(const Trace& trace) : shapes_(trace.launch_shape.size()) {
  shares_.reserve(trace.device.size() * shapes_);
  for (Id device = 0; device < trace.device.size(); ++device) {
    for (Id shape = 0; shape < shapes_; ++shape) shares_.push_back(share_of(trace, shape, device));
  }
}

}  // namespace streamscope::analysis
