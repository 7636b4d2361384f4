// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Sums per iteration: time is cut into slots, one per iteration, one for what precedes the first
// and one for what follows the last, so that the sums of all slots are those of the whole run.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "trace/model.h"
#include "trace/ns_math.h"

namespace streamscope::analysis {

using trace::Ns;

struct Iterations;

/// Start-up is slot 0, iteration i slot i + 1, and the last slot follows the last iteration.
/// Without iterations there is one slot. Not thread-safe: it remembers where it was.
class IterationSlots {
 public:
  /// One slot.
  IterationSlots() = default;
  /// Cut where the work of iterations is done.
  static IterationSlots of_device(const Iterations& iterations);
  /// Cut where the host begins iterations.
  static IterationSlots of_host(const Iterations& iterations);

  uint32_t count() const { return static_cast<uint32_t>(begins_.size()) + 1; }
  /// O(1) near the time of the call before, else O(log slots).
  uint32_t of(Ns at) { return is_in(last_, at) ? last_ : find(at); }
  bool is_steady(Ns at) {
    const uint32_t slot = of(at);
    return slot >= steady_from_ && slot < steady_to_;
  }
  /// Where the next slot begins; the last one has no end.
  Ns end_ns(uint32_t slot) const {
    return slot < begins_.size() ? begins_[slot] : std::numeric_limits<Ns>::max();
  }
  /// Calls `visit(slot, duration)` for the part of an interval in each slot.
  template <class Visit>
  void cut(Ns from, Ns to, Visit visit) {
    for (uint32_t slot = of(from); from < to; ++slot) {
      const Ns end = std::min(end_ns(slot), to);
      if (end > from) visit(slot, trace::between(from, end));
      from = std::max(from, end);
    }
  }

 private:
  bool is_in(uint32_t slot, Ns at) const {
    return (slot == 0 || begins_[slot - 1] <= at) && (slot == begins_.size() || at < begins_[slot]);
  }
  uint32_t find(Ns at);

  std::vector<Ns> begins_;  // of slots 1 and later
  size_t steady_from_ = 0, steady_to_ = 0;
  uint32_t last_ = 0;
};

/// A time summed per slot. Slots to which nothing was added take no memory.
class IterationSeries {
 public:
  struct Sum {
    uint32_t slot = 0;
    Ns time_ns = 0;
  };

  /// Fastest if slots come in ascending order.
  void add(uint32_t slot, Ns time_ns) {
    if (time_ns == 0) return;
    trace::add_to(total_ns_, time_ns);
    if (sums_.empty() || sums_.back().slot != slot) begin(slot);
    trace::add_to(sums_.back().time_ns, time_ns);
  }
  void add(const IterationSeries& other);
  /// Of all slots.
  Ns total_ns() const { return total_ns_; }
  /// Of the steady part. O(slots with a sum).
  Ns steady_ns(const Iterations& iterations) const;
  /// By slot; of slots with a sum.
  std::vector<Sum> sums() const;

 private:
  void begin(uint32_t slot);
  static void merge(std::vector<Sum>& sums);

  std::vector<Sum> sums_;  // a slot may have several
  size_t merged_count_ = 0;
  Ns total_ns_ = 0;
};

/// What a quantity usually is.
struct Quartiles {
  Ns low_ns = 0, median_ns = 0, high_ns = 0;

  /// Half the distance of the quartiles.
  Ns spread_ns() const { return (high_ns - low_ns) / 2; }
};
/// All 0 without values.
Quartiles quartiles_of(std::vector<Ns> values);

/// The mean of the middle half of some values: without outliers, like the median, but where
/// iterations of two kinds take turns, not that of one kind by chance. 0 without values.
double interquartile_mean(std::vector<Ns> values);

/// A quantity per iteration of the steady part.
struct PerIteration {
  struct Outlier {
    size_t iteration = 0;
    Ns time_ns = 0;
  };

  Quartiles usual;
  /// Iterations with far more than the median, most first.
  std::vector<Outlier> outliers;
};

/// An outlier has kOutlierFactor times the median or more, is further above the quartiles than 1.5
/// times their distance, and exceeds the median by a 20th of the duration of an iteration: less
/// does not matter. `iterations` was found. O(s log s) for s slots with a sum.
PerIteration per_iteration(const IterationSeries& series, const Iterations& iterations);

}  // namespace streamscope::analysis
