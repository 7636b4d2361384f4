// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Finds which op used the resource that another op needed: copy engines, multiprocessors, hardware
// queues, the thread that runs host functions. Nothing orders such ops; they collide by chance.
#pragma once

#include <vector>

#include "analysis/order/issue_order.h"

namespace streamscope::analysis {

/// Ids of all timed ops by start, then by id. O(n) if starts are evenly spread.
std::vector<Id> ops_by_start(const Trace& trace);

/// Immutable; keeps no references. O(n).
class Contention {
 public:
  enum Kind : uint8_t {
    kNone,
    kCopyEngine,     ///< the copy of the same direction that started before this one
    kSmFull,         ///< the kernel whose end freed capacity on a full device
    kQueueAliasing,  ///< the op of another stream before it in its hardware queue
    kHostFunction,   ///< the host function of the context that ran before this one
    kIdleDevice,     ///< no contention: the device was idle or had just resumed; the op that ended
                     ///< last. For a kernel only kernels count.
  };
  /// `by_start`: the result of ops_by_start().
  Contention(const IssueOrder& order, const std::vector<Id>& by_start);

  /// The contender, on another stream; kNoId if there is none.
  Id of(Id op) const { return contender_[op]; }
  Kind kind(Id op) const { return kind_[op]; }
  /// When the contender released the resource; kUnknownNs if there is none.
  Ns gone_ns(const Trace& trace, Id op) const;

 private:
  std::vector<Id> contender_;
  std::vector<Kind> kind_;
};

}  // namespace streamscope::analysis
