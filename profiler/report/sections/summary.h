// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// All numbers of a report: one pass of the analyses over a trace, grouped as readers need them.
//
// Every format is written from a Summary, so that formats cannot disagree.
#pragma once

#include <map>
#include <vector>

#include "analysis/delay/wait_groups.h"
#include "analysis/detector.h"
#include "analysis/hang/wait_graph.h"
#include "analysis/iterations/iteration_sums.h"
#include "analysis/stream_ops.h"
#include "analysis/usage/host_syncs.h"
#include "info.h"
#include "iteration.h"
#include "trace/ns_math.h"

namespace streamscope::report {

using trace::Id;
using trace::kNoId;
using trace::Ns;

struct StreamSummary {
  Id stream = kNoId;
  analysis::StreamActivity activity;
  uint64_t unfinished_count = 0;  ///< ops without an end, in a trace with times
  Id first_unfinished = kNoId;    ///< the first of these
  analysis::StreamSums sums;
  uint64_t record_count = 0;
  uint64_t wait_count = 0;  ///< stream waits issued on it
  uint64_t edge_count = 0;  ///< of these, bound to a record in the trace
};

/// Gaps before ops: how long their streams had nothing to run, by cause.
struct Gaps {
  std::map<streamscope::WaitCause, Ns> by_cause;  ///< no entry without time
  Ns waited_ns = 0;                               ///< the part in which the program delayed the ops

  void add(const analysis::WaitPart& part);
  Ns total_ns() const;
  /// The cause of the largest part; kUnknown if there is no gap.
  streamscope::WaitCause mostly() const;
};

/// Ops of one kind and name.
struct OpGroup {
  Id example = kNoId;
  uint64_t count = 0;
  uint64_t timed_count = 0;
  Ns total_ns = 0;
  Ns longest_ns = 0;
  Gaps gaps;
};

/// NVTX ranges of one domain and name.
struct RangeGroup {
  Id domain_id = kNoId;
  Id name_id = kNoId;
  uint64_t count = 0;
  Ns host_ns = 0;              ///< time between push and pop
  uint64_t op_count = 0;       ///< work that was issued inside
  uint64_t foreign_count = 0;  ///< of that, issued by other threads
  Ns device_ns = 0;            ///< total run time of that work
  Gaps gaps;                   ///< before that work
  std::vector<OpGroup> ops;    ///< that work, most costly first
};

/// How long the critical path is, and the share of each part.
std::string path_sentence(const analysis::PathSums& path);

/// "SS201 stream-race".
std::string rule_name(const analysis::Detector& detector);

/// A finding and its detector.
struct Advice {
  analysis::FindingSeverity severity() const { return severity_of(*detector, finding); }
  bool is_possible() const { return finding.confidence == analysis::Confidence::kPossible; }
  /// True for a warning that became a note because it costs less than 1 % of an iteration.
  bool is_small() const {
    return !is_possible() && severity() == analysis::FindingSeverity::kNote &&
           detector->severity != analysis::FindingSeverity::kNote;
  }

  const analysis::Detector* detector = nullptr;
  analysis::Finding finding;
  bool known = false;            ///< in the baseline of a check
  std::string fingerprint = {};  ///< of a check: identifies it in every run
  bool repeats = false;  ///< about synchronizations that a finding before it is about as well
};

/// All findings: errors, warnings, notes, then possible ones; within each group the most costly,
/// then the most frequent first, and those that repeat one before them last. But one whose repair
/// another one needs comes before that. `steady_syncs`: the synchronizations of the iterations
/// (analysis::SteadySyncs), ascending; empty if there are none.
std::vector<Advice> by_weight(std::vector<analysis::Verdict> verdicts,
                              std::span<const trace::Id> steady_syncs);

/// One line that sums up the possible findings among these: "3 possible findings (2 stream-race,
/// 1 use-after-free), ...". Empty if there are none.
std::string possible_line(const std::vector<Advice>& findings);

struct Summary {
  /// The place in the program, "" if unknown.
  std::string call_site(Id stack) const {
    return stack < call_sites.size() ? call_sites[stack] : "";
  }

  Info info;
  IterationSummary iteration;
  std::string no_iterations;  ///< why there are none; "" where nobody would expect or wants any
  /// Errors, then warnings, by gain; without notes.
  std::vector<Advice> advice;
  /// Warnings that became notes because they cost less than 1 % of an iteration.
  std::vector<Advice> small;
  std::vector<Advice> possible;            ///< possible findings
  Ns window_ns = 0;                        ///< from the first start to the last end on any device
  std::vector<StreamSummary> streams;      ///< those with any activity, by id
  std::vector<analysis::WaitGroup> waits;  ///< most costly in the steady part first
  std::vector<analysis::DeviceOverlap> devices;
  std::vector<std::string> call_sites;     ///< per stack; see analysis/call_sites.h
  std::vector<analysis::SyncGroup> syncs;  ///< most costly in the steady part first
  std::vector<OpGroup> ops;                ///< most costly first
  std::vector<RangeGroup> ranges;          ///< most costly first
  analysis::PathSums path;
  analysis::WaitGraph hang;  ///< who waited for whom at the end; empty if every call returned
};

Summary summarize(const trace::Trace& trace, const analysis::IterationRequest& request = {});

}  // namespace streamscope::report
