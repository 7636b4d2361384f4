// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Follows a rank while it is recorded: its note for the other ranks, and the verdict on the job.
#pragma once

#include <filesystem>
#include <memory>

#include "record/hang/hang_options.h"

namespace streamscope::cli {

/// Of the rank of this process, whose trace is in the folder of a run; nullptr: it has no rank, or
/// is the only one. `timeout_s`: as --hang-timeout. Prints verdicts on standard error.
std::unique_ptr<record::RankFollower> follow_rank(const std::filesystem::path& trace,
                                                  double timeout_s);

}  // namespace streamscope::cli
