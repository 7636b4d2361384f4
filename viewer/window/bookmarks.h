// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Places in a trace that the user wants to find again, each with a note, kept in a text file beside
// the trace (TRACE.bookmarks): one line "BEGIN_NS END_NS NOTE" each, which users may edit.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "timeline/timeline_layout.h"

namespace streamscope::viewer {

struct Bookmark {
  TimeRange range;
  std::string note;

  bool operator==(const Bookmark&) const = default;
};

/// UI thread only. Changes are written at once.
class Bookmarks {
 public:
  /// Reads the bookmarks of a trace. Invalid lines are skipped, and removed from the file at the
  /// next change. A trace without a file has none.
  void open(const std::filesystem::path& trace);

  /// Sorted by begin.
  const std::vector<Bookmark>& all() const { return all_; }
  /// Why the last change could not be written; empty if it was written.
  const std::string& error() const { return error_; }

  void add(Bookmark bookmark);
  void remove(size_t index);

 private:
  void save();

  std::filesystem::path file_;
  std::vector<Bookmark> all_;
  std::string error_;
};

}  // namespace streamscope::viewer
