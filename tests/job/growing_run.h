// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Ranks that appear in the folder of a run, or replace what was there, while something reads it.
#pragma once

#include <algorithm>
#include <vector>

#include "job/run_on_disk.h"

namespace streamscope::job {

/// Writes them to a folder beside it and moves them, so that no reader sees half of a trace, or a
/// trace without its summary.
inline void add_to_run(const std::filesystem::path& folder,
                       const std::vector<RankSummary>& summaries) {
  std::filesystem::path staged = folder;
  staged += ".staged";
  std::filesystem::remove_all(staged);
  write_run(staged, summaries);
  std::filesystem::create_directories(folder);
  for (const char* ending : {".summary", ".sqlite"}) {
    for (const auto& file : std::filesystem::directory_iterator(staged)) {
      if (file.path().extension() == ending)
        std::filesystem::rename(file.path(), folder / file.path().filename());
    }
  }
  std::filesystem::remove_all(staged);
}

/// These ranks, with the iterations before `until`.
inline std::vector<RankSummary> part_of(const std::vector<RankSummary>& summaries, size_t from,
                                        size_t to, size_t until = SIZE_MAX) {
  std::vector<RankSummary> part(summaries.begin() + static_cast<ptrdiff_t>(from),
                                summaries.begin() + static_cast<ptrdiff_t>(to));
  for (RankSummary& summary : part) {
    summary.iterations.resize(std::min(until, summary.iterations.size()));
    const uint32_t end = summary.first_iteration + static_cast<uint32_t>(summary.iterations.size());
    summary.steady.to = std::min(summary.steady.to, end);
  }
  return part;
}

}  // namespace streamscope::job
