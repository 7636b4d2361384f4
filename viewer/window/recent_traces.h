// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Recent traces, or folders of runs, and what was in view in each, kept between runs of the program
// in $XDG_STATE_HOME/streamscope/sessions (~/.local/state if unset): one line "BEGIN_NS END_NS
// PANEL FILE" each, the newest first.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "timeline/timeline_layout.h"

namespace streamscope::viewer {

struct RecentTrace {
  std::filesystem::path trace;  ///< absolute
  TimeRange shown;              ///< of the timeline; empty: all
  std::string panel;            ///< below the timeline; empty: none

  bool operator==(const RecentTrace&) const = default;
};

inline constexpr size_t kMostRecentTraces = 20;

/// The file; empty if this user has no home directory.
std::filesystem::path recent_traces_file();
/// At most kMostRecentTraces, only files that still exist. Unreadable lines are skipped.
std::vector<RecentTrace> read_recent_traces(const std::filesystem::path& file);
/// Puts one on top and removes an older one of the same trace. A failed write is not an error:
/// nothing depends on it.
void keep_recent_trace(const std::filesystem::path& file, const RecentTrace& recent);

}  // namespace streamscope::viewer
