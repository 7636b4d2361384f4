// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The chain of work and waits that determined how long a run took, from its first launch to the
// end of its last op, and how much later every op could end without making the run longer.
//
// Found backwards: an op started when its last condition was met. If that was its launch, the host
// had been busy since its last synchronization returned, and that synchronization ended when the
// last op that it waited for ended.
#pragma once

#include <vector>

#include "host_pauses.h"
#include "waits.h"

namespace streamscope::analysis {

struct PathStep {
  trace::PathStepKind kind = trace::kOpStep;
  Id op = kNoId;         ///< kOpStep: itself; kLaunchStep and kGapStep: the op waited for; kNoId:
                         ///< the path leads to the thread
  Id host_sync = kNoId;  ///< kHostSyncStep
  Ns start_ns = 0;
  Ns end_ns = 0;
  Id thread = kNoId;  ///< kLaunchStep: the one on its way to the launch; not stored

  bool operator==(const PathStep&) const = default;
};

/// What bound a synchronization: the last op it waited for, if that op ended during the wait.
class HostBounds {
 public:
  HostBounds(const IssueOrder& order, const Edges& edges);

  struct Bound {
    Id sync = kNoId;
    Id op = kNoId;  ///< its last source
    Ns start_ns = 0, end_ns = 0;
  };
  /// The last synchronization of a thread that was bound by an op and returned by then.
  const Bound* last(Id thread, Ns until) const;
  /// All of them, by return.
  const std::vector<Bound>& of(Id thread) const { return threads_[thread]; }
  /// When a thread began to issue its first op; kUnknownNs if it issued no op.
  Ns first_issue_ns(Id thread) const { return first_issue_[thread]; }

 private:
  std::vector<std::vector<Bound>> threads_;
  std::vector<Ns> first_issue_;
};

/// Which part of the path to find.
struct PathPart {
  Id last_op = kNoId;        ///< the op that the path leads to; kNoId: the one that ends last
  Id thread = kNoId;         ///< known: it leads to this thread instead
  Ns until_ns = kUnknownNs;  ///< at this time
  Ns from_ns = kUnknownNs;   ///< where it may begin; unknown: at the first launch
  /// By op: at whose end it may begin too. It then begins with a step of that op that takes no
  /// time.
  const std::vector<bool>* ends_of = nullptr;
};

/// Steps in time order; each begins when the previous one ends. Empty without timed ops. While a
/// thread that launches makes no calls and another one does, the path goes through that one.
std::vector<PathStep> critical_path(const IssueOrder& order, WaitExplainer& explainer,
                                    const HostBounds& bounds, const HostPauses& pauses,
                                    const PathPart& part = {});

/// Per op: how much later it could end without making the last op end later, if everything else
/// takes as long as recorded. kUnknownNs for ops without times.
std::vector<Ns> slack(const IssueOrder& order, WaitExplainer& explainer, const HostBounds& bounds,
                      const Edges& edges, const std::vector<Id>& by_start);

}  // namespace streamscope::analysis
