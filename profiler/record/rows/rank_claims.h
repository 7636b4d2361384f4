// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Where processes contradict themselves or each other about their ranks.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "trace/model.h"
#include "vocabulary/rank.h"

namespace streamscope::record {

/// The value of a variable in an environment of NAME=VALUE, separated by '\0'; "" if it is not set.
std::string_view value_in(std::string_view environment, std::string_view name);

/// How the variables of one process contradict each other: "RANK is 3, but WORLD_SIZE is 2". That
/// launchers which start each other number differently is no contradiction. "" if there is none.
std::string rank_contradiction(std::string_view environment);

/// The process that contradicts an earlier one, and how.
struct RankConflict {
  size_t process;  ///< index into the rows
  std::string text;
};
/// Of the processes of one trace: two that run at the same time and claim the same rank, although
/// neither has started the other; two whose jobs have different sizes.
std::vector<RankConflict> rank_conflicts(const std::vector<trace::Process>& processes);

}  // namespace streamscope::record
