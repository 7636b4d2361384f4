// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What bounds an iteration, what its time goes into, how long each iteration took, and what to fix
// first: the beginning of a report. Without iterations: why there are none, and the rest of it.
//
// diagnosis.cpp has the texts and links; diagnosis_pictures.cpp draws the bar and the strip.
#pragma once

#include <string>
#include <vector>

#include "report/sections/iteration_strip.h"
#include "window/view.h"

namespace streamscope::viewer {

class DiagnosisView : public View {
 public:
  std::string_view name() const override { return "diagnosis"; }
  std::string_view title() const override { return "Diagnosis"; }
  void draw(const TraceModel& model, ViewState& state, const Theme& theme) override;

 private:
  // diagnosis.cpp
  void refresh(const TraceModel& model, const ViewState& state);
  void draw_iteration(const TraceModel& model, ViewState& state, const Theme& theme);
  void draw_without_iterations(const TraceModel& model, const Theme& theme);
  void draw_repairs(const TraceModel& model, ViewState& state, const Theme& theme);
  void draw_repair(const TraceModel& model, ViewState& state, const Theme& theme, size_t number);
  void draw_other_findings(const TraceModel& model, ViewState& state, const Theme& theme);

  // diagnosis_pictures.cpp
  /// The shares of an iteration as one bar.
  void draw_bar(const Theme& theme) const;
  void draw_legend(const Theme& theme) const;
  /// A column per iteration, and its keys; a click or an arrow key goes to one.
  void draw_strip(const TraceModel& model, ViewState& state, const Theme& theme);
  struct StripFrame;
  void draw_columns(const StripFrame& frame) const;
  void draw_strip_labels(const StripFrame& frame) const;

  uint64_t prepared_ = 0;  // serial of the model that is shown
  const IterationSummary* summary_ = nullptr;
  std::string bound_, duration_, small_;
  std::vector<report::ShareLine> lines_;
  std::vector<report::IterationKey> keys_;
  double height_ = 1;    // of the strip, in times of the median
  bool is_cut_ = false;  // some iterations are higher
  std::vector<report::IterationColumn> columns_;
  size_t most_columns_ = 0;  // that columns_ were made for
  bool is_beside_ = false;   // the repairs are beside the iteration, not below
  int next_id_ = 0;          // of links in this frame
};

}  // namespace streamscope::viewer
