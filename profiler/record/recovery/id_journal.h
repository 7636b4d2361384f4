// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What a writer must store about the names in rings so that another one can take over.
//
// Texts and launch shapes are announced once and then identified by hash. The trace has their rows
// but not their hashes; the journal, a small file next to the rings, links the two. It is written
// before the rows, and entries for rows that were never stored do no harm.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "record/run/files.h"
#include "trace/model.h"

namespace streamscope::record {

/// Thread-compatible.
class IdJournal {
 public:
  enum class Kind : uint32_t { kText = 1, kLaunchShape = 2 };
  struct Entry {
    Kind kind;
    trace::Id process;  ///< kNoId for texts
    uint64_t hash;
    trace::Id id;
    uint32_t reserved = 0;
  };

  /// Appends to `file` from now on; throws Error.
  void open(const std::filesystem::path& file);
  /// Ignored before open().
  void add(Kind kind, trace::Id process, uint64_t hash, trace::Id id) {
    if (descriptor_) added_.push_back({kind, process, hash, id});
  }
  /// Writes what was added; throws Error.
  void store();

  /// The entries of a file; none if there is no such file.
  static std::vector<Entry> read(const std::filesystem::path& file);

 private:
  std::filesystem::path file_;
  Descriptor descriptor_;
  std::vector<Entry> added_;
};

}  // namespace streamscope::record
