// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The cost of recording, as reports show it. It is not measured in a run. This is the only place
// that defines the typical figures for report, info and HTML page; they are those of
// docs/performance.md.
#pragma once

#include <string>
#include <string_view>

#include "trace/read/reader.h"

namespace streamscope::report {

/// The cost of recording at a tier for host-bound programs. It is lower, down to zero, if the host
/// is ahead of the device.
struct TypicalCost {
  std::string_view tier;     ///< as in meta and --tier
  std::string_view pytorch;  ///< share of a host-bound PyTorch step
  std::string_view call;     ///< per call in a loop that only launches, records and waits
};

/// nullptr for a tier without measurements.
const TypicalCost* typical_cost(std::string_view tier);

/// "recording cost not measured (typically 13 to 25 % if host-bound)"; "" in virtual time, where
/// recording costs nothing.
std::string recording_cost(const trace::Trace& trace);

}  // namespace streamscope::report
