// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace streamscope::collect {

/// A wide text, UTF-32 on Linux, as UTF-8; cut off if it is too long.
struct Narrow {
  char bytes[1024];
  size_t size = 0;
  explicit Narrow(const wchar_t* text) {
    for (; text != nullptr && *text != 0 && size + 4 < sizeof bytes; ++text) {
      const uint32_t point = std::char_traits<wchar_t>::to_int_type(*text);
      if (point < 0x80) {
        bytes[size++] = static_cast<char>(point);
      } else if (point < 0x800) {
        put(0xc0 | point >> 6, point, 1);
      } else if (point < 0x10000) {
        put(0xe0 | point >> 12, point, 2);
      } else if (point < 0x110000) {
        put(0xf0 | point >> 18, point, 3);
      } else {
        bytes[size++] = '?';
      }
    }
  }
  std::string_view view() const { return {bytes, size}; }

 private:
  void put(uint32_t lead, uint32_t point, int following) {
    bytes[size++] = static_cast<char>(lead);
    for (int shift = 6 * (following - 1); shift >= 0; shift -= 6)
      bytes[size++] = static_cast<char>(0x80 | (point >> shift & 0x3f));
  }
};

}  // namespace streamscope::collect
