// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The color of each bar, depending on what the user wants to see, and the legend for it.
#pragma once

#include <string>
#include <vector>

#include "window/view.h"

namespace streamscope::viewer {

/// Of an item of this category.
ImU32 bar_color(const TraceModel& model, const Theme& theme, ColorBy by, Item item,
                Category category);

struct LegendEntry {
  std::string text;
  ImU32 color;
};
/// What bars are colored by, the most important first.
std::vector<LegendEntry> bar_legend(const TraceModel& model, const Theme& theme, ColorBy by);

/// "kind", "name", ...
std::string_view to_string(ColorBy by);

}  // namespace streamscope::viewer
