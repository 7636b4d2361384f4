// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "pools.h"

#include <algorithm>
#include <cmath>

#include "counter_columns.h"
#include "model/holders.h"
#include "model/labels.h"
#include "model/pool_facts.h"
#include "widgets.h"

namespace streamscope::viewer {
namespace {

using analysis::PoolUsage;

constexpr float kFacts = 236;  // as wide as the lane names
constexpr float kChart = 84;
constexpr float kNamed = 52;         // in a tooltip: one of the holders, on three lines
constexpr float kTooltipRest = 120;  // the rest of the tooltip
constexpr size_t kMostNamed = 6;     // holders, or those that never returned it

// How many holders fit in a tooltip of this height before scaling, possibly with as many that never
// returned an element.
size_t most_named(float height, bool twice) {
  const float each = (height - kTooltipRest) / (twice ? 2 * kNamed : kNamed);
  return std::clamp(static_cast<size_t>(std::max(each, 1.0f)), size_t{1}, kMostNamed);
}

// The step in effect at an instant; none before the first.
const PoolUsage::Step* step_at(const PoolUsage& pool, Ns at) {
  const auto next = std::ranges::upper_bound(pool.steps, at, {}, &PoolUsage::Step::at_ns);
  return next == pool.steps.begin() ? nullptr : &*(next - 1);
}

void draw_chart(const PoolUsage& pool, const PoolCurve& curve, const TimeWindow& window,
                const Theme& theme, ImVec2 min, ImVec2 max) {
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  draw.AddRectFilled(min, max, theme.color(Color::kBackground));
  const trace::Int top = curve.in_use.top();
  const float room = max.y - min.y - theme.px(8);
  const auto y_of = [&](double value) {
    return max.y - std::round(room * static_cast<float>(value / static_cast<double>(top)));
  };
  std::vector<Counter::Column> columns(static_cast<size_t>(std::max(max.x - min.x, 0.0f)));
  // Elements made and free, behind those in use.
  const ImU32 ink = theme.color(Category::kKernel), free = theme.dim(ink, 0.15f);
  curve.made.in_pixels(window, columns);
  for (size_t column = 0, next = 0; column < columns.size(); column = next) {
    const float y = y_of(columns[column].mean);
    while (next < columns.size() && y_of(columns[next].mean) == y) ++next;
    if (y < max.y)
      draw.AddRectFilled({min.x + static_cast<float>(column), y},
                         {min.x + static_cast<float>(next), max.y}, free);
  }
  curve.in_use.in_pixels(window, columns);
  draw_counter_columns(
      columns, static_cast<double>(top), min.x, max.y, room, CounterLook(theme, ink),
      [&](ImVec2 from, ImVec2 to, ImU32 fill) { draw.AddRectFilled(from, to, fill); });
  const auto line = [&](trace::Int value, ImU32 color, const std::string& text) {
    const float y = y_of(static_cast<double>(value)) - 0.5f;
    draw.AddLine({min.x, y}, {max.x, y}, color);
    const ImVec2 size = widgets::chip(nullptr, theme, Face::kSmall, {}, 0, 0, text);
    widgets::chip(&draw, theme, Face::kSmall,
                  {max.x - size.x - theme.px(6), std::max(y - size.y / 2, min.y)},
                  theme.color(Color::kPanelRaised), color, text);
  };
  if (pool.capacity != trace::kNoInt)
    line(pool.capacity, theme.color(Color::kError), "capacity " + amount(pool, pool.capacity));
  if (pool.capacity == trace::kNoInt || pool.high_water * 5 < pool.capacity * 4)
    line(pool.high_water, theme.color(Color::kTextDim), "most " + amount(pool, pool.high_water));
}

// The holders, one below the other, and how many more there are.
void draw_holders(const Theme& theme, const Holders& holders, Ns at) {
  for (const Holder& holder : holders.oldest) {
    widgets::text(theme, Face::kBody, theme.color(Color::kText), ellipsize(holder.name, 80));
    widgets::text(theme, Face::kSmall, theme.color(Color::kTextDim),
                  (holder.details.empty() ? "" : ellipsize(holder.details, 200) + ", ") + "since " +
                      format_exact(holder.since_ns) + " (" +
                      format_duration(distance_ns(holder.since_ns, at)) + ")");
  }
  if (holders.count > holders.oldest.size())
    widgets::text(theme, Face::kSmall, theme.color(Color::kTextDim),
                  "+ " + format_count(holders.count - holders.oldest.size()) + " more");
}

// How much of a pool is in use at an instant, and by whom.
void draw_instant(const PoolUsage& pool, const Theme& theme, const Holders& holders, Ns at) {
  const PoolUsage::Step* step = step_at(pool, at);
  const trace::Int in_use = step != nullptr ? step->in_use : 0;
  std::string text = amount(pool, in_use) + " in use";
  if (step != nullptr && step->available > 0)
    text += ", " + amount(pool, step->available) + " free";
  if (!pool.derived) text += " at the last sample";
  widgets::text(theme, Face::kBold, theme.color(Color::kText), text);
  widgets::text(theme, Face::kMonoSmall, theme.color(Color::kTextDim), "at " + format_exact(at));
  if (in_use == 0 && holders.count == 0) return;
  ImGui::Spacing();
  widgets::text(theme, Face::kSmall, theme.color(Color::kTextDim),
                holders.count == 0 ? "holders unknown: no libcoord operation was running"
                                   : "held by, oldest first");
  draw_holders(theme, holders, at);
  const auto known = static_cast<trace::Int>(holders.count);
  if (known > 0 && !pool.derived && pool.kind != trace::kMemoryPool && in_use > known)
    widgets::text(theme, Face::kSmall, theme.color(Color::kTextDim),
                  "holders of " + format_count(in_use - known) + " more unknown");
}

}  // namespace

void PoolsView::draw(const TraceModel& model, ViewState& state, const Theme& theme) {
  const std::vector<PoolUsage>& pools = model.insights().pools;
  if (pools.empty()) {
    return widgets::empty_state(
        theme, "No pools",
        "No streams, events or memory were created and released while this was recorded. libcoord "
        "reports its pools; streams and events are counted from their calls; memory needs "
        "streamscope record --with alloc.");
  }
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  const float facts = theme.px(kFacts), height = theme.px(kChart);
  const float width = ImGui::GetContentRegionAvail().x;
  if (state.nav.window.width_px <= 1) first_fit(model, state, std::max(width - facts, 16.0f));
  TimeWindow window = state.nav.window;
  window.resize(std::max(width - facts, 16.0f));
  for (size_t i = 0; i < pools.size(); ++i) {
    const PoolUsage& pool = pools[i];
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const ImVec2 min{at.x + facts, at.y}, max{at.x + width, at.y + height};
    draw_chart(pool, model.pools().curves()[i], window, theme, min, max);
    float y = at.y;
    const auto fact = [&](Face face, Color color, const std::string& text) {
      widgets::fit_text(draw, theme, face, {at.x, y}, facts - theme.px(12), theme.color(color),
                        text);
      y += theme.px(face == Face::kBold ? 20 : 16);
    };
    fact(Face::kBold, Color::kText, pool.name);
    for (const PoolFact& each : pool_facts(pool)) fact(Face::kSmall, each.color, each.text);
    ImGui::PushID(&pool);
    ImGui::InvisibleButton("pool", {std::max(width, 1.0f), height});
    state.focus.stops.add();
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    const bool by_key = has_key_focus();
    const bool in_chart = by_key || mouse.x >= min.x;
    if ((by_key || ImGui::IsItemHovered()) && (in_chart || pool.left > 0)) {
      const Ns instant = by_key ? instant_of_keys(state) : window.to_ns(mouse.x - min.x);
      const bool tells_leaks = pool.left > 0 && (by_key || !in_chart);
      const ImVec2 all = ImGui::GetIO().DisplaySize;
      ImVec2 room = all;  // for the tooltip
      if (by_key) {
        const float x = std::floor(min.x + static_cast<float>(window.to_px(instant))) + 0.5f;
        draw.AddLine({x, min.y}, {x, max.y}, theme.color(Color::kSelection));
        widgets::place_tooltip(theme, {x, min.y}, {x, max.y});
        room = {std::max(x, all.x - x), std::max(min.y, all.y - max.y)};
      }
      const size_t most = most_named(room.y / theme.scale(), by_key && tells_leaks);
      const widgets::Tooltip tooltip(std::min(theme.px(420), room.x - theme.px(24)));
      if (in_chart) {
        const Holders holders = holders_at(model, pool, instant, most);
        state.drawn.holders = holders.count;
        draw_instant(pool, theme, holders, instant);
      }
      if (by_key && tells_leaks) ImGui::Spacing();
      if (tells_leaks) {
        widgets::text(theme, Face::kBold, theme.color(Color::kWarning), "never returned");
        const Holders endless = endless_holders(model, pool, most);
        draw_holders(theme, endless, model.extent().end_ns);
        if (endless.count == 0)
          widgets::text(theme, Face::kSmall, theme.color(Color::kTextDim),
                        amount(pool, pool.left) + ", holder unknown");
      }
    }
    widgets::focus_frame(theme);
    ImGui::PopID();
    ImGui::Dummy({0, theme.px(4)});
  }
  widgets::text(theme, Face::kSmall, theme.color(Color::kTextFaint),
                "Time range of the timeline: " + format_exact(window.range().begin_ns) + " to " +
                    format_exact(window.range().end_ns));
}

}  // namespace streamscope::viewer
