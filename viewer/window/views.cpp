// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "panels/compare.h"
#include "panels/deadlocks.h"
#include "panels/diagnosis.h"
#include "panels/findings.h"
#include "panels/graph.h"
#include "panels/inspector.h"
#include "panels/job.h"
#include "panels/pools.h"
#include "panels/ranks.h"
#include "panels/sql.h"
#include "panels/statistics.h"
#include "panels/timeline.h"
#include "view.h"

namespace streamscope::viewer {

std::vector<std::unique_ptr<View>> make_views() {
  std::vector<std::unique_ptr<View>> views;
  views.push_back(std::make_unique<TimelineView>());
  views.push_back(std::make_unique<InspectorView>());
  views.push_back(std::make_unique<DiagnosisView>());
  views.push_back(std::make_unique<FindingsView>());
  views.push_back(std::make_unique<GraphView>());
  views.push_back(std::make_unique<PoolsView>());
  views.push_back(std::make_unique<DeadlocksView>());
  views.push_back(std::make_unique<StatisticsView>());
  views.push_back(std::make_unique<SqlView>());
  views.push_back(std::make_unique<CompareView>());
  views.push_back(std::make_unique<JobView>());
  return views;
}

std::unique_ptr<View> make_ranks_view() { return std::make_unique<RanksView>(); }

std::vector<std::string_view> view_names() {
  static const std::vector<std::unique_ptr<View>> kViews = make_views();
  std::vector<std::string_view> names;
  names.reserve(kViews.size());
  for (const auto& view : kViews) names.push_back(view->name());
  return names;
}

}  // namespace streamscope::viewer
