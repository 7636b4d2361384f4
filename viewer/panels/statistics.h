// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Durations grouped by name, stream, kind, call, NVTX range or cause of waiting: in an iteration,
// then in the whole run; or in the marked time.
#pragma once

#include "grid.h"
#include "model/grouped_times.h"
#include "window/view.h"

namespace streamscope::viewer {

class StatisticsView : public View {
 public:
  std::string_view name() const override { return "statistics"; }
  std::string_view title() const override { return "Statistics"; }
  void draw(const TraceModel& model, ViewState& state, const Theme& theme) override;

 private:
  void refresh(const TraceModel& model, const ViewState& state);

  uint64_t prepared_ = 0;
  std::optional<TimeRange> range_;
  bool is_by_iteration_ = false;
  GroupBy by_ = GroupBy::kName;
  Grid grid_;
  std::vector<StatisticsRow> rows_;
  std::optional<size_t> selected_;
};

}  // namespace streamscope::viewer
