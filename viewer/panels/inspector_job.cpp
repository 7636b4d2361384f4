// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The inspector of a run of many ranks: a step of a rank, or the whole run.

#include "analysis/labels.h"
#include "inspector.h"
#include "model/job_facts.h"
#include "model/labels.h"
#include "widgets.h"

namespace streamscope::viewer {
namespace {

void draw_run(const JobModel& job, const Theme& theme) {
  widgets::text(theme, Face::kTitle, theme.color(Color::kText), "Run of many ranks");
  ImGui::Spacing();
  widgets::fact(theme, "folder", job.folder().filename().string());
  widgets::fact(theme, "ranks", format_count(static_cast<int64_t>(job.steps().ranks.size())));
  widgets::fact(theme, "iterations", format_count(static_cast<int64_t>(job.iterations().size())));
  widgets::fact(theme, "duration", format_duration(job.extent().duration_ns()));
  widgets::fact(theme, "critical path", format_count(job.path().size(), "hop"));
  ImGui::Spacing();
  widgets::wrapped(theme, Face::kBody, theme.color(Color::kTextDim),
                   "Click a bar to see what a rank did. [ and ] go along the critical path, a "
                   "click on a rank's name opens its trace, and U comes back.");
}

}  // namespace

void InspectorView::draw_job(ViewState& state, const Theme& theme) {
  const JobModel& job = *state.job.model;
  const StepPart part = state.job.selection;
  if (!part) return draw_run(job, theme);
  const std::string_view kind = part.is_work ? "work of a rank" : "collective";
  const ImU32 fill = theme.color(part.is_work ? largest_share(job.steps(), part.step)
                                              : analysis::TimeShare::kCollectives);
  const ImVec2 size = widgets::chip(ImGui::GetWindowDrawList(), theme, Face::kSmall,
                                    ImGui::GetCursorScreenPos(), fill, theme.on(fill), kind);
  ImGui::Dummy({size.x, size.y + theme.px(2)});
  widgets::wrapped(theme, Face::kTitle, theme.color(Color::kText), title_of(job, part));
  ImGui::Spacing();
  for (const Fact& fact : facts_of(job, part)) widgets::fact(theme, fact.name, fact.text);
  int id = 0;
  if (const StepPart late = late_part(job, part)) {
    widgets::fact_name(theme, "waits for");
    if (widgets::link(theme, state.focus.stops, Face::kBody,
                      "rank " + std::to_string(job.steps().rank_number(late.step)), id++))
      select(job, state, late);
  }
  const uint32_t rank = job.steps().rank_of(part.step);
  widgets::fact_name(theme, "trace");
  if (widgets::link(theme, state.focus.stops, Face::kBody,
                    analysis::printable(job.steps().ranks[rank].identity.trace), id++))
    open_rank(job, state, rank);
}

}  // namespace streamscope::viewer
