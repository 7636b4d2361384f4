// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The work of one process in the order in which its calls were made: where iterations are looked
// for.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "analysis/analyses.h"
#include "analysis/compare/compared_work.h"

namespace streamscope::analysis {

/// The timed ops of one process in the order of their issue times; those of one call, such as the
/// nodes of a graph, by their group. An op whose call is not in the trace is issued when it starts.
/// Keeps a reference to the trace. Immutable, thread-safe.
class IssuedWork {
 public:
  enum class With { kTimes, kGroups };
  /// Without groups, group() and groups() must not be called.
  explicit IssuedWork(Analyses& analyses, With with = With::kGroups);

  const Trace& trace() const { return trace_; }
  Id process() const { return process_; }      ///< the one with the most device time
  Ns device_ns() const { return device_ns_; }  ///< of its ops
  size_t size() const { return ops_.size(); }
  bool empty() const { return ops_.empty(); }

  // By index.
  Id id(size_t i) const { return ops_[i]; }
  Ns issued_ns(size_t i) const { return issued_[i]; }
  Ns start_ns(size_t i) const { return trace_.op.start_ns[ops_[i]]; }
  Ns end_ns(size_t i) const { return trace_.op.end_ns[ops_[i]]; }
  Ns duration_ns(size_t i) const { return end_ns(i) - start_ns(i); }
  uint32_t group(size_t i) const { return groups_->of(ops_[i]); }
  const WorkGroups& groups() const { return *groups_; }
  /// The index of the first op issued at or after an instant.
  size_t first_issued(Ns at) const {
    return static_cast<size_t>(std::ranges::lower_bound(issued_, at) - issued_.begin());
  }

 private:
  const Trace& trace_;
  std::optional<WorkGroups> groups_;
  Id process_ = kNoId;
  Ns device_ns_ = 0;
  std::vector<Id> ops_;
  std::vector<Ns> issued_;
};

inline constexpr double kLeastCovered = 0.5;  ///< share of device time and time in the iterations

template <class Value>
Value median(std::vector<Value> values) {
  if (values.empty()) return {};
  const auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

template <class Value>
Value upper_quartile(std::vector<Value> values) {
  if (values.empty()) return {};
  const auto at = values.begin() + static_cast<ptrdiff_t>(values.size() * 3 / 4);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

/// False for a part of a step, such as a layer: it repeats quickly, then pauses for a while. Only
/// the newer half is to be passed, because compilation may delay the older one. `usual_ns`: the
/// upper quartile, as each third step may wait for its batch.
inline bool fills_the_time(double repetitions, Ns usual_ns, Ns time_ns) {
  return repetitions * static_cast<double>(usual_ns) >=
         kLeastCovered * static_cast<double>(time_ns);
}

}  // namespace streamscope::analysis
