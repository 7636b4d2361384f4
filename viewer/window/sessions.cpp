// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "sessions.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace streamscope::viewer {
namespace {

constexpr std::string_view kNoPanel = "-";

}  // namespace

std::filesystem::path sessions_file() {
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

std::vector<Session> read_sessions(const std::filesystem::path& file) {
  std::vector<Session> sessions;
  std::ifstream in(file);
  for (std::string line; sessions.size() < kMostSessions && std::getline(in, line);) {
    std::istringstream words(line);
    Session session;
    std::string trace;
    if (!(words >> session.shown.begin_ns >> session.shown.end_ns >> session.panel)) continue;
    std::getline(words >> std::ws, trace);
    if (session.panel == kNoPanel) session.panel.clear();
    session.trace = trace;
    std::error_code unknown;
    if (std::filesystem::is_regular_file(session.trace, unknown))
      sessions.push_back(std::move(session));
  }
  return sessions;
}

void keep_session(const std::filesystem::path& file, const Session& session) {
  if (file.empty() || session.trace.string().find('\n') != std::string::npos) return;
  std::vector<Session> sessions = read_sessions(file);
  std::erase_if(sessions, [&](const Session& each) { return each.trace == session.trace; });
  sessions.insert(sessions.begin(), session);
  if (sessions.size() > kMostSessions) sessions.resize(kMostSessions);
  std::error_code failed;
  std::filesystem::create_directories(file.parent_path(), failed);
  const std::filesystem::path fresh = file.string() + ".new";
  std::ofstream out(fresh);
  for (const Session& each : sessions) {
    out << each.shown.begin_ns << ' ' << each.shown.end_ns << ' '
        << (each.panel.empty() ? kNoPanel : std::string_view(each.panel)) << ' '
        << each.trace.string() << '\n';
  }
  out.close();
  if (out) std::filesystem::rename(fresh, file, failed);
}

}  // namespace streamscope::viewer
