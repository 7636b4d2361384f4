// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The work of one process in the order in which its calls were made: where iterations are looked
// for.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "analysis/analyses.h"
#include "analysis/compare/compared_work.h"
#include "trace/packed.h"
#include "vocabulary/copy_kind.h"

namespace streamscope::analysis {

class StreamOwners;

/// The timed ops of one process in the order of their issue times; those of one call, such as the
/// nodes of a graph, by their group. An op whose call is not in the trace is issued when it starts.
/// Keeps a reference to the trace. Immutable, thread-safe.
class IssuedWork {
 public:
  enum class With { kTimes, kGroups };
  /// Without groups, group(), groups() and symbol() must not be called.
  explicit IssuedWork(Analyses& analyses, With with = With::kGroups);

  const Trace& trace() const { return trace_; }
  Id process() const { return process_; }  ///< the one with the most device time
  /// Device time of the ops in [from, size()), but for copies to the device before `first` and from
  /// it from `last` on: these bring data and weights and take results, and may take longer than all
  /// iterations of a short run. O(n).
  Ns device_ns_around(size_t from, size_t first, size_t last) const;
  size_t size() const { return ops_.size(); }
  bool empty() const { return ops_.empty(); }

  /// How much work the host issued on a device in [from, until) that has no times, because the
  /// program ended or hung before it was reported.
  size_t untimed_between(Ns from, Ns until) const;
  /// True if work began in [from, until) whose call is not in the trace, as where a recording
  /// begins while the host is ahead.
  bool has_uncalled(Ns from, Ns until) const;

  // By index.
  Id id(size_t i) const { return ops_[i]; }
  Ns issued_ns(size_t i) const { return issued_[i]; }
  Ns start_ns(size_t i) const { return trace_.op.start_ns[ops_[i]]; }
  Ns end_ns(size_t i) const { return trace_.op.end_ns[ops_[i]]; }
  Ns duration_ns(size_t i) const {
    const Id op = ops_[i];
    return trace_.op.end_ns[op] - trace_.op.start_ns[op];
  }
  uint32_t group(size_t i) const { return groups_->of(ops_[i]); }
  const WorkGroups& groups() const { return *groups_; }
  /// By which repetitions are found, below symbol_count(): the group, but for the alignment.
  uint32_t symbol(size_t i) const { return symbol_of_group_[group(i)]; }
  size_t symbol_count() const { return symbol_count_; }
  /// The index of the first op issued at or after an instant.
  size_t first_issued(Ns at) const {
    return static_cast<size_t>(std::ranges::lower_bound(issued_, at) - issued_.begin());
  }

 private:
  // That with the most device time; kNoId if no op has times.
  Id busiest_process(const StreamOwners& owners) const;
  void find_symbols();
  bool is_copy(size_t i, CopyKind kind) const;

  const Trace& trace_;
  std::unique_ptr<const WorkGroups> groups_;  // null without them
  Id process_ = kNoId;
  trace::Packed<Id> ops_;
  trace::Packed<Ns> issued_;
  std::vector<Ns> untimed_issued_, uncalled_starts_;  // ascending
  std::vector<uint32_t> symbol_of_group_;
  size_t symbol_count_ = 0;
};

/// One label for both where a framework chooses between two kernels by the alignment of the data,
/// so that repetitions may differ.
std::string without_alignment(std::string label);

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

/// How often iterations may be interrupted, as between epochs: less often than there have to be
/// iterations. Parts of a step, such as its layers, are interrupted by every step, for other work.
/// `device_share`: of the device time, how much the repetitions hold.
size_t most_pauses(double repetitions, double device_share);

/// False for a part of a step: it repeats quickly, then pauses for a while. `steps_ns` sum to the
/// time, of which the longest `pauses` do not count; only the newer half is to be passed, because
/// compilation may delay the older one. `usual_ns`: of a repetition, the upper quartile, as each
/// third step may wait for its batch.
bool fills_the_time(double repetitions, Ns usual_ns, std::vector<Ns> steps_ns, size_t pauses);

}  // namespace streamscope::analysis
