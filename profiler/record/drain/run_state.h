// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The shared state of all processes of a run while their rings are drained into one trace.
#pragma once

#include <vector>

#include "clock_map.h"
#include "flat_map.h"
#include "losses.h"
#include "record/recovery/id_journal.h"
#include "record/rows/op_order.h"
#include "record/symbols/symbolize.h"
#include "ring/calls.h"
#include "ring/control.h"
#include "text_table.h"
#include "trace/write/writer.h"

namespace streamscope::record {

/// The options of a run; from its control file.
struct RunOptions {
  Tier tier = Tier::kTimes;
  uint32_t with = 0;         ///< ring::With bits
  bool newest_only = false;  ///< the rings are a flight recorder's
  bool on_demand = false;    ///< processes are off until they report that they record
};

/// A row of the trace that may still change.
template <class Row>
struct Stored {
  Row row;
  trace::Id id = trace::kNoId;
};

/// Thread-compatible.
struct RunState {
  RunState(trace::Writer& trace_writer, ring::ClockKind clock_kind, int64_t trace_start_ns,
           RunOptions wanted)
      : writer(trace_writer),
        texts(trace_writer, journal),
        losses(trace_writer),
        ops(trace_writer),
        clock(clock_kind, trace_start_ns),
        options(wanted),
        call_names(ring::call_count(), trace::kNoId) {}

  template <class Row>
  Stored<Row> add(const Row& row) {
    return {row, writer.append(row)};
  }
  template <class Row>
  void update(const Stored<Row>& stored) {
    writer.update(stored.id, stored.row);
  }
  /// String id of a call's name.
  trace::Id call_name(ring::CallId call) {
    trace::Id& id = call_names[call];
    if (id == trace::kNoId) id = writer.intern(ring::call_info(call).name);
    return id;
  }
  /// A stamp of a record on the trace clock.
  trace::Ns to_ns(uint64_t stamp, uint8_t flags) const {
    return (flags & ring::kVirtualTime) != 0 ? static_cast<trace::Ns>(stamp) : clock.to_ns(stamp);
  }
  /// A device time of a record on the trace clock; NULL for 0.
  trace::Ns device_ns(int64_t ns, uint8_t flags) const {
    if ((flags & ring::kVirtualTime) != 0) return ns;
    return ns == 0 ? trace::kUnknownNs : clock.from_monotonic(ns);
  }

  trace::Writer& writer;
  IdJournal journal;
  TextTable texts;
  Losses losses;
  OpOrder ops;
  ClockMap clock;
  RunOptions options;
  CodeNames code_names;                  // processes of a run usually have the same files
  std::vector<trace::Id> call_names;     // by CallId
  FlatMap<uint64_t, trace::Id> devices;  // by uuid text
  uint64_t began = 0;                    // ticks
  uint64_t records = 0;                  // read from rings
  bool finishing = false;                // this is the last read of the rings
  int64_t stack_count = 0;               // call stacks that ended processes took
  trace::Ns stack_ns = 0;                // and their cost
};

}  // namespace streamscope::record
