// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The folder that the recorders of one job share: whose it is, and the name of each rank's trace.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

#include "options.h"
#include "session.h"
#include "vocabulary/rank.h"

namespace streamscope::record {

/// Names the job, where the scheduler does not: recorders with the same text belong together.
inline constexpr char kJobVariable[] = "STREAMSCOPE_JOB";

/// A job, as one of its recorders sees it.
struct Job {
  std::string name;
  bool is_given =
      false;  ///< by the scheduler, the launcher or the user; else by the parent process
};
/// The job of `process`, whose environment is ours.
Job job_of(pid_t process, const RankClaim& claim);

/// Creates the folder if nobody has, and joins the job in it. Throws Error if it has traces of
/// another job; `force` removes those instead.
void join_job(const std::filesystem::path& folder, const Job& job, const RankClaim& claim,
              bool force);

/// Of this host, as a part of file names.
std::string host_name();

/// The rank of this process, by its environment.
RankClaim own_rank();

/// Names for the trace of a process, the preferred one first: rank-00003.sqlite,
/// rank-00003-HOST-PID.sqlite; without a rank no-rank-HOST-PID.sqlite.
std::vector<std::filesystem::path> trace_names(const std::filesystem::path& folder,
                                               const RankClaim& claim, pid_t process);

/// Of the trace of `process` in `options.run`, under the first name that no other trace has.
/// `member`: the process whose parent is the launcher of the job. Throws Error.
Session open_rank_session(const Options& options, pid_t process, pid_t member);

}  // namespace streamscope::record
