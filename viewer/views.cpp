// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "view.h"
#include "views/inspector.h"
#include "views/timeline.h"

namespace streamscope::viewer {

std::vector<std::unique_ptr<View>> make_views() {
  std::vector<std::unique_ptr<View>> views;
  views.push_back(std::make_unique<TimelineView>());
  views.push_back(std::make_unique<InspectorView>());
  return views;
}

std::vector<std::string_view> view_names() {
  static const std::vector<std::unique_ptr<View>> kViews = make_views();
  std::vector<std::string_view> names;
  for (const auto& view : kViews) names.push_back(view->name());
  return names;
}

}  // namespace streamscope::viewer
