// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What a kernel's code allows beside other kernels that run at the same time.
#pragma once

#include <cstdint>

#include "term.h"

namespace streamscope {

/// Stored in access.signals.
enum KernelSignals : uint8_t {
  kMaySignal = 1,  ///< it may write a value that another kernel waits for
  kMayWait = 2,    ///< it may wait for one
};

inline constexpr Term kKernelSignals[] = {
    {kMaySignal, "may_signal", "it may write a value that another kernel waits for"},
    {kMayWait, "may_wait", "it may wait for one"},
};

}  // namespace streamscope
