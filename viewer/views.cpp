// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "view.h"
#include "views/compare.h"
#include "views/deadlocks.h"
#include "views/findings.h"
#include "views/graph.h"
#include "views/inspector.h"
#include "views/pools.h"
#include "views/sql.h"
#include "views/statistics.h"
#include "views/timeline.h"

namespace streamscope::viewer {

std::vector<std::unique_ptr<View>> make_views() {
  std::vector<std::unique_ptr<View>> views;
  views.push_back(std::make_unique<TimelineView>());
  views.push_back(std::make_unique<InspectorView>());
  views.push_back(std::make_unique<FindingsView>());
  views.push_back(std::make_unique<GraphView>());
  views.push_back(std::make_unique<PoolsView>());
  views.push_back(std::make_unique<DeadlocksView>());
  views.push_back(std::make_unique<StatisticsView>());
  views.push_back(std::make_unique<SqlView>());
  views.push_back(std::make_unique<CompareView>());
  return views;
}

std::vector<std::string_view> view_names() {
  static const std::vector<std::unique_ptr<View>> kViews = make_views();
  std::vector<std::string_view> names;
  for (const auto& view : kViews) names.push_back(view->name());
  return names;
}

}  // namespace streamscope::viewer
