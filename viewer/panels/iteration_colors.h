// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The colors of iterations, on the time axis and in the diagnosis.
#pragma once

#include "render/theme.h"
#include "timeline/iteration_bands.h"

namespace streamscope::viewer {

/// The background of every other iteration, barely visible.
inline ImU32 band_tint(const Theme& theme) {
  return theme.dim(theme.color(Color::kCounter), 0.07f);
}
/// The same of one that took much longer.
inline ImU32 outlier_tint(const Theme& theme) {
  return theme.dim(theme.color(Color::kError), 0.09f);
}

/// Of a column of the strip, and of its key.
inline ImU32 color_of(const Theme& theme, report::IterationPart part) {
  switch (part) {
    case report::IterationPart::kOutlier:
      return theme.color(Color::kError);
    case report::IterationPart::kSteady:
      return theme.color(Color::kCounter);
    case report::IterationPart::kStartUp:
    case report::IterationPart::kAfter:
      break;
  }
  return theme.dim(theme.color(Color::kCounter), 0.4f);
}

/// Of a band on the axis, paler than a column: neighbors differ, and text is readable on it.
inline ImU32 color_of(const Theme& theme, const IterationBand& band) {
  const ImU32 color = color_of(theme, band.part);
  switch (band.part) {
    case report::IterationPart::kOutlier:
      return theme.dim(color, band.x1 - band.x0 < theme.px(10) ? 0.8f : 0.22f);
    case report::IterationPart::kSteady:
      return theme.dim(color, band.is_run() ? 0.28f : band.is_odd() ? 0.34f : 0.22f);
    case report::IterationPart::kStartUp:
    case report::IterationPart::kAfter:
      break;
  }
  return theme.dim(color, 0.5f);
}

}  // namespace streamscope::viewer
