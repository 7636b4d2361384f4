// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What a workspace draws around its panels: header, banner of losses, tabs, legend, and the message
// while there is no trace.

#include <algorithm>
#include <chrono>
#include <cmath>

#include "model/job_facts.h"
#include "model/labels.h"
#include "model/trace_facts.h"
#include "panels/bar_colors.h"
#include "panels/counter_columns.h"
#include "panels/widgets.h"
#include "workspace.h"

namespace streamscope::viewer {
namespace {

constexpr float kLegendBox = 10;  // before scaling

}  // namespace

void Workspace::draw_header(float width, float height) {
  widgets::begin_panel("header", {0, 0}, {width, height}, ImGuiWindowFlags_NoInputs);
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  const auto color = [&](Color meaning) { return theme_.color(meaning); };
  const float middle = height / 2;
  const auto top_of = [&](Face face) {
    return std::round(middle - theme_.text(face).size / 2 - 1);
  };
  const auto put = [&](Face face, float x, ImU32 ink, std::string_view text) {
    widgets::text(draw, theme_, face, {x, top_of(face)}, ink, text);
    return x + theme_.width(face, text);
  };
  // The logo: two lanes and an edge between them.
  const float unit = theme_.px(4), left = theme_.px(14);
  draw.AddRectFilled({left, middle - 2 * unit}, {left + 3 * unit, middle - unit},
                     theme_.color(Category::kCopyToDevice));
  draw.AddRectFilled({left + 3 * unit, middle + unit}, {left + 6 * unit, middle + 2 * unit},
                     theme_.color(Category::kKernel));
  draw.AddLine({left + 3 * unit, middle - unit}, {left + 3 * unit, middle + unit},
               color(Color::kWaiting), theme_.px(1.5f));
  float x = put(Face::kBold, left + 8 * unit, color(Color::kText), "StreamScope") + theme_.px(18);

  const std::string hint = "Ctrl+P commands    F1 help";
  float right = width - theme_.px(14) - theme_.width(Face::kSmall, hint);
  put(Face::kSmall, right, color(Color::kTextFaint), hint);
  std::string chip;
  if (shows_job()) {
    chip = running_text(*state_.job.model, std::chrono::steady_clock::now());
  } else if (model_ && state_.prediction) {
    chip = describe(*state_.prediction);
  }
  if (!chip.empty()) {
    const ImVec2 size = widgets::chip(nullptr, theme_, Face::kBold, {}, 0, 0, chip);
    right -= size.x + theme_.px(20);
    widgets::chip(&draw, theme_, Face::kBold, {right, std::round(middle - size.y / 2)},
                  color(Color::kAccent), theme_.on(color(Color::kAccent)), chip);
  }
  const auto fit = [&](Face face, Color ink, std::string_view text) {
    x += widgets::fit_text(draw, theme_, face, {x, top_of(face)}, right - x - theme_.px(20),
                           color(ink), text);
  };
  if (shows_job()) {
    fit(Face::kBody, Color::kText, ellipsize(state_.job.model->folder().filename().string(), 60));
    x += theme_.px(18);
    fit(Face::kSmall, Color::kTextDim, with_units_kept(state_.job.model->document().headline));
  } else if (model_) {
    std::string facts;
    const auto add = [&](const std::string& fact) {
      facts += (facts.empty() ? "" : "  \u00b7  ") + fact;
    };
    // A picture of a requested range shows this range.
    if (arguments_.range && !arguments_.screenshot.empty()) {
      const TimeRange shown = state_.nav.window.range();
      add(format_exact(shown.begin_ns) + " to " + format_exact(shown.end_ns));
    }
    for (const std::string& fact : header_facts(*model_, state_.is_live)) add(fact);
    if (model_->is_sketch())
      add(progress_ ? "loading: " + format_percent(*progress_) : "overview only");
    fit(Face::kBody, Color::kText, ellipsize(model_->trace().file.filename().string(), 60));
    x += theme_.px(18);
    fit(Face::kSmall, Color::kTextDim, facts);
  }
  draw.AddLine({0, height - 0.5f}, {width, height - 0.5f}, color(Color::kBorder));
  ImGui::End();
}

float Workspace::draw_banner(float top, float width) {
  std::string text = notice_;
  if (const std::string warned =
          shows_job() ? state_.job.model->warning() : warning(*model_, state_.is_live);
      !warned.empty())
    text += (text.empty() ? "" : "  ") + warned;
  if (text.empty()) return top;
  const float height = theme_.px(28);
  widgets::begin_panel("banner", {0, top}, {width, height}, ImGuiWindowFlags_NoBackground);
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  draw.AddRectFilled({0, top}, {width, top + height}, theme_.color(Color::kWarning));
  const float room = width - theme_.px(28);
  const float used = widgets::fit_text(
      draw, theme_, Face::kBold,
      {theme_.px(14), std::round(top + (height - theme_.text(Face::kBold).size) / 2 - 1)}, room,
      theme_.color(Color::kOnWarning), text);
  if (ImGui::IsWindowHovered() && used < theme_.width(Face::kBold, text)) {
    const widgets::Tooltip tooltip(theme_.px(560));
    widgets::text(theme_, Face::kBody, theme_.color(Color::kText), text);
  }
  ImGui::End();
  return top + height;
}

// The names of the panels below the timeline; dragging the strip resizes them.
void Workspace::draw_tabs(ImVec2 at, ImVec2 size) {
  widgets::begin_panel("tabs", at, size, 0);
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  draw.AddLine({at.x, at.y + 0.5f}, {at.x + size.x, at.y + 0.5f}, theme_.color(Color::kBorder));
  const Insights& insights = subject().insights();
  struct Tab {
    std::string_view name;
    std::string text;
  };
  std::vector<Tab> tabs;
  for (const auto& view : views_) {
    const std::string_view name = view->name();
    if (name == kTimeline || name == "inspector") continue;
    // A job is about many traces; everything else is about one.
    if (name == "job" ? state_.job.model == nullptr : shows_job()) continue;
    tabs.push_back({name, std::string(view->title())});
    if (const size_t count = insights.firm_findings(); name == "findings" && count > 0)
      tabs.back().text += "  " + std::to_string(count);
  }
  // If space is short they move together, then get smaller; some of it is left to drag by.
  float x = at.x + theme_.px(6);
  const auto pad_of = [&](Face face) {
    float room = size.x - theme_.px(6 + 18);
    for (const Tab& tab : tabs) room -= theme_.width(face, tab.text);
    return std::min(std::floor(room / static_cast<float>(2 * tabs.size())), theme_.px(11));
  };
  const Face face = pad_of(Face::kBody) >= theme_.px(5) ? Face::kBody : Face::kSmall;
  const float pad = std::max(pad_of(face), theme_.px(2));
  for (const auto& [name, text] : tabs) {
    const bool open = state_.look.drawer == name;
    const float width = theme_.width(face, text) + 2 * pad;
    ImGui::SetCursorScreenPos({x, at.y});
    ImGui::PushID(text.c_str());
    if (ImGui::InvisibleButton("tab", {width, size.y})) toggle_drawer(state_, name);
    const bool hovered = ImGui::IsItemHovered();
    ImGui::PopID();
    if (hovered || open)
      draw.AddRectFilled({x, at.y + 1}, {x + width, at.y + size.y},
                         theme_.color(Color::kPanelRaised));
    if (open)
      draw.AddRectFilled({x, at.y}, {x + width, at.y + theme_.px(2)}, theme_.color(Color::kAccent));
    const bool alarming = name == "deadlocks" && !insights.waits.nodes.empty();
    const Color ink = alarming ? Color::kError : open || hovered ? Color::kText : Color::kTextDim;
    widgets::text(draw, theme_, face,
                  {x + pad, at.y + std::round((size.y - theme_.text(face).size) / 2 - 1)},
                  theme_.color(ink), text);
    x += width;
  }
  // The rest of the strip is the drag handle.
  ImGui::SetCursorScreenPos({x, at.y});
  ImGui::InvisibleButton("handle", {std::max(at.x + size.x - x, 1.0f), size.y});
  if (ImGui::IsItemHovered() || ImGui::IsItemActive())
    ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeNS);
  if (ImGui::IsItemActive() && !state_.look.drawer.empty())
    state_.look.drawer_height =
        std::max(state_.look.drawer_height - ImGui::GetIO().MouseDelta.y / theme_.scale(), 120.0f);
  ImGui::End();
}

// Of a legend: draws at its x.
auto Workspace::square(ImDrawList& draw, float middle, ImU32 color) const {
  return [&draw, middle, color, box = theme_.px(kLegendBox)](float at) {
    draw.AddRectFilled({at, std::round(middle - box / 2)},
                       {at + box, std::round(middle - box / 2) + box}, color);
  };
}

auto Workspace::critical_line(ImDrawList& draw, float middle) const {
  return [&draw, middle, this](float at) {
    draw.AddRectFilled({at, std::round(middle - theme_.px(1.5f))},
                       {at + theme_.px(kLegendBox), std::round(middle + theme_.px(1.5f))},
                       theme_.color(Color::kCritical));
  };
}

// What the trace contains, in the current colors.
template <class Entry>
void Workspace::trace_legend(ImDrawList& draw, float middle, Entry entry) {
  for (const LegendEntry& each : bar_legend(*model_, theme_, state_.look.color_by))
    entry(each.text, square(draw, middle, each.color));
  const float glyph = theme_.px(9), box = theme_.px(kLegendBox);
  if (model_->lanes().has(Category::kRecordCall)) {
    entry("event record", [&](float at) {
      widgets::record_glyph(draw, theme_, at + box / 2, std::round(middle + glyph / 2), glyph,
                            theme_.color(Category::kRecordCall));
    });
  }
  if (model_->lanes().has(Category::kWaitCall)) {
    entry("stream wait", [&](float at) {
      widgets::wait_glyph(draw, theme_, at + box / 2, std::round(middle + glyph / 2), glyph,
                          theme_.color(Category::kWaitCall));
    });
  }
  if (state_.look.critical_path && !model_->insights().path.empty()) {
    entry("critical path", critical_line(draw, middle));
  }
  if (std::ranges::any_of(model_->lanes(), [](const Lane& lane) {
        return lane.kind == LaneKind::kCounter && !lane.counter.is_share();
      })) {
    entry("mean and maximum", [&](float at) {
      std::vector<Counter::Column> columns(static_cast<size_t>(box), {.mean = 1, .most = 1});
      std::fill(columns.begin() + 2, columns.end() - 2, Counter::Column{.mean = 1, .most = 3});
      draw_counter_columns(
          columns, 3, at, std::round(middle + box / 2), box,
          CounterLook(theme_, theme_.color(Color::kCounter)),
          [&](ImVec2 min, ImVec2 max, ImU32 color) { draw.AddRectFilled(min, max, color); });
    });
  }
  if (model_->lanes().has_waits()) {
    entry("waiting", [&](float at) {
      draw.AddRectFilled({at, std::round(middle - box / 2)},
                         {at + box, std::round(middle + box / 2)},
                         theme_.dim(theme_.color(Color::kWaiting), 0.13f));
      draw.AddRectFilled({at, std::round(middle + box / 2) - theme_.px(2)},
                         {at + box, std::round(middle + box / 2)}, theme_.color(Color::kWaiting));
    });
  }
}

template <class Entry>
void Workspace::job_legend(ImDrawList& draw, float middle, Entry entry) {
  const JobModel& job = *state_.job.model;
  entry("waiting for others", [&](float at) {
    const float box = theme_.px(kLegendBox), top = std::round(middle - box / 2);
    const ImU32 waiting = theme_.color(Color::kWaiting);
    draw.AddRectFilled({at, top}, {at + box, top + box}, theme_.dim(waiting, 0.2f));
    draw.PushClipRect({at, top}, {at + box, top + box}, true);
    for (float x = at - box; x < at + box; x += theme_.px(5))
      draw.AddLine({x, top + box}, {x + box, top}, theme_.dim(waiting, 0.62f), theme_.px(1.5f));
    draw.PopClipRect();
  });
  entry("collective", square(draw, middle, theme_.color(analysis::TimeShare::kCollectives)));
  if (state_.look.critical_path && !job.path().empty())
    entry("critical path", critical_line(draw, middle));
  for (size_t i = 0; i < analysis::kShareCount; ++i) {
    const auto share = static_cast<analysis::TimeShare>(i);
    if (share != analysis::TimeShare::kCollectives && job.has(share))
      entry(analysis::names_of(share).shown, square(draw, middle, theme_.color(share)));
  }
}

void Workspace::draw_footer(float top, float width, float height) {
  widgets::begin_panel("footer", {0, top}, {width, height}, ImGuiWindowFlags_NoInputs);
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  draw.AddLine({0, top + 0.5f}, {width, top + 0.5f}, theme_.color(Color::kBorder));
  const float middle = top + height / 2;
  const float text_y = std::round(middle - theme_.text(Face::kSmall).size / 2 - 1);
  const ImU32 dim = theme_.color(Color::kTextDim);

  constexpr std::string_view kHint = "wheel: zoom   drag: pan   Shift+drag: mark time";
  const bool reported = !state_.status.empty();
  const Face face = reported ? Face::kBold : Face::kSmall;
  const std::string_view said = reported ? std::string_view(state_.status) : kHint;
  float right = std::max(width - theme_.px(14) - theme_.width(face, said), theme_.px(14));
  widgets::fit_text(draw, theme_, face,
                    {right, std::round(middle - theme_.text(face).size / 2 - 1)}, width - right,
                    theme_.color(reported ? Color::kAccent : Color::kTextFaint), said);
  right -= theme_.px(24);

  // The legend: what this trace contains, in the current colors.
  float x = theme_.px(14);
  const auto entry = [&](std::string_view text, auto&& swatch) {
    const float needed = theme_.px(16) + theme_.width(Face::kSmall, text);
    if (x + needed > right) return;
    swatch(x);
    widgets::text(draw, theme_, Face::kSmall, {x + theme_.px(16), text_y}, dim, text);
    x += needed + theme_.px(18);
  };
  if (shows_job()) {
    job_legend(draw, middle, entry);
  } else {
    trace_legend(draw, middle, entry);
  }
  ImGui::End();
}

void Workspace::draw_message(float width, float height) {
  state_.drawn.background.begin_section({0, 0}, {width, height});
  state_.drawn.background.fill({0, 0}, {width, height}, theme_.color(Color::kBackground));
  widgets::begin_panel("message", {0, theme_.px(kHeader)}, {width, height - theme_.px(kHeader)},
                       ImGuiWindowFlags_NoBackground);
  const float box = std::min(width - theme_.px(40), theme_.px(620));
  ImGui::SetCursorPos({(width - box) / 2, height * 0.32f});
  ImGui::BeginChild("box", {box, height * 0.5f});
  if (is_in_panel()) state_.focus.stops.begin();
  const auto write = [&](Face face, Color color, std::string_view text) {
    widgets::wrapped(theme_, face, theme_.color(color), text);
    if (face != Face::kMono) ImGui::Spacing();
  };
  if (!error_.empty()) {
    write(Face::kTitle, Color::kError, "Cannot show this trace");
    widgets::wrapped(theme_, Face::kBody, theme_.color(Color::kText), error_);
  } else if (!reading_.empty()) {
    write(Face::kTitle, Color::kText, "Reading " + reading_.filename().string());
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float bar = theme_.px(4);
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    draw.AddRectFilled(at, {at.x + box, at.y + bar}, theme_.color(Color::kPanelRaised));
    draw.AddRectFilled(at, {at.x + box * static_cast<float>(progress_.value_or(0)), at.y + bar},
                       theme_.color(Color::kAccent));
  } else {
    write(Face::kTitle, Color::kText, "No trace open");
    write(Face::kBody, Color::kTextDim,
          "Drop a trace file here, press Ctrl+O, or record one and open it:");
    write(Face::kMono, Color::kText, "streamscope record -o trace.sqlite -- ./app");
    write(Face::kMono, Color::kText, "streamscope-viewer trace.sqlite");
    if (!recent_.empty()) widgets::heading(theme_, "Recent traces");
    int id = 0;
    for (const RecentTrace& each : recent_) {
      if (widgets::link(theme_, state_.focus.stops, Face::kBody, each.trace.string(), id++))
        state_.wanted.open = each.trace;
    }
  }
  state_.focus.stops.end();
  ImGui::EndChild();
  ImGui::End();
}

}  // namespace streamscope::viewer
