// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The calls of one process: each becomes one row of api_call, event_record, event_wait or
// host_sync.
//
// Calls that change what a handle or an event means are processed first, by their ends
// (change_identity); then all others, in any order (add). A wait whose binding depends on calls
// that are still in progress is stored unbound and bound later.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "correlations.h"
#include "device_work.h"
#include "event_binding.h"
#include "graphs.h"
#include "identity.h"
#include "objects.h"
#include "operations.h"
#include "record/drain/run_state.h"
#include "record/hang/questions.h"
#include "record/recovery/earlier_rows.h"
#include "record/symbols/stacks.h"
#include "ring/calls.h"
#include "ring/record.h"

namespace streamscope::record {

/// A time after everything.
constexpr uint64_t kNoLimit = std::numeric_limits<uint64_t>::max();

/// The thread that made a call and the call's position in its lane.
struct CallPlace {
  uint32_t lane = 0;
  uint64_t order = 0;
  uint32_t tid = 0;
  trace::Id thread = trace::kNoId;
  trace::Id row = trace::kNoId;  ///< row that represents the call since show(), if any
};

/// Thread-compatible.
class CallRows {
 public:
  CallRows(RunState& run, Objects& objects, Operations& operations, Stacks& stacks,
           DeviceWork& work, Correlations& correlations, const Graphs& graphs, Questions& questions,
           trace::Id process)
      : run_(run),
        objects_(objects),
        operations_(operations),
        stacks_(stacks),
        work_(work),
        correlations_(correlations),
        graphs_(graphs),
        questions_(questions),
        process_(process) {}

  /// Calls that ended up to `ticks` can be bound: every record that may precede them is known.
  /// `horizon`: no call that is not read yet began earlier.
  void set_watermark(uint64_t ticks, uint64_t horizon) {
    watermark_ = ticks;
    horizon_ = horizon;
  }
  void change_identity(const ring::CallRecord& call, const CallPlace& place);
  void add(const ring::CallRecord& call, const CallPlace& place) { store(call, place, true); }
  /// Begin of the first call that is not bound yet.
  uint64_t earliest_deferred() const;
  /// Binds all calls that can be bound now.
  void bind_deferred();

  /// Calls that took effect from `from` to `until` may be missing: stamps as in CallSpan.
  void lose_history(uint64_t from, uint64_t until) { lost_.add(from, until); }
  /// A graph may have recorded events until then.
  void launched_graph(uint64_t end) {
    graphs_launched_until_ = std::max(graphs_launched_until_, end);
  }

  /// A record has been in progress for so long that nothing waits for it any more: it becomes a
  /// candidate of every wait that overlaps it. Returns its row.
  trace::Id open_record(const ring::CallRecord& call, const CallPlace& place);
  /// The end of a call that was passed to open_record().
  void close_record(trace::Id row, const ring::CallRecord& call, const CallPlace& place);
  /// Stores a call that has not ended and returns its row, for CallPlace::row when it does.
  trace::Id show(const ring::CallRecord& call, const CallPlace& place) {
    return store(call, place, false);
  }

  /// Takes over the rows of an earlier writer. Called after the restore() of the other parts.
  void restore(EarlierRows& rows);

 private:
  /// A call that looks at an event.
  template <class Row>
  struct Look : Stored<Row> {
    CallSpan span;
    uint32_t event;
  };

  bool can_bind(const ring::CallRecord& call) const {
    return (call.flags & ring::kVirtualTime) != 0 || call.end <= watermark_;
  }
  trace::Id stream_of(const ring::CallRecord& call, const CallPlace& place) {
    return objects_.stream(call.stream, call.flags, call.context, place.tid, call.begin);
  }
  trace::EventRecord record_row(const ring::CallRecord& call, const CallPlace& place,
                                bool finished);
  void record_event(const ring::CallRecord& call, const CallPlace& place);
  trace::Id store(const ring::CallRecord& call, const CallPlace& place, bool finished);
  /// Stores the row of a call; returns its id.
  template <class Row>
  trace::Id put(const Row& row, const CallPlace& place);
  trace::Id add_api_call(const ring::CallRecord& call, const CallPlace& place, trace::Id stream,
                         bool finished);
  trace::Id add_wait(const ring::CallRecord& call, const CallPlace& place, bool finished);
  trace::Id add_sync(const ring::CallRecord& call, const CallPlace& place, bool finished);
  Bound bind(uint32_t event, const CallSpan& span);
  template <class Row>
  void bind_row(Look<Row>& look);
  /// Stores the row of a call that looks at an event; binds it `now` or later.
  template <class Row>
  trace::Id put_look(const Row& row, const ring::CallRecord& call, const CallPlace& place,
                     uint32_t event, bool now, std::vector<Look<Row>>& deferred);
  /// CUPTI will report the call by a number of its own.
  bool is_correlated(const ring::CallRecord& call) const {
    return (call.flags & ring::kOwnNumber) != 0 && run_.options.tier != Tier::kStructure &&
           ring::issues_work(ring::call_info(call.call).kind);
  }
  /// `stored`: the row of the call; that of an operation of libcoord gets CUPTI's number.
  template <class Row>
  void correlate(const ring::CallRecord& call, const CallPlace& place, const Stored<Row>& stored);
  /// What a successful call of table api_call does: row `id`, on `stream`.
  void follow(const ring::CallRecord& call, const CallPlace& place, CallKind kind, trace::Id id,
              trace::Id stream);
  void issue(const ring::CallRecord& call, trace::OpKind kind, trace::Id call_row,
             trace::Id stream);
  bool may_run_unseen(trace::OpKind kind, uint64_t graph) const {
    return kind == trace::kGraphLaunch && (run_.options.with & ring::kWithGraphNodes) != 0 &&
           graphs_.may_run_unseen(graph);
  }
  void restore_issues(EarlierRows& rows);
  void track_allocation(const ring::CallRecord& call, CallKind kind, trace::Id call_row,
                        trace::Id stream);

  RunState& run_;
  Objects& objects_;
  Operations& operations_;
  Stacks& stacks_;
  DeviceWork& work_;
  Correlations& correlations_;
  const Graphs& graphs_;
  Questions& questions_;
  trace::Id process_;

  uint64_t watermark_ = 0;
  uint64_t horizon_ = 0;
  LostHistory lost_;
  uint64_t graphs_launched_until_ = 0;
  std::vector<Look<trace::EventWait>> deferred_waits_;
  std::vector<Look<trace::HostSync>> deferred_syncs_;
  struct OpenRecord : Stored<trace::EventRecord> {
    uint32_t event;
  };
  std::vector<OpenRecord> open_records_;

  HandleLives allocation_lives_;  // by address
  std::vector<Stored<trace::Allocation>> allocations_;
};

}  // namespace streamscope::record
