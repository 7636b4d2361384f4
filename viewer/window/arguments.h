// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The command line of streamscope-viewer.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "timeline/timeline_layout.h"
#include "view.h"
#include "vocabulary/time_range_text.h"

namespace streamscope::viewer {

/// A range of time within an extent. Throws Error if it is empty or outside.
TimeRange resolve(const TextRange& range, TimeRange extent);

/// As --drawer names that there is no panel below the timeline.
inline constexpr const char* kNoDrawer = "none";

struct Arguments {
  std::filesystem::path trace;       ///< or the folder of a run; empty: none
  std::filesystem::path compared;    ///< a second trace to compare with; empty: none
  std::filesystem::path screenshot;  ///< empty: open a window
  std::filesystem::path
      state_file;  ///< file that the state is written to whenever it changes; empty: none
  int width = 1600;
  int height = 1000;
  std::optional<TextRange> range;
  Item select;
  std::optional<size_t> finding;  ///< to select, as the panel numbers them
  bool what_if = false;           ///< with the finding fixed; else lanes of all repairs
  bool select_nothing = false;    ///< otherwise a screenshot selects the longest wait
  std::string panel;              ///< the only panel to show; empty: all
  std::string drawer;             ///< the panel below the timeline; empty: as it fits the trace
  ThemeKind theme = ThemeKind::kDark;
  std::optional<float> scale;  ///< none: that of the display
  bool help = false;
  bool version = false;
};

/// Throws streamscope::Error that names the argument, the problem and the correct form.
Arguments parse_arguments(std::span<const char* const> words);

/// Text of --help.
std::string usage();

}  // namespace streamscope::viewer
