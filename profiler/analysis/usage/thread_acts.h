// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// When the threads of a trace did something, and what each did next.
#pragma once

#include <utility>
#include <vector>

#include "analysis/order/issue_order.h"

namespace streamscope::analysis {

/// The times at which threads did something; finds the next one.
class Acts {
 public:
  explicit Acts(size_t threads) : at_(threads) {}
  void add(Id thread, Ns at, Id what = kNoId) {
    if (thread < at_.size() && at != kUnknownNs) at_[thread].push_back({at, what});
  }
  void sort();
  /// The first at or after `from`; (kUnknownNs, kNoId) if there is none.
  std::pair<Ns, Id> next(Id thread, Ns from) const;

 private:
  std::vector<std::vector<std::pair<Ns, Id>>> at_;
};

/// The issues, synchronizations and reads of times by all threads. Keeps a reference to the trace.
struct ThreadActs {
  /// O(n log n).
  explicit ThreadActs(const IssueOrder& order);
  /// Whether the thread reads the time between events before it blocks again; also if it waits for
  /// a record with a time in a profile that lacks such calls.
  bool may_measure_after(Id sync) const;
  /// Whether the thread issues work before it blocks again.
  bool issues_after(Id thread, Ns end) const;

  const Trace& trace;
  Acts issues, timings, blocks;
};

}  // namespace streamscope::analysis
