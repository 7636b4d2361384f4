// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Where threads were in the program, as its ranges say: of nested ones the innermost.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include "trace/read/reader.h"

namespace streamscope::job {

/// Immutable. Keeps a reference to the trace.
class HostPlaces {
 public:
  /// O(n log n) in the ranges.
  explicit HostPlaces(const trace::Trace& trace);

  /// Calls visit(name, ended, from, to) for the parts of an interval of a thread that are in
  /// ranges; `ended`: when the range did, kUnknownNs if it did not.
  template <class Visit>
  void each(trace::Id thread, trace::Ns from, trace::Ns to, Visit visit) const;

 private:
  /// From here to the next one.
  struct Part {
    trace::Ns from_ns;
    trace::Id range;  ///< kNoId: in none
  };

  const trace::Trace& trace_;
  std::vector<std::vector<Part>> threads_;
};

template <class Visit>
void HostPlaces::each(trace::Id thread, trace::Ns from, trace::Ns to, Visit visit) const {
  if (thread >= threads_.size()) return;
  const std::vector<Part>& parts = threads_[thread];
  auto part = std::ranges::upper_bound(parts, from, {}, &Part::from_ns);
  if (part != parts.begin()) --part;
  for (; part != parts.end() && part->from_ns < to; ++part) {
    const auto next = part + 1;
    const trace::Ns begin = std::max(part->from_ns, from),
                    end = next == parts.end() ? to : std::min(next->from_ns, to);
    if (part->range != trace::kNoId && begin < end) {
      visit(trace_.text(trace_.range.name_id[part->range]), trace_.range.end_ns[part->range], begin,
            end);
    }
  }
}

}  // namespace streamscope::job
