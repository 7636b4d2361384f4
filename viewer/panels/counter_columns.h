// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// How a value over time is drawn, in lanes and in the pools panel: filled to the mean of each
// pixel, under a bright edge; above it a pale outline of the maximum, so that a peak is visible and
// is not mistaken for a lasting value. A share of time has no outline: at its maximum, anything
// that runs now and then would look busy.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>

#include "model/counters.h"
#include "render/theme.h"

namespace streamscope::viewer {

struct CounterLook {
  ImU32 edge, body;       ///< of the mean
  ImU32 outline, inside;  ///< of the maximum
  float edge_height, outline_height;
  bool has_outline;

  CounterLook(const Theme& theme, ImU32 color, bool is_share = false)
      : edge(color),
        body(theme.dim(color, 0.4f)),
        outline(theme.dim(color, 0.5f)),
        inside(theme.dim(color, 0.12f)),
        edge_height(theme.px(2)),
        outline_height(theme.px(1)),
        has_outline(!is_share) {}
};

/// Calls `fill(min, max, color)` for each part: pixels from `left` on, from `bottom` up, `room`
/// high for the value `top`. Equal neighbors are merged. Returns the number of parts.
template <class Fill>
size_t draw_counter_columns(std::span<const Counter::Column> columns, double top, float left,
                            float bottom, float room, const CounterLook& look, Fill fill) {
  struct Heights {
    float mean, most;
    bool operator==(const Heights&) const = default;
  };
  const auto height = [&](double value) {
    if (value <= 0) return 0.0f;
    return std::max(std::round(room * static_cast<float>(value / top)), look.outline_height);
  };
  const auto heights = [&](const Counter::Column& column) {
    const float mean = height(column.mean);
    if (!look.has_outline) return Heights{mean, mean};
    return Heights{mean, std::max(mean, height(static_cast<double>(column.most)))};
  };
  size_t parts = 0;
  for (size_t column = 0, next = 0; column < columns.size(); column = next) {
    const Heights all = heights(columns[column]);
    while (next < columns.size() && heights(columns[next]) == all) ++next;
    if (all.most <= 0) continue;
    ++parts;
    const float x0 = left + static_cast<float>(column), x1 = left + static_cast<float>(next);
    const float mean = bottom - all.mean, most = bottom - all.most;
    if (most < mean) {
      const float under = std::min(most + look.outline_height, mean);
      fill(ImVec2{x0, most}, ImVec2{x1, under}, look.outline);
      if (under < mean) fill(ImVec2{x0, under}, ImVec2{x1, mean}, look.inside);
    }
    if (all.mean <= 0) continue;
    const float under = std::min(mean + look.edge_height, bottom);
    fill(ImVec2{x0, mean}, ImVec2{x1, under}, look.edge);
    if (under < bottom) fill(ImVec2{x0, under}, ImVec2{x1, bottom}, look.body);
  }
  return parts;
}

}  // namespace streamscope::viewer
