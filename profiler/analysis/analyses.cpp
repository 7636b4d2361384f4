// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "analyses.h"

namespace streamscope::analysis {

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
  if (!edges_) edges_ = std::make_unique<Edges>(trace_);
  return *edges_;
}

const std::vector<WaitPart>& Analyses::waits() {
  if (!waits_) waits_ = explain_waits(trace_, timeline(), edges());
  return *waits_;
}

}  // namespace streamscope::analysis
