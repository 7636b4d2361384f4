// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The report on a job of many ranks as a document and as JSON.
#pragma once

#include <string>
#include <vector>

#include "document.h"
#include "job/job.h"

namespace streamscope::report {

struct JobReport {
  job::Job job;
  std::vector<std::string> problems;  ///< what is missing or contradictory in the folder of the run
};

Document job_document(const JobReport& report);
std::string job_json(const JobReport& report);

}  // namespace streamscope::report
