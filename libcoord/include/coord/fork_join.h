// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// One stream forks to several and gathers them again, without the host waiting: the record and wait
// pairs that replace synchronizing streams one by one.
//
// Note what changes with that: join() returns before the work has ended. Host code that frees or
// reuses what the branches use has to wait for the trunk first.
#pragma once

#include <span>
#include <vector>

#include "coord/event_pool.h"
#include "coord/export.h"
#include "coord/stream.h"

namespace coord {

/// While it lives, the branches belong to the trunk. Thread-compatible; the pool must outlive it.
class COORD_EXPORT ForkJoin {
 public:
  /// Makes later work of each branch wait for all work now in `trunk`: one record, and one wait for
  /// each branch. Enqueues only. All streams are of the pool's device. If a call fails, the
  /// branches that were forked are joined again before the error is thrown.
  ForkJoin(EventPool& pool, StreamRef trunk, std::span<const StreamRef> branches);
  /// Joins unless join() did. What an exception leaves half done is ordered before whatever the
  /// trunk gets next all the same.
  ~ForkJoin();
  ForkJoin(const ForkJoin&) = delete;
  ForkJoin& operator=(const ForkJoin&) = delete;

  /// Makes later work of the trunk wait for all work now in the branches: one record and one wait
  /// for each. Enqueues only. All branches are joined even if a call fails; the first error is
  /// thrown.
  void join();

 private:
  void give_back(EventRef event);

  EventPool& pool_;
  StreamRef trunk_;
  bool captured_;
  std::vector<StreamRef> branches_;  // not joined yet
};

}  // namespace coord
