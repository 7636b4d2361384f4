// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Everything a report says, as numbers: one pass of the analyses over a trace, grouped the way
// people ask.
//
// Every format is written from a Summary, so that formats cannot disagree.
#pragma once

#include <map>
#include <vector>

#include "analysis/host_syncs.h"
#include "analysis/overlap.h"
#include "analysis/timeline.h"
#include "analysis/waits.h"
#include "info.h"

namespace streamscope::report {

using trace::Id;
using trace::kNoId;
using trace::Ns;

struct StreamSummary {
  Id stream = kNoId;
  analysis::StreamActivity activity;
  Id first_untimed = kNoId;  ///< first op without a known start and end
  std::map<analysis::WaitCause, Ns>
      waiting;  ///< parts of the stream's idle time; causes without time are absent
  uint64_t record_count = 0;
  uint64_t wait_count = 0;  ///< stream waits issued on it
  uint64_t edge_count = 0;  ///< of these, bound to a record in the trace
};

/// Waits of one kind of work for one kind of work.
struct WaitGroup {
  analysis::WaitCause cause = analysis::WaitCause::kUnknown;
  uint64_t count = 0;
  Ns total_ns = 0;
  Ns longest_ns = 0;
  // Of the longest one:
  Id op = kNoId;
  Id because_op = kNoId;
  Id event_record = kNoId;
  Id event_wait = kNoId;
  Id host_sync = kNoId;
};

/// Ops of one kind and name.
struct OpGroup {
  Id example = kNoId;
  uint64_t count = 0;
  uint64_t timed_count = 0;
  Ns total_ns = 0;
  Ns longest_ns = 0;
  Ns waited_ns =
      0;  ///< gaps before them that an event, the legacy stream or a host synchronization caused
};

/// NVTX ranges of one domain and name.
struct RangeGroup {
  Id domain_id = kNoId;
  Id name_id = kNoId;
  uint64_t count = 0;
  Ns host_ns = 0;         ///< time between push and pop
  uint64_t op_count = 0;  ///< work that the thread issued inside
  Ns device_ns = 0;       ///< how long that work ran, summed
  Ns waited_ns = 0;       ///< gaps before that work, summed, as in OpGroup
};

struct Summary {
  Info info;
  Ns window_ns = 0;                    ///< from the first start to the last end on any device
  std::vector<StreamSummary> streams;  ///< those that did anything, in order of id
  std::vector<WaitGroup> waits;        ///< dearest first
  std::vector<analysis::DeviceOverlap> devices;
  std::vector<analysis::SyncGroup> syncs;  ///< dearest first
  std::vector<OpGroup> ops;                ///< dearest first
  std::vector<RangeGroup> ranges;          ///< dearest first
};

Summary summarize(const trace::Trace& trace);

}  // namespace streamscope::report
