// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "python_lines.h"

#include <cstddef>

namespace streamscope::record {
namespace {

using Table = std::span<const uint8_t>;

int as_signed(uint8_t byte) { return static_cast<int8_t>(byte); }

// A table that was overwritten while it was read may contain any differences.
int sum(int line, int difference) {
  return static_cast<int>(static_cast<unsigned>(line) + static_cast<unsigned>(difference));
}

// Before 3.10: pairs (address, line), both as differences to the pair before.
int line_of_differences(Table table, int line, int offset) {
  int address = 0;
  for (size_t i = 0; i + 1 < table.size(); i += 2) {
    address += table[i];
    if (address > offset) break;
    line = sum(line, as_signed(table[i + 1]));
  }
  return line;
}

// 3.10: pairs (length, line as a difference); -128 stands for no line.
int line_of_ranges(Table table, int line, int offset) {
  int end = 0;
  for (size_t i = 0; i + 1 < table.size(); i += 2) {
    const int begin = end, difference = as_signed(table[i + 1]);
    end += table[i];
    if (difference != -128) line = sum(line, difference);
    if (offset >= begin && offset < end) return difference == -128 ? 0 : line;
  }
  return 0;
}

// Six bits a byte, the lowest first; bit 6 says that more follow.
class Numbers {
 public:
  Numbers(Table table, size_t at) : table_(table), at_(at) {}

  int signed_number() {
    const unsigned value = number();
    return (value & 1) != 0 ? -static_cast<int>(value >> 1) : static_cast<int>(value >> 1);
  }
  unsigned number() {
    unsigned value = 0;
    for (unsigned shift = 0; at_ < table_.size(); shift += 6) {
      const uint8_t byte = table_[at_++];
      if (shift < 32) value |= (byte & 63u) << shift;
      if ((byte & 64) == 0) break;
    }
    return value;
  }

 private:
  Table table_;
  size_t at_;
};

// Since 3.11: entries whose first byte has bit 7 set, then a kind and a length in units of two
// bytes.
int line_of_locations(Table table, int line, int offset) {
  constexpr int kNone = 15, kLong = 14, kNoColumn = 13, kOneLine = 10;
  int end = 0;
  size_t at = 0;
  while (at < table.size()) {
    const int kind = table[at] >> 3 & 15;
    const int begin = end;
    end += 2 * ((table[at] & 7) + 1);
    if (kind == kLong || kind == kNoColumn) {
      line = sum(line, Numbers(table, at + 1).signed_number());
    } else if (kind >= kOneLine && kind < kNoColumn) {
      line = sum(line, kind - kOneLine);
    }
    if (offset >= begin && offset < end) return kind == kNone ? 0 : line;
    do ++at;
    while (at < table.size() && (table[at] & 128) == 0);
  }
  return 0;
}

}  // namespace

int python_line(int minor, Table table, int first_line, int offset) {
  if (minor < 10) return line_of_differences(table, first_line, offset);
  if (minor == 10) return line_of_ranges(table, first_line, offset);
  return line_of_locations(table, first_line, offset);
}

}  // namespace streamscope::record
