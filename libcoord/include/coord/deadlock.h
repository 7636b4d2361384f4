// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The current wait graph of all coordinators, timelines and barriers of the process, and which
// waits can never end.
//
// It covers pending work only: if A waited for B earlier and B waits for A later, that is no cycle.
#pragma once

#include <string>
#include <vector>

#include "coord/export.h"

namespace coord {

struct DeadlockReport {
  /// Each waits for the next, the last for the first: none can ever proceed.
  std::vector<std::vector<std::string>> cycles;
  /// Waits for something that no one has promised yet, such as a timeline value that no submitted
  /// work signals: stuck unless a later call signals it.
  std::vector<std::string> orphans;

  [[nodiscard]] bool found() const noexcept { return !cycles.empty() || !orphans.empty(); }
  /// Human-readable multi-line text; names operations, streams, threads and call sites.
  [[nodiscard]] COORD_EXPORT std::string text() const;
};

/// Checks once, without a device call. Thread-safe; takes a few microseconds per pending operation.
[[nodiscard]] COORD_EXPORT DeadlockReport find_deadlocks();

}  // namespace coord
