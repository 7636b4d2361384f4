// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Objects with lifetimes: how many are alive at an instant, and which of them are oldest. For the
// pool panel, which queries this with every mouse move.
#pragma once

#include <cstddef>
#include <vector>

#include "analysis/stream_ops.h"

namespace streamscope::analysis {

/// Thread-safe once finished: all const.
class Lifetimes {
 public:
  /// From `from_ns` until just before `until_ns`; kUnknownNs: never ends.
  void add(Ns from_ns, Ns until_ns, Id id);
  /// Call once after the last add and before any query.
  void finish();

  struct Life {
    Ns from_ns, until_ns;
    Id id;
  };
  size_t size() const { return lives_.size(); }
  /// O(log n).
  size_t count_at(Ns at) const;
  /// At most `most`, oldest first. O(most * log n).
  std::vector<Life> oldest_at(Ns at, size_t most) const;
  /// Those that never end.
  size_t endless_count() const;
  std::vector<Life> oldest_endless(size_t most) const;

 private:
  static constexpr size_t kBlock = 16;  // entries of a level per entry of the next
  /// The first life from `index` on that has not ended at `at`.
  size_t next_after(size_t index, Ns at) const;

  std::vector<Life> lives_;                    // by from_ns
  std::vector<Ns> ends_;                       // ascending
  std::vector<std::vector<Ns>> latest_until_;  // per life, then per block of the level below
};

}  // namespace streamscope::analysis
