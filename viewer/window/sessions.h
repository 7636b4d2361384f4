// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Recent traces and what was in view in each, kept between runs of the program in
// $XDG_STATE_HOME/streamscope/sessions (~/.local/state if unset): one line "BEGIN_NS END_NS PANEL
// FILE" each, the newest first.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "timeline/timeline_layout.h"

namespace streamscope::viewer {

struct Session {
  std::filesystem::path trace;  ///< absolute
  TimeRange shown;              ///< of the timeline; empty: all
  std::string panel;            ///< below the timeline; empty: none

  bool operator==(const Session&) const = default;
};

inline constexpr size_t kMostSessions = 20;

/// The file; empty if this user has no home directory.
std::filesystem::path sessions_file();
/// At most kMostSessions, only files that still exist. Unreadable lines are skipped.
std::vector<Session> read_sessions(const std::filesystem::path& file);
/// Puts one on top and removes an older one of the same trace. A failed write is not an error:
/// nothing depends on it.
void keep_session(const std::filesystem::path& file, const Session& session);

}  // namespace streamscope::viewer
