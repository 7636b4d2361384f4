// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What the recorder of a rank tells those of the other ranks while the rank makes no progress, and
// how the rank ended: rank-00003.hang, a file of at most 4 KiB beside its trace.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "rank_hang.h"
#include "vocabulary/rank.h"

namespace streamscope::job {

/// Version of the bytes; another one is refused.
inline constexpr uint32_t kHangNoteVersion = 2;
inline constexpr size_t kMostNoteBytes = 4096;

/// Times are ns of the wall clock of its host.
struct HangNote {
  RankHang rank;
  int32_t pid = -1;
  int64_t progress_ns = 0;  ///< the last progress
  int64_t written_ns = 0;   ///< this note
  uint32_t asked_for_ms =
      0;  ///< how long the rank has waited for the notes of others; 0: it does not
  uint32_t renewed_within_ms = 0;  ///< else its recorder is gone; 0: it is the last one
  bool more_follows = false;  ///< nothing is known of its calls yet, or its recorder looks at them
  std::string verdict;        ///< on the job, as this rank found it while it ran

  bool operator==(const HangNote&) const = default;
};

/// At most kMostNoteBytes: long texts are cut, and communicators in which the rank waits for
/// nothing are left out if there are too many.
std::string pack(const HangNote& note);

/// `origin` names the bytes in errors. Throws Error if they are damaged or of another version.
HangNote unpack_note(std::string_view bytes, const std::filesystem::path& origin);

/// Replaces the file at once. Throws Error.
void write_note(const HangNote& note, const std::filesystem::path& file);

struct FoundNote {
  HangNote note;
  std::filesystem::file_time_type renewed;  ///< by the clock of the file system
  int64_t last_sign_ns = 0;                 ///< wall clock: of its recorder, in any of its files

  bool operator==(const FoundNote&) const = default;
};
/// One of each rank, the newest, by rank. Those that cannot be read are left out.
std::vector<FoundNote> read_notes(const std::filesystem::path& folder);

/// Within which a recorder writes a note when a rank asks.
inline constexpr std::chrono::milliseconds kNotePromise{2500};

/// Ranks as their notes say. A rank whose note is not renewed as promised, although others ask, is
/// lost; so is a rank of the job without a note. `waits`: some have not answered yet, but may.
std::vector<RankHang> ranks_of(const std::vector<FoundNote>& notes, bool* waits = nullptr);

/// The same for the notes of a folder, in which the files of a rank without a note say since when
/// it has written nothing.
std::vector<RankHang> ranks_in(const std::filesystem::path& folder,
                               const std::vector<FoundNote>& notes, bool* waits = nullptr);

/// Lines that say which processes these ranks are, as far as notes say; at most four. `ranks`:
/// ascending.
std::vector<std::string> places_of(const std::vector<int32_t>& ranks,
                                   const std::vector<FoundNote>& notes);

}  // namespace streamscope::job
