// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Host time that a changed program would not spend.
#pragma once

#include <unordered_map>
#include <vector>

#include "analysis/stream_ops.h"

namespace streamscope::analysis {

/// Times of threads that pass at once: the host does not spend them, and calls in them return as
/// soon as they are made.
class HostCuts {
 public:
  void add(Id thread, Ns from, Ns to);
  void add(const HostCuts& others);
  /// How much of [from, to) of a thread is cut. O(log cuts).
  Ns cut_ns(Id thread, Ns from, Ns to) const;
  bool empty() const { return threads_.empty(); }

 private:
  struct Cut {
    Ns from, to;
    Ns before;  // sum of the cuts before it
  };
  std::unordered_map<Id, std::vector<Cut>> threads_;  // by time, disjoint
};

}  // namespace streamscope::analysis
