// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What the folder of a run contains: `streamscope info DIR`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "document.h"
#include "job/files/run_folder.h"
#include "job/job.h"

namespace streamscope::report {

struct RankFile {
  job::RankIdentity identity;
  uint64_t bytes = 0;                     ///< of its trace
  std::optional<size_t> iteration_count;  ///< in its summary; nothing if there is no current one
};

struct JobInfo {
  std::string name;  ///< of the folder
  job::RunFolder run;
  std::vector<RankFile> ranks;
  job::Job job;  ///< of the ranks with a summary
};

Document job_info_document(const JobInfo& info);
/// The JSON of `info --json`; keys are never renamed.
std::string job_info_json(const JobInfo& info);

}  // namespace streamscope::report
