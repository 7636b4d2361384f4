// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The analyses of one trace, each computed on first use. Code that needs more than one of them
// (detectors, derived tables) shares them through this.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "analysis/delay/critical_path.h"
#include "analysis/delay/replay.h"
#include "analysis/delay/waits.h"
#include "analysis/hang/wait_for.h"
#include "analysis/memory/memory_conflicts.h"
#include "analysis/order/edges.h"
#include "analysis/order/happens_before.h"
#include "analysis/order/issue_order.h"
#include "analysis/usage/thread_acts.h"
#include "locations.h"
#include "stream_ops.h"

namespace streamscope::analysis {

class IterationModel;
struct IterationRequest;

/// Keeps a reference to the trace. Thread-safe: a caller waits for an analysis that another thread
/// is computing.
class Analyses {
 public:
  explicit Analyses(const Trace& trace);
  /// With another way to look for iterations.
  Analyses(const Trace& trace, const IterationRequest& request);
  ~Analyses();

  const Trace& trace() const { return trace_; }
  const IterationRequest& iteration_request() const { return *request_; }
  const StreamOps& stream_ops();
  const IssueOrder& order();
  const HappensBefore& before(Relation relation = Relation::kGuaranteed);
  const Edges& edges();
  const std::vector<Id>& by_start();  ///< the result of ops_by_start()
  const Contention& contention();
  /// For one thread at a time. The functions below that need it wait for each other.
  WaitExplainer& explainer();
  const std::vector<WaitPart>& waits();
  const std::vector<PathStep>& path();  ///< the result of critical_path()
  /// What delayed an op while its stream was free: a host function or a memory wait if any did,
  /// else what did for longest; kStart if nothing did.
  WaitCause gap_cause(Id op);
  /// HostTime::split(), near where the last one was.
  void split_host(Id thread, Ns from, Ns to, std::vector<HostPart>& parts);
  const HostTime& host_time();
  /// A part of the critical path. O(steps).
  std::vector<PathStep> path_part(const PathPart& part);
  const HostBounds& host_bounds();
  const HostPauses& host_pauses();
  const Replay& replay();
  const Places& places();
  const MemoryConflicts& memory_conflicts();
  const WaitFor& wait_for();
  const IterationModel& iteration_model();
  const ThreadActs& thread_acts();

 private:
  template <class Result>
  class Once {
   public:
    template <class Compute>
    const Result& get(Compute compute) {
      std::call_once(once_, [&] { result_.reset(new Result(compute())); });
      return *result_;
    }
    /// Constructs it from these.
    template <class... Sources>
    const Result& of(const Sources&... sources) {
      return get([&] { return Result(sources...); });
    }

   private:
    std::once_flag once_;
    std::unique_ptr<Result> result_;
  };

  const Trace& trace_;
  Once<StreamOps> stream_ops_;
  Once<IssueOrder> order_;
  Once<HappensBefore> guaranteed_, observed_;
  Once<Edges> edges_;
  Once<std::vector<Id>> by_start_;
  Once<Contention> contention_;
  std::mutex explaining_;  // guards explainer_
  std::unique_ptr<WaitExplainer> explainer_;
  Once<std::vector<WaitPart>> waits_;
  Once<std::vector<PathStep>> path_;
  Once<HostBounds> host_bounds_;
  Once<HostPauses> host_pauses_;
  Once<Replay> replay_;
  Once<Places> places_;
  Once<MemoryConflicts> memory_conflicts_;
  Once<WaitFor> wait_for_;
  std::unique_ptr<const IterationRequest> request_;
  Once<IterationModel> iteration_model_;
  Once<ThreadActs> thread_acts_;
};

}  // namespace streamscope::analysis
