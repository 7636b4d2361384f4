// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "analyses.h"

#include <algorithm>

#include "analysis/iterations/iteration_model.h"

namespace streamscope::analysis {

Analyses::Analyses(const Trace& trace) : Analyses(trace, IterationRequest{}) {}

Analyses::Analyses(const Trace& trace, const IterationRequest& request)
    : trace_(trace), request_(std::make_unique<IterationRequest>(request)) {}

Analyses::~Analyses() = default;

const StreamOps& Analyses::stream_ops() { return stream_ops_.of(trace_); }

const IssueOrder& Analyses::order() { return order_.of(trace_); }

const HappensBefore& Analyses::before(Relation relation) {
  auto& known = relation == Relation::kGuaranteed ? guaranteed_ : observed_;
  return known.get(
      [&] { return HappensBefore(order(), HappensBefore::Options{.relation = relation}); });
}

const Edges& Analyses::edges() { return edges_.of(order()); }

const std::vector<Id>& Analyses::by_start() {
  return by_start_.get([&] { return ops_by_start(trace_); });
}

const Contention& Analyses::contention() { return contention_.of(order(), by_start()); }

WaitExplainer& Analyses::explainer() {
  if (!explainer_)
    explainer_ = std::make_unique<WaitExplainer>(order(), stream_ops(), edges(), contention());
  return *explainer_;
}

const std::vector<WaitPart>& Analyses::waits() {
  return waits_.get([&] {
    const std::lock_guard lock(explaining_);
    return explain_waits(explainer(), trace_);
  });
}

const std::vector<PathStep>& Analyses::path() {
  return path_.get([&] { return path_part({}); });
}

std::vector<PathStep> Analyses::path_part(const PathPart& part) {
  const HostBounds& bounds = host_bounds();
  const HostPauses& pauses = host_pauses();
  const std::lock_guard lock(explaining_);
  return critical_path(order(), explainer(), bounds, pauses, part);
}

void Analyses::split_host(Id thread, Ns from, Ns to, std::vector<HostPart>& parts) {
  const std::lock_guard lock(explaining_);
  explainer().split_host(thread, from, to, parts);
}

const HostTime& Analyses::host_time() { return explainer().host_time(); }

WaitCause Analyses::gap_cause(Id op) {
  std::vector<WaitPart> parts;
  {
    const std::lock_guard lock(explaining_);
    explainer().explain(op, parts);
  }
  if (parts.empty()) return WaitCause::kStart;
  const auto rank = [](const WaitPart& part) {
    const bool of_host =
        part.cause == WaitCause::kHostFunction || part.cause == WaitCause::kMemoryWait;
    return std::pair(of_host, part.duration_ns);
  };
  return std::ranges::max_element(parts, {}, rank)->cause;
}

const HostPauses& Analyses::host_pauses() {
  return host_pauses_.get([&] {
    const std::lock_guard lock(explaining_);
    return HostPauses(trace_, explainer().host_time());
  });
}

const HostBounds& Analyses::host_bounds() { return host_bounds_.of(order(), edges()); }

const Replay& Analyses::replay() {
  return replay_.get([&] { return Replay(order(), &host_pauses()); });
}

const Places& Analyses::places() { return places_.of(trace_); }

const MemoryConflicts& Analyses::memory_conflicts() {
  return memory_conflicts_.get(
      [&] { return find_memory_conflicts(order(), before(Relation::kObserved)); });
}

const IterationModel& Analyses::iteration_model() {
  return iteration_model_.get([&] { return IterationModel(*this, *request_); });
}

const ThreadActs& Analyses::thread_acts() { return thread_acts_.of(order()); }

const WaitFor& Analyses::wait_for() { return wait_for_.of(order(), before()); }

}  // namespace streamscope::analysis
