// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The writers of the ranks that a recorded launcher starts: its recorder waits for them, because a
// scheduler ends what is left when a task ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

namespace streamscope::record {

/// Notifies the recorder of the launcher, if there is one, that this process writes a trace.
void announce_writer();

/// Of the recorder whose rings are in a folder. Thread-compatible.
class Writers {
 public:
  explicit Writers(std::filesystem::path rings) : rings_(std::move(rings)) {}

  /// How many there have been.
  size_t count() const { return all().size(); }
  bool any_alive() const;
  /// Asks them to finish their traces, and waits for that.
  void end() const;

 private:
  struct Process {
    uint32_t pid;
    uint64_t start;
  };
  std::vector<Process> all() const;

  std::filesystem::path rings_;
};

}  // namespace streamscope::record
