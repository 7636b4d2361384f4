// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What a report says about a run of many ranks: what costs most and what would help, beside tables
// of ranks, clocks and mismatches, which link to lanes and traces.
#pragma once

#include <vector>

#include "grid.h"
#include "window/view.h"

namespace streamscope::viewer {

class JobView : public View {
 public:
  std::string_view name() const override { return "job"; }
  std::string_view title() const override { return "Job"; }
  void draw(const TraceModel& model, ViewState& state, const Theme& theme) override;

 private:
  void refresh(std::shared_ptr<const JobModel> run);
  void draw_answers(const JobModel& job, ViewState& state, const Theme& theme);
  void draw_tables(const JobModel& job, ViewState& state, const Theme& theme, float height);
  void take_rank(const JobModel& job, ViewState& state, size_t row);

  std::shared_ptr<const JobModel> prepared_;
  std::vector<Grid> grids_;     // of each section; empty without a table
  std::vector<size_t> tables_;  // sections beside the answers, of which one is shown
  size_t shown_ = 0;            // of these
  int next_id_ = 0;
};

}  // namespace streamscope::viewer
