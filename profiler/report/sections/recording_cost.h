// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What a report says about the cost of recording. It is not measured in a run; the typical figures
// are those of docs/performance.md, here in the one place that report, info and page take them
// from.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "trace/reader.h"

namespace streamscope::report {

/// What recording at a tier costs programs that wait for nothing but their own calls. Programs
/// whose host is ahead of the device pay less, down to nothing.
struct TypicalCost {
  std::string_view tier;     ///< as in meta and --tier
  std::string_view pytorch;  ///< share of a step of PyTorch in which the host is the limit
  std::string_view call;     ///< per call of a loop that only launches, records and waits
};

/// nullptr for a tier that nobody measured.
const TypicalCost* typical_cost(std::string_view tier);

/// "recording cost not measured (typically 13 to 25 % where the host is the limit)"; "" where
/// recording costs nothing: in virtual time.
std::string recording_cost(const trace::Trace& trace);

}  // namespace streamscope::report
