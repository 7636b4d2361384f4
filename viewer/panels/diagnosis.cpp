// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "diagnosis.h"

#include <algorithm>
#include <cmath>

#include "model/labels.h"
#include "report/sections/summary.h"
#include "widgets.h"

namespace streamscope::viewer {
namespace {

constexpr float kBesideFrom = 720;  // width from which the repairs are beside the iteration
constexpr float kNumber = 22;       // of a repair

}  // namespace

void DiagnosisView::refresh(const TraceModel& model, const ViewState& state) {
  const Diagnosis& diagnosis = model.diagnosis();
  if (prepared_ != model.serial()) {
    columns_.clear();
    most_columns_ = 0;
    keys_ = diagnosis.has_iterations() ? report::strip_keys(diagnosis.iterations)
                                       : std::vector<report::IterationKey>();
    height_ = diagnosis.has_iterations() ? report::strip_height(diagnosis.iterations) : 1;
    is_cut_ = false;
    for (size_t i = 0; i < diagnosis.iterations.all.size(); ++i)
      is_cut_ |= report::times_median(diagnosis.iterations, i) > height_;
  }
  prepared_ = model.serial();
  summary_ = state.summary.get();
  bound_.clear();
  duration_.clear();
  small_.clear();
  lines_.clear();
  if (summary_ == nullptr) return;
  bound_ = with_units_kept(report::bound_sentence(*summary_));
  duration_ = with_units_kept(report::duration_sentence(*summary_));
  lines_ = report::share_lines(*summary_);
  if (!diagnosis.small.empty()) small_ = report::small_findings(*summary_, diagnosis.small);
}

void DiagnosisView::draw(const TraceModel& model, ViewState& state, const Theme& theme) {
  if (prepared_ != model.serial() || summary_ != state.summary.get()) refresh(model, state);
  next_id_ = 0;
  const float width = ImGui::GetContentRegionAvail().x, gap = theme.px(24);
  if (state.nav.window.width_px <= 1) first_fit(model, state, std::max(width, 16.0f));
  const bool beside = is_beside_ = width > theme.px(kBesideFrom);
  const float left = beside ? std::round(width * 0.6f) - gap : 0;
  if (beside) ImGui::BeginChild("iteration", {left, 0});
  if (model.diagnosis().has_iterations()) {
    draw_iteration(model, state, theme);
  } else {
    draw_without_iterations(model, theme);
  }
  if (beside) {
    ImGui::EndChild();
    ImGui::SameLine(0, gap);
    ImGui::BeginChild("repairs", {0, 0});
  } else {
    ImGui::Dummy({0, theme.px(4)});
  }
  draw_repairs(model, state, theme);
  if (beside) ImGui::EndChild();
}

void DiagnosisView::draw_iteration(const TraceModel& model, ViewState& state, const Theme& theme) {
  if (summary_ != nullptr) {
    widgets::wrapped(theme, Face::kTitle, theme.color(Color::kText), bound_);
    widgets::wrapped(theme, Face::kBody, theme.color(Color::kTextDim), duration_);
    draw_bar(theme);
    draw_legend(theme);
  } else {
    widgets::wrapped(theme, Face::kTitle, theme.color(Color::kText),
                     "Computing what bounds an iteration \u2026");
    widgets::wrapped(theme, Face::kBody, theme.color(Color::kTextDim),
                     "This takes a while for so large a trace; everything else can be used.");
  }
  if (!model.diagnosis().iterations.is_only_one()) draw_strip(model, state, theme);
}

void DiagnosisView::draw_without_iterations(const TraceModel& model, const Theme& theme) {
  const Diagnosis& diagnosis = model.diagnosis();
  for (const trace::HangReport& hang : model.insights().hangs) {
    if (hang.alarm)
      widgets::wrapped(theme, Face::kTitle, theme.color(Color::kError), hang.headline);
  }
  widgets::wrapped(theme, Face::kBody, theme.color(Color::kText), diagnosis.why_none);
  if (diagnosis.path.empty()) return;
  ImGui::Spacing();
  widgets::wrapped(theme, Face::kBold, theme.color(Color::kText), "Critical path");
  widgets::wrapped(theme, Face::kBody, theme.color(Color::kText), with_units_kept(diagnosis.path));
}

void DiagnosisView::draw_repairs(const TraceModel& model, ViewState& state, const Theme& theme) {
  const Diagnosis& diagnosis = model.diagnosis();
  widgets::text(theme, Face::kBold, theme.color(Color::kText),
                diagnosis.repairs.empty() ? "Nothing worth fixing first" : "Worth fixing first");
  if (diagnosis.repairs.empty())
    widgets::wrapped(theme, Face::kBody, theme.color(Color::kTextDim),
                     "No rule reported an error or a warning.");
  for (size_t i = 0; i < diagnosis.repairs.size(); ++i) draw_repair(model, state, theme, i);
  draw_other_findings(model, state, theme);
}

// What to fix, what it gains, and where.
void DiagnosisView::draw_repair(const TraceModel& model, ViewState& state, const Theme& theme,
                                size_t number) {
  const Repair& repair = model.diagnosis().repairs[number];
  const FindingLine& finding = model.insights().findings[repair.finding];
  ImGui::Dummy({0, theme.px(2)});
  widgets::text(theme, Face::kBold, theme.color(finding.severity()),
                format_count(static_cast<int64_t>(number + 1)));
  ImGui::SameLine(theme.px(kNumber));
  ImGui::BeginGroup();
  if (widgets::wrapped_link(theme, state.focus.stops, Face::kBold, with_units_kept(finding.title()),
                            next_id_++))
    look_at_finding(model, state, repair.finding);
  if (ImGui::IsItemHovered()) {
    const widgets::Tooltip tooltip(theme.px(480));
    widgets::text(theme, Face::kBold, theme.color(Color::kText), finding.title());
    widgets::text(theme, Face::kBody, theme.color(Color::kTextDim), finding.advice.finding.text);
  }
  if (!repair.gain.empty())
    widgets::wrapped(theme, Face::kBold, theme.color(Color::kText),
                     (finding.advice.finding.iteration ? "iteration " : "saves ") +
                         with_units_kept(repair.gain));
  if (finding.subject) {
    const std::string where =
        repair.place.empty() ? model.lanes().label_with_stream(finding.subject) : repair.place;
    if (widgets::wrapped_link(theme, state.focus.stops, Face::kSmall, where, next_id_++))
      go_to(model, state, finding.subject);
  } else if (!repair.place.empty()) {
    widgets::wrapped(theme, Face::kSmall, theme.color(Color::kTextDim), repair.place);
  }
  if (can_schedule(model, repair.finding)) {
    const std::string_view action = std::ranges::binary_search(state.repair_lanes, repair.finding)
                                        ? "hide lane"
                                        : "show as lane";
    widgets::beside(theme.width(Face::kSmall, action), theme.px(16));
    if (widgets::link(theme, state.focus.stops, Face::kSmall, action, next_id_++))
      toggle_repair_lane(model, state, repair.finding);
  }
  ImGui::EndGroup();
}

// How many other findings there are, each line a link to all of them.
void DiagnosisView::draw_other_findings(const TraceModel& model, ViewState& state,
                                        const Theme& theme) {
  const Diagnosis& diagnosis = model.diagnosis();
  ImGui::Dummy({0, theme.px(4)});
  const auto line = [&](const std::string& text) {
    if (!text.empty() && widgets::link(theme, state.focus.stops, Face::kSmall, text, next_id_++))
      state.look.drawer = "findings";
  };
  if (diagnosis.more > 0) line(format_count(diagnosis.more, "more finding"));
  line(small_);
  if (!diagnosis.possible.empty())
    widgets::wrapped(theme, Face::kSmall, theme.color(Color::kTextDim), diagnosis.possible);
}

}  // namespace streamscope::viewer
