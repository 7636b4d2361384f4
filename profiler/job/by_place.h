// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Time by the place in the program where it is spent.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>

#include "job/steps.h"

namespace streamscope::job {

/// ns by a number: of a place, or of what else the time is divided by.
using TimeBy = std::map<uint32_t, double>;

inline double sum_of(const TimeBy& parts) {
  double sum = 0;
  for (const auto& [key, ns] : parts) sum += ns;
  return sum;
}

/// The place that has so much of the time that it is named for all of it; kNone: none has.
inline uint32_t main_place(const TimeBy& places) {
  constexpr double kMainPart = 0.7;
  const auto largest =
      std::ranges::max_element(places, {}, [](const auto& place) { return place.second; });
  const bool is_main = largest != places.end() && largest->second >= kMainPart * sum_of(places);
  return is_main ? largest->first : kNone;
}

}  // namespace streamscope::job
