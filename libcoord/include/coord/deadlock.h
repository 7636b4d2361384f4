// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Who waits for whom, now, in all coordinators, timelines and barriers of the process; and whether
// some of it can never end.
//
// It is about pending work only: that A waited for B once, and B waits for A later, is no cycle.
#pragma once

#include <string>
#include <vector>

#include "coord/export.h"

namespace coord {

struct DeadlockReport {
  /// Each waits for the next, the last for the first: they never go on.
  std::vector<std::vector<std::string>> cycles;
  /// What waits for something that nobody has promised to do yet, such as a timeline value that no
  /// submitted work signals: stuck, unless somebody still does.
  std::vector<std::string> orphans;

  [[nodiscard]] bool found() const noexcept { return !cycles.empty() || !orphans.empty(); }
  /// Several lines for a human; names operations, streams, threads and call sites.
  [[nodiscard]] COORD_EXPORT std::string text() const;
};

/// Looks once, without a call to any device. Thread-safe; takes some microseconds per pending
/// operation.
[[nodiscard]] COORD_EXPORT DeadlockReport find_deadlocks();

}  // namespace coord
