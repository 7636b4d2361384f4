// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The analysis of a simulated job.
#pragma once

#include "job/simulated_job.h"
#include "job/small_job.h"
#include "report/sections/job_document.h"

namespace streamscope::report {

inline JobReport job_with(job::Fault fault, int ranks = 16) {
  const job::SimulatedJob job =
      job::simulate({.ranks = ranks, .tensor = 2, .iterations = 12, .fault = fault, .seed = 7});
  return {.job = job::analyze(job::SmallJob::steps_of(job.summaries)), .name = "run"};
}

}  // namespace streamscope::report
