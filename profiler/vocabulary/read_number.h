// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Numbers as users write them, whatever the locale.
#pragma once

#include <charconv>
#include <cstdlib>
#include <string>
#include <string_view>
#include <type_traits>
#include <version>

namespace streamscope {

/// Reads the number that `text` begins with, as std::from_chars does.
template <class Number>
std::from_chars_result read_number(std::string_view text, Number& value) {
#ifndef __cpp_lib_to_chars
  // The library reads no fractions; the locale of such systems is always "C".
  if constexpr (std::is_floating_point_v<Number>) {
    const size_t length = std::min(text.find_first_not_of("+-.0123456789eEinfat"), text.size());
    const std::string copy(text.substr(0, length));
    char* end = nullptr;
    if (!copy.empty() && copy[0] != '+') value = std::strtod(copy.c_str(), &end);
    if (end == nullptr || end == copy.c_str()) return {text.data(), std::errc::invalid_argument};
    return {text.data() + (end - copy.c_str()), std::errc()};
  } else
#endif
    return std::from_chars(text.data(), text.data() + text.size(), value);
}

}  // namespace streamscope
