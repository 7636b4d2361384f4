// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Who used what an op needed to run: copy engines, room on the device, hardware queues, the thread
// of host functions. Nothing orders such ops; they met by chance.
#pragma once

#include <vector>

#include "analysis/order/issue_order.h"

namespace streamscope::analysis {

/// Ids of all timed ops by start, then by id. O(n) where starts are spread.
std::vector<Id> ops_by_start(const Trace& trace);

/// Immutable; refers to nothing. O(n).
class Contention {
 public:
  enum Kind : uint8_t {
    kNone,
    kCopyEngine,     ///< the copy of the same direction that started before this one
    kSmFull,         ///< the kernel whose end made room on a full device
    kQueueAliasing,  ///< the op of another stream before it in its hardware queue
    kHostFunction,   ///< the host function of the context that ran before this one
    kIdleDevice,     ///< none: the device ran nothing, or had just begun again; the op that ended
                     ///< last. For a kernel only kernels count.
  };
  /// `by_start` as of ops_by_start().
  Contention(const IssueOrder& order, const std::vector<Id>& by_start);

  /// On another stream; kNoId if there was none.
  Id of(Id op) const { return contender_[op]; }
  Kind kind(Id op) const { return kind_[op]; }
  /// When the rival no longer stood in the way; kUnknownNs if there is none.
  Ns gone_ns(const Trace& trace, Id op) const;

 private:
  std::vector<Id> contender_;
  std::vector<Kind> kind_;
};

}  // namespace streamscope::analysis
