// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "findings.h"

#include <algorithm>

#include "model/labels.h"
#include "widgets.h"

namespace streamscope::viewer {
namespace {

using analysis::FindingSeverity;

// The iteration before and after, unless both would read the same.
std::string gain_of(const TraceModel& model, const analysis::Finding& finding) {
  if (!finding.iteration || !finding.iteration->is_small())
    return report::gain_text(finding, model.work().duration_ns());
  const Ns saved = finding.iteration->gain_ns();
  return format_duration(saved) + " (" +
         format_percent(static_cast<double>(saved) /
                        static_cast<double>(std::max<Ns>(finding.iteration->before_ns, 1))) +
         ")";
}

}  // namespace

void FindingsView::refresh(const TraceModel& model, const ViewState& state, const Theme& theme) {
  prepared_ = model.serial();
  prepared_theme_ = theme.kind();
  prepared_repaired_ = state.repaired;
  shown_.clear();
  const std::vector<FindingLine>& findings = model.insights().findings;
  std::vector<std::vector<GridCell>> rows;
  bool iterates = false;
  for (size_t i = 0; i < findings.size(); ++i) {
    const FindingLine& finding = findings[i];
    const auto severity = static_cast<size_t>(finding.severity());
    if (finding.is_possible() ? !possible_
                              : severity < severities_.size() && !severities_[severity])
      continue;
    shown_.push_back(i);
    const analysis::Finding& found = finding.advice.finding;
    const Ns saved = found.iteration ? found.iteration->gain_ns() : found.gain_ns.value_or(0);
    const bool gains = saved > 0;
    iterates |= found.iteration.has_value();
    const bool repaired = std::ranges::binary_search(state.repaired, i);
    const std::string_view grade = finding.is_possible() ? analysis::to_string(found.confidence)
                                                         : analysis::to_string(finding.severity());
    rows.push_back({{.text = std::string(grade),
                     .key = static_cast<double>(finding.severity()),
                     .ink = theme.color(finding.severity())},
                    {.text = report::rule_name(*finding.advice.detector)},
                    {.text = finding.title()},
                    count_cell(found.count),
                    {.text = gains ? gain_of(model, found) : "",
                     .key = gains ? static_cast<double>(saved) : 0,
                     .ink = repaired ? theme.color(Color::kAccent) : 0}});
  }
  grid_.set({{.title = "Severity", .width = 76},
             {.title = "Rule", .width = 190},
             {.title = "Finding"},
             {.title = "Count", .is_number = true, .width = 64},
             {.title = iterates ? "Iteration" : "Gain",
              .is_number = true,
              .width = iterates ? 210.0f : 130.0f}},
            std::move(rows));
}

void FindingsView::draw(const TraceModel& model, ViewState& state, const Theme& theme) {
  if (prepared_ != model.serial() || prepared_theme_ != theme.kind() ||
      prepared_repaired_ != state.repaired)
    refresh(model, state, theme);
  const Insights& insights = model.insights();
  const size_t firm = insights.firm_findings(), possible = insights.findings.size() - firm;
  if (state.selection.finding && *state.selection.finding >= firm && possible > 0 && !possible_) {
    possible_ = true;
    refresh(model, state, theme);
  }
  if (!state.selection.finding && !shown_.empty()) state.selection.finding = shown_.front();
  std::array<size_t, 3> counts{};
  for (size_t i = 0; i < firm; ++i)
    ++counts[std::min<size_t>(static_cast<size_t>(insights.findings[i].severity()), 2)];
  for (const size_t severity : {2u, 1u, 0u}) {
    const std::string_view name = analysis::to_string(static_cast<FindingSeverity>(severity));
    const std::string title = format_count(counts[severity], name);
    if (severity != 2) widgets::beside(widgets::button_width(theme, title));
    if (widgets::button(theme, state.focus.stops, title, severities_[severity])) {
      severities_[severity] = !severities_[severity];
      refresh(model, state, theme);
    }
  }
  if (possible > 0) {
    const std::string title = std::to_string(possible) + " possible";
    widgets::beside(widgets::button_width(theme, title));
    if (widgets::button(theme, state.focus.stops, title, possible_)) {
      possible_ = !possible_;
      if (!possible_ && state.selection.finding && *state.selection.finding >= firm)
        state.selection.finding.reset();
      refresh(model, state, theme);
    }
  }
  widgets::beside(widgets::button_width(theme, kCopyTitle));
  copy_button(theme, state.focus.stops, grid_);
  const auto judged = static_cast<size_t>(
      std::ranges::count(insights.quiet, analysis::Outcome::kClean, &QuietDetector::outcome));
  widgets::label_beside(theme, format_count(judged, "rule") + " without findings, " +
                                   std::to_string(insights.quiet.size() - judged) +
                                   " not evaluated");

  const float width = ImGui::GetContentRegionAvail().x;
  const bool beside = width > theme.px(900);
  const float details = beside ? std::min(theme.px(420), width * 0.36f) : 0;
  const float room = ImGui::GetContentRegionAvail().y * 0.55f;
  const float needed = shown_.empty() ? theme.px(140) : Grid::height(theme, shown_.size());
  ImGui::BeginChild(
      "list", {beside ? width - details - theme.px(16) : 0, beside ? 0 : std::min(room, needed)});
  if (shown_.empty()) {
    widgets::empty_state(
        theme, insights.findings.empty() ? "No findings" : "All findings are hidden",
        insights.findings.empty()
            ? std::string("No rule reported anything. Rules that could not be evaluated are "
                          "listed ") +
                  (beside ? "on the right." : "below.")
            : "Use the buttons above to show other severities.");
  } else if (const auto clicked = grid_.draw(theme, state.focus.stops, "findings", [&](size_t row) {
               return state.selection.finding == shown_[row];
             })) {
    look_at_finding(model, state, shown_[*clicked]);
  }
  ImGui::EndChild();
  if (beside) ImGui::SameLine(0, theme.px(16));
  ImGui::BeginChild("details", {0, 0});
  draw_details(model, state, theme);
  ImGui::EndChild();
}

void FindingsView::draw_details(const TraceModel& model, ViewState& state, const Theme& theme) {
  const Insights& insights = model.insights();
  int next_id = 0;
  if (state.selection.finding && *state.selection.finding < insights.findings.size()) {
    const FindingLine& finding = insights.findings[*state.selection.finding];
    widgets::wrapped(theme, Face::kTitle, theme.color(Color::kText), finding.title());
    ImGui::Spacing();
    widgets::wrapped(theme, Face::kBody, theme.color(Color::kText), finding.advice.finding.text);
    ImGui::Spacing();
    if (can_predict(model, *state.selection.finding)) {
      const bool on = std::ranges::binary_search(state.repaired, *state.selection.finding);
      if (widgets::button(theme, state.focus.stops,
                          on ? "Show as recorded" : "What if it were fixed?", on))
        toggle_repaired(model, state, *state.selection.finding);
      if (state.prediction && on)
        widgets::wrapped(theme, Face::kSmall, theme.color(Color::kTextDim),
                         "The pale lanes show when the work would run, predicted by replaying the "
                         "recorded calls. Work that newly overlaps is not slowed down.");
      ImGui::Spacing();
    }
    const analysis::Finding& found = finding.advice.finding;
    if (found.confidence != analysis::Confidence::kCertain)
      widgets::fact(theme, "certainty", analysis::to_string(found.confidence));
    if (!found.place.call_site.empty()) widgets::fact(theme, "source", found.place.call_site);
    for (const Item item : {finding.subject, finding.other}) {
      if (!item) continue;
      widgets::fact_name(theme, item == finding.subject ? "where" : "and");
      if (widgets::link(theme, state.focus.stops, Face::kBody,
                        model.lanes().label_with_stream(item), next_id++))
        go_to(model, state, item);
    }
  }
  bool first = true;
  for (const QuietDetector& detector : insights.quiet) {
    if (detector.outcome == analysis::Outcome::kClean) continue;
    if (first) widgets::heading(theme, "Not evaluated");
    first = false;
    widgets::wrapped(theme, Face::kBody, theme.color(Color::kText),
                     detector.number + " " + detector.id);
    widgets::wrapped(theme, Face::kSmall, theme.color(Color::kTextDim), detector.reason);
  }
}

}  // namespace streamscope::viewer
