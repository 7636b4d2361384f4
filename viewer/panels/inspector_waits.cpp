// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Why an item started late, what it waited for and who waited for it.

#include <algorithm>
#include <array>
#include <utility>

#include "inspector_sheet.h"

namespace streamscope::viewer {
namespace {

using trace::kUnknownNs;

constexpr std::array<std::pair<trace::EdgeKind, std::string_view>, 4> kEdgeTexts = {
    {{trace::kHostEdge, "by the host, which waited for the first before it issued the second"},
     {trace::kLegacyEdge, "by the rules of the legacy default stream"},
     {trace::kGraphEdgeKind, "by a graph edge"},
     {trace::kOperationEdge, "by a libcoord dependency"}}};

constexpr std::array<std::pair<streamscope::WaitCause, std::string_view>, 6> kCauseTexts = {
    {{streamscope::WaitCause::kStart, "start latency of the device"},
     {streamscope::WaitCause::kLegacyStream, "the legacy default stream"},
     {streamscope::WaitCause::kCopyEngine, "the copy engine was busy"},
     {streamscope::WaitCause::kSmFull, "the device was full"},
     {streamscope::WaitCause::kQueueAliasing, "unrelated work before it in its hardware queue"},
     {streamscope::WaitCause::kGraph, "another node of its graph"}}};

}  // namespace

std::string_view explain(streamscope::WaitCause cause) {
  return text_of(kCauseTexts, cause, "unknown");
}

void draw_why_late(Sheet& sheet, Id op) {
  const TraceModel& model = sheet.model;
  const Theme& theme = sheet.theme;
  const std::vector<analysis::WaitPart> parts = model.waits().of(op);
  Ns gap = 0;
  for (const analysis::WaitPart& part : parts) gap += part.duration_ns;
  if (gap == 0) return;
  widgets::heading(theme, "Started late by " + format_duration(gap));
  // The gap before it, from left to right in order of time.
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, height = theme.px(10);
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  float x = at.x;
  for (const analysis::WaitPart& part : parts) {
    const float share =
        static_cast<float>(static_cast<double>(part.duration_ns) / static_cast<double>(gap));
    draw.AddRectFilled({x, at.y}, {x + std::max(share * width - 1, 1.0f), at.y + height},
                       theme.color(part.cause));
    x += share * width;
  }
  ImGui::Dummy({width, height + theme.px(2)});
  for (const analysis::WaitPart& part : parts) {
    const ImVec2 row = ImGui::GetCursorScreenPos();
    const float swatch = theme.px(8), top = row.y + (theme.text(Face::kBody).size - swatch) / 2;
    draw.AddRectFilled({row.x, top}, {row.x + swatch, top + swatch}, theme.color(part.cause));
    ImGui::SetCursorPosX(ImGui::GetCursorPosX() + theme.px(16));
    widgets::text(theme, Face::kBody, theme.color(Color::kText), format_duration(part.duration_ns));
    ImGui::SameLine(theme.px(112));
    if (part.host_sync() != kNoId) {
      const Item sync{ItemKind::kHostSync, part.host_sync()};
      sheet.link(analysis::host_label(part.cause, sheet.items.label(sync)), sync);
    } else if (analysis::is_host(part.cause)) {
      sheet.note(analysis::host_label(part.cause, sheet.items.text(part.call_name())));
    } else if (part.because_op() != kNoId) {
      sheet.link("waited for " + sheet.on_stream(part.because_op()),
                 {ItemKind::kOp, part.because_op()});
    } else {
      sheet.note(explain(part.cause));
    }
  }
}

void draw_dependencies(Sheet& sheet) {
  const TraceModel& model = sheet.model;
  const Item item = sheet.state.selection.item;
  const trace::Trace& trace = sheet.trace();
  const std::vector<uint32_t> all = model.edges().of(item);
  if (all.empty()) {
    if (item.kind == ItemKind::kOp && trace.op.start_ns[item.id] != kUnknownNs) {
      widgets::heading(sheet.theme, "Dependencies");
      sheet.note("None except the order of its own stream.");
    }
    return;
  }
  // For a record or a wait, both ends of every edge are worth naming.
  for (const bool incoming : {true, false}) {
    size_t listed = 0, left_out = 0;
    for (const uint32_t index : all) {
      const Dependency& dependency = model.edges()[index];
      if (item.kind == ItemKind::kOp && (dependency.to_op == item.id) != incoming) continue;
      const Item other{ItemKind::kOp, incoming ? dependency.from_op : dependency.to_op};
      if (listed == 0) {
        widgets::heading(sheet.theme, item.kind != ItemKind::kOp
                                          ? (incoming ? "Covers the work up to" : "Delayed")
                                      : incoming ? "Waited for"
                                                 : "Who waited for it");
      }
      if (listed++ >= Sheet::kMaxListed) {
        ++left_out;
        continue;
      }
      const ImVec2 at = ImGui::GetCursorScreenPos();
      const float mark = sheet.theme.px(3);
      sheet.link(
          sheet.items.label(other) + " on " + sheet.items.stream_name(trace.op.stream_id[other.id]),
          other);
      const Ns waited = model.edges().waited_ns(index);
      const auto from = sheet.items.time({ItemKind::kOp, dependency.from_op}),
                 to = sheet.items.time({ItemKind::kOp, dependency.to_op});
      std::string text;
      if (waited > 0) {
        text = incoming ? "delayed this stream by " + format_duration(waited)
                        : "waited " + format_duration(waited);
      } else if (from && to) {
        text = "no delay: " + format_duration(distance_ns(from->end_ns, to->begin_ns)) +
               " between them";
      }
      widgets::wrapped(sheet.theme, Face::kSmall,
                       sheet.theme.color(waited > 0 ? Color::kWaiting : Color::kTextDim), text);
      if (dependency.record != kNoId && dependency.wait != kNoId) {
        const auto& record = trace.event_record;
        widgets::text(sheet.theme, Face::kSmall, sheet.theme.color(Color::kTextDim), "by");
        ImGui::SameLine();
        if (widgets::link(sheet.theme, sheet.state.focus.stops, Face::kSmall,
                          "record of " + sheet.items.event_name(record.event_id[dependency.record]),
                          sheet.next_id++)) {
          select(sheet.state, {ItemKind::kEventRecord, dependency.record});
        }
        ImGui::SameLine();
        widgets::text(sheet.theme, Face::kSmall, sheet.theme.color(Color::kTextDim), "and");
        ImGui::SameLine();
        if (widgets::link(sheet.theme, sheet.state.focus.stops, Face::kSmall, "its wait",
                          sheet.next_id++))
          select(sheet.state, {ItemKind::kEventWait, dependency.wait});
      } else {
        widgets::wrapped(sheet.theme, Face::kSmall, sheet.theme.color(Color::kTextDim),
                         text_of(kEdgeTexts, dependency.kind, "by stream order"));
      }
      const float bottom = ImGui::GetCursorScreenPos().y - ImGui::GetStyle().ItemSpacing.y;
      ImGui::GetWindowDrawList()->AddRectFilled(
          {at.x - sheet.theme.px(8), at.y}, {at.x - sheet.theme.px(8) + mark, bottom},
          sheet.theme.color(incoming ? Color::kIncoming : Color::kOutgoing));
      ImGui::Spacing();
    }
    if (left_out > 0) sheet.note("and " + format_count(static_cast<int64_t>(left_out)) + " more");
  }
}

}  // namespace streamscope::viewer
