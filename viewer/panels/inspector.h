// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// All facts of what is selected, its dependencies in words, sums of a marked range; if nothing is
// selected, the whole trace.
#pragma once

#include <optional>
#include <vector>

#include "window/view.h"

namespace streamscope::viewer {

struct Sheet;  // what is shared in one frame

class InspectorView : public View {
 public:
  std::string_view name() const override { return "inspector"; }
  std::string_view title() const override { return "Inspector"; }
  void draw(const TraceModel& model, ViewState& state, const Theme& theme) override;

 private:
  void draw_item(Sheet& sheet);
  static void draw_job(ViewState& state, const Theme& theme);  // inspector_job.cpp
  void draw_elsewhere(Sheet& sheet, Item item);
  void draw_sums(Sheet& sheet, TimeRange range);

  // Computed once per model or range, because they cost more than a frame.
  const TraceModel* sums_of_ = nullptr;
  std::optional<TimeRange> sums_range_;
  Sums sums_;

  // Of the selection, once per model and prediction.
  const TraceModel* elsewhere_of_ = nullptr;
  const Prediction* elsewhere_if_ = nullptr;
  Item elsewhere_item_;
  std::vector<TimeRange> elsewhere_;
};

}  // namespace streamscope::viewer
