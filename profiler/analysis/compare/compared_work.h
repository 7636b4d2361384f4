// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Matches the work of two traces of a program by what is stable across runs: its label and the name
// of its stream. Stream numbers and times are ignored. Used by both `streamscope diff`, which
// prints the changes, and the viewer, which draws all of it.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "analysis/stream_ops.h"

namespace streamscope::analysis {

/// Work with one label on streams with one name, in one trace.
struct WorkGroup {
  std::string label, stream;
  uint64_t count = 0;
  std::vector<Ns> durations_ns;  ///< of the timed ops, by id
  Id longest = trace::kNoId;     ///< the longest of them
  Ns longest_ns = 0;
};

/// All work of a trace by kind. Thread-safe: all const.
class WorkGroups {
 public:
  explicit WorkGroups(const Trace& trace) : WorkGroups(trace, trace.op) {}
  /// For ops that are stored elsewhere, in columns of the same names; only strings and streams of
  /// the trace are read.
  template <class Ops>
  WorkGroups(const Trace& names, const Ops& ops) : WorkGroups(names, ops.size()) {
    for (Id op = 0; op < ops.size(); ++op)
      add({ops.kind[op], ops.name_id[op], ops.detail[op], ops.stream_id[op]}, ops.start_ns[op],
          ops.end_ns[op]);
    known_.clear();
  }

  const std::vector<WorkGroup>& all() const { return groups_; }
  /// Index in all() of the group that an op belongs to.
  uint32_t of(Id op) const { return group_of_[op]; }

 private:
  using Sort = std::tuple<trace::Small, Id, trace::Small, Id>;  // kind, name, detail, stream
  WorkGroups(const Trace& names, size_t op_count);
  void add(const Sort& sort, Ns start_ns, Ns end_ns);
  uint32_t group_of_new(const Sort& sort);

  const Trace* names_;
  std::vector<std::string> stream_names_;
  // Labels are created once per Sort; different Sorts may have the same label.
  std::map<Sort, uint32_t> known_;
  std::map<std::pair<std::string, std::string>, uint32_t> by_name_;
  std::vector<WorkGroup> groups_;
  std::vector<uint32_t> group_of_;  // by op
};

/// The groups of two traces that have the same label and stream.
struct WorkChange {
  std::string label, stream;
  uint64_t base_count = 0, new_count = 0;
  Ns base_total_ns = 0, new_total_ns = 0;
  Ns base_median_ns = 0, new_median_ns = 0;
  bool slower = false, faster = false;                         ///< by more than the spread of both
  Id base_longest = trace::kNoId, new_longest = trace::kNoId;  ///< ops of either trace

  Ns cost_ns() const { return new_total_ns - base_total_ns; }
  bool is_change() const { return base_count != new_count || slower || faster; }
  /// "new", "gone", "slower", "faster", "more often", "less often" or "same".
  std::string_view verdict() const;
};

/// Visits the keys of both, each once, with the values in both.
template <class Map, class Visit>
void for_both(const Map& base, const Map& now, Visit visit) {
  const typename Map::mapped_type nothing{};
  for (const auto& [key, value] : base) {
    const auto other = now.find(key);
    visit(key, value, other == now.end() ? nothing : other->second);
  }
  for (const auto& [key, value] : now) {
    if (!base.contains(key)) visit(key, nothing, value);
  }
}

/// All groups of both, each once; those whose total time differs most come first. A change of
/// duration counts only if it exceeds the spread.
std::vector<WorkChange> compare_work(const WorkGroups& base, const WorkGroups& now);

}  // namespace streamscope::analysis
