// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Ranges of time as users write them: 10ms:12.5ms or 40%:60%, in options of streamscope and
// streamscope-viewer.
#pragma once

#include <algorithm>
#include <limits>
#include <utility>

#include "read_number.h"
#include "time_text.h"

namespace streamscope {

/// One end of a range: a time, or a share of what there is.
struct RangeEnd {
  bool is_percent = false;
  double percent = 0;
  int64_t ns = 0;

  /// The instant in something that lasts from `begin_ns` to `end_ns`. Times count from its own
  /// zero, not from its beginning.
  int64_t resolve(int64_t begin_ns, int64_t end_ns) const {
    if (!is_percent) return ns;
    const double span = static_cast<double>(static_cast<__int128>(end_ns) - begin_ns);
    const double by = std::floor(std::clamp(percent / 100 * span, -9e18, 9e18));
    int64_t at = 0;
    if (!__builtin_add_overflow(begin_ns, static_cast<int64_t>(by), &at)) return at;
    return by < 0 ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int64_t>::max();
  }
};

/// nullopt if it is neither a time (time_text.h) nor a percentage.
inline std::optional<RangeEnd> parse_range_end(std::string_view text) {
  if (!text.ends_with('%')) {
    const auto ns = parse_time_ns(text);
    return ns ? std::optional(RangeEnd{.ns = *ns}) : std::nullopt;
  }
  text.remove_suffix(1);
  double percent = 0;
  const auto [end, error] = read_number(text, percent);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(percent))
    return std::nullopt;
  return RangeEnd{.is_percent = true, .percent = percent};
}

using TextRange = std::pair<RangeEnd, RangeEnd>;

/// FROM:TO; nullopt if it is not that.
inline std::optional<TextRange> parse_text_range(std::string_view text) {
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto from = parse_range_end(text.substr(0, colon)),
             to = parse_range_end(text.substr(colon + 1));
  return from && to ? std::optional(TextRange{*from, *to}) : std::nullopt;
}

}  // namespace streamscope
