// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Commands on the folder of a run, which has a trace of each rank.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "analysis/assertions/evaluate.h"
#include "report/sections/job_document.h"
#include "report/sections/job_info.h"

namespace streamscope::cli {

/// What help says of an argument that is a trace or such a folder.
inline constexpr char kTraceOrRun[] = "a recorded trace, or the folder of a run of many ranks";
/// True for such a folder, false for a trace.
bool is_run(const std::filesystem::path& argument);

/// Waits up to `seconds` for the recorders of all traces to finish.
void wait_for_run(const std::filesystem::path& folder, double seconds);

/// The folder with the first trace of each rank, in the order of ranks.
job::RunFolder read_run(const std::filesystem::path& folder);
/// The summary of a rank lies beside its trace; one that is older than the trace is made again.
report::JobReport load_job(const std::filesystem::path& folder, const job::RunFolder& run,
                           const std::string& iteration, bool quiet);
report::JobReport load_job(const std::filesystem::path& folder, const std::string& iteration,
                           bool quiet);

/// Reports on standard error which ranks stay on the clock of their host.
void report_refused_clocks(const job::Job& job);

/// What the folder contains. Reads the summaries that are there, and makes none.
report::JobInfo read_job_info(const std::filesystem::path& folder);

/// Evaluates assertions on the trace of each rank, one after the other.
std::vector<analysis::AssertionResult> evaluate_on_ranks(
    const std::filesystem::path& folder, const job::RunFolder& run,
    const std::vector<analysis::Assertion>& assertions, const analysis::IterationRequest& iteration,
    bool quiet);

/// Makes the summaries that are missing or old. Processes that MPI or Slurm started share the work,
/// each with the ranks that are its own by number; returns how many it has made.
size_t summarize_run(const std::filesystem::path& folder, bool quiet);

}  // namespace streamscope::cli
