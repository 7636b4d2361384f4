// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Everything a report says, as numbers: one pass of the analyses over a trace, grouped the way
// people ask.
//
// Every format is written from a Summary, so that formats cannot disagree.
#pragma once

#include <map>
#include <vector>

#include "analysis/delay/overlap.h"
#include "analysis/delay/wait_groups.h"
#include "analysis/detector.h"
#include "analysis/hang/wait_graph.h"
#include "analysis/timeline.h"
#include "analysis/usage/host_syncs.h"
#include "info.h"
#include "trace/ns_math.h"

namespace streamscope::report {

using trace::Id;
using trace::kNoId;
using trace::Ns;

struct StreamSummary {
  Id stream = kNoId;
  analysis::StreamActivity activity;
  uint64_t unfinished_count = 0;  ///< ops without an end in a trace with times
  Id first_unfinished = kNoId;    ///< the first of these
  std::map<streamscope::WaitCause, Ns>
      waiting;  ///< parts of the stream's idle time; causes without time are absent
  uint64_t record_count = 0;
  uint64_t wait_count = 0;  ///< stream waits issued on it
  uint64_t edge_count = 0;  ///< of these, bound to a record in the trace
};

/// Gaps before ops: how long their streams had nothing to run, by what they waited for.
struct Gaps {
  std::map<streamscope::WaitCause, Ns> by_cause;  ///< causes without time are absent
  Ns waited_ns = 0;  ///< of these, in which something that the program did held the ops up

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
  uint64_t foreign_count = 0;  ///< of that, issued by other threads than that of the range
  Ns device_ns = 0;            ///< how long that work ran, summed
  Gaps gaps;                   ///< before that work
  std::vector<OpGroup> ops;    ///< that work, most costly first
};

/// What the critical path consists of.
struct PathSummary {
  Ns kernel_ns = 0;
  Ns copy_ns = 0;       ///< memsets included
  Ns other_ns = 0;      ///< graph launches, host functions, memory operations
  Ns host_sync_ns = 0;  ///< from the end of the work waited for to the return of the host
  Ns launch_ns = 0;     ///< host work before the next launch
  Ns gap_ns = 0;        ///< hand-overs between ops
  Ns total_ns() const {
    Ns total = 0;
    for (const Ns part : {kernel_ns, copy_ns, other_ns, host_sync_ns, launch_ns, gap_ns})
      trace::add_to(total, part);
    return total;
  }
};

/// A finding and who found it.
struct Advice {
  analysis::FindingSeverity severity() const { return severity_of(*detector, finding); }
  bool is_possible() const { return finding.confidence == analysis::Confidence::kPossible; }

  const analysis::Detector* detector = nullptr;
  analysis::Finding finding;
  bool known = false;  ///< in the baseline of a check
};

/// All findings: errors before warnings before notes, possible ones last; within these, the most
/// costly, then the most frequent first.
std::vector<Advice> by_weight(std::vector<analysis::Verdict> verdicts);

/// One line that stands for the possible findings among these: "3 possible findings (2 stream-race,
/// 1 use-after-free): ...". Empty if there are none.
std::string possible_line(const std::vector<Advice>& findings);

struct Summary {
  /// Where in the program, "" if unknown.
  std::string call_site(Id stack) const {
    return stack < call_sites.size() ? call_sites[stack] : "";
  }

  Info info;
  /// What to do something about: errors, then warnings by gain; without notes.
  std::vector<Advice> advice;
  std::vector<Advice> possible;            ///< findings that are only possible
  Ns window_ns = 0;                        ///< from the first start to the last end on any device
  std::vector<StreamSummary> streams;      ///< those that did anything, in order of id
  std::vector<analysis::WaitGroup> waits;  ///< most costly first
  std::vector<analysis::DeviceOverlap> devices;
  std::vector<std::string> call_sites;     ///< per stack; see analysis/call_sites.h
  std::vector<analysis::SyncGroup> syncs;  ///< most costly first
  std::vector<OpGroup> ops;                ///< most costly first
  std::vector<RangeGroup> ranges;          ///< most costly first
  PathSummary path;
  analysis::WaitGraph hang;  ///< who waited for whom at the end; empty if every call returned
};

Summary summarize(const trace::Trace& trace);

}  // namespace streamscope::report
