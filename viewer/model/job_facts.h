// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What tooltips and the inspector say about a rank of a job and what it did.
#pragma once

#include <string>
#include <vector>

#include "job_model.h"
#include "trace_facts.h"

namespace streamscope::viewer {

/// "all-reduce 17 of dp0"; "work before all-reduce 17 of dp0".
std::string title_of(const JobModel& job, StepPart part);
/// "all-reduce dp0": what fits into a bar.
std::string short_title_of(const JobModel& job, StepPart part);
/// Rank, iteration, duration, what it was, where it is from, who waited for whom, and its place on
/// the critical path.
std::vector<Fact> facts_of(const JobModel& job, StepPart part);
/// The rank that arrived last in the same collective, if another one; nothing for work.
StepPart late_part(const JobModel& job, StepPart part);

/// Of a run that grows: "running, 3 of 4 ranks, updated 5 s ago". "" if it has ended.
std::string running_text(const JobModel& job, std::chrono::steady_clock::time_point now);

/// "rank 5", "ranks 0-4 and 6-15".
std::string name_of_row(const JobModel& job, const ShownRank& row);
/// What is below it: "makes others wait 8.73 ms, waits 1.2 ms".
std::string detail_of_row(const JobModel& job, const ShownRank& row);
/// What a tooltip adds: host, trace, clock, and what a click does.
std::vector<std::string> hints_of_row(const JobModel& job, const ShownRank& row);
/// Whether its own work makes others wait for much of an iteration.
bool is_late(const JobModel& job, const ShownRank& row);
/// What a rank makes each of the others wait, per iteration.
Ns late_ns(const JobModel& job, uint32_t rank_row);

}  // namespace streamscope::viewer
