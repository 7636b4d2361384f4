// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Finds the record that a wait of an imported trace refers to, and says whether that is certain.
//
// Other tools name the record by a number of their own, by the call that made it, by an event, or
// not at all. This is certain only while no other thread recorded the same event meanwhile; then it
// is one of several candidates, as in our own recordings. The call is trusted least: Kineto before
// April 2026 names the record of the event that it happened to read last.
#pragma once

#include <unordered_map>
#include <vector>

#include "trace/model.h"

namespace streamscope::import {

using trace::Id;
using trace::Int;
using trace::kNoId;
using trace::kNoInt;
using trace::Ns;

/// A call that records an event; its place in the list is the id of its row.
struct RecordCall {
  Id process = kNoId, thread = kNoId;
  Ns start_ns = 0, end_ns = 0;
  Id event = kNoId;       ///< row of event; kNoId if the file does not say
  Int instance = kNoInt;  ///< number of exactly this record, unique in the process
  Int correlation = kNoInt;
};

/// A call that waits for or queries an event.
struct LookCall {
  Id process = kNoId, thread = kNoId;
  Ns start_ns = 0, end_ns = 0;
  Id event = kNoId;
  Int instance = kNoInt;            ///< identifies the record, if the file has it
  Int record_correlation = kNoInt;  ///< or by the call that made it
};

struct Bound {
  trace::Small binding = trace::kUnknownHistory;
  Id record = kNoId;           ///< only if exact
  std::vector<Id> candidates;  ///< only if ambiguous
};

class Pairing {
 public:
  /// `records` in order of start. Must outlive the pairing.
  explicit Pairing(const std::vector<RecordCall>& records);

  Bound bind(const LookCall& look) const;

 private:
  Id numbered(const LookCall& look) const;
  Id newest(const LookCall& look) const;
  Id named(const LookCall& look) const;

  const std::vector<RecordCall>& records_;
  std::unordered_map<uint64_t, Id> by_instance_, by_correlation_;
  std::unordered_map<Id, std::vector<Id>> by_event_;
  std::unordered_map<Id, bool> process_is_known_;  // every record of it names its event
  Ns longest_ns_ = 0;
};

}  // namespace streamscope::import
