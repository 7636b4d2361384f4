// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// How far the clocks of hosts are apart, as mpi/clock_offsets.c has measured by messages between
// them: clock-offsets.jsonl in the folder of a run.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "trace/model.h"

namespace streamscope::job {

using trace::Ns;

/// At `at_ns` of the clock of `host`, Unix time, it is between `lower_ns` and `upper_ns` ahead of
/// the clock of `reference`.
struct ClockOffset {
  std::string reference, host;
  Ns at_ns = 0;
  Ns lower_ns = 0, upper_ns = 0;
};

/// In the order of the file; empty if there is none. Lines that are cut off or unknown say nothing.
/// Throws Error if the file cannot be read.
std::vector<ClockOffset> read_clock_offsets(const std::filesystem::path& folder);

}  // namespace streamscope::job
