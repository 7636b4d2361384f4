// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "render/theme.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace streamscope::viewer {
namespace {

// Relative luminance and contrast as WCAG 2 defines them, which requires 4.5 for small text.
double luminance(ImU32 color) {
  const auto linear = [&](unsigned shift) {
    const double value = static_cast<double>(color >> shift & 255) / 255;
    return value <= 0.03928 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
  };
  return 0.2126 * linear(IM_COL32_R_SHIFT) + 0.7152 * linear(IM_COL32_G_SHIFT) +
         0.0722 * linear(IM_COL32_B_SHIFT);
}

double contrast(ImU32 a, ImU32 b) {
  const auto [dark, light] = std::minmax({luminance(a), luminance(b)});
  return (light + 0.05) / (dark + 0.05);
}

TEST(Theme, UsesReadableTextColors) {
  for (const ThemeKind kind : {ThemeKind::kDark, ThemeKind::kLight}) {
    const Theme theme(kind, 1);
    for (const Color background : {Color::kBackground, Color::kPanel}) {
      for (const Color ink :
           {Color::kText, Color::kTextDim, Color::kTextFaint, Color::kAccent, Color::kWaiting,
            Color::kIncoming, Color::kOutgoing, Color::kCritical, Color::kWarning, Color::kError}) {
        EXPECT_GE(contrast(theme.color(ink), theme.color(background)), 4.5)
            << "color " << static_cast<int>(ink) << " on " << static_cast<int>(background)
            << " of theme " << static_cast<int>(kind);
      }
    }
    EXPECT_GE(contrast(theme.color(Color::kOnWarning), theme.color(Color::kWarning)), 4.5);
  }
}

}  // namespace
}  // namespace streamscope::viewer
