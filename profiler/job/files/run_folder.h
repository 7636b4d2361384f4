// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The traces of a folder that `record --run` or `import --run` has made: which rank each is, and
// what is missing. Reads a few rows of each trace, so it is fast for thousands.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "rank_summary.h"

namespace streamscope::job {

struct RunFolder {
  int32_t world_size = -1;           ///< -1: not known
  std::vector<RankIdentity> ranks;   ///< by rank; one for each trace and rank in it
  std::vector<RankIdentity> others;  ///< traces without a rank of the job, such as of a launcher
  /// What is missing, doubled or contradictory, in sentences: "rank 3 of 8 has no trace". Empty if
  /// nothing is.
  std::vector<std::string> problems;
  std::vector<std::string> unfinished;  ///< file names of traces
};

/// The names of the traces in a folder, sorted.
std::vector<std::string> traces_in(const std::filesystem::path& folder);

/// All processes that a task of Slurm starts share its number, so where ranks have other numbers a
/// process with this one is no rank but a launcher.
bool is_from_slurm(const RankIdentity& identity);

/// Throws Error if there is no such folder or it has no trace.
RunFolder read_run_folder(const std::filesystem::path& folder);

}  // namespace streamscope::job
