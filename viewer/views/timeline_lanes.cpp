// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The content of lanes: bars with labels, time spent waiting, glyphs of records and waits, the
// tooltip.

#include <algorithm>
#include <cmath>

#include "labels.h"
#include "views/timeline.h"

namespace streamscope::viewer {
namespace {

constexpr float kMinPx = 1;         // narrower bars are folded
constexpr float kGapFromPx = 4;     // wider bars leave a pixel to their neighbour
constexpr float kLabelFromPx = 26;  // wider bars carry a label
constexpr float kGrabPx = 3;        // how near the mouse must be to a narrow bar
constexpr float kGlyphSpacing = 9;
constexpr float kNotFound = 0.22f;  // what a search did not find steps back
constexpr float kNarrowPx = 3;  // narrower bars are pixels in a texture, if there are many of them
constexpr size_t kManyBars = 64;  // in one band

// Gives the pixels of a bar a colour: those whose middle it covers, at least one.
void fill_pixels(std::span<ImU32> pixels, float x0, float x1, ImU32 color) {
  const float first = std::max(std::floor(x0 + 0.5f), 0.0f);
  const float last = std::max(std::floor(x1 + 0.5f), first + 1);
  for (auto i = static_cast<size_t>(first); i < pixels.size() && static_cast<float>(i) < last; ++i)
    pixels[i] = color;
}

// A label that fits: of a CUDA call first the prefix goes, which all share.
std::string_view shortened(const Pane& pane, Item item, std::string_view label, float width) {
  const bool call = item.kind == ItemKind::kApiCall || item.kind == ItemKind::kHostSync ||
                    item.kind == ItemKind::kEventRecord || item.kind == ItemKind::kEventWait;
  if (!call || pane.theme.width(Face::kSmall, label) <= width) return label;
  for (const std::string_view prefix : {"cuda", "cu", "sim"}) {
    if (label.starts_with(prefix)) return label.substr(prefix.size());
  }
  return label;
}

}  // namespace

ImU32 TimelineView::fill_of(const Pane& pane, Item item) const {
  if (pane.state.color_by == ColorBy::kName &&
      (item.kind == ItemKind::kOp || item.kind == ItemKind::kRange)) {
    return pane.theme.color_of_name(pane.document.label(item));
  }
  if (item.kind == ItemKind::kRange) {
    // The program may have chosen a colour: 0xAARRGGBB.
    const trace::Int own = pane.document.trace().range.color[item.id];
    if (own != trace::kNoInt && own != 0) {
      return IM_COL32(own >> 16 & 255, own >> 8 & 255, own & 255, 255);
    }
  }
  return pane.theme.color(pane.document.category(item));
}

std::pair<float, float> TimelineView::band_span(const Pane& pane, const LaneBox& box,
                                                size_t band) const {
  const Lane& lane = pane.document.lanes()[box.lane];
  if (pane.state.is_collapsed(box.lane)) return {box.top + pane.px(4), box.bottom - pane.px(4)};
  const bool glyphs = !lane.records.empty() || !lane.passed_waits.empty();
  float used = 0;
  for (const Band& each : lane.bands) used += pane.px(band_pitch(each.kind));
  const float room = box.bottom - box.top - used - (glyphs ? pane.px(9) : 0);
  float y = box.top + std::round(room / 2);
  for (size_t i = 0; i < band; ++i) y += pane.px(band_pitch(lane.bands[i].kind));
  const float height = pane.px(band_pitch(lane.bands[band].kind) - 2);
  return {y, y + height};
}

void TimelineView::draw_lane(Pane& pane, const LaneBox& box) {
  const Lane& lane = pane.document.lanes()[box.lane];
  if (lane.kind == LaneKind::kProcess || lane.kind == LaneKind::kDevice ||
      lane.kind == LaneKind::kHost) {
    pane.draw.AddRectFilled({pane.min.x, box.top}, {pane.max.x, box.bottom},
                            pane.color(Color::kPanel));
  }
  pane.draw.AddLine({pane.min.x, box.bottom - 0.5f}, {pane.max.x, box.bottom - 0.5f},
                    pane.color(Color::kGrid));
  const bool collapsed = pane.state.is_collapsed(box.lane);
  if (!lane.bands.empty()) {
    const auto [top, bottom] = band_span(pane, box, 0);
    draw_waits(pane, lane, top, bottom);
  }
  for (size_t band = 0; band < lane.bands.size(); ++band) {
    // A collapsed thread shows its calls, not the ranges around them.
    if (collapsed && lane.bands[band].kind == BandKind::kRanges && band + 1 < lane.bands.size())
      continue;
    const auto [top, bottom] = band_span(pane, box, band);
    draw_bars(pane, lane, lane.bands[band], top, bottom);
  }
  if (!lane.bands.empty() && pane.state.show_critical_path)
    draw_path(pane, lane, band_span(pane, box, 0).first);
  if (!collapsed) draw_markers(pane, lane, box.bottom - pane.px(3));
}

std::span<ImU32> TimelineView::pixels_for_narrow(Pane& pane, float top, float bottom) {
  const auto narrow = [](const DrawItem& bar) { return bar.x1 - bar.x0 < kNarrowPx; };
  if (items_.size() < kManyBars ||
      static_cast<size_t>(std::ranges::count_if(items_, narrow)) < kManyBars)
    return {};
  return pane.state.raster.add_row(pane.draw, {pane.min.x, top}, {pane.max.x, bottom});
}

void TimelineView::draw_bars(Pane& pane, const Lane& lane, const Band& band, float top,
                             float bottom) {
  items_.clear();
  fold(band.row, pane.state.window, kMinPx, items_);
  pane.state.drawn_items += items_.size();
  const std::span<ImU32> pixels = pixels_for_narrow(pane, top, bottom);
  const bool ranges = band.kind == BandKind::kRanges;
  const float text_y = std::round((top + bottom - pane.theme.text(Face::kSmall).size) / 2) - 1;
  const bool mouse_in_band = pane.mouse_in_plot && !pane.document.is_sketch() &&
                             pane.mouse.y >= top && pane.mouse.y < bottom;
  float nearest = pane.px(kGrabPx);
  for (const DrawItem& bar : items_) {
    const Item item = unpack(band.row.item[bar.first]);
    const float x0 = pane.min.x + bar.x0;
    float x1 = pane.min.x + bar.x1;
    const float width = x1 - x0;
    if (width >= kGapFromPx) x1 -= 1;
    ImU32 fill = fill_of(pane, item);
    if (bar.coverage < 1) fill = pane.theme.dim(fill, 0.35f + 0.65f * bar.coverage);
    if (!pane.state.searched.empty() && !pane.document.has_name(item, pane.state.searched))
      fill = pane.theme.dim(fill, kNotFound);
    if (lane.host_times && width >= kGapFromPx) {
      // Hollow: this is when the host issued it, not when the device ran it.
      pane.draw.AddRectFilled({x0, top}, {x1, bottom}, pane.theme.dim(fill, 0.25f));
      pane.draw.AddRect({x0 + 0.5f, top + 0.5f}, {x1 - 0.5f, bottom - 0.5f}, fill);
      fill = pane.theme.dim(fill, 0.25f);
    } else if (width < kNarrowPx && !pixels.empty()) {
      fill_pixels(pixels, bar.x0, bar.x1, fill);
    } else {
      pane.draw.AddRectFilled({x0, top}, {x1, bottom}, fill);
    }
    if (mouse_in_band) {
      const float away = pane.mouse.x < x0    ? x0 - pane.mouse.x
                         : pane.mouse.x >= x1 ? pane.mouse.x - x1
                                              : -1;
      if (away < nearest) {
        nearest = away;
        hit_ = {item, bar.count, bar.coverage};
      }
    }
    if (width >= pane.px(kLabelFromPx)) {
      // The label stays in sight while any of the bar is.
      const float from = std::max(x0, pane.min.x) + pane.px(5),
                  to = std::min(x1, pane.max.x) - pane.px(4);
      const ImU32 ink = pane.theme.on(fill);
      const std::string label = pane.document.label(item);
      const float used = widgets::fit_text(pane.draw, pane.theme, Face::kSmall, {from, text_y},
                                           to - from, ink, shortened(pane, item, label, to - from));
      if (used > 0 && !ranges) {
        const Ns start = band.row.start_ns[bar.first];
        const std::string duration =
            pane.document.never_ended(item)
                ? "never ended"
                : format_duration(distance_ns(start, band.row.end_ns[bar.first]));
        const float needed = pane.theme.width(Face::kSmall, duration);
        if (to - from - used > needed + pane.px(16)) {
          widgets::text(pane.draw, pane.theme, Face::kSmall, {to - needed, text_y},
                        Theme::fade(ink, 0.62f), duration);
        }
      }
    }
  }
  // Outline of the selection, over its neighbours.
  if (const auto range =
          pane.state.selection ? pane.document.time(pane.state.selection) : std::nullopt) {
    const auto it =
        std::lower_bound(band.row.start_ns.begin(), band.row.start_ns.end(), range->begin_ns);
    for (size_t i = static_cast<size_t>(it - band.row.start_ns.begin());
         i < band.row.size() && band.row.start_ns[i] == range->begin_ns; ++i) {
      if (band.row.item[i] != pack(pane.state.selection)) continue;
      const float x0 = std::clamp(pane.x(range->begin_ns), pane.min.x - 4, pane.max.x + 4);
      const float x1 = std::clamp(pane.x(range->end_ns), pane.min.x - 4, pane.max.x + 4);
      pane.draw.AddRect({std::floor(x0) - 1, top - 1},
                        {std::max(std::ceil(x1), std::floor(x0) + 3) + 1, bottom + 1},
                        pane.color(Color::kSelection), 0, 0, pane.px(2));
    }
  }
}

void TimelineView::draw_waits(Pane& pane, const Lane& lane, float top, float bottom) {
  if (lane.waits.size() == 0) return;
  items_.clear();
  fold(lane.waits, pane.state.window, kMinPx, items_);
  pane.state.drawn_items += items_.size();
  const ImU32 color = pane.color(Color::kWaiting);
  const ImU32 ground = pane.theme.dim(color, 0.13f), ink = pane.theme.dim(color, 0.8f);
  const float line = pane.px(2);
  const std::span<ImU32> grounds = pixels_for_narrow(pane, top, bottom - line);
  const std::span<ImU32> lines =
      grounds.empty() ? grounds : pixels_for_narrow(pane, bottom - line, bottom);
  for (const DrawItem& bar : items_) {
    const float x0 = pane.min.x + bar.x0, x1 = pane.min.x + bar.x1;
    if (bar.x1 - bar.x0 < kNarrowPx && !lines.empty()) {
      fill_pixels(grounds, bar.x0, bar.x1, ground);
      fill_pixels(lines, bar.x0, bar.x1, ink);
    } else {
      pane.draw.AddRectFilled({x0, top}, {x1, bottom}, ground);
      pane.draw.AddRectFilled({x0, bottom - line}, {x1, bottom}, ink);
    }
    const Item item = unpack(lane.waits.item[bar.first]);
    if (pane.mouse_in_plot && pane.mouse.y >= top && pane.mouse.y < bottom && pane.mouse.x >= x0 &&
        pane.mouse.x < x1) {
      hit_ = {item, bar.count, bar.coverage};
    }
    const float from = std::max(x0, pane.min.x) + pane.px(6),
                to = std::min(x1, pane.max.x) - pane.px(4);
    if (bar.count == 1 && to - from > pane.px(kLabelFromPx)) {
      const std::string text =
          "waits " + format_duration(
                         distance_ns(lane.waits.start_ns[bar.first], lane.waits.end_ns[bar.first]));
      const float width = pane.theme.width(Face::kSmall, text);
      if (width <= to - from) {  // in the middle: arrows begin and end at the sides
        const float y = std::round((top + bottom - pane.theme.text(Face::kSmall).size) / 2) - 1;
        widgets::text(pane.draw, pane.theme, Face::kSmall, {(from + to - width) / 2, y}, color,
                      text);
      }
    }
  }
}

// A stripe over the bars of the critical path.
void TimelineView::draw_path(Pane& pane, const Lane& lane, float top) {
  if (lane.path.size() == 0) return;
  items_.clear();
  fold(lane.path, pane.state.window, kMinPx, items_);
  pane.state.drawn_items += items_.size();
  const ImU32 color = pane.color(Color::kCritical);
  const float from = top - pane.px(1), to = top + pane.px(2);
  const std::span<ImU32> pixels = pixels_for_narrow(pane, from, to);
  for (const DrawItem& bar : items_) {
    if (bar.x1 - bar.x0 < kNarrowPx && !pixels.empty()) {
      fill_pixels(pixels, bar.x0, bar.x1, color);
    } else {
      pane.draw.AddRectFilled({pane.min.x + bar.x0, from}, {pane.min.x + bar.x1, to}, color);
    }
  }
}

void TimelineView::draw_markers(Pane& pane, const Lane& lane, float bottom) {
  const float size = pane.px(7), spacing = pane.px(kGlyphSpacing);
  const auto draw_all = [&](const std::vector<Marker>& markers, Category category, auto glyph) {
    const ImU32 color = pane.theme.color(category);
    const auto later = [](const Marker& marker, Ns at) { return marker.at_ns < at; };
    auto it =
        std::lower_bound(markers.begin(), markers.end(), pane.state.window.to_ns(-size), later);
    while (it != markers.end()) {
      const double px = pane.state.window.to_px(it->at_ns);
      if (px > pane.state.window.width_px + size) break;
      const float x = pane.min.x + static_cast<float>(px);
      const bool selected = it->item == pane.state.selection;
      glyph(pane.draw, x, bottom, size, selected ? pane.color(Color::kSelection) : color);
      ++pane.state.drawn_items;
      if (pane.mouse_in_plot && std::fabs(pane.mouse.x - x) <= size * 0.7f &&
          pane.mouse.y > bottom - size - 2 && pane.mouse.y <= bottom + 2) {
        hit_ = {it->item, 1, 1};
      }
      // Glyphs that would overlap are left out: the next one drawn is far enough away.
      it = std::lower_bound(it + 1, markers.end(), pane.state.window.to_ns(px + spacing), later);
    }
  };
  draw_all(lane.records, Category::kRecordCall, widgets::record_glyph);
  draw_all(lane.passed_waits, Category::kWaitCall, widgets::wait_glyph);
}

void TimelineView::draw_tooltip(Pane& pane) {
  if (!hit_ || drag_ == Drag::kPan || drag_ == Drag::kMark) return;
  const Document& document = pane.document;
  const Theme& theme = pane.theme;
  const Item item = hit_.item;
  const ImU32 dim = theme.color(Color::kTextDim);
  ImGui::SetNextWindowSizeConstraints({0, 0}, {theme.px(460), theme.px(600)});
  ImGui::BeginTooltip();
  if (hit_.folded > 1) {
    widgets::text(theme, Face::kBold, theme.color(Color::kText),
                  format_count(hit_.folded) + " in this pixel");
    widgets::text(theme, Face::kBody, dim,
                  "busy " + format_percent(hit_.coverage) + " of it; zoom in to tell them apart");
    ImGui::EndTooltip();
    return;
  }
  ImGui::PushTextWrapPos(theme.px(440));
  const std::string label = document.label(item), name = document.name(item);
  widgets::text(theme, Face::kBold, theme.color(Color::kText), ellipsize(label, 200));
  if (name != label) widgets::text(theme, Face::kSmall, dim, ellipsize(name, 300));
  std::string kind(to_string(document.category(item)));
  if (const auto range = document.time(item)) {
    widgets::text(
        theme, Face::kBody, theme.color(Color::kText),
        kind + "  \u00b7  " +
            (document.never_ended(item) ? "never ended" : format_duration(range->duration_ns())));
    widgets::text(theme, Face::kMonoSmall, dim, "from " + format_exact(range->begin_ns));
  }
  Ns waited = 0;
  Id waited_for = kNoId;
  for (const uint32_t index : document.dependencies_of(item)) {
    const Dependency& dependency = document.dependency(index);
    if (item.kind == ItemKind::kOp && dependency.to_op != item.id) continue;
    if (const Ns ns = document.waited_ns(index); ns > waited) {
      waited = ns;
      waited_for = dependency.from_op;
    }
  }
  if (waited > 0) {
    const Item cause{ItemKind::kOp, waited_for};
    widgets::text(theme, Face::kBody, theme.color(Color::kWaiting),
                  "waited " + format_duration(waited) + " for " +
                      ellipsize(document.label(cause), 60) + " on " +
                      document.stream_name(document.trace().op.stream_id[waited_for]));
  }
  ImGui::PopTextWrapPos();
  ImGui::EndTooltip();
}

}  // namespace streamscope::viewer
