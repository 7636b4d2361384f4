// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What the views share of a run of many ranks, and the actions that change it.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "model/job_model.h"

namespace streamscope::viewer {

struct ViewState;

/// UI thread only.
struct JobState {
  std::shared_ptr<const JobModel> model;  ///< null: none is open
  bool is_shown = false;                  ///< its ranks are shown, not a trace
  TimeWindow window;
  bool by_number = false;       ///< the order of ranks; else those first that make others wait most
  std::vector<bool> unfolded;   ///< by group
  std::vector<ShownRank> rows;  ///< of these, top to bottom
  std::vector<uint32_t> row_of;  ///< by rank row: where it is drawn
  StepPart selection, hovered;
  bool reveal = false;     ///< the lanes bring the selection into view when they are drawn next
  float scroll_pages = 0;  ///< the lanes scroll by this many heights when they are drawn next
};

/// Opens a run, or none. The lanes have not yet a width.
void set_job(ViewState& state, std::shared_ptr<const JobModel> model);

/// The same run, grown: selection, unfolded ranks and the time in view stay. A window that shows
/// all still does; one that shows the end follows it unless something is selected.
void update_job(ViewState& state, std::shared_ptr<const JobModel> model);

// Like the actions on a trace (view.h). An action without effect reports the reason in `status`.

void fit(const JobModel& job, ViewState& state);
/// Fits the iteration that it opens with, or everything, to a window that had no width before.
void first_fit(const JobModel& job, ViewState& state, double width_px);
void show(const JobModel& job, ViewState& state, TimeRange range);
void zoom(const JobModel& job, ViewState& state, double px, double factor);
void pan(const JobModel& job, ViewState& state, double px);
/// The iteration that the window shows: the one in the middle, unless much more is in view.
std::optional<size_t> current_iteration(const JobModel& job, const ViewState& state);
void go_to_iteration(const JobModel& job, ViewState& state, size_t iteration);
void step_iteration(const JobModel& job, ViewState& state, int by);
void go_to_median_iteration(const JobModel& job, ViewState& state);
/// Selects and brings into view.
void select(const JobModel& job, ViewState& state, StepPart part);
void zoom_to_selection(const JobModel& job, ViewState& state);
/// Next (+1) or previous (-1) work or collective of the rank; the first in view if nothing is
/// selected.
void step_in_row(const JobModel& job, ViewState& state, int by);
/// What the rank below (+1) or above (-1) did at that time.
void step_to_row(const JobModel& job, ViewState& state, int by);
/// To what precedes (back) or follows on the critical path; from elsewhere, to its nearest hop.
void follow_path(const JobModel& job, ViewState& state, bool back);
/// The work of a rank that took longest beyond what is usual, in the iteration in view.
void select_rank(const JobModel& job, ViewState& state, uint32_t rank_row);
/// The work of one of the delays that cost most, in the iteration in view; shows the ranks.
void select_delay(const JobModel& job, ViewState& state, size_t delay);
/// Of all hops in view, the work that took longest beyond what is usual.
void select_latest(const JobModel& job, ViewState& state);
void toggle_fold(const JobModel& job, ViewState& state, uint32_t group);
/// The fold that the selection is in.
void toggle_current_fold(const JobModel& job, ViewState& state);
void toggle_order(const JobModel& job, ViewState& state);
/// Opens the trace of a rank, at the iteration in view.
void open_rank(const JobModel& job, ViewState& state, uint32_t rank_row);
/// The same for the rank of the selection.
void open_selected_rank(const JobModel& job, ViewState& state);
/// From a trace of the run back to its ranks.
void show_ranks(ViewState& state);

}  // namespace streamscope::viewer
