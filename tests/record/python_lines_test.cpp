// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "record/samples/python_lines.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>

#include "python_tables.h"

namespace streamscope::record {
namespace {

// In memory of its own, so that a sanitizer sees what is read behind its end.
class Bytes {
 public:
  explicit Bytes(const std::vector<uint8_t>& bytes)
      : size_(bytes.size()), bytes_(std::make_unique<uint8_t[]>(bytes.size())) {
    std::copy(bytes.begin(), bytes.end(), bytes_.get());
  }
  std::span<const uint8_t> all() const { return {bytes_.get(), size_}; }

 private:
  size_t size_;
  std::unique_ptr<uint8_t[]> bytes_;
};

std::vector<uint8_t> bytes_of(const std::string& hexadecimal) {
  std::vector<uint8_t> bytes;
  for (size_t i = 0; i + 1 < hexadecimal.size(); i += 2)
    bytes.push_back(static_cast<uint8_t>(std::stoi(hexadecimal.substr(i, 2), nullptr, 16)));
  return bytes;
}

constexpr int kMinors[] = {8, 9, 10, 11, 12, 13};

TEST(PythonLines, AreThoseThatTheInterpreterKnows) {
  std::map<int, int> tables;
  for (const PythonTable& table : python_tables()) {
    SCOPED_TRACE(table.name + " of 3." + std::to_string(table.minor));
    const Bytes bytes(bytes_of(table.table));
    size_t next = 0;
    int expected = table.first_line;
    for (int offset = 0; offset < table.size; offset += 2) {
      for (; next < table.starts.size() && table.starts[next].offset == offset; ++next)
        expected = table.starts[next].line;
      ASSERT_EQ(python_line(table.minor, bytes.all(), table.first_line, offset), expected)
          << "at " << offset;
    }
    EXPECT_EQ(next, table.starts.size());
    ++tables[table.minor];
  }
  for (const int minor : kMinors) EXPECT_GE(tables[minor], 5) << minor;
}

TEST(PythonLines, AreMissingBehindTheEndOfTheTable) {
  for (const PythonTable& table : python_tables()) {
    SCOPED_TRACE(table.name + " of 3." + std::to_string(table.minor));
    const Bytes bytes(bytes_of(table.table));
    // Before 3.10 the last line has no end.
    const int expected = table.minor < 10 ? table.starts.back().line : 0;
    EXPECT_EQ(python_line(table.minor, bytes.all(), table.first_line, table.size), expected);
    EXPECT_EQ(python_line(table.minor, bytes.all(), table.first_line, INT32_MAX), expected);
  }
}

TEST(PythonLines, OfAFrameThatHasNotBegunAreItsFirstOrNone) {
  for (const PythonTable& table : python_tables()) {
    const Bytes bytes(bytes_of(table.table));
    for (const int offset : {-1, -2, INT32_MIN})
      EXPECT_EQ(python_line(table.minor, bytes.all(), table.first_line, offset),
                table.minor < 10 ? table.first_line : 0);
  }
}

TEST(PythonLines, OfAnEmptyTableAreTheFirstOrNone) {
  for (const int minor : kMinors)
    EXPECT_EQ(python_line(minor, {}, 7, 0), minor < 10 ? 7 : 0) << minor;
}

// Up to which offset the entries that are complete go.
int covered(int minor, const std::vector<uint8_t>& table) {
  int end = 0, before = 0;
  if (minor < 11) {
    for (size_t i = 0; i + 1 < table.size(); i += 2) end += table[i];
    return end;
  }
  for (const uint8_t byte : table) {
    if ((byte & 128) == 0) continue;
    before = end;
    end += 2 * ((byte & 7) + 1);
  }
  return before;
}

TEST(PythonLines, OfATableThatIsCutOffAreRightUpToThere) {
  for (const PythonTable& table : python_tables()) {
    SCOPED_TRACE(table.name + " of 3." + std::to_string(table.minor));
    const std::vector<uint8_t> whole = bytes_of(table.table);
    const Bytes all(whole);
    for (size_t size = 0; size < whole.size(); ++size) {
      const std::vector<uint8_t> start(whole.begin(),
                                       whole.begin() + static_cast<std::ptrdiff_t>(size));
      const Bytes part(start);
      const int right = covered(table.minor, start);
      for (int offset = 0; offset < table.size; offset += 2) {
        const int line = python_line(table.minor, part.all(), table.first_line, offset);
        if (offset < right) {
          ASSERT_EQ(line, python_line(table.minor, all.all(), table.first_line, offset))
              << size << " bytes, at " << offset;
        }
      }
    }
  }
}

TEST(PythonLines, OfAnyBytesComeToAnEnd) {
  std::mt19937 random(1);
  auto some_byte = [&] { return static_cast<uint8_t>(random()); };
  for (int trial = 0; trial < 20'000; ++trial) {
    std::vector<uint8_t> bytes(random() % 40);
    std::generate(bytes.begin(), bytes.end(), some_byte);
    if (trial % 2 == 0) {  // nearly right
      const auto& tables = python_tables();
      bytes = bytes_of(tables[random() % tables.size()].table);
      for (int change = 0; change < 3; ++change) bytes[random() % bytes.size()] = some_byte();
    }
    const Bytes table(bytes);
    for (const int minor : kMinors)
      python_line(minor, table.all(), static_cast<int>(random()), static_cast<int>(random() % 200));
  }
}

TEST(PythonLines, OfTheLargestDifferencesDoNotOverflow) {
  // Entries whose line is the largest number that there is further on, and one that never ends.
  std::vector<uint8_t> locations;
  for (int i = 0; i < 100; ++i) {
    for (const int byte : {0xe8, 0x7e, 0x7f, 0x7f, 0x7f, 0x7f, 0x03})
      locations.push_back(static_cast<uint8_t>(byte));
  }
  locations.resize(1 << 16, 0x7f);
  const std::vector<uint8_t> differences(1 << 16, 0x7f);
  for (const int minor : kMinors) {
    const Bytes table(minor < 11 ? differences : locations);
    for (const int first_line : {1, INT32_MAX, INT32_MIN})
      for (const int offset : {0, 150, 1 << 20, INT32_MAX})
        python_line(minor, table.all(), first_line, offset);
  }
  // So the lines come back to where they were.
  EXPECT_EQ(python_line(11, Bytes({0xe8, 0x02, 0xe8, 0x03, 0xe8, 0x02}).all(), 5, 2), 5);
}

}  // namespace
}  // namespace streamscope::record
