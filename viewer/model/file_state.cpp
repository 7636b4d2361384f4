// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "file_state.h"

#include <algorithm>

#include "trace/folder_names.h"

namespace streamscope::viewer {

FileState state_of(const std::filesystem::path& file) {
  FileState state;
  const auto look = [](const std::filesystem::path& at, auto& changed, uintmax_t& bytes) {
    std::error_code absent;
    changed = std::filesystem::last_write_time(at, absent);
    bytes = absent ? 0 : std::filesystem::file_size(at, absent);
    if (absent) bytes = 0;
  };
  look(file, state.changed, state.bytes);
  look(file.string() + "-wal", state.log_changed, state.log_bytes);
  return state;
}

FolderState state_of_folder(const std::filesystem::path& folder) {
  FolderState state;
  const auto names = trace::try_names_in(folder);
  if (!names) return state;
  for (const std::string& name : *names) {
    if (name.ends_with(".sqlite") && !name.starts_with('.'))
      state.emplace(name, state_of(folder / name));
  }
  return state;
}

std::chrono::nanoseconds quiet_for(const FolderState& folder) {
  auto last = std::filesystem::file_time_type::min();
  for (const auto& [name, state] : folder)
    last = std::max(last,
                    is_written(state) ? std::max(state.changed, state.log_changed) : state.changed);
  if (last == std::filesystem::file_time_type::min()) return std::chrono::nanoseconds::max();
  return std::filesystem::file_time_type::clock::now() - last;
}

}  // namespace streamscope::viewer
