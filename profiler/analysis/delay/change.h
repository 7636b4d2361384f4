// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// How a program or a device is to differ from the recorded one (replay.h).
#pragma once

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "host_cuts.h"

namespace streamscope::analysis {

/// A set of row ids of one table.
class Marks {
 public:
  void add(Id id) {
    if (id >= bits_.size()) bits_.resize(std::max<size_t>(id + size_t{1}, bits_.size() * 2));
    bits_[id] = true;
  }
  void add(const Marks& others) {
    for (Id id = 0; id < others.bits_.size(); ++id) {
      if (others.bits_[id]) add(id);
    }
  }
  bool has(Id id) const { return id < bits_.size() && bits_[id]; }

 private:
  std::vector<bool> bits_;
};

/// What is different.
struct Change {
  Marks without_wait;   ///< event_wait: the call is not made
  Marks without_sync;   ///< host_sync: the call is not made
  Marks without_op;     ///< op: its call is not made
  Marks deferred_sync;  ///< host_sync: the device waits instead of the host: what the thread issues
                        ///< later runs after what the sync waited for, and the host continues
  Marks no_barrier_op;  ///< op of a legacy default stream: orders no other stream
  Marks no_barrier_record;  ///< the same of event_record
  Marks no_barrier_wait;    ///< the same of event_wait
  Marks prompt_op;          ///< op: highest priority, starts without a lag once there is capacity
  Marks async_op;           ///< op: its call does not wait for it and stages nothing before it
  Marks page_locked_op;  ///< op: a blocking copy: stages nothing before it; its call returns when
                         ///< it ends
  Marks untimed_record;  ///< event_record: takes no device time stamp
  /// host_sync -> op: the host waits for this op only, the device waits for the rest
  std::unordered_map<Id, Id> narrowed_sync;
  Marks instant_op;                      ///< op: takes no time
  std::unordered_map<Id, Ns> length_ns;  ///< op -> another length
  /// op -> all ops that it still waits for on the device
  std::unordered_map<Id, std::vector<Id>> held_only_by;
  Marks beside_op;  ///< op of held_only_by: what comes later on its stream also waits for others
                    ///< before it, as if it ran beside them on one more stream
  HostCuts cuts;    ///< what threads no longer do
  Marks graph_op;  ///< op: a node of a graph: starts when what it waits for has ended. Nodes follow
                   ///< each other without a gap: 268 kernels of 1.52 ms took 1.51 ms as a graph
                   ///< (H100)
  Marks spread_stream;        ///< stream: its work runs on it and on one more, unordered
  int more_copy_engines = 0;  ///< of every device and direction

  /// True if the op has no lag once there is capacity.
  bool starts_at_once(Id op) const {
    return prompt_op.has(op) || async_op.has(op) || page_locked_op.has(op);
  }
  /// Combines both. If they disagree about an op or synchronization, this one takes precedence.
  void add(const Change& other);
};

}  // namespace streamscope::analysis
