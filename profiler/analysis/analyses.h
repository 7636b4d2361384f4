// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What the analyses say about one trace, each computed when it is first asked for. Whoever needs
// more than one of them (detectors, derived tables) shares them through this.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "critical_path.h"
#include "edges.h"
#include "happens_before.h"
#include "issue_order.h"
#include "memory_conflicts.h"
#include "places.h"
#include "replay.h"
#include "timeline.h"
#include "wait_for.h"
#include "waits.h"

namespace streamscope::analysis {

/// Keeps a reference to the trace. Not thread-safe: questions compute.
class Analyses {
 public:
  explicit Analyses(const Trace& trace);
  ~Analyses();

  const Trace& trace() const { return trace_; }
  const Timeline& timeline();
  const IssueOrder& order();
  const HappensBefore& before(Relation relation = Relation::kGuaranteed);
  const Edges& edges();
  const std::vector<Id>& by_start();  ///< as ops_by_start()
  const Rivals& rivals();
  WaitExplainer& explainer();
  const std::vector<WaitPart>& waits();
  const HostBounds& host_bounds();
  const Replay& replay();
  const Places& places();
  const MemoryConflicts& memory_conflicts();
  const WaitFor& wait_for();

 private:
  const Trace& trace_;
  std::unique_ptr<Timeline> timeline_;
  std::unique_ptr<IssueOrder> order_;
  std::unique_ptr<HappensBefore> guaranteed_, observed_;
  std::unique_ptr<Edges> edges_;
  std::optional<std::vector<Id>> by_start_;
  std::unique_ptr<Rivals> rivals_;
  std::unique_ptr<WaitExplainer> explainer_;
  std::optional<std::vector<WaitPart>> waits_;
  std::unique_ptr<HostBounds> host_bounds_;
  std::unique_ptr<Replay> replay_;
  std::unique_ptr<Places> places_;
  std::optional<MemoryConflicts> memory_conflicts_;
  std::unique_ptr<WaitFor> wait_for_;
};

}  // namespace streamscope::analysis
