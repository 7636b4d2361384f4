// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The contents of a trace: `streamscope info`, and the headline of every report.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/counts.h"
#include "coordination.h"
#include "iteration.h"
#include "ranks.h"
#include "recording_cost.h"
#include "trace/read/reader.h"

namespace streamscope::report {

using analysis::Counts;

struct LossFact {
  std::string name;
  trace::Severity severity = trace::Severity::kInfo;
  uint64_t count = 0;  ///< 0 if it cannot be counted
  std::string text;    ///< what is missing
  std::string advice;  ///< what to do about it, may be empty
  trace::Id process_id = trace::kNoId;
};

struct Info {
  std::string producer;
  std::string tier;             ///< "" if unknown
  std::string collector;        ///< what saw the calls of the first process, and why; "" if unknown
  std::vector<RankFact> ranks;  ///< of a job that the processes are
  bool complete = false;
  bool unfinished = false;  ///< see trace::is_unfinished()
  trace::Ns duration_ns = 0;
  /// The overhead reported by the recording tools: only part of the cost, not the slowdown.
  trace::Ns overhead_ns = 0;
  RecordingCost recording_cost;
  uint64_t stack_count = 0;  ///< call stacks taken
  trace::Ns stack_ns = 0;    ///< what they cost the program
  Counts counts;
  Coordination coordination;
  std::vector<LossFact> losses;               ///< most severe first; one entry per kind and process
  std::optional<IterationSummary> iteration;  ///< if it was requested; perhaps none was found
};

Info info_of(const trace::Trace& trace);
/// The same if only some tables were read: `counts` and `end_ns` are those of the whole trace.
Info info_of(const trace::Trace& trace, const Counts& counts, trace::Ns end_ns);

/// The JSON of `info --json`; keys are never renamed.
std::string info_json(const Info& info);
std::string info_text(const trace::Trace& trace, const Info& info);

/// The highest severity among the losses; kInfo if there are none.
trace::Severity worst_loss(const Info& info);
/// "complete, nothing lost", "12 records lost", "incomplete, 12 records lost", "unfinished, nothing
/// known to be lost", ...
std::string verdict(const Info& info);
/// "12 call stacks at 3.1 µs each, 37.2 µs in total"; "" if none was taken.
std::string stack_cost(const Info& info);
/// "train.py · 2 processes · NVIDIA H200 · 4.21 s · complete, nothing lost"
std::string headline(const trace::Trace& trace, const Info& info);

}  // namespace streamscope::report
