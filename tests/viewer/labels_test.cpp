// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "model/labels.h"

#include <gtest/gtest.h>

#include <limits>

namespace streamscope::viewer {
namespace {

// With ~ for a space at which no line breaks.
std::string plain(std::string text) {
  constexpr std::string_view kNoBreak = "\u00a0";
  for (size_t at = 0; (at = text.find(kNoBreak, at)) != std::string::npos;)
    text.replace(at, kNoBreak.size(), "~");
  return text;
}

TEST(Numbers, MatchReportsAndNeverBreakBeforeTheirUnit) {
  EXPECT_EQ(plain(format_duration(12'340)), "12.3~\u00b5s");
  EXPECT_EQ(plain(format_duration(-2'500'000'000)), "-2.50~s");
  EXPECT_EQ(plain(format_duration(192'000'000'000)), "3~min~12~s");
  EXPECT_EQ(plain(format_bytes(1'572'864)), "1.50~MiB");
  EXPECT_EQ(plain(format_percent(0.004)), "0.4~%");
  EXPECT_EQ(format_count(1'234'567), "1,234,567");
  EXPECT_EQ(format_count(-1'234), "-1,234");
}

TEST(FormatExact, ShowsEveryNanosecond) {
  EXPECT_EQ(plain(format_exact(1'234'567'890)), "1.234~567~890~s");
  EXPECT_EQ(plain(format_exact(1'234'567)), "1.234~567~ms");
  EXPECT_EQ(plain(format_exact(17)), "17~ns");
  EXPECT_EQ(plain(format_exact(std::numeric_limits<Ns>::min())), "-9,223,372,036.854~775~808~s");
}

TEST(FormatTick, HasJustEnoughDigitsToDistinguishNeighbors) {
  EXPECT_EQ(plain(format_tick(0, 100, 900)), "0~ns");
  EXPECT_EQ(plain(format_tick(500'000, 500'000, 3'000'000)), "0.5~ms");
  EXPECT_EQ(plain(format_tick(15'000'000, 500'000, 40'000'000)), "15.0~ms");
  EXPECT_EQ(plain(format_tick(3'000'000'000, 1'000'000'000, 9'000'000'000)), "3~s");
  EXPECT_EQ(plain(format_tick(3'000'000'020, 20, 3'000'000'500)), "3.000~000~02~s");
}

TEST(Ellipsize, CutsInTheMiddleAndBetweenCharacters) {
  EXPECT_EQ(ellipsize("short", 10), "short");
  EXPECT_EQ(ellipsize("abcdefghijklmnop", 12), "abcdef\u2026nop");
  const std::string cut = ellipsize("\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4", 9);
  EXPECT_LE(cut.size(), 9u);
  EXPECT_EQ(cut.size() % 2, 1u);  // whole two-byte characters and the three-byte ellipsis
}

// Each character is one wide.
std::string broken(std::string_view text, float room) {
  return break_lines(text, room,
                     [](std::string_view part) { return static_cast<float>(part.size()); });
}

TEST(BreakLines, BreaksAtBlanksAndNowhereElse) {
  EXPECT_EQ(broken("", 5), "");
  EXPECT_EQ(broken("ab cd", 5), "ab cd");
  EXPECT_EQ(broken("ab cde", 5), "ab\ncde");
  EXPECT_EQ(broken("took 12.345", 8), "took\n12.345");
  EXPECT_EQ(broken("a b c d e f", 3), "a b\nc d\ne f");
}

TEST(BreakLines, LeavesALongWordWhole) {
  EXPECT_EQ(broken("coordinator", 4), "coordinator");
  EXPECT_EQ(broken("a coordinator waits", 6), "a\ncoordinator\nwaits");
}

TEST(BreakLines, KeepsTheLinesOfTheText) {
  EXPECT_EQ(broken("one\ntwo three", 7), "one\ntwo\nthree");
  EXPECT_EQ(broken("ab\ncd ef", 5), "ab\ncd ef");
  EXPECT_EQ(broken("\n\n", 5), "\n\n");
}

TEST(Labels, KeepUnitsWithTheirNumbers) {
  EXPECT_EQ(with_units_kept("9.29 ms of it (37 %), 2 of 3 s; 64 launches, 5 stones, 3 µs"),
            "9.29\u00a0ms of it (37\u00a0%), 2 of 3\u00a0s; 64 launches, 5 stones, 3\u00a0µs");
  EXPECT_EQ(with_units_kept(" ms"), " ms");
  EXPECT_EQ(with_units_kept("3 "), "3 ");
}

}  // namespace
}  // namespace streamscope::viewer
