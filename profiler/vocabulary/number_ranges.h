// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Many numbers as a short text.
#pragma once

#include <cstdint>
#include <iterator>
#include <set>
#include <string>

namespace streamscope {

/// "0-2, 5"
inline std::string number_ranges(const std::set<int32_t>& numbers) {
  std::string text;
  for (auto first = numbers.begin(); first != numbers.end();) {
    auto last = first, next = std::next(first);
    while (next != numbers.end() && *next == *last + 1) last = next++;
    if (!text.empty()) text += ", ";
    text += std::to_string(*first);
    if (first != last) text += "-" + std::to_string(*last);
    first = next;
  }
  return text;
}

}  // namespace streamscope
