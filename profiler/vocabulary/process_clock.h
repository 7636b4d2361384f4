// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Clocks of processes.
#pragma once

#include <cstdint>

#include "term.h"

namespace streamscope {

/// Stored in traces, in process.clock: append only.
enum ProcessClock : int32_t {
  kMonotonicClock = 0,
  kVirtualClock,
};

inline constexpr Term kProcessClocks[] = {
    {kMonotonicClock, "monotonic", "trace clock"},
    {kVirtualClock, "virtual", "simulated device"},
};

}  // namespace streamscope
