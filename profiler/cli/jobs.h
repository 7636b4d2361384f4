// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Commands on the folder of a run, which has a trace of each rank.
#pragma once

#include <filesystem>
#include <string>

#include "report/sections/job_document.h"

namespace streamscope::cli {

/// The summary of a rank lies beside its trace; one that is older than the trace is made again.
report::JobReport load_job(const std::filesystem::path& folder, const std::string& iteration,
                           bool quiet);

/// Makes the summaries that are missing or old. Processes that MPI or Slurm started share the work,
/// each with the ranks that are its own by number; returns how many it has made.
size_t summarize_run(const std::filesystem::path& folder, bool quiet);

/// Explains which rank keeps the job from going on, if any does; an exit code.
int report_job_hang(const std::filesystem::path& folder, bool quiet);

}  // namespace streamscope::cli
