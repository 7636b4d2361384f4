// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// How much a recording collects.
#pragma once

#include <cstdint>
#include <string_view>

#include "term.h"

namespace streamscope {

enum class Tier : uint32_t {
  kStructure = 0,  ///< calls only
  kTimes,          ///< also when work ran on the device
  kEvents,         ///< also CUPTI's own records of events and synchronizations
};

/// The names are those of `record --tier`, STREAMSCOPE_TIER and meta.tier.
inline constexpr Term kTiers[] = {
    {Tier::kStructure, "structure"},
    {Tier::kTimes, "times"},
    {Tier::kEvents, "events"},
};
constexpr std::string_view to_string(Tier tier) { return name_of(kTiers, tier); }
/// kTimes, the default, for any other word.
constexpr Tier tier_named(std::string_view name) {
  return static_cast<Tier>(number_named(kTiers, name).value_or(static_cast<int32_t>(Tier::kTimes)));
}

}  // namespace streamscope
