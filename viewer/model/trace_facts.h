// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What the header, the banner and the inspector say about a trace as a whole. Counts, state and
// losses are those of `streamscope info`; only the wording is defined here.
#pragma once

#include <string>
#include <vector>

#include "trace_model.h"

namespace streamscope::viewer {

struct Fact {
  std::string name, text;
};

/// True if the recording was not finished: it is still running, or its recorder was killed.
bool is_unfinished(const TraceModel& model);
/// "recording…" while it grows, "unfinished" if it was never finished, else "".
std::string state_label(const TraceModel& model, bool is_live);
/// "still being recorded", "complete, nothing lost", "incomplete, 1,204 records lost", ...
std::string state_text(const TraceModel& model, bool is_live);
/// The facts of the header, from left to right.
std::vector<std::string> header_facts(const TraceModel& model, bool is_live);
/// How much is in the trace, one line each; zero counts are left out.
std::vector<Fact> count_facts(const TraceModel& model);
/// What is missing and what to do about it, most severe first; only losses worth reporting.
std::vector<std::string> loss_lines(const TraceModel& model);
/// The warning above the panels; "" if there is nothing to warn about.
std::string warning(const TraceModel& model, bool is_live);

}  // namespace streamscope::viewer
