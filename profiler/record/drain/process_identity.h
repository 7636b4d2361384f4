// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Identifies the program and process that created a ring.
#pragma once

#include <compare>
#include <cstdint>

#include "ring/image.h"
#include "ring/ring.h"

namespace streamscope::record {

/// One program of one process: pids are reused, and exec() replaces the program.
struct ProcessIdentity {
  uint32_t pid = 0;
  uint64_t start = 0;
  uint32_t image = 0;

  static ProcessIdentity of(const ring::RingHeader& header) {
    return {header.pid, header.process_start, header.index / ring::kRingsPerImage};
  }
  auto operator<=>(const ProcessIdentity&) const = default;
  bool is_same_process(const ProcessIdentity& other) const {
    return pid == other.pid && start == other.start;
  }
};

}  // namespace streamscope::record
