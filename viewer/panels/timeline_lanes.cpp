// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The content of lanes: bars with labels, time spent waiting, glyphs of records and waits,
// counters, the tooltip.

#include <algorithm>
#include <cmath>
#include <span>

#include "bar_colors.h"
#include "counter_columns.h"
#include "model/labels.h"
#include "model/sample_facts.h"
#include "timeline.h"

namespace streamscope::viewer {
namespace {

constexpr float kLeastLabeled = 10;  // lower bars have none
constexpr float kGrabPx = 3;         // how close the mouse must be to a narrow bar
constexpr float kGlyphSpacing = 12;  // glyphs closer than this become a line
constexpr float kNotFound = 0.22f;   // dims what a search did not find
constexpr float kPredicted = 0.5f;   // color strength of predicted bars

// A label that fits: what kernels or CUDA calls have in common is dropped first.
std::string_view shortened(const Pane& pane, Item item, std::string_view label, float width) {
  const bool call = item.kind == ItemKind::kApiCall || item.kind == ItemKind::kHostSync ||
                    item.kind == ItemKind::kEventRecord || item.kind == ItemKind::kEventWait;
  if (!call && item.kind != ItemKind::kOp) return label;
  if (pane.theme.width(Face::kSmall, label) <= width) return label;
  if (!call) {  // "elementwise_kernel<MulFunctor>"
    const size_t functor = label.find('<') + 1;
    return functor > 0 && label.ends_with('>') ? label.substr(functor, label.size() - functor - 1)
                                               : label;
  }
  for (const std::string_view prefix : {"cuda", "cu", "sim"}) {
    if (label.starts_with(prefix)) return label.substr(prefix.size());
  }
  return label;
}

// Whether the bars leave no free space in this width.
bool cover(std::span<const DrawItem> bars, float width) {
  float covered = 0;
  for (const DrawItem& bar : bars) {
    const Pixels pixels = pixels_of(bar.x0, drawn_end(bar));
    if (pixels.first > covered) return false;
    covered = std::max(covered, pixels.end);
  }
  return covered >= width;
}

}  // namespace

ImU32 TimelineView::fill_of(const Pane& pane, const Band& band, const DrawItem& bar) const {
  const auto category = static_cast<Category>(bar.kind);
  // Without reading the item, which is elsewhere in memory.
  if (pane.state.look.color_by == ColorBy::kKind && category != Category::kRange)
    return pane.theme.color(category);
  return bar_color(pane.model, pane.theme, pane.state.look.color_by,
                   unpack(band.row.item[bar.first]), category);
}

std::pair<float, float> TimelineView::band_span(const Pane& pane, const LaneBox& box,
                                                size_t band) const {
  const Lane& lane = pane.model.lanes()[box.lane];
  if (pane.state.nav.is_collapsed(box.lane)) return {box.top + pane.px(4), box.bottom - pane.px(4)};
  const bool glyphs = lane.records.size() + lane.passed_waits.size() > 0;
  float used = 0;
  for (const Band& each : lane.bands) used += pane.px(band_pitch(each.kind));
  const bool predicted = lane.kind == LaneKind::kStream && pane.state.prediction;
  const float room = box.bottom - box.top - used - (glyphs ? pane.px(9) : 0) -
                     (predicted ? pane.px(kPredictedPitch) : 0);
  float y = box.top + std::round(room / 2);
  for (size_t i = 0; i < band; ++i) y += pane.px(band_pitch(lane.bands[i].kind));
  const float height = pane.px(band_pitch(lane.bands[band].kind) - 2);
  return {y, y + height};
}

void TimelineView::draw_lane(Pane& pane, const LaneBox& box) {
  const Lane& lane = pane.model.lanes()[box.lane];
  PixelBackground& background = pane.state.drawn.background;
  if (is_group(lane.kind)) {
    background.fill({pane.min.x, box.top}, {pane.max.x, box.bottom}, pane.color(Color::kPanel));
  }
  background.fill({pane.min.x, box.bottom - 1}, {pane.max.x, box.bottom}, pane.color(Color::kGrid));
  if (lane.kind == LaneKind::kCounter)
    return draw_counter(pane, lane, box.top + pane.px(3), box.bottom - pane.px(2));
  const bool collapsed = pane.state.nav.is_collapsed(box.lane);
  for (size_t index = 0; index < lane.bands.size(); ++index) {
    const Band& band = lane.bands[index];
    // A collapsed thread shows its calls, not the ranges around them; its samples, whether it ran.
    if (collapsed && index + 1 < lane.bands.size() && band.kind == BandKind::kRanges) continue;
    if (collapsed && band.kind == BandKind::kFunctions) continue;
    const auto [top, bottom] = band_span(pane, box, index);
    bars_.clear();
    waits_.clear();
    folded_.fold(band.row, pane.state.nav.window, kMinPx, bars_);
    // Waiting is not drawn if the work covers it.
    if (index == 0 && !cover(bars_, pane.max.x - pane.min.x))
      folded_.fold(lane.waits, pane.state.nav.window, kMinPx, waits_);
    pane.state.drawn.items += bars_.size() + waits_.size();
    Strip strip(pane, top, bottom, grid_);
    draw_waits(pane, lane, strip);
    draw_bars(pane, lane, band, strip);
    strip.finish();
  }
  if (!lane.bands.empty() && pane.state.look.critical_path)
    draw_path(pane, lane, band_span(pane, box, 0).first);
  if (collapsed) return;
  // The same work as predicted, pale and half as high.
  if (lane.kind == LaneKind::kStream && pane.state.prediction && !lane.bands.empty())
    draw_predicted(pane, pane.state.prediction->by_lane[box.lane],
                   band_span(pane, box, lane.bands.size() - 1).second + pane.px(2),
                   pane.px(kPredictedPitch - 3), kPredicted);
  draw_markers(pane, lane, box.bottom - pane.px(3));
}

void TimelineView::draw_counter(Pane& pane, const Lane& lane, float top, float bottom) {
  const std::span<const Counter::Column> columns =
      counters_.of(lane.counter, pane.state.nav.window, grid_.size());
  pane.state.drawn.items += draw_counter_columns(
      columns, static_cast<double>(lane.counter.top()), pane.min.x, bottom, bottom - top,
      CounterLook(pane.theme, pane.color(Color::kCounter), lane.counter.is_share()),
      [&](ImVec2 min, ImVec2 max, ImU32 color) {
        pane.state.drawn.background.fill(min, max, color);
      });
  // Under the mouse, or else in the lane that keys selected.
  const bool pointed = pane.mouse_in_plot && pane.mouse.y >= top && pane.mouse.y < bottom;
  const auto chosen = current_lane(pane.model, pane.state);
  const bool is_chosen = chosen && &pane.model.lanes()[*chosen] == &lane && is_by_keys(pane);
  if (!pointed && !is_chosen) return;
  const float x = pointed ? pane.mouse.x : std::floor(pane.x(instant_of_keys(pane.state)));
  if (const float column = x - pane.min.x;
      column >= 0 && column < static_cast<float>(columns.size()))
    hit_ = {.counter = &lane,
            .value = columns[static_cast<size_t>(column)],
            .at_x = x,
            .top_y = top,
            .foot_y = bottom};
}

void TimelineView::draw_predicted(Pane& pane, const Row& row, float top, float height,
                                  float strength) {
  bars_.clear();
  fold(row, pane.state.nav.window, kMinPx, bars_);
  pane.state.drawn.items += bars_.size();
  Strip strip(pane, top, top + height, grid_);
  const bool mouse_in_strip =
      pane.mouse_in_plot && pane.mouse.y >= strip.top() && pane.mouse.y < strip.bottom();
  for (const DrawItem& bar : bars_) {
    const float x1 = drawn_end(bar);
    const Item item = unpack(row.item[bar.first]);
    const ImU32 fill = bar_color(pane.model, pane.theme, pane.state.look.color_by, item,
                                 static_cast<Category>(bar.kind));
    strip.fill(bar.x0, x1, pane.theme.dim(fill, strength * bar.coverage));
    const float mouse = pane.mouse.x - pane.min.x;
    if (mouse_in_strip && mouse >= bar.x0 && mouse < x1)
      hit_ = {.item = item,
              .folded = bar.count,
              .coverage = bar.coverage,
              .elsewhere = TimeRange{row.start_ns[bar.first], row.end_ns[bar.first]}};
  }
  strip.finish();
}

void TimelineView::draw_bars(Pane& pane, const Lane& lane, const Band& band, Strip& strip) {
  const bool mouse_in_band = pane.mouse_in_plot && !pane.model.is_sketch() &&
                             pane.mouse.y >= strip.top() && pane.mouse.y < strip.bottom();
  const float mouse = pane.mouse.x - pane.min.x;
  float nearest = pane.px(kGrabPx);
  for (const DrawItem& bar : bars_) {
    const float width = bar.x1 - bar.x0, x1 = drawn_end(bar);
    ImU32 fill = fill_of(pane, band, bar);
    if (bar.coverage < 1) fill = pane.theme.dim(fill, kFaintest + (1 - kFaintest) * bar.coverage);
    if (!pane.state.selection.searched.empty() &&
        !pane.model.items().has_name(unpack(band.row.item[bar.first]),
                                     pane.state.selection.searched))
      fill = pane.theme.dim(fill, kNotFound);
    if (lane.host_times && width >= kGapFromPx) {
      // Pale with a bright start: this is when the host issued it, not when the device ran it.
      strip.fill(bar.x0, bar.x0 + pane.px(2), fill);
      fill = pane.theme.dim(fill, 0.25f);
      strip.fill(bar.x0 + pane.px(2), x1, fill);
    } else {
      strip.fill(bar.x0, x1, fill);
    }
    if (mouse_in_band) {
      const float away = mouse < bar.x0 ? bar.x0 - mouse : mouse >= x1 ? mouse - x1 : -1;
      if (away < nearest) {
        nearest = away;
        hit_ = {unpack(band.row.item[bar.first]), bar.count, bar.coverage};
        if (band.kind == BandKind::kGpuRanges)
          hit_.elsewhere = {band.row.start_ns[bar.first], band.row.end_ns[bar.first]};
      }
    }
    // A cell of a sketch is no operation.
    if (!pane.model.is_sketch() && width >= pane.px(kLabelFromPx) &&
        strip.bottom() - strip.top() >= pane.px(kLeastLabeled))
      draw_label(pane, band, bar, strip, fill);
  }
  draw_outline(pane, band.row, strip);
}

void TimelineView::draw_label(Pane& pane, const Band& band, const DrawItem& bar, const Strip& strip,
                              ImU32 fill) {
  const Item item = unpack(band.row.item[bar.first]);
  // The label stays in view while any of the bar is.
  const float from = std::max(pane.min.x + bar.x0, pane.min.x) + pane.px(5),
              to = std::min(pane.min.x + bar.x1 - 1, pane.max.x) - pane.px(4);
  const float y =
      std::round((strip.top() + strip.bottom() - pane.theme.text(Face::kSmall).size) / 2) - 1;
  const ImU32 ink = pane.theme.on(fill);
  const std::string label = pane.model.items().label(item);
  const float used = widgets::fit_text(pane.draw, pane.theme, Face::kSmall, {from, y}, to - from,
                                       ink, shortened(pane, item, label, to - from));
  if (used == 0 || band.kind == BandKind::kRanges || band.kind == BandKind::kFunctions) return;
  const std::string duration =
      pane.model.items().never_ended(item)
          ? "never ended"
          : format_duration(distance_ns(band.row.start_ns[bar.first], band.row.end_ns[bar.first]));
  const float needed = pane.theme.width(Face::kSmall, duration);
  if (to - from - used > needed + pane.px(16)) {
    widgets::text(pane.draw, pane.theme, Face::kSmall, {to - needed, y}, Theme::fade(ink, 0.62f),
                  duration);
  }
}

// Around the selection, over its neighbors.
void TimelineView::draw_outline(Pane& pane, const Row& row, const Strip& strip) {
  const auto range =
      pane.state.selection.item ? pane.model.items().time(pane.state.selection.item) : std::nullopt;
  if (!range || !row.find(range->begin_ns, pack(pane.state.selection.item))) return;
  const float x0 = std::clamp(pane.x(range->begin_ns), pane.min.x - 4, pane.max.x + 4);
  const float x1 = std::clamp(pane.x(range->end_ns), pane.min.x - 4, pane.max.x + 4);
  pane.draw.AddRect({std::floor(x0) - 1, strip.top() - 1},
                    {std::max(std::ceil(x1), std::floor(x0) + 3) + 1, strip.bottom() + 1},
                    pane.color(Color::kSelection), 0, 0, pane.px(2));
}

void TimelineView::draw_waits(Pane& pane, const Lane& lane, Strip& strip) {
  const ImU32 color = pane.color(Color::kWaiting);
  for (const DrawItem& bar : waits_) {
    // A run of short waits is as strong as their share of it.
    strip.fill(bar.x0, bar.x1, pane.theme.dim(color, 0.13f * bar.coverage),
               pane.theme.dim(color, 0.8f * bar.coverage));
    const float x0 = pane.min.x + bar.x0, x1 = pane.min.x + bar.x1;
    if (pane.mouse_in_plot && pane.mouse.y >= strip.top() && pane.mouse.y < strip.bottom() &&
        pane.mouse.x >= x0 && pane.mouse.x < x1) {
      hit_ = {.item = unpack(lane.waits.item[bar.first]),
              .folded = bar.count,
              .coverage = bar.coverage,
              .waiting = true};
    }
    const float from = std::max(x0, pane.min.x) + pane.px(6),
                to = std::min(x1, pane.max.x) - pane.px(4);
    if (bar.count > 1 || to - from <= pane.px(kLabelFromPx)) continue;
    const std::string text = "waits " + format_duration(distance_ns(lane.waits.start_ns[bar.first],
                                                                    lane.waits.end_ns[bar.first]));
    const float width = pane.theme.width(Face::kSmall, text);
    if (width > to - from) continue;
    // In the middle: arrows start and end at the sides.
    const float y =
        std::round((strip.top() + strip.bottom() - pane.theme.text(Face::kSmall).size) / 2) - 1;
    widgets::text(pane.draw, pane.theme, Face::kSmall, {(from + to - width) / 2, y}, color, text);
  }
}

// A stripe over the bars of the critical path.
void TimelineView::draw_path(Pane& pane, const Lane& lane, float top) {
  bars_.clear();
  folded_.fold(lane.path, pane.state.nav.window, kMinPx, bars_);
  pane.state.drawn.items += bars_.size();
  // Adjacent ones are merged.
  for (size_t i = 0, next = 0; i < bars_.size(); i = next) {
    Pixels all = pixels_of(bars_[i].x0, bars_[i].x1);
    for (next = i + 1; next < bars_.size(); ++next) {
      const Pixels pixels = pixels_of(bars_[next].x0, bars_[next].x1);
      if (pixels.first > all.end) break;
      all.end = std::max(all.end, pixels.end);
    }
    pane.state.drawn.background.fill({pane.min.x + all.first, top - pane.px(1)},
                                     {pane.min.x + all.end, top + pane.px(2)},
                                     pane.color(Color::kCritical));
  }
}

void TimelineView::draw_markers(Pane& pane, const Lane& lane, float bottom) {
  const float size = pane.px(7);
  // Lines of records are below those of waits; glyphs are drawn where both would be.
  const auto draw_all = [&](const Row& row, Category category, float line, auto glyph) {
    const ImU32 color = pane.theme.color(category);
    const float spacing = pane.px(kGlyphSpacing);
    bars_.clear();
    folded_.fold(row, pane.state.nav.window, spacing, bars_);
    for (size_t i = 0, next = 0; i < bars_.size(); i = next) {
      // Those close together become a line, from the first to the last.
      for (next = i + 1; next < bars_.size() && bars_[next].x0 - bars_[next - 1].x0 <= spacing;)
        ++next;
      ++pane.state.drawn.items;
      const float x0 = pane.min.x + bars_[i].x0;
      const Item item = unpack(row.item[bars_[i].first]);
      const bool crowd = next - i > 1 || bars_[i].count > 1;
      float left = x0 - size * 0.7f, right = x0 + size * 0.7f;
      if (crowd) {
        const DrawItem& last = bars_[next - 1];
        left = x0;
        right = pane.min.x + (last.count > 1 ? last.x1 : last.x0 + pane.px(2));
        pane.state.drawn.background.fill({left, bottom - line}, {right, bottom - line + pane.px(2)},
                                         color);
      } else {
        const bool selected = item == pane.state.selection.item;
        glyph(pane.draw, pane.theme, x0, bottom, size,
              selected ? pane.color(Color::kSelection) : color);
      }
      if (pane.mouse_in_plot && pane.mouse.x >= left && pane.mouse.x <= right &&
          pane.mouse.y > bottom - size - 2 && pane.mouse.y <= bottom + 2) {
        hit_ = {.item = item, .instants = true};
        for (size_t each = i; each < next; ++each) hit_.folded += bars_[each].count;
      }
    }
  };
  draw_all(lane.records, Category::kRecordCall, pane.px(2), widgets::record_glyph);
  draw_all(lane.passed_waits, Category::kWaitCall, pane.px(6), widgets::wait_glyph);
}

void TimelineView::draw_counter_tooltip(Pane& pane) {
  const Lane& lane = *hit_.counter;
  const Ns at = pane.state.nav.window.to_ns(hit_.at_x - pane.min.x);
  if (!pane.mouse_in_plot)
    widgets::place_tooltip(pane.theme, {hit_.at_x, hit_.top_y}, {hit_.at_x, hit_.foot_y});
  const widgets::Tooltip tooltip;
  const Counter::Column value = hit_.value;
  const std::string pixel =
      " this pixel of " + format_duration(static_cast<Ns>(pane.state.nav.window.ns_per_px));
  widgets::text(pane.theme, Face::kBold, pane.color(Color::kText),
                lane.title + ": " +
                    (lane.counter.is_share() ? lane.counter.text_of_mean(value.mean) + " of" + pixel
                     : value.is_steady()     ? lane.counter.text_of_capacity(value.most)
                                         : lane.counter.text_of_mean(value.mean) + " on average"));
  if (!value.is_steady() && !lane.counter.is_share())
    widgets::text(pane.theme, Face::kBody, pane.color(Color::kText),
                  "at most " + lane.counter.text_of_capacity(value.most) + " in" + pixel);
  widgets::text(pane.theme, Face::kSmall, pane.color(Color::kTextDim), lane.detail);
  widgets::text(pane.theme, Face::kMonoSmall, pane.color(Color::kTextDim),
                "at " + format_exact(at));
}

void TimelineView::draw_tooltip(Pane& pane) {
  if (hit_.counter != nullptr && drag_ != Drag::kPan && drag_ != Drag::kMark)
    return draw_counter_tooltip(pane);
  if (!hit_ || drag_ == Drag::kPan || drag_ == Drag::kMark) return;
  const TraceModel& model = pane.model;
  const Theme& theme = pane.theme;
  const Item item = hit_.item;
  const ImU32 dim = theme.color(Color::kTextDim);
  ImGui::SetNextWindowSizeConstraints({0, 0}, {theme.px(460), theme.px(600)});
  const widgets::Tooltip tooltip(hit_.folded > 1 ? -1 : theme.px(440));
  if (hit_.folded > 1) {
    const std::string share = hit_.instants ? ""
                                            : (hit_.waiting ? "waiting " : "busy ") +
                                                  format_percent(hit_.coverage) + " of the time; ";
    widgets::text(
        theme, Face::kBold, theme.color(Color::kText),
        hit_.instants
            ? format_count(hit_.folded, std::string(to_string(model.items().category(item))))
            : format_count(hit_.folded) + (hit_.waiting ? " waits" : "") + " in this pixel");
    widgets::text(theme, Face::kBody, dim, share + "zoom in to see each");
    return;
  }
  const std::string label = model.items().label(item), name = model.items().name(item);
  widgets::text(theme, Face::kBold, theme.color(Color::kText), ellipsize(label, 200));
  if (name != label) widgets::text(theme, Face::kSmall, dim, ellipsize(name, 300));
  std::string kind(to_string(model.items().category(item)));
  if (hit_.elsewhere) {
    widgets::text(theme, Face::kBody, theme.color(Color::kText),
                  (item.kind == ItemKind::kRange ? "on the GPU: " : "if fixed: ") +
                      format_duration(hit_.elsewhere->duration_ns()) + " from " +
                      format_exact(hit_.elsewhere->begin_ns));
    kind = (item.kind == ItemKind::kRange ? "on the host: " : "recorded: ") + kind;
  }
  if (const auto range = model.items().time(item)) {
    widgets::text(theme, Face::kBody, theme.color(Color::kText),
                  kind + "  \u00b7  " +
                      (model.items().never_ended(item) ? "never ended"
                                                       : format_duration(range->duration_ns())));
    widgets::text(theme, Face::kMonoSmall, dim, "from " + format_exact(range->begin_ns));
  }
  if (item.kind == ItemKind::kSamples) {
    for (const Fact& fact : sample_facts(model, item.id))
      widgets::text(theme, Face::kBody, dim, std::string(fact.name) + ": " + fact.text);
    return;
  }
  Ns waited = 0;
  Id waited_for = kNoId;
  for (const uint32_t index : model.edges().of(item)) {
    const Dependency& dependency = model.edges()[index];
    if (item.kind == ItemKind::kOp && dependency.to_op != item.id) continue;
    if (const Ns ns = model.edges().waited_ns(index); ns > waited) {
      waited = ns;
      waited_for = dependency.from_op;
    }
  }
  if (waited > 0) {
    const Item cause{ItemKind::kOp, waited_for};
    widgets::text(theme, Face::kBody, theme.color(Color::kWaiting),
                  "waited " + format_duration(waited) + " for " +
                      ellipsize(model.items().label(cause), 60) + " on " +
                      model.items().stream_name(model.trace().op.stream_id[waited_for]));
  }
}

}  // namespace streamscope::viewer
