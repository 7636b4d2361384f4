// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Programs with one bug each, and the same programs fixed: what explore has to find and where it
// has to stay silent.
#pragma once

#include <coord/coord.h>
#include <coord/explore.h>

#include <string>
#include <vector>

namespace corpus {

struct Case {
  std::string name;  // the bug
  coord::sim::FindingKind kind;
  void (*program)(coord::sim::Run& run, bool repaired);
  coord::sim::ExploreOptions options{};
};

/// Bugs of streams, events and memory.
const std::vector<Case>& device_cases();
/// Bugs of host threads, host functions, graphs and resources.
const std::vector<Case>& host_cases();

/// A device buffer of four floats, and what programs do with it.
struct Numbers {
  explicit Numbers(const coord::Device& device) : memory(device.allocate<float>(4)) {}
  [[nodiscard]] float* data() const { return memory.data(); }
  coord::DeviceBuffer<float> memory;
};

inline void set(coord::StreamRef stream, float* to, float value, const char* name = "set") {
  stream.launch({.name = name, .transform = {to, to, 4, 0.0f, value}});
}
inline void move(coord::StreamRef stream, float* to, const float* from, const char* name = "move") {
  stream.launch({.name = name, .transform = {from, to, 4, 1.0f, 0.0f}});
}

}  // namespace corpus
