// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "deadlocks.h"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <utility>

#include "analysis/call_sites.h"
#include "model/labels.h"
#include "widgets.h"

namespace streamscope::viewer {
namespace {

constexpr float kPartyWidth = 150, kPartyHeight = 42;
constexpr float kPartyColumn = 290, kLeastPartyColumn = 200, kPartyRow = 96;

std::string where(const TraceModel& model, const WaitGraph::Node& node) {
  if (node.thread != kNoId) return model.items().thread_name(node.thread);
  if (node.stream != kNoId) return model.items().stream_name(node.stream);
  return "";
}

// A thread that waits for a lock is not a row that can be selected.
std::string name_of(const TraceModel& model, const WaitGraph::Node& node) {
  const Item item = item_of(node);
  return item.kind == ItemKind::kNone ? "waits for a lock" : model.items().label(item);
}

Id stack_of(const trace::Trace& trace, Item item) {
  if (item.kind == ItemKind::kApiCall) return trace.api_call.stack_id[item.id];
  if (item.kind == ItemKind::kHostSync) return trace.host_sync.stack_id[item.id];
  return kNoId;
}

// What the recorder reported while the process hung, or what can be concluded from its trace.
void draw_report(const trace::HangReport& report, const Theme& theme) {
  std::istringstream lines(report.text);
  bool headline = true;
  for (std::string line; std::getline(lines, line);) {
    const size_t indent = std::min(line.find_first_not_of(' '), line.size());
    if (std::exchange(headline, false)) {
      widgets::wrapped(theme, Face::kTitle, theme.color(Color::kError), line);
    } else if (indent > 2) {  // a frame of a stack
      widgets::wrapped(theme, Face::kMonoSmall, theme.color(Color::kTextDim), line);
    } else {
      ImGui::Spacing();
      widgets::wrapped(theme, Face::kBody, theme.color(Color::kText), line.substr(indent));
    }
  }
  ImGui::Spacing();
}

}  // namespace

void DeadlocksView::draw(const TraceModel& model, ViewState& state, const Theme& theme) {
  const WaitGraph& graph = model.insights().waits;
  if (graph.nodes.empty() && !model.insights().hangs.empty())
    return draw_words(model, state, theme);
  if (graph.nodes.empty()) {
    return widgets::empty_state(
        theme, "No hang",
        "Every call in this trace returned. For a program that hangs, use streamscope record "
        "--hang-timeout, or streamscope hang on the running process; this panel then shows who "
        "waits for whom.");
  }
  // The text is beside the picture, or below it if both would be narrow.
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const bool beside = room.x > theme.px(900);
  const float words = std::min(theme.px(420), room.x * 0.4f);
  const float wanted = theme.px(kPartyRow) * static_cast<float>(graph.rows) + theme.px(36);
  ImGui::BeginChild(
      "graph",
      {beside ? room.x - words - theme.px(16) : 0, beside ? 0 : std::min(wanted, room.y * 0.6f)},
      false, ImGuiWindowFlags_HorizontalScrollbar);
  draw_graph(model, state, theme);
  ImGui::EndChild();
  if (beside) ImGui::SameLine(0, theme.px(16));
  ImGui::BeginChild("words", {0, 0});
  draw_words(model, state, theme);
  ImGui::EndChild();
}

void DeadlocksView::draw_graph(const TraceModel& model, ViewState& state, const Theme& theme) {
  const WaitGraph& graph = model.insights().waits;
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  const ImVec2 size{theme.px(kPartyWidth), theme.px(kPartyHeight)};
  const float column =
      std::clamp(ImGui::GetContentRegionAvail().x / static_cast<float>(std::max(graph.columns, 1u)),
                 theme.px(kLeastPartyColumn), theme.px(kPartyColumn));
  const auto corner = [&](uint32_t node) {
    return ImVec2{
        origin.x + theme.px(4) + column * static_cast<float>(graph.nodes[node].column),
        origin.y + theme.px(28) + theme.px(kPartyRow) * static_cast<float>(graph.nodes[node].row)};
  };
  // Arrows first, those of the cycle on top of the others.
  for (const bool cyclic : {false, true}) {
    for (const WaitGraph::Link& link : graph.links) {
      if (link.in_cycle != cyclic) continue;
      const ImVec2 a = corner(link.from), b = corner(link.to);
      const ImU32 color = theme.color(cyclic ? Color::kError : Color::kTextFaint);
      // From the side that faces the other node; nodes in one column are joined from top to bottom.
      const auto side = [](uint32_t x, uint32_t y) { return x < y ? 1.0f : x > y ? -1.0f : 0.0f; };
      const float dx = side(graph.nodes[link.from].column, graph.nodes[link.to].column);
      const float dy = dx != 0 ? 0 : side(graph.nodes[link.from].row, graph.nodes[link.to].row);
      const ImVec2 half{size.x / 2, size.y / 2};
      const ImVec2 from{a.x + half.x * (1 + dx), a.y + half.y * (1 + dy)};
      const ImVec2 to{b.x + half.x * (1 - dx), b.y + half.y * (1 - dy)};
      const float bend = std::max(std::hypot(to.x - from.x, to.y - from.y) / 3, theme.px(12));
      const ImVec2 c1{from.x + bend * dx, from.y + bend * dy};
      const ImVec2 c2{to.x - bend * dx, to.y - bend * dy};
      draw.AddBezierCubic(from, c1, c2, to, color, theme.px(cyclic ? 2.5f : 1.4f));
      const float tip = theme.px(8), wide = theme.px(4.5f);
      draw.AddTriangleFilled(to, {to.x - tip * dx - wide * dy, to.y - tip * dy - wide * dx},
                             {to.x - tip * dx + wide * dy, to.y - tip * dy + wide * dx}, color);
      const bool level = dx != 0 && from.y == to.y;  // its text is above, where there is space
      const ImVec2 middle{(from.x + to.x) / 2, level ? a.y - theme.px(8) : (from.y + to.y) / 2};
      if (!cyclic && !graph.cycles.empty()) continue;  // the texts would overlap
      const std::string_view why = to_string(link.why);
      const ImVec2 chip = widgets::chip(nullptr, theme, Face::kSmall, {}, 0, 0, why);
      widgets::chip(&draw, theme, Face::kSmall, {middle.x - chip.x / 2, middle.y - chip.y / 2},
                    theme.color(Color::kPanel), cyclic ? color : theme.color(Color::kTextDim), why);
    }
  }
  for (uint32_t i = 0; i < graph.nodes.size(); ++i) {
    const WaitGraph::Node& node = graph.nodes[i];
    const Item item = item_of(node);
    const ImVec2 at = corner(i), end{at.x + size.x, at.y + size.y};
    const ImU32 frame = theme.color(node.in_cycle  ? Color::kError
                                    : node.blocked ? Color::kWaiting
                                                   : Color::kBorder);
    draw.AddRectFilled(at, end, theme.color(Color::kPanelRaised), theme.px(4));
    draw.AddRectFilled(at, {at.x + theme.px(5), end.y}, theme.color(model.items().category(item)),
                       theme.px(4), ImDrawFlags_RoundCornersLeft);
    const bool selected = item.kind != ItemKind::kNone && item == state.selection.item;
    draw.AddRect(at, end, selected ? theme.color(Color::kSelection) : frame, theme.px(4), 0,
                 theme.px(node.in_cycle || selected ? 2 : 1));
    const float left = at.x + theme.px(13), room = size.x - theme.px(20);
    widgets::fit_text(draw, theme, Face::kBold, {left, at.y + theme.px(5)}, room,
                      theme.color(Color::kText), name_of(model, node));
    widgets::fit_text(draw, theme, Face::kSmall, {left, at.y + theme.px(23)}, room,
                      theme.color(Color::kTextDim), where(model, node));
    ImGui::SetCursorScreenPos(at);
    ImGui::PushID(static_cast<int>(i));
    if (ImGui::InvisibleButton("node", size) && item.kind != ItemKind::kNone)
      go_to(model, state, item);
    state.focus.stops.add();
    widgets::focus_frame(theme);
    ImGui::PopID();
  }
  ImGui::SetCursorScreenPos(origin);
  ImGui::Dummy({column * static_cast<float>(graph.columns),
                theme.px(kPartyRow) * static_cast<float>(graph.rows) + theme.px(28)});
}

void DeadlocksView::draw_words(const TraceModel& model, ViewState& state, const Theme& theme) {
  const WaitGraph& graph = model.insights().waits;
  int next_id = 0;
  const auto link = [&](const WaitGraph::Node& node) {
    if (widgets::link(theme, state.focus.stops, Face::kBody,
                      name_of(model, node) + "  \u00b7  " + where(model, node), next_id++) &&
        item_of(node))
      go_to(model, state, item_of(node));
  };
  for (const trace::HangReport& report : model.insights().hangs) draw_report(report, theme);
  if (graph.nodes.empty()) return;
  const bool cyclic = !graph.cycles.empty();
  if (model.insights().hangs.empty()) {
    widgets::wrapped(theme, Face::kTitle, theme.color(cyclic ? Color::kError : Color::kWaiting),
                     cyclic ? "Deadlock: a cycle of waits" : "Calls that never returned");
  } else if (cyclic) {
    widgets::heading(theme, "Cycle of waits");
  }
  for (const std::vector<uint32_t>& cycle : graph.cycles) {
    ImGui::Spacing();
    for (size_t i = 0; i < cycle.size(); ++i) {
      link(graph.nodes[cycle[i]]);
      const uint32_t next = cycle[(i + 1) % cycle.size()];
      std::string_view why = "waits for";
      for (const WaitGraph::Link& each : graph.links) {
        if (each.from == cycle[i] && each.to == next) why = to_string(each.why);
      }
      widgets::text(theme, Face::kSmall, theme.color(Color::kTextDim),
                    "waits (" + std::string(why) + ") for" +
                        (i + 1 == cycle.size() ? " the first one again" : ""));
    }
  }
  widgets::heading(theme, "Blocked calls");
  for (const WaitGraph::Node& node : graph.nodes) {
    if (!node.blocked) continue;
    link(node);
    widgets::text(theme, Face::kSmall, theme.color(Color::kWaiting),
                  "blocked for " + format_duration(node.held_ns) +
                      (node.stuck ? ", never returned" : ", the awaited work did not finish"));
    if (const Id stack = stack_of(model.trace(), item_of(node)); stack != kNoId) {
      for (const std::string& line : analysis::stack_lines(model.trace(), stack))
        widgets::wrapped(theme, Face::kMonoSmall, theme.color(Color::kTextDim), line);
    }
    ImGui::Spacing();
  }
  bool first = true;
  for (const FindingLine& finding : model.insights().findings) {
    if (!finding.number().starts_with("SS1")) continue;
    if (first) widgets::heading(theme, "Findings");
    first = false;
    widgets::wrapped(theme, Face::kBold, theme.color(Color::kText), finding.title());
    widgets::wrapped(theme, Face::kBody, theme.color(Color::kTextDim), finding.advice.finding.text);
  }
  if (graph.left_out > 0) {
    widgets::wrapped(theme, Face::kSmall, theme.color(Color::kTextDim),
                     format_count(graph.left_out, "more arrow") + " not drawn");
  }
}

}  // namespace streamscope::viewer
