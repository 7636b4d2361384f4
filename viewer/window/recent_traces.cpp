// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "recent_traces.h"

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace streamscope::viewer {
namespace {

constexpr std::string_view kNoPanel = "-";

}  // namespace

std::filesystem::path recent_traces_file() {
  const char* state = std::getenv("XDG_STATE_HOME");
  const char* home = std::getenv("HOME");
  std::filesystem::path folder;
  if (state != nullptr && *state != '\0') {
    folder = state;
  } else if (home != nullptr && *home != '\0') {
    folder = std::filesystem::path(home) / ".local/state";
  } else {
    return {};
  }
  return folder / "streamscope/sessions";
}

std::vector<RecentTrace> read_recent_traces(const std::filesystem::path& file) {
  std::vector<RecentTrace> recent_traces;
  std::ifstream in(file);
  for (std::string line; recent_traces.size() < kMostRecentTraces && std::getline(in, line);) {
    std::istringstream words(line);
    RecentTrace recent;
    std::string trace;
    if (!(words >> recent.shown.begin_ns >> recent.shown.end_ns >> recent.panel)) continue;
    std::getline(words >> std::ws, trace);
    if (recent.panel == kNoPanel) recent.panel.clear();
    recent.trace = trace;
    std::error_code unknown;
    if (std::filesystem::is_regular_file(recent.trace, unknown) ||
        std::filesystem::is_directory(recent.trace, unknown))
      recent_traces.push_back(std::move(recent));
  }
  return recent_traces;
}

void keep_recent_trace(const std::filesystem::path& file, const RecentTrace& recent) {
  if (file.empty() || recent.trace.string().find('\n') != std::string::npos) return;
  std::vector<RecentTrace> recent_traces = read_recent_traces(file);
  std::erase_if(recent_traces, [&](const RecentTrace& each) { return each.trace == recent.trace; });
  recent_traces.insert(recent_traces.begin(), recent);
  if (recent_traces.size() > kMostRecentTraces) recent_traces.resize(kMostRecentTraces);
  std::error_code failed;
  std::filesystem::create_directories(file.parent_path(), failed);
  const std::filesystem::path fresh = file.string() + ".new";
  std::ofstream out(fresh);
  for (const RecentTrace& each : recent_traces) {
    out << each.shown.begin_ns << ' ' << each.shown.end_ns << ' '
        << (each.panel.empty() ? kNoPanel : std::string_view(each.panel)) << ' '
        << each.trace.string() << '\n';
  }
  out.close();
  if (out) std::filesystem::rename(fresh, file, failed);
}

}  // namespace streamscope::viewer
