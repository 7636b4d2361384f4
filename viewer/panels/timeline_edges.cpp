// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The arrows of the selection: from the op that was waited for, through record and wait, to the op
// that waited.

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "model/labels.h"
#include "timeline.h"

namespace streamscope::viewer {
namespace {

constexpr size_t kMaxArrows = 64;  // with more, the inspector's list is clearer
constexpr size_t kMaxChips = 6;    // arrows that also show their time
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

// Leaves to the right and arrives from the left, in the direction of time.
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

// The nearest op before (after) this one on its stream, itself included, that an edge leads to
// (leads away from): what it waited for delayed all later ones.
Id nearest_with_edges(const TraceModel& model, Id op, bool back) {
  constexpr size_t kMostSteps = 1000;  // more distant chains are not useful
  const auto place = model.lanes().place({ItemKind::kOp, op});
  if (!place) return kNoId;
  const Row& row = model.lanes()[place->lane].bands[place->band].row;
  size_t at = place->index;
  for (size_t step = 0; step < kMostSteps && at < row.size(); ++step, back ? --at : ++at) {
    const Id each = unpack(row.item[at]).id;
    if (!(back ? model.edges().incoming(each) : model.edges().outgoing(each)).empty()) return each;
  }
  return kNoId;
}

// The edges of the selection; for the whole chain also those that led to it and follow from it, the
// nearest first.
std::vector<Arrow> arrows_of(const TraceModel& model, Item selection, bool whole_chain) {
  std::vector<Arrow> arrows;
  for (const uint32_t index : model.edges().of(selection)) {
    const bool incoming = selection.kind == ItemKind::kOp
                              ? model.edges()[index].to_op == selection.id
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
      const Id op = nearest_with_edges(model, queue[i], back);
      if (op == kNoId || !seen.insert(op).second) continue;
      for (const uint32_t index : back ? model.edges().incoming(op) : model.edges().outgoing(op)) {
        const Dependency& edge = model.edges()[index];
        queue.push_back(back ? edge.from_op : edge.to_op);
        if (op != selection.id && arrows.size() < before + kMaxArrows)
          arrows.push_back({index, back, false});
      }
    }
  }
  return arrows;
}

// The tag at the edge of the plot for an op that is out of view, with its stream if there is space.
std::string tag_of(const Pane& pane, const TimelineView::End& end, Item op) {
  const TraceModel& model = pane.model;
  const float room = pane.max.x - pane.min.x - pane.px(40);
  const std::string label = ellipsize(model.items().label(op), 40);
  const std::string with_stream =
      label + " \u00b7 " + model.items().stream_name(model.trace().op.stream_id[op.id]);
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
  const auto place = pane.model.lanes().place(item);
  const auto range = pane.model.items().time(item);
  if (!place || !range) return std::nullopt;
  // If a lane is inside a collapsed one, the nearest visible ancestor replaces it.
  int lane = static_cast<int>(place->lane);
  const LaneBox* box = nullptr;
  while (lane >= 0 && (box = box_of(static_cast<size_t>(lane))) == nullptr) {
    lane = pane.model.lanes()[static_cast<size_t>(lane)].parent;
  }
  if (box == nullptr) return std::nullopt;
  const bool own = static_cast<size_t>(lane) == place->lane;
  const auto [top, bottom] =
      own ? band_span(pane, *box, place->band) : std::pair(box->top, box->bottom);
  End end;
  const double px = pane.state.nav.window.to_px(at_end ? range->end_ns : range->begin_ns);
  end.left = px < 0;
  end.right = px > pane.state.nav.window.width_px;
  const float y = (top + bottom) / 2;
  end.above = y < pane.min.y;
  end.below = y > pane.max.y;
  end.at = {pane.min.x + static_cast<float>(std::clamp(px, 0.0, pane.state.nav.window.width_px)),
            std::clamp(y, pane.min.y + pane.px(6), pane.max.y - pane.px(6))};
  return end;
}

// Draws the arrows of the selection, and above all of them their texts.
class TimelineView::EdgePainter {
 public:
  EdgePainter(TimelineView& view, Pane& pane)
      : view_(view), pane_(pane), model_(pane.model), theme_(pane.theme) {}

  void draw() {
    draw_issue();
    const std::vector<Arrow> arrows =
        arrows_of(model_, pane_.state.selection.item, pane_.state.look.whole_chain);
    labeled_ =
        std::ranges::count(arrows, true, &Arrow::direct) <= static_cast<ptrdiff_t>(kMaxChips);
    for (const Arrow& arrow : arrows) draw_arrow(arrow);
    for (const Plate& plate : plates_) {
      const ImVec2 size = chip_size(plate.text);
      pane_.draw.AddRectFilled({plate.at.x - 1, plate.at.y - 1},
                               {plate.at.x + size.x + 1, plate.at.y + size.y + 1}, plate.frame,
                               pane_.px(4));
      widgets::chip(&pane_.draw, theme_, Face::kSmall, plate.at, plate.background, plate.ink,
                    plate.text);
    }
  }

 private:
  struct Plate {
    ImVec2 at;
    ImU32 background, ink, frame;
    std::string text;
  };
  // One dependency and the screen positions of its ends.
  struct Drawn {
    const Arrow& arrow;
    Item from_op, to_op;
    End from, to;
    ImU32 color;
  };

  ImVec2 chip_size(const std::string& text) const {
    return widgets::chip(nullptr, theme_, Face::kSmall, {}, 0, 0, text);
  }
  // A line that leaves up or down.
  void connect(const ImVec2& from, const ImVec2& to, ImU32 color, float width) {
    const float bend = (to.y - from.y) * 0.5f;
    pane_.draw.AddBezierCubic(from, {from.x, from.y + bend}, {to.x, to.y - bend}, to, color,
                              pane_.px(width));
  }

  // The call that issued the op, or the op that the call issued.
  void draw_issue() {
    const Item selection = pane_.state.selection.item;
    Item op = selection, call;
    if (selection.kind == ItemKind::kOp) {
      call = model_.items().call_of(selection.id);
    } else if (const Id issued = model_.items().op_of(selection); issued != kNoId) {
      op = {ItemKind::kOp, issued};
      call = selection;
    }
    if (!call) return;
    const auto from = view_.end_of(pane_, call, false), to = view_.end_of(pane_, op, false);
    if (!from || !to || from->left || from->right || to->left || to->right) return;
    const auto place = model_.lanes().place(op);
    if (!place || model_.lanes()[place->lane].host_times) return;
    const ImU32 color = Theme::fade(theme_.color(Color::kAccent), 0.8f);
    connect(from->at, to->at, color, 1.4f);
    pane_.draw.AddCircleFilled(from->at, pane_.px(2.5f), color);
    pane_.draw.AddCircleFilled(to->at, pane_.px(2.5f), color);
  }

  void draw_arrow(const Arrow& arrow) {
    const Dependency& dependency = model_.edges()[arrow.dependency];
    const Item from_op{ItemKind::kOp, dependency.from_op}, to_op{ItemKind::kOp, dependency.to_op};
    const auto from = view_.end_of(pane_, from_op, true), to = view_.end_of(pane_, to_op, false);
    if (!from || !to) return;
    const ImU32 color =
        Theme::fade(theme_.color(arrow.incoming ? Color::kIncoming : Color::kOutgoing),
                    arrow.direct ? 1 : 0.55f);
    const Drawn drawn{arrow, from_op, to_op, *from, *to, color};
    if (dependency.record != kNoId) tie({ItemKind::kEventRecord, dependency.record}, *from, color);
    if (dependency.wait != kNoId) tie({ItemKind::kEventWait, dependency.wait}, *to, color);
    const bool passes_by = (from->left && to->left) || (from->right && to->right);
    if (!passes_by) draw_curve(drawn);
    if (!arrow.direct) return;
    add_tag(drawn.from, from_op, color);
    add_tag(drawn.to, to_op, color);
  }

  // The calls on the host that define the order: the record and the wait.
  void tie(Item act, const End& end, ImU32 color) {
    const auto call = view_.end_of(pane_, act, false);
    if (!call || call->left || call->right || call->above || call->below || end.left || end.right)
      return;
    connect(call->at, end.at, Theme::fade(color, 0.45f), 1);
    pane_.draw.AddCircle(call->at, pane_.px(4), color, 12, pane_.px(1.5f));
  }

  void draw_curve(const Drawn& drawn) {
    const Curve curve = curve_between(drawn.from.at, drawn.to.at, pane_.px(28));
    pane_.draw.AddBezierCubic(curve.from, curve.c1, curve.c2, curve.to,
                              theme_.color(Color::kBackground), pane_.px(kLine + 3));
    pane_.draw.AddBezierCubic(curve.from, curve.c1, curve.c2, curve.to, drawn.color,
                              pane_.px(kLine));
    pane_.draw.AddCircleFilled(curve.from, pane_.px(3.5f), drawn.color);
    const float head = pane_.px(kHead);
    pane_.draw.AddTriangleFilled(curve.to, {curve.to.x - head, curve.to.y - head * 0.55f},
                                 {curve.to.x - head, curve.to.y + head * 0.55f}, drawn.color);
    if (!drawn.arrow.direct) return;
    if (pane_.mouse_in_plot && is_near(curve))  // a click leads to its other end
      view_.hit_ = {
          .item = drawn.arrow.incoming ? drawn.from_op : drawn.to_op, .folded = 1, .is_tag = true};
    if (labeled_) add_time(drawn, curve);
  }

  // Whether the mouse is on the line, not on the bars at its ends.
  bool is_near(const Curve& curve) const {
    constexpr int kSteps = 48;
    const float end = pane_.px(kHead), reach = pane_.px(kLine + 2);
    const auto distance = [&](const ImVec2& at) {
      return std::hypot(at.x - pane_.mouse.x, at.y - pane_.mouse.y);
    };
    if (distance(curve.from) < end || distance(curve.to) < end) return false;
    ImVec2 before = curve.from;
    for (int step = 1; step <= kSteps; ++step) {
      const ImVec2 at = curve.at(static_cast<float>(step) / kSteps);
      const ImVec2 along{at.x - before.x, at.y - before.y};
      const float length = along.x * along.x + along.y * along.y;
      const float part = length == 0 ? 0
                                     : std::clamp(((pane_.mouse.x - before.x) * along.x +
                                                   (pane_.mouse.y - before.y) * along.y) /
                                                      length,
                                                  0.0f, 1.0f);
      if (distance({before.x + part * along.x, before.y + part * along.y}) <= reach) return true;
      before = at;
    }
    return false;
  }

  // How long the later op waited for the earlier one, or the time between them.
  void add_time(const Drawn& drawn, const Curve& curve) {
    const auto from = model_.items().time(drawn.from_op), to = model_.items().time(drawn.to_op);
    if (!from || !to) return;
    const Ns waited = model_.edges().waited_ns(drawn.arrow.dependency);
    const Ns lag = distance_ns(from->end_ns, to->begin_ns);
    const std::string text = waited > 0 ? "waited " + format_duration(waited)
                                        : (lag >= 0 ? "+" : "") + format_duration(lag);
    const ImVec2 size = chip_size(text);
    // In the middle of a long arrow; beside a short one, which it would hide.
    const ImVec2 middle = curve.at(0.5f);
    const auto [near, far] = std::minmax(curve.from.x, curve.to.x);
    const float beside = pane_.px(24);
    const float x = far - near > size.x + pane_.px(60) ? middle.x - size.x / 2
                    : drawn.arrow.incoming             ? near - beside - size.x
                                                       : far + beside;
    const float low = pane_.min.x + tag_room(drawn.from, drawn.from_op, drawn.from.left),
                high = pane_.max.x - size.x - pane_.px(6) -
                       tag_room(drawn.to, drawn.to_op, drawn.to.right);
    ImVec2 at{std::clamp(x, low, std::max(high, low)), std::round(middle.y - size.y / 2)};
    const auto overlaps = [&](const ImVec2& other) {  // top left corner of an existing one
      return std::fabs(other.y - at.y) < size.y + 2 && std::fabs(other.x - at.x) < size.x;
    };
    while (std::any_of(chips_.begin(), chips_.end(), overlaps)) at.y += size.y + pane_.px(4);
    chips_.push_back(at);
    plates_.push_back(
        {at, theme_.color(Color::kPanelRaised), theme_.color(Color::kText), drawn.color, text});
  }

  // The width taken by the tag of an end to the left or right.
  float tag_room(const End& end, Item op, bool out) const {
    if (!out || op == pane_.state.selection.item) return pane_.px(4);
    return pane_.px(12) + chip_size(tag_of(pane_, end, op)).x;
  }

  // An end out of view: a tag that names it and links to it.
  void add_tag(const End& end, Item op, ImU32 color) {
    if (!(end.left || end.right || end.above || end.below) || op == pane_.state.selection.item)
      return;
    const bool on_left = end.left || (!end.right && end.at.x < (pane_.min.x + pane_.max.x) / 2);
    int& count = stacked_[{on_left, static_cast<int>(end.at.y)}];
    const std::string text = tag_of(pane_, end, op);
    const ImVec2 size = chip_size(text);
    const float step = size.y + pane_.px(3);
    const bool upwards = end.at.y > (pane_.min.y + pane_.max.y) / 2;
    const float y =
        std::clamp(end.at.y - size.y / 2 + static_cast<float>(count) * (upwards ? -step : step),
                   pane_.min.y + 2, pane_.max.y - size.y - 2);
    const float rightmost = pane_.max.x - size.x - pane_.px(10);
    const float x = end.left    ? pane_.min.x + pane_.px(4)
                    : end.right ? rightmost
                                : std::min(end.at.x + pane_.px(8), rightmost);
    ++count;
    plates_.push_back({{x, y}, color, theme_.on(color), color, text});
    if (pane_.mouse_in_plot && pane_.mouse.x >= x && pane_.mouse.x < x + size.x &&
        pane_.mouse.y >= y && pane_.mouse.y < y + size.y) {
      view_.hit_ = {.item = op, .folded = 1, .is_tag = true};
    }
  }

  TimelineView& view_;
  Pane& pane_;
  const TraceModel& model_;
  const Theme& theme_;
  bool labeled_ = false;  // few enough arrows to label each direct one with its time
  std::vector<Plate> plates_;
  std::vector<ImVec2> chips_;                    // top left corners of times so far
  std::map<std::pair<bool, int>, int> stacked_;  // off-screen tags so far, by side and height
};

void TimelineView::draw_edges(Pane& pane) {
  if (pane.state.selection.item) EdgePainter(*this, pane).draw();
}

}  // namespace streamscope::viewer
