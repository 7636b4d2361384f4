// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The summaries of the ranks of a run. Each lies beside its trace; one that is older than the trace
// is made again.
#pragma once

#include <filesystem>
#include <functional>
#include <vector>

#include "analysis/iterations/iterations.h"
#include "files/run_folder.h"
#include "steps.h"
#include "trace/read/reader.h"

namespace streamscope::job {

/// The first trace of each rank, by number. Throws Error if there is none.
std::vector<RankIdentity> first_traces(const RunFolder& run, const std::filesystem::path& folder);

/// The summary that lies beside a trace; false if it is older, or not of this version.
bool read_stored(const std::filesystem::path& trace, RankSummary& summary);

/// Reads a trace of which the summary has to be made.
using ReadTrace = std::function<trace::Trace(const std::filesystem::path&)>;

/// Makes the summary of a rank; false if it was there. Throws Error if it cannot be written.
bool make_summary(const std::filesystem::path& folder, const RankIdentity& identity,
                  const ReadTrace& read);

/// The steps of all ranks, and what the folder says of the clocks of hosts. Summaries that have to
/// be made are kept if the folder can be written and `request` is the usual one. `progress` gets
/// the share of ranks that are read; where it returns false, Error "cancelled" is thrown.
Steps read_steps(const std::filesystem::path& folder, const std::vector<RankIdentity>& ranks,
                 const analysis::IterationRequest& request, const ReadTrace& read,
                 const std::function<bool(double)>& progress = {});

/// Of summaries that `add_all` adds; once more where their steady parts have little in common.
Steps steps_of(const std::function<void(StepReader&)>& add_all);

}  // namespace streamscope::job
