// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Which call issued what a device reports, for calls that wrappers recorded.
//
// A report names its call by the number that CUPTI gave a call of the driver. CUPTI also reports
// that call, with its thread and its interval, and one thread makes one call at a time: so it is
// the recorded call of that thread that contains the middle of the interval. The middle, because
// the recorded stamps are converted from another clock, with an error of some ten nanoseconds.
#pragma once

#include <cstdint>
#include <deque>

#include "device_work.h"
#include "record/drain/flat_map.h"
#include "record/drain/run_state.h"
#include "ring/record.h"

namespace streamscope::record {

/// Thread-compatible.
class Correlations {
 public:
  Correlations(RunState& run, DeviceWork& work) : run_(run), work_(work) {}

  /// A call that has ended. The calls of a thread are added by their times, those that change
  /// identities (`is_identity`) apart from the others.
  struct Call {
    trace::Ns begin = 0, end = 0;
    uint32_t number = 0;
  };
  void add(uint32_t tid, bool is_identity, const Call& call);
  /// CUPTI's number of a call of the driver. False if it names no function.
  bool describe(const ring::CorrelationRecord& record);

  /// The row of a call that shall get CUPTI's number too, once it is known.
  void keep_row(uint32_t number, const Stored<trace::ApiCall>& row) { keep(calls_, number, row); }
  void keep_row(uint32_t number, const Stored<trace::EventRecord>& row) {
    keep(records_, number, row);
  }

  /// All calls that began before `read` are added: numbers from before that wait have no call.
  void give_up(trace::Ns read);
  /// Nothing more will arrive: numbers that still wait have no call, and no call is kept.
  void finish();

 private:
  // A number is reported at most some flushes after its call, among those of the calls before it.
  // Nothing may ever be reported, and records of events are not unless libcoord is in use.
  static constexpr size_t kMostCalls = 1 << 20, kMostIdentities = 1 << 16;  // of a thread
  static constexpr size_t kKept = 4096;  // before the latest call that got a number
  static constexpr size_t kMostRows = 1 << 16;

  struct Number {
    Span call;  // of the driver
    uint32_t correlation_id;
  };
  struct Named {
    uint32_t call_number, correlation_id;
  };
  struct Thread {
    std::deque<Call> calls;
    std::deque<Number> waiting;  // for calls that are not added yet
    std::deque<Named> named;     // the same, whose call numbers are known
  };

  Thread& thread(uint32_t tid, bool is_identity) {
    return threads_.get(pair_key(is_identity, tid));
  }
  /// False if the call may still be added.
  bool resolve(Thread& thread, const Number& number);
  void correlate(uint32_t correlation_id, uint32_t call_number);

  template <class Row>
  using Rows = FlatMap<uint32_t, Stored<Row>>;
  template <class Row>
  static void keep(Rows<Row>& rows, uint32_t number, const Stored<Row>& row) {
    if (rows.size() < kMostRows) rows.insert_or_assign(number, row);
  }
  template <class Row>
  void number_row(Rows<Row>& rows, uint32_t call_number, uint32_t correlation_id);

  RunState& run_;
  DeviceWork& work_;
  FlatMap<uint64_t, Thread> threads_;  // by pair_key(is_identity, tid)
  Rows<trace::ApiCall> calls_;         // by call number
  Rows<trace::EventRecord> records_;
};

}  // namespace streamscope::record
