// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Things that each live for a time: how many lived at an instant, and which have lived longest
// then. For the panel of pools, which asks with every move of the mouse.
#pragma once

#include <cstddef>
#include <vector>

#include "analysis/timeline.h"

namespace streamscope::analysis {

/// Thread-safe once finished: all const.
class Lifetimes {
 public:
  /// From `from_ns` until just before `until_ns`; kUnknownNs: for ever.
  void add(Ns from_ns, Ns until_ns, Id id);
  /// Call once after the last add; the rest is asked only after that.
  void finish();

  struct Life {
    Ns from_ns, until_ns;
    Id id;
  };
  size_t size() const { return lives_.size(); }
  /// O(log n).
  size_t count_at(Ns at) const;
  /// At most `most`, the oldest first. O(most * log n).
  std::vector<Life> oldest_at(Ns at, size_t most) const;
  /// Those that live for ever.
  size_t endless_count() const;
  std::vector<Life> oldest_endless(size_t most) const;

 private:
  static constexpr size_t kBlock = 16;  // of a level to one of the next
  /// The first life from `index` on that has not ended at an instant.
  size_t next_after(size_t index, Ns at) const;

  std::vector<Life> lives_;                    // by from_ns
  std::vector<Ns> ends_;                       // ascending
  std::vector<std::vector<Ns>> latest_until_;  // of each life, then of each block below
};

}  // namespace streamscope::analysis
