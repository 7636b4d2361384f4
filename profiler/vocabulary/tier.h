// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// How much a recording collects.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace streamscope {

enum class Tier : uint32_t {
  kStructure = 0,  ///< calls only
  kTimes,          ///< also when work ran on the device
  kEvents,         ///< also CUPTI's own records of events and synchronizations
};

/// By number; the names are those of `record --tier`, STREAMSCOPE_TIER and meta.tier.
inline constexpr std::array<std::string_view, 3> kTierNames = {"structure", "times", "events"};

constexpr std::string_view to_string(Tier tier) {
  return kTierNames[static_cast<size_t>(tier) % kTierNames.size()];
}
/// kTimes, the default, for any other word.
constexpr Tier tier_named(std::string_view name) {
  for (size_t i = 0; i < kTierNames.size(); ++i) {
    if (kTierNames[i] == name) return static_cast<Tier>(i);
  }
  return Tier::kTimes;
}

}  // namespace streamscope
