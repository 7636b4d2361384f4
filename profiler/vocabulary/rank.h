// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Which rank of a job a process is, by the variables that launchers set.
//
// Used in the program, by the recorder and by importers; allocates nothing.
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

namespace streamscope {

/// The trace "rank-00003.sqlite" of a rank has the note "rank-00003.hang" (job/hang_note.h).
inline constexpr char kHangNoteEnding[] = ".hang";

struct RankVariables {
  std::string_view rank;
  std::string_view world_size;  ///< "": there is no such variable
  std::string_view local_rank;
};

/// The most specific first: where launchers start each other, the innermost one decides. Slurm is
/// last because all processes that a task starts, such as the ranks of torchrun, share its number.
inline constexpr RankVariables kRankVariables[] = {
    {"RANK", "WORLD_SIZE", "LOCAL_RANK"},  // torchrun and other launchers of PyTorch
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"},  // Open MPI
    {"PMIX_RANK", "", ""},
    {"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"},  // MPICH, Intel MPI
    {"SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID"},
};
inline constexpr size_t kRankSourceCount = std::size(kRankVariables);
/// Set by torchrun in each of its ranks.
inline constexpr std::string_view kTorchrunVariable = "TORCHELASTIC_RESTART_COUNT";

/// True for a variable that says something about the rank of a process.
constexpr bool is_rank_variable(std::string_view name) {
  return name == kTorchrunVariable ||
         std::ranges::any_of(kRankVariables, [&](const RankVariables& each) {
           return !name.empty() &&
                  (name == each.rank || name == each.world_size || name == each.local_rank);
         });
}

/// Numbers are -1 where they are not known.
struct RankClaim {
  int32_t rank = -1;
  int32_t world_size = -1;
  int32_t local_rank = -1;  ///< on its host
  std::string_view source;  ///< a variable; "": nothing claims a rank

  bool is_known() const { return rank >= 0; }
};

/// -1 if the text is not a number from 0.
inline int32_t rank_number(std::string_view text) {
  int32_t number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? std::max(number, -1) : -1;
}

/// What each of kRankVariables says. `value_of` returns the value of a variable, or "".
template <class ValueOf>
std::array<RankClaim, kRankSourceCount> rank_claims(const ValueOf& value_of) {
  std::array<RankClaim, kRankSourceCount> claims;
  const auto number = [&](std::string_view name) {
    return name.empty() ? -1 : rank_number(value_of(name));
  };
  for (size_t i = 0; i < kRankSourceCount; ++i) {
    const RankVariables& names = kRankVariables[i];
    const int32_t rank = number(names.rank), world_size = number(names.world_size);
    // A variable RANK alone may mean anything.
    if (rank < 0 || (i == 0 && world_size < 1)) continue;
    claims[i] = {rank, world_size < 1 ? -1 : world_size, number(names.local_rank), names.rank};
  }
  return claims;
}

/// The most specific claim. What it leaves open is taken from the next one of the same rank.
template <class ValueOf>
RankClaim read_rank(const ValueOf& value_of) {
  RankClaim result;
  for (const RankClaim& claim : rank_claims(value_of)) {
    if (!claim.is_known()) continue;
    if (!result.is_known()) result = claim;
    if (claim.rank != result.rank) continue;
    if (result.world_size < 0) result.world_size = claim.world_size;
    if (result.local_rank < 0) result.local_rank = claim.local_rank;
  }
  return result;
}

}  // namespace streamscope
