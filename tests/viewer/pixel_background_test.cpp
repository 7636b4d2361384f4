// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "render/pixel_background.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace {

using streamscope::viewer::PixelBackground;

constexpr ImU32 kRed = IM_COL32(255, 0, 0, 255), kBlue = IM_COL32(0, 0, 255, 255);

// As drawn, top to bottom; '.' is where nothing was drawn.
std::vector<std::string> picture(const PixelBackground& background) {
  std::vector<std::string> rows;
  const auto pixels = background.pixels();
  for (size_t at = 0; at < pixels.size(); at += static_cast<size_t>(background.width_px())) {
    std::string row;
    for (int x = 0; x < background.width_px(); ++x) {
      const ImU32 pixel = pixels[at + static_cast<size_t>(x)];
      row += pixel == 0xffff0000 ? 'r' : pixel == 0xff0000ff ? 'b' : '.';
    }
    rows.insert(rows.begin(), row);
  }
  return rows;
}

TEST(PixelBackground, FillsPixelsWhoseCenterIsCovered) {
  PixelBackground background;
  background.begin_frame(5, 3, {1, 1});
  background.begin_section({0, 0}, {5, 3});
  background.fill({0.6f, 0}, {3.4f, 2}, kRed);
  EXPECT_EQ(picture(background), (std::vector<std::string>{".rr..", ".rr..", "....."}));
}

TEST(PixelBackground, ClipsToSectionAndClip) {
  PixelBackground background;
  background.begin_frame(5, 3, {1, 1});
  background.begin_section({1, 0}, {4, 3});
  background.clip({0, 1}, {3, 9});
  background.fill({-9, -9}, {9, 9}, kBlue);
  EXPECT_EQ(picture(background), (std::vector<std::string>{".....", ".bb..", ".bb.."}));
}

TEST(PixelBackground, RepeatsALineDownwards) {
  PixelBackground background;
  background.begin_frame(4, 3, {1, 1});
  background.begin_section({0, 0}, {4, 3});
  const std::array<ImU32, 3> line = {kRed, kBlue, kRed};
  background.repeat(-1, 1, 3, line);
  EXPECT_EQ(picture(background), (std::vector<std::string>{"....", "br..", "br.."}));
}

TEST(PixelBackground, HasMorePixelsThanUnitsOnAFineDisplay) {
  PixelBackground background;
  background.begin_frame(6, 2, {2, 2});
  background.begin_section({0, 0}, {3, 1});
  const std::array<ImU32, 2> line = {kRed, kBlue};
  background.repeat(1, 0, 1, line);
  EXPECT_EQ(picture(background), (std::vector<std::string>{"..rrbb", "..rrbb"}));
}

TEST(PixelBackground, ReportsWhichSectionsDiffer) {
  PixelBackground background;
  const auto content = [&](float right, ImU32 color) {
    background.begin_frame(5, 3, {1, 1});
    background.begin_section({0, 0}, {5, 1});
    background.fill({0, 0}, {5, 1}, kRed);
    background.begin_section({0, 1}, {5, 3});
    background.fill({0, 1}, {right, 3}, color);
    return std::pair(background.layers().at(0).content, background.layers().at(1).content);
  };
  const auto first = content(3, kRed);
  EXPECT_EQ(content(3, kRed), first);
  for (const auto& other : {content(4, kRed), content(3, kBlue)}) {
    EXPECT_EQ(other.first, first.first);
    EXPECT_NE(other.second, first.second);
  }
}

}  // namespace
