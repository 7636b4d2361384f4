// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What changes when a trace grows, or a run of many ranks: size and time of its files. Nothing is
// read, so that polling is cheap.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

namespace streamscope::viewer {

/// A trace file and the write-ahead log beside it.
struct FileState {
  std::filesystem::file_time_type changed, log_changed;
  uintmax_t bytes = 0, log_bytes = 0;

  bool operator==(const FileState&) const = default;
};

/// All zero if there is no such file.
FileState state_of(const std::filesystem::path& file);

/// A trace that was cut off stays incomplete; one that is being recorded has a log.
inline bool is_written(const FileState& state) { return state.log_bytes > 0; }

/// The traces of a folder, by file name.
using FolderState = std::map<std::string, FileState>;

/// Empty if the folder cannot be read.
FolderState state_of_folder(const std::filesystem::path& folder);

/// How long nothing has changed, by the clock of this machine.
std::chrono::nanoseconds quiet_for(const FolderState& folder);

}  // namespace streamscope::viewer
