// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The report on a job of many ranks as a document and as JSON.
#pragma once

#include <string>
#include <vector>

#include "document.h"
#include "job/job.h"
#include "report/formats/json.h"

namespace streamscope::report {

struct JobReport {
  job::Job job;
  std::vector<std::string> problems;  ///< what is missing or contradictory in the folder of the run
  std::vector<std::string> unfinished;  ///< traces that are
  std::string name;                     ///< of the folder
};

/// Of one rank, means per iteration.
struct RankFacts {
  double iteration_ns = 0;
  double caused_ns = 0;      ///< waiting of all others, because of its own work
  double makes_wait_ns = 0;  ///< of each of them
};

struct JobFacts {
  std::vector<RankFacts> ranks;  ///< by rank row
  size_t iteration_count = 0;
  double waiting_share = 0;       ///< of an iteration, that ranks wait for others: the mean of all
  double least_hidden_share = 1;  ///< of communication, of the rank that hides least
};
JobFacts facts_of(const job::Job& job);

/// "16 ranks on 2 hosts: 49.5 ms an iteration (12 iterations)"
std::string headline(const job::Job& job);
/// What is missing, to be shown first.
std::vector<Notice> notices_of(const JobReport& report);
/// One line for each other host, whose ranks share a clock.
Section clock_section(const job::Job& job);
Json clock_json(const job::RankClock& clock);

inline constexpr size_t kRanksShown = 16;

/// Its table of ranks has those that make others wait most.
Document job_document(const JobReport& report, size_t ranks_shown = kRanksShown);
std::string job_json(const JobReport& report);

}  // namespace streamscope::report
