// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "bookmarks.h"

#include <algorithm>
#include <fstream>
#include <sstream>

namespace streamscope::viewer {

void Bookmarks::open(const std::filesystem::path& trace) {
  file_ = trace.empty() ? trace : std::filesystem::path(trace.string() + ".bookmarks");
  all_.clear();
  error_.clear();
  std::ifstream in(file_);
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    Bookmark bookmark;
    if (!(words >> bookmark.range.begin_ns >> bookmark.range.end_ns) ||
        bookmark.range.end_ns < bookmark.range.begin_ns)
      continue;
    std::getline(words >> std::ws, bookmark.note);
    all_.push_back(std::move(bookmark));
  }
  std::ranges::stable_sort(all_, {}, [](const Bookmark& each) { return each.range.begin_ns; });
}

void Bookmarks::add(Bookmark bookmark) {
  std::ranges::replace(bookmark.note, '\n', ' ');
  const auto place = std::ranges::upper_bound(
      all_, bookmark.range.begin_ns, {}, [](const Bookmark& each) { return each.range.begin_ns; });
  all_.insert(place, std::move(bookmark));
  save();
}

void Bookmarks::remove(size_t index) {
  if (index >= all_.size()) return;
  all_.erase(all_.begin() + static_cast<ptrdiff_t>(index));
  save();
}

void Bookmarks::save() {
  error_.clear();
  if (file_.empty()) {
    error_ = "This trace has no file: its bookmarks are lost when the window closes.";
    return;
  }
  // A complete new file replaces the old one, so that a failure loses none.
  const std::filesystem::path fresh = file_.string() + ".new";
  std::ofstream out(fresh);
  for (const Bookmark& each : all_)
    out << each.range.begin_ns << ' ' << each.range.end_ns << ' ' << each.note << '\n';
  out.close();
  std::error_code failed;
  if (out) std::filesystem::rename(fresh, file_, failed);
  if (!out || failed)
    error_ = file_.string() + " cannot be written: bookmarks are lost when the window closes.";
}

}  // namespace streamscope::viewer
