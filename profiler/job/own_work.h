// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The work of a rank on its devices apart from its collectives.
#pragma once

#include <utility>
#include <vector>

#include "analysis/analyses.h"
#include "analysis/usage/collectives.h"

namespace streamscope::job {

/// Immutable; all times are those of the trace.
class OwnWork {
 public:
  using Span = std::pair<trace::Ns, trace::Ns>;

  /// Of one process, without its collectives and the graphs that contain them.
  OwnWork(analysis::Analyses& analyses, trace::Id process,
          const std::vector<analysis::Collective>& collectives);

  /// How long that took which the host issued in [from, to), added up; kUnknownNs where the trace
  /// does not say of all work when it was issued. O(log n).
  trace::Ns issued_between(trace::Ns from, trace::Ns to) const;
  /// Time in which at least one of these spans ran and none of this work did. O(spans log n).
  trace::Ns without(std::vector<Span> spans) const;

 private:
  trace::Ns busy_until(trace::Ns at) const;

  std::vector<Span> issued_;            ///< when, and the durations of all until then
  std::vector<Span> busy_;              ///< in which some of it ran, ascending and apart
  std::vector<trace::Ns> busy_before_;  ///< by index of busy_: in those before
  bool is_issue_known_ = true;          ///< of all
};

}  // namespace streamscope::job
