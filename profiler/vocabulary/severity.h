// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// How much a loss matters.
#pragma once

#include <cstdint>

#include "term.h"

namespace streamscope {

/// Stored in traces, in loss.severity: append only.
enum class Severity : int32_t { kInfo = 0, kNotice, kDataLoss, kError };

inline constexpr Term kSeverities[] = {
    {Severity::kInfo, "info"},
    {Severity::kNotice, "notice"},
    {Severity::kDataLoss, "data_loss"},
    {Severity::kError, "error"},
};
constexpr std::string_view to_string(Severity severity) { return name_of(kSeverities, severity); }

}  // namespace streamscope
