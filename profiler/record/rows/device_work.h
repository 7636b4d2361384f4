// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The ops of one process: work that calls put on streams, combined with the device's reports.
//
// A report names its call by CUPTI's number. Calls that callbacks told have the same number; for
// those that wrappers recorded, correlate() leads to the collector's.
#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <vector>

#include "objects.h"
#include "operations.h"
#include "record/drain/flat_map.h"
#include "record/drain/run_state.h"
#include "ring/record.h"

namespace streamscope::record {

/// A call that puts work on a stream.
struct Issue {
  trace::OpKind kind = trace::kKernel;
  bool virtual_time = false;
  /// Nothing is missing if the device never reports it (a copy of 0 bytes, or between host
  /// memories).
  bool silent = false;
  /// Nothing is missing if the device never reports it, although it ran (a graph that only
  /// allocates, reported node by node).
  bool unseen = false;
  bool own_number = false;  ///< `call_number` is not CUPTI's
  uint32_t call_number = 0;
  trace::Id call = trace::kNoId;  ///< row of api_call
  trace::Id stream = trace::kNoId;
  trace::Id operation = trace::kNoId;
  trace::Id name = trace::kNoId;
  trace::Int bytes = trace::kNoInt;
  trace::Small detail = trace::kNoSmall;
  trace::Small memory_kinds = trace::kNoSmall;
  trace::Id row = trace::kNoId;  ///< of the op, if it is stored already, without times
};

struct Span {
  trace::Ns begin, end;
};

/// Thread-compatible.
class DeviceWork {
 public:
  DeviceWork(RunState& run, Objects& objects, trace::Id process)
      : run_(run), objects_(objects), process_(process) {}

  void issue(const Issue& issue);
  void describe(const ring::OpRecord& record);
  /// CUPTI's number of the work of this call. After issue().
  void correlate(uint32_t correlation_id, uint32_t call_number);
  /// CUPTI's number of work whose call was not recorded.
  void lacks_call(uint32_t correlation_id, Span call);
  /// Recording pauses: calls until resume() are not missing.
  void pause(trace::Ns from) {
    if (pauses_.empty() || pauses_.back().end != kStillOn) pauses_.push_back({from, kStillOn});
  }
  void resume(trace::Ns until) {
    if (!pauses_.empty()) pauses_.back().end = until;
  }
  /// False if it names no shape.
  bool describe(const ring::LaunchShapeRecord& record);

  /// Drops the calls of reports that arrived long ago. Called after each pass over the rings.
  /// `read`: all calls that began earlier have been read.
  void give_up_unmatched(trace::Ns read);
  /// Issues that were not reported, in their order.
  std::vector<Issue*> unreported();
  /// Stores what is issued and not yet reported, without times; these are added later.
  void show();
  /// Nothing more will arrive: stores what was issued and never reported, without times, and counts
  /// it as lost.
  void finish();

  /// Take over from an earlier writer: the row of a shape, and what may not be reported yet.
  void restore_shape(uint32_t shape, trace::Id row) { shapes_.insert_or_assign(shape, row); }
  void restore_number(uint32_t correlation_id, uint32_t call_number) {
    correlate(correlation_id, call_number);
  }
  /// Calls take(correlation id, call number) for the work that is not reported yet.
  template <class Take>
  void each_number(Take take) {
    numbers_.for_each([&](uint32_t correlation_id, uint32_t call_number) {
      const Pending* pending = pending_.find(call_number);
      if (pending != nullptr && !pending->reported) take(correlation_id, call_number);
    });
  }
  void restore(const Issue& issued) {
    if (expects_report(issued)) issue(issued);
  }

 private:
  // Calls are kept for this many further reports after their first, as some are reported in several
  // pieces.
  static constexpr size_t kRecent = 4096;
  // A report arrives with its call or later, or the call was never traced.
  static constexpr trace::Ns kPatienceNs = 1'000'000'000;

  // Work that no recorded call issued is known for this many reports.
  static constexpr size_t kMostUnissued = 1 << 16;

  struct Pending {
    Issue issue;
    bool reported = false;
    uint32_t correlation_id = ring::kNone32;  // with a number of its own
  };
  static constexpr trace::Ns kStillOn = std::numeric_limits<trace::Ns>::max();
  struct Unmatched {
    uint32_t correlation_id;
    trace::Ns since;
  };
  /// The numbers of calls whose work was reported or may never be; each addition drops the oldest.
  struct Recent {
    std::vector<uint32_t> ids = std::vector<uint32_t>(kRecent, 0);
    size_t next = 0;
  };
  /// True if the device will report it.
  bool expects_report(const Issue& issue) const;
  void forget_later(Recent& recent, uint32_t call_number);
  /// Stores an op, or adds the times to its existing row.
  void store(const ring::OpRecord& record, Issue* issue);
  bool match(const ring::OpRecord& record);
  void erase(uint32_t call_number);
  /// Whether a call that was not recorded should have been.
  bool is_missed(Span call) const;
  /// Processes what the device reported before the call was read.
  void take_early(uint32_t correlation_id);
  void store_unmatched(uint32_t correlation_id);
  trace::Id shape(uint32_t shape);

  RunState& run_;
  Objects& objects_;
  trace::Id process_;
  SequenceMap<Pending> pending_;          // by call number
  Recent recent_;                         // call numbers
  Recent recent_graphs_;                  // reported node by node, which may take long
  FlatMap<uint32_t, uint32_t> numbers_;   // call numbers of pending_ by correlation id
  FlatMap<uint32_t, Span> unissued_;      // calls of work that were not recorded, by the same
  std::deque<uint32_t> oldest_unissued_;  // its keys, in order of arrival
  std::vector<Span> pauses_;
  int64_t missed_ = 0;     ///< work of calls that were not recorded
  int64_t not_ended_ = 0;  ///< work for which the device reported no end
  FlatMap<uint32_t, std::vector<ring::OpRecord>> early_;  // reports without a call, by its id
  std::deque<Unmatched> unmatched_;                       // their ids, in order of arrival
  size_t newly_unmatched_ = 0;                            // the last ones of these
  FlatMap<uint32_t, trace::Id> shapes_;
};

}  // namespace streamscope::record
