// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// How much a loss matters.
#pragma once

#include <cstdint>

namespace streamscope {

/// Stored in traces, in loss.severity: append only.
enum class Severity : int32_t { kInfo = 0, kNotice, kDataLoss, kError };

}  // namespace streamscope
