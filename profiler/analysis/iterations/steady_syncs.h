// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Where the host waited for the device in the steady part of a run.
#pragma once

#include <map>
#include <unordered_map>
#include <vector>

#include "analysis/analyses.h"
#include "analysis/delay/change.h"
#include "iterations.h"

namespace streamscope::analysis {

/// True for a synchronous copy of more than 64 KiB, or of an unknown size: copying is what takes
/// the time of its call. What a smaller one costs is that it waits. O(1).
bool is_large_synchronous_copy(const IssueOrder& order, Id op);

/// The synchronizations of the steady part: blocking calls, and synchronous copies of at most 64
/// KiB. Those read a value that copy a small value to the host, or that come right after such a
/// copy. Immutable, thread-safe.
class SteadySyncs {
 public:
  SteadySyncs() = default;
  /// `iterations` was found. O(ops + syncs).
  SteadySyncs(Analyses& analyses, const Iterations& iterations);

  /// Rows of host_sync.
  const std::vector<Id>& all() const { return all_; }
  /// When the calls of the larger synchronous copies of the steady part began, in no order.
  const std::vector<Ns>& large_copies_ns() const { return large_copies_ns_; }

  /// The copy whose value a synchronization reads, or kNoId.
  Id read_by(Id host_sync) const;
  /// The op of a synchronous copy; kNoId for every other synchronization.
  Id copy_of(Id host_sync) const;
  /// True if it copies to the device, or waits for such a copy alone.
  bool uploads(Id host_sync) const { return uploads_.has(host_sync); }
  /// The host waits no more, but makes the same calls.
  void unblock(Id host_sync, Change& change) const;
  /// Makes a change without a synchronization, and without the copy that it is or whose value it
  /// reads.
  void remove(Id host_sync, Change& change) const;
  /// True if a change is made without them; false if there are none.
  bool are_removed(const Change& change) const;

 private:
  struct Read {
    Ns start_ns, end_ns;  // of its call
    Id op;
  };
  const Read* before(Id host_sync) const;

  const Trace* trace_ = nullptr;
  std::vector<Id> all_;
  std::vector<Ns> large_copies_ns_;
  std::unordered_map<Id, Id> copies_;          // host_sync -> op, of those in all_
  std::map<Id, std::vector<Read>> by_thread_;  // asynchronous reads, by start
  Marks uploads_;
};

}  // namespace streamscope::analysis
