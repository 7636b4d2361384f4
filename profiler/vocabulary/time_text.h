// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Times as users write them: in options of streamscope and streamscope-viewer and in budget files.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>

#include "vocabulary/read_number.h"

namespace streamscope {

/// "12", "12ns", "1.5us", "1.5µs", "-3ms", "2s" in nanoseconds, rounded; whole nanoseconds are
/// exact. Without a unit it is ns. nullopt: not a time, or longer than 9e18 ns.
inline std::optional<int64_t> parse_time_ns(std::string_view text) {
  const char* const last = text.data() + text.size();
  double value = 0;
  const auto [end, error] = read_number(text, value);
  if (error != std::errc()) return std::nullopt;
  const std::string_view unit(end, static_cast<size_t>(last - end));
  const bool in_ns = unit.empty() || unit == "ns";
  const double scale = in_ns                               ? 1
                       : unit == "us" || unit == "\u00b5s" ? 1e3
                       : unit == "ms"                      ? 1e6
                       : unit == "s"                       ? 1e9
                                                           : 0;
  if (scale == 0 || !(std::abs(value * scale) < 9e18)) return std::nullopt;
  int64_t exact = 0;  // a double cannot represent every integer
  if (in_ns && std::from_chars(text.data(), end, exact).ptr == end) return exact;
  return std::llround(value * scale);
}

}  // namespace streamscope
