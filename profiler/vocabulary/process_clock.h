// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Clocks of processes.
#pragma once

#include <cstdint>

namespace streamscope {

/// Stored in traces, in process.clock: append only.
enum ProcessClock : int32_t {
  kMonotonicClock = 0,
  kVirtualClock,
};

}  // namespace streamscope
