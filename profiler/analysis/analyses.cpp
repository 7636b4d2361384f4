// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "analyses.h"

namespace streamscope::analysis {

Analyses::Analyses(const Trace& trace) : trace_(trace) {}
Analyses::~Analyses() = default;

const Timeline& Analyses::timeline() {
  if (!timeline_) timeline_ = std::make_unique<Timeline>(trace_);
  return *timeline_;
}

const IssueOrder& Analyses::order() {
  if (!order_) order_ = std::make_unique<IssueOrder>(trace_);
  return *order_;
}

const HappensBefore& Analyses::before(Relation relation) {
  auto& known = relation == Relation::kGuaranteed ? guaranteed_ : observed_;
  if (!known)
    known = std::make_unique<HappensBefore>(order(), HappensBefore::Options{.relation = relation});
  return *known;
}

const Edges& Analyses::edges() {
  if (!edges_) edges_ = std::make_unique<Edges>(order());
  return *edges_;
}

const std::vector<Id>& Analyses::by_start() {
  if (!by_start_) by_start_ = ops_by_start(trace_);
  return *by_start_;
}

const Rivals& Analyses::rivals() {
  if (!rivals_) rivals_ = std::make_unique<Rivals>(order(), by_start());
  return *rivals_;
}

WaitExplainer& Analyses::explainer() {
  if (!explainer_)
    explainer_ = std::make_unique<WaitExplainer>(order(), timeline(), edges(), rivals());
  return *explainer_;
}

const std::vector<WaitPart>& Analyses::waits() {
  if (!waits_) waits_ = explain_waits(explainer(), trace_);
  return *waits_;
}

const HostBounds& Analyses::host_bounds() {
  if (!host_bounds_) host_bounds_ = std::make_unique<HostBounds>(order(), edges());
  return *host_bounds_;
}

const Replay& Analyses::replay() {
  if (!replay_) replay_ = std::make_unique<Replay>(order());
  return *replay_;
}

const Places& Analyses::places() {
  if (!places_) places_ = std::make_unique<Places>(trace_);
  return *places_;
}

const MemoryConflicts& Analyses::memory_conflicts() {
  if (!memory_conflicts_)
    memory_conflicts_ = find_memory_conflicts(order(), before(Relation::kObserved));
  return *memory_conflicts_;
}

const WaitFor& Analyses::wait_for() {
  if (!wait_for_) wait_for_ = std::make_unique<WaitFor>(order(), before());
  return *wait_for_;
}

}  // namespace streamscope::analysis
