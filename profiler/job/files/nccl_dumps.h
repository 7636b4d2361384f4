// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// How far ranks came, as others than our recorder report it: the flight recorder of PyTorch, which
// writes a dump for each rank, and NCCL's RAS, which answers for the whole job. For ranks that were
// not recorded.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "rank_hang.h"

namespace streamscope::job {

struct ForeignRanks {
  std::vector<RankHang> ranks;        ///< by rank; communicators have the names of their source
  int32_t world_size = -1;            ///< -1: not known
  std::vector<std::string> problems;  ///< files that cannot be used, one sentence each
};

/// The dumps of PyTorch's flight recorder in a folder, as pickle or JSON. The rank is the number at
/// the end of the file's name: nccl_trace_rank_3, rank_3.json.
ForeignRanks read_flight_dumps(const std::filesystem::path& folder);

/// One of them. Throws Error.
RankHang read_flight_dump(std::string_view bytes, int32_t rank,
                          const std::filesystem::path& origin);

/// The answers of `ncclras -f json` in a folder. It counts the calls of each rank and does not say
/// which have ended, so nothing is known where all counts are equal. Ranks are those of the largest
/// communicator.
ForeignRanks read_ras_reports(const std::filesystem::path& folder);

/// One of them. Throws Error.
ForeignRanks read_ras_report(std::string_view bytes, const std::filesystem::path& origin);

/// Adds what is known from elsewhere of ranks that are lost: what they say replaces `ranks`. Where
/// dumps name communicators otherwise, those of all ranks are used.
void add_foreign_ranks(const std::filesystem::path& folder, std::vector<RankHang>& ranks,
                       std::vector<std::string>& problems);

}  // namespace streamscope::job
