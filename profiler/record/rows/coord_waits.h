// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What libcoord reports about waits of one process that may never end: when it gives one up, which
// is a hang of its own, and when it is queried while the process hangs.
#pragma once

#include <optional>
#include <vector>

#include "objects.h"
#include "operations.h"
#include "record/drain/run_state.h"
#include "ring/record.h"
#include "trace/write/hang_report.h"

namespace streamscope::record {

/// Thread-compatible.
class CoordWaits {
 public:
  CoordWaits(RunState& run, Objects& objects, Operations& operations, trace::Id process)
      : run_(run), objects_(objects), operations_(operations), process_(process) {}

  void describe(const ring::WaitsRecord& record);
  /// A part of the last WaitsRecord. False if it does not belong to that.
  bool describe(const ring::WaitPartyRecord& record);
  bool describe(const ring::WaitLinksRecord& record);

  /// Drops what was reported, before a new request.
  void forget() { reported_.reset(); }
  /// What was reported since; nullptr if nothing, or nothing that may never end.
  const trace::HangReport* reported() const { return reported_ ? &*reported_ : nullptr; }

 private:
  void finish_if_whole();
  trace::HangReport report() const;
  std::string label(const ring::WaitPartyRecord& party) const;

  RunState& run_;
  Objects& objects_;
  Operations& operations_;
  trace::Id process_;
  ring::WaitsRecord waits_{};                                  // the current one
  std::vector<std::optional<ring::WaitPartyRecord>> parties_;  // those that have arrived
  std::vector<ring::WaitLinksRecord::Link> links_;
  size_t known_ = 0;  // parties
  std::optional<trace::HangReport> reported_;
};

}  // namespace streamscope::record
