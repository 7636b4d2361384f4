// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The arrows of the selection: from the op that was waited for, past record and wait, to the op
// that waited.

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "document/labels.h"
#include "timeline.h"

namespace streamscope::viewer {
namespace {

constexpr size_t kMaxArrows = 64;  // beyond this a picture says less than the inspector's list
constexpr size_t kMaxChips = 6;    // arrows that also carry their time
constexpr float kLine = 2;
constexpr float kHead = 8;

struct Curve {
  ImVec2 from, c1, c2, to;

  ImVec2 at(float t) const {
    const float u = 1 - t;
    const float a = u * u * u, b = 3 * u * u * t, c = 3 * u * t * t, d = t * t * t;
    return {a * from.x + b * c1.x + c * c2.x + d * to.x,
            a * from.y + b * c1.y + c * c2.y + d * to.y};
  }
};

// Leaves to the right and arrives from the left, as time does.
Curve curve_between(ImVec2 from, ImVec2 to, float least) {
  const float reach = std::clamp(std::fabs(to.x - from.x) * 0.5f, least, least * 5);
  return {from, {from.x + reach, from.y}, {to.x - reach, to.y}, to};
}

// An arrow to draw: which edge, on which side of the selection, and whether it touches it.
struct Arrow {
  uint32_t dependency;
  bool incoming;
  bool direct;
};

// The op nearest before (after) this one on its stream, itself included, that an edge leads to
// (leads away from): what it waited for held all that follow it up.
Id nearest_with_edges(const Document& document, Id op, bool back) {
  constexpr size_t kMostSteps = 1000;  // a chain that is further away tells nothing
  const auto place = document.place({ItemKind::kOp, op});
  if (!place) return kNoId;
  const Row& row = document.lanes()[place->lane].bands[place->band].row;
  size_t at = place->index;
  for (size_t step = 0; step < kMostSteps && at < row.size(); ++step, back ? --at : ++at) {
    const Id each = unpack(row.item[at]).id;
    if (!(back ? document.incoming(each) : document.outgoing(each)).empty()) return each;
  }
  return kNoId;
}

// The edges of the selection; of the whole chain also those that led to it and follow from it, the
// nearest first.
std::vector<Arrow> arrows_of(const Document& document, Item selection, bool whole_chain) {
  std::vector<Arrow> arrows;
  for (const uint32_t index : document.dependencies_of(selection)) {
    const bool incoming = selection.kind == ItemKind::kOp
                              ? document.dependency(index).to_op == selection.id
                              : selection.kind == ItemKind::kEventWait;
    arrows.push_back({index, incoming, true});
  }
  if (arrows.size() > kMaxArrows) arrows.resize(kMaxArrows);
  if (!whole_chain || selection.kind != ItemKind::kOp) return arrows;
  for (const bool back : {true, false}) {
    std::vector<Id> queue = {selection.id};
    std::set<Id> seen;
    const size_t before = arrows.size();
    for (size_t i = 0; i < queue.size() && arrows.size() < before + kMaxArrows; ++i) {
      const Id op = nearest_with_edges(document, queue[i], back);
      if (op == kNoId || !seen.insert(op).second) continue;
      for (const uint32_t index : back ? document.incoming(op) : document.outgoing(op)) {
        const Dependency& edge = document.dependency(index);
        queue.push_back(back ? edge.from_op : edge.to_op);
        if (op != selection.id && arrows.size() < before + kMaxArrows)
          arrows.push_back({index, back, false});
      }
    }
  }
  return arrows;
}

// What stands at the edge of the plot for an op that is out of sight; its stream only where there
// is room.
std::string tag_of(const Pane& pane, const TimelineView::End& end, Item op) {
  const Document& document = pane.document;
  const float room = pane.max.x - pane.min.x - pane.px(40);
  const std::string label = ellipsize(document.label(op), 40);
  const std::string with_stream =
      label + " \u00b7 " + document.stream_name(document.trace().op.stream_id[op.id]);
  const std::string& text =
      pane.theme.width(Face::kSmall, with_stream) < room ? with_stream : label;
  return end.left    ? "\u2190 " + text
         : end.right ? text + " \u2192"
         : end.above ? "\u2191 " + text
                     : "\u2193 " + text;
}

}  // namespace

std::optional<TimelineView::End> TimelineView::end_of(const Pane& pane, Item item,
                                                      bool at_end) const {
  const auto place = pane.document.place(item);
  const auto range = pane.document.time(item);
  if (!place || !range) return std::nullopt;
  // A lane inside a collapsed one is stood for by the nearest one in sight.
  int lane = static_cast<int>(place->lane);
  const LaneBox* box = nullptr;
  while (lane >= 0 && (box = box_of(static_cast<size_t>(lane))) == nullptr) {
    lane = pane.document.lanes()[static_cast<size_t>(lane)].parent;
  }
  if (box == nullptr) return std::nullopt;
  const bool own = static_cast<size_t>(lane) == place->lane;
  const auto [top, bottom] =
      own ? band_span(pane, *box, place->band) : std::pair(box->top, box->bottom);
  End end;
  const double px = pane.state.window.to_px(at_end ? range->end_ns : range->begin_ns);
  end.left = px < 0;
  end.right = px > pane.state.window.width_px;
  const float y = (top + bottom) / 2;
  end.above = y < pane.min.y;
  end.below = y > pane.max.y;
  end.at = {pane.min.x + static_cast<float>(std::clamp(px, 0.0, pane.state.window.width_px)),
            std::clamp(y, pane.min.y + pane.px(6), pane.max.y - pane.px(6))};
  return end;
}

void TimelineView::draw_edges(Pane& pane) {
  const Document& document = pane.document;
  const Theme& theme = pane.theme;
  const Item selection = pane.state.selection;
  if (!selection) return;

  // The call that issued the op, or the op that the call issued.
  {
    Item op = selection, call;
    if (selection.kind == ItemKind::kOp) {
      call = document.call_of(selection.id);
    } else if (const Id issued = document.op_of(selection); issued != kNoId) {
      op = {ItemKind::kOp, issued};
      call = selection;
    }
    const auto from = call ? end_of(pane, call, false) : std::nullopt,
               to = call ? end_of(pane, op, false) : std::nullopt;
    const bool apart = from && to && !from->left && !from->right && !to->left && !to->right;
    if (apart && !document.lanes()[document.place(op)->lane].host_times) {
      const float bend = (to->at.y - from->at.y) * 0.5f;
      const ImU32 color = Theme::fade(theme.color(Color::kAccent), 0.8f);
      pane.draw.AddBezierCubic(from->at, {from->at.x, from->at.y + bend},
                               {to->at.x, to->at.y - bend}, to->at, color, pane.px(1.4f));
      pane.draw.AddCircleFilled(from->at, pane.px(2.5f), color);
      pane.draw.AddCircleFilled(to->at, pane.px(2.5f), color);
    }
  }

  const std::vector<Arrow> arrows = arrows_of(document, selection, pane.state.whole_chain);
  const auto direct = static_cast<size_t>(std::ranges::count(arrows, true, &Arrow::direct));
  // Texts, which stand over all arrows.
  struct Plate {
    ImVec2 at;
    ImU32 ground, ink, frame;
    std::string text;
  };
  std::vector<Plate> plates;
  std::vector<ImVec2> chips;                    // top left corners of times so far
  std::map<std::pair<bool, int>, int> stacked;  // off-screen tags so far, by side and height
  for (const Arrow& arrow : arrows) {
    const uint32_t index = arrow.dependency;
    const bool incoming = arrow.incoming;
    const Dependency& dependency = document.dependency(index);
    const ImU32 color = Theme::fade(theme.color(incoming ? Color::kIncoming : Color::kOutgoing),
                                    arrow.direct ? 1 : 0.55f);
    const Item from_op{ItemKind::kOp, dependency.from_op}, to_op{ItemKind::kOp, dependency.to_op};
    const auto from = end_of(pane, from_op, true), to = end_of(pane, to_op, false);
    if (!from || !to) continue;

    // Where on the host the order was given: the record and the wait.
    const auto tie = [&](Item act, const End& end) {
      const auto call = end_of(pane, act, false);
      if (!call || call->left || call->right || call->above || call->below || end.left || end.right)
        return;
      const float bend = (end.at.y - call->at.y) * 0.5f;
      pane.draw.AddBezierCubic(call->at, {call->at.x, call->at.y + bend},
                               {end.at.x, end.at.y - bend}, end.at, Theme::fade(color, 0.45f),
                               pane.px(1));
      pane.draw.AddCircle(call->at, pane.px(4), color, 12, pane.px(1.5f));
    };
    if (dependency.record != kNoId) tie({ItemKind::kEventRecord, dependency.record}, *from);
    if (dependency.wait != kNoId) tie({ItemKind::kEventWait, dependency.wait}, *to);

    const bool passes_by = (from->left && to->left) || (from->right && to->right);
    if (!passes_by) {
      const Curve curve = curve_between(from->at, to->at, pane.px(28));
      pane.draw.AddBezierCubic(curve.from, curve.c1, curve.c2, curve.to,
                               theme.color(Color::kBackground), pane.px(kLine + 3));
      pane.draw.AddBezierCubic(curve.from, curve.c1, curve.c2, curve.to, color, pane.px(kLine));
      pane.draw.AddCircleFilled(curve.from, pane.px(3.5f), color);
      const float head = pane.px(kHead);
      pane.draw.AddTriangleFilled(curve.to, {curve.to.x - head, curve.to.y - head * 0.55f},
                                  {curve.to.x - head, curve.to.y + head * 0.55f}, color);
      if (arrow.direct && direct <= kMaxChips) {
        const Ns waited = document.waited_ns(index);
        const Ns lag = distance_ns(document.time(from_op)->end_ns, document.time(to_op)->begin_ns);
        const std::string text = waited > 0 ? "waited " + format_duration(waited)
                                            : (lag >= 0 ? "+" : "") + format_duration(lag);
        const ImVec2 size = widgets::chip(nullptr, theme, Face::kSmall, {}, 0, 0, text);
        // In the middle of a long arrow; beside a short one, which it would hide.
        const ImVec2 middle = curve.at(0.5f);
        const auto [near, far] = std::minmax(curve.from.x, curve.to.x);
        const float beside = pane.px(24);
        const float x = far - near > size.x + pane.px(60) ? middle.x - size.x / 2
                        : incoming                        ? near - beside - size.x
                                                          : far + beside;
        // Beside the tags of ends to the left and right.
        const auto tag_room = [&](const End& end, Item op, bool out) {
          return pane.px(out && op != selection ? 12 : 4) +
                 (out && op != selection
                      ? widgets::chip(nullptr, theme, Face::kSmall, {}, 0, 0, tag_of(pane, end, op))
                            .x
                      : 0);
        };
        const float low = pane.min.x + tag_room(*from, from_op, from->left),
                    high = pane.max.x - size.x - pane.px(6) - tag_room(*to, to_op, to->right);
        ImVec2 at{std::clamp(x, low, std::max(high, low)), std::round(middle.y - size.y / 2)};
        const auto overlaps = [&](const ImVec2& other) {  // the corner of one that is there
          return std::fabs(other.y - at.y) < size.y + 2 && std::fabs(other.x - at.x) < size.x;
        };
        while (std::any_of(chips.begin(), chips.end(), overlaps)) at.y += size.y + pane.px(4);
        chips.push_back(at);
        plates.push_back(
            {at, theme.color(Color::kPanelRaised), theme.color(Color::kText), color, text});
      }
    }
    if (!arrow.direct) continue;
    // Ends out of sight: a tag that says who is there and leads to it.
    for (const auto& [end, other] : {std::pair(*from, from_op), std::pair(*to, to_op)}) {
      if (!(end.left || end.right || end.above || end.below) || other == selection) continue;
      const bool on_left = end.left || (!end.right && end.at.x < (pane.min.x + pane.max.x) / 2);
      int& count = stacked[{on_left, static_cast<int>(end.at.y)}];
      const std::string text = tag_of(pane, end, other);
      const ImVec2 size = widgets::chip(nullptr, theme, Face::kSmall, {}, 0, 0, text);
      const float step = size.y + pane.px(3);
      float y =
          end.at.y - size.y / 2 +
          static_cast<float>(count) * (end.at.y > (pane.min.y + pane.max.y) / 2 ? -step : step);
      y = std::clamp(y, pane.min.y + 2, pane.max.y - size.y - 2);
      const float beside = end.left || end.right ? 0 : end.at.x;
      const float x = end.left ? pane.min.x + pane.px(4)
                      : end.right
                          ? pane.max.x - size.x - pane.px(10)
                          : std::min(beside + pane.px(8), pane.max.x - size.x - pane.px(10));
      ++count;
      plates.push_back({{x, y}, color, theme.on(color), color, text});
      if (pane.mouse_in_plot && pane.mouse.x >= x && pane.mouse.x < x + size.x &&
          pane.mouse.y >= y && pane.mouse.y < y + size.y) {
        hit_ = {.item = other, .folded = 1, .is_tag = true};
      }
    }
  }
  for (const Plate& plate : plates) {
    const ImVec2 size = widgets::chip(nullptr, theme, Face::kSmall, {}, 0, 0, plate.text);
    pane.draw.AddRectFilled({plate.at.x - 1, plate.at.y - 1},
                            {plate.at.x + size.x + 1, plate.at.y + size.y + 1}, plate.frame,
                            pane.px(4));
    widgets::chip(&pane.draw, theme, Face::kSmall, plate.at, plate.ground, plate.ink, plate.text);
  }
}

}  // namespace streamscope::viewer
