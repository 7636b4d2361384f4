// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "rank_claims.h"

#include <optional>

namespace streamscope::record {
namespace {

using trace::Process;

std::string is_number(std::string_view variable, int32_t number) {
  return std::string(variable) + " is " + std::to_string(number);
}

const RankVariables& variables_of(const RankClaim& claim) {
  return *std::ranges::find(kRankVariables, claim.source, &RankVariables::rank);
}

bool have_started_each_other(const Process& one, const Process& other) {
  return one.os_pid == other.os_pid || one.parent_os_pid == other.os_pid ||
         other.parent_os_pid == one.os_pid;
}

// Times of simulated devices do not say when a process ran.
bool are_known_to_overlap(const Process& one, const Process& other) {
  for (const Process* each : {&one, &other}) {
    if (each->clock == trace::kVirtualClock || each->start_ns == trace::kUnknownNs ||
        each->end_ns == trace::kUnknownNs)
      return false;
  }
  return one.start_ns < other.end_ns && other.start_ns < one.end_ns;
}

std::string label(const Process& process) { return "process " + std::to_string(process.os_pid); }

std::optional<std::string> conflict(const Process& earlier, const Process& later) {
  // A launcher and the ranks that it starts have their numbers from different variables.
  if (earlier.rank == trace::kNoSmall || earlier.rank_source_id != later.rank_source_id)
    return std::nullopt;
  if (earlier.world_size != later.world_size && earlier.world_size != trace::kNoSmall &&
      later.world_size != trace::kNoSmall) {
    return "the job has " + std::to_string(earlier.world_size) + " ranks by " + label(earlier) +
           ", but " + std::to_string(later.world_size) + " by " + label(later);
  }
  if (earlier.rank == later.rank && are_known_to_overlap(earlier, later) &&
      !have_started_each_other(earlier, later)) {
    return label(earlier) + " and " + label(later) + " are both rank " + std::to_string(later.rank);
  }
  return std::nullopt;
}

}  // namespace

std::string_view value_in(std::string_view environment, std::string_view name) {
  while (!environment.empty()) {
    const std::string_view entry = environment.substr(0, environment.find('\0'));
    if (entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=')
      return entry.substr(name.size() + 1);
    environment.remove_prefix(std::min(entry.size() + 1, environment.size()));
  }
  return {};
}

std::string rank_contradiction(std::string_view environment) {
  const auto value = [&](std::string_view name) { return value_in(environment, name); };
  const auto claims = rank_claims(value);
  const RankClaim chosen = read_rank(value);
  if (!chosen.is_known()) return "";
  if (chosen.world_size > 0 && chosen.rank >= chosen.world_size) {
    const std::string_view size = variables_of(chosen).world_size;
    return is_number(chosen.source, chosen.rank) + ", but " +
           is_number(size.empty() ? "the number of ranks" : size, chosen.world_size);
  }
  // Ranks of torchrun have numbers of their own; and what a task of Slurm starts shares its number.
  const bool by_torchrun =
      chosen.source == kRankVariables[0].rank && !value(kTorchrunVariable).empty();
  if (by_torchrun) return "";
  for (size_t i = 0; i + 1 < claims.size(); ++i) {
    const RankClaim& other = claims[i];
    if (!other.is_known() || other.rank == chosen.rank) continue;
    // Another number of ranks: one launcher has started the other.
    const bool same_job =
        other.world_size < 0 || chosen.world_size < 0 || other.world_size == chosen.world_size;
    if (same_job)
      return is_number(chosen.source, chosen.rank) + ", but " + is_number(other.source, other.rank);
  }
  return "";
}

std::vector<RankConflict> rank_conflicts(const std::vector<Process>& processes) {
  std::vector<RankConflict> conflicts;
  for (size_t later = 1; later < processes.size(); ++later) {
    for (size_t earlier = 0; earlier < later; ++earlier) {
      auto text = conflict(processes[earlier], processes[later]);
      if (!text) continue;
      conflicts.push_back({later, std::move(*text)});
      break;
    }
  }
  return conflicts;
}

}  // namespace streamscope::record
