// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// One stream forks to several, of one or several devices, and joins them again, without a host
// wait: the record and wait pairs that replace synchronizing streams one by one.
//
// Unlike a Barrier it covers all work of its streams, whether enqueued by operations or not. Note
// what changes when it replaces host synchronization: join() returns before the work has ended.
// Host code that frees or reuses memory of the branches must wait for the trunk first.
#pragma once

#include <source_location>
#include <span>
#include <vector>

#include "coord/coordinator.h"
#include "coord/export.h"
#include "coord/stream.h"

namespace coord {

/// While it lives, the branches belong to the trunk. Thread-compatible; the Coordinator must
/// outlive it.
class COORD_EXPORT ForkJoin {
 public:
  /// Makes later work of each branch wait for all work now in `trunk`: one record, and one wait for
  /// each branch. Enqueues only. If a call fails, the branches that were forked are joined again
  /// before the error is thrown.
  ForkJoin(Coordinator& coordinator, StreamRef trunk, std::span<const StreamRef> branches,
           std::source_location where = std::source_location::current());
  /// Joins unless join() did. So even after an exception, the branches' work is ordered before
  /// later work of the trunk.
  ~ForkJoin();
  ForkJoin(const ForkJoin&) = delete;
  ForkJoin& operator=(const ForkJoin&) = delete;

  /// Makes later work of the trunk wait for all work now in the branches: one record for each, and
  /// one wait unless another branch's wait implies it. Enqueues only. All branches are joined even
  /// if a call fails; the first error is thrown.
  void join();

 private:
  Coordinator& coordinator_;
  StreamRef trunk_;
  std::source_location where_;
  std::vector<StreamRef> branches_;  // not joined yet
};

}  // namespace coord
