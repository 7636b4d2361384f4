// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// An archive of Open Trace Format 2, as Score-P and other tools write it: the file FILE.otf2 that
// is named, definitions in FILE.def, and the events of each location in the folder FILE.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "definitions.h"
#include "import/importer.h"
#include "vocabulary/rank.h"

namespace streamscope::import::otf2 {

/// Keeps a reader of the library open. Thread-compatible.
class Archive : public ProcessesOfFile {
 public:
  /// Throws Error if a file is missing or damaged.
  explicit Archive(const std::filesystem::path& file);

  size_t count() const override { return processes_.size(); }
  void read(size_t process, Assembly& assembly) override;

 private:
  struct Process {
    uint32_t group = 0;
    RankClaim rank;
    std::vector<Location> threads, streams;
    uint64_t metric_count = 0;
  };

  void find_processes();
  void name_ranks();
  std::filesystem::path path_of(const Location& location, const char* suffix) const;
  /// Reads the events of a location into a receiver with these callbacks.
  template <class Events>
  void read_events(const Location& location, Events& events, Assembly& assembly);
  void read_mappings(const Location& location);
  [[noreturn]] void reject(const std::filesystem::path& file, OTF2_ErrorCode code) const;

  const std::filesystem::path file_;
  std::unique_ptr<OTF2_Reader, OTF2_ErrorCode (*)(OTF2_Reader*)> reader_;
  Definitions definitions_;
  std::vector<Process> processes_;
};

}  // namespace streamscope::import::otf2
