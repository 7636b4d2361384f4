// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Synchronizations by which the host reads a value that the device computed.
#pragma once

#include <map>
#include <vector>

#include "analysis/analyses.h"
#include "analysis/delay/change.h"

namespace streamscope::analysis {

/// Small copies to the host: what a synchronization right after one reads. Immutable, thread-safe.
class ValueReads {
 public:
  /// O(ops).
  explicit ValueReads(Analyses& analyses);

  /// The copy whose value a synchronization reads, or kNoId.
  Id read_by(const Trace& trace, Id host_sync) const;
  /// Makes a change without a synchronization, and without the copy whose value it reads. True if
  /// there is such a copy.
  bool remove(const Trace& trace, Id host_sync, Change& change) const;

 private:
  struct Read {
    Ns start_ns, end_ns;  // of its call
    Id op;
  };
  const Read* before(const Trace& trace, Id host_sync) const;

  std::map<Id, std::vector<Read>> by_thread_;  // by start
};

}  // namespace streamscope::analysis
