// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A workspace that shows the ranks of a run instead of a trace.

#include <utility>

#include "trace/error.h"
#include "workspace.h"

namespace streamscope::viewer {

void Workspace::set_job(std::shared_ptr<const JobModel> job) {
  viewer::set_job(state_, std::move(job));
  error_.clear();
  if (!has_content(state_.look.drawer)) state_.look.drawer = {};
  apply_job_arguments();
}

void Workspace::update_job(std::shared_ptr<const JobModel> job) {
  const bool has_ended = state_.job.model->progress().is_running && !job->progress().is_running;
  viewer::update_job(state_, std::move(job));
  if (has_ended && shows_job()) state_.status = "the run has ended";
}

bool Workspace::has_content(std::string_view panel) const {
  if (panel == "job") return state_.job.model != nullptr;
  return !shows_job() || panel == kTimeline || panel == "inspector" || panel.empty();
}

void Workspace::apply_job_arguments() {
  const JobModel& job = *state_.job.model;
  if (!has_content(arguments_.panel))
    throw Error("--panel " + arguments_.panel, "shows a trace, not a run of many ranks",
                "use timeline, job or inspector, or open the trace of a rank");
  if (arguments_.select || arguments_.finding || arguments_.what_if)
    throw Error("--select", "selects in a trace, not in a run of many ranks",
                "open the trace of a rank");
  if (!arguments_.compared.empty())
    throw Error(arguments_.compared, "cannot be compared with a run of many ranks",
                "compare the traces of two ranks");
  const std::optional<RecentTrace> restored = std::exchange(restored_, std::nullopt);
  constexpr float kLeastHeight = 760;  // less would leave little of the lanes
  if (restored) {
    state_.look.drawer = restored->panel == "job" ? "job" : std::string_view();
  } else if (static_cast<float>(arguments_.height) >= kLeastHeight * state_.look.scale) {
    state_.look.drawer = "job";
  }
  std::optional<TimeRange> shown;
  if (restored && restored->shown.end_ns > restored->shown.begin_ns) shown = restored->shown;
  if (arguments_.range) shown = resolve(*arguments_.range, job.extent());
  if (shown && shown->end_ns > job.extent().begin_ns && shown->begin_ns < job.extent().end_ns) {
    state_.job.window.width_px = static_cast<double>(arguments_.width);
    state_.job.window.show(*shown);
  }
  // It is of the run, not of the ranks' traces.
  if (arguments_.screenshot.empty()) arguments_.range.reset();
  if (arguments_.screenshot.empty() || arguments_.select_nothing) return;
  // A picture should show the most important: what costs most.
  if (state_.job.window.width_px <= 1)
    first_fit(job, state_, static_cast<double>(arguments_.width));
  if (job.job().delays.empty()) return;
  select_delay(job, state_, 0);
}

}  // namespace streamscope::viewer
