// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Colors by meaning, fonts and sizes: the only code that defines how things look.
//
// Hues of categories follow Okabe and Ito's palette, which people with any color vision can
// distinguish; light and dark theme share hues and differ in lightness. Drawing code uses meanings,
// never numbers.
#pragma once

#include <imgui.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "analysis/detector.h"
#include "analysis/iterations/shares.h"
#include "model/item_facts.h"
#include "vocabulary/wait_cause.h"

namespace streamscope::viewer {

enum class ThemeKind : uint8_t { kDark, kLight };

enum class Color : uint8_t {
  kBackground = 0,  ///< of the timeline
  kPanel,           ///< gutter, inspector, header
  kPanelRaised,     ///< group headers, chips, pop-ups
  kBorder,
  kGrid,
  kGridMinor,
  kText,
  kTextDim,
  kTextFaint,
  kAccent,     ///< links, focus, the window in the minimap
  kSelection,  ///< outline of what is selected
  kHover,
  kMark,      ///< a marked range of time
  kWaiting,   ///< a stream that waits for an event
  kIncoming,  ///< edges towards the selection
  kOutgoing,  ///< edges away from it
  kCritical,  ///< the critical path
  kCounter,   ///< steps of a counter
  kWarning,
  kError,
  kOnWarning,  ///< text on kWarning
  kShade,      ///< behind pop-ups
  kCount,
};

enum class Face : uint8_t { kBody = 0, kSmall, kBold, kTitle, kMono, kMonoSmall, kCount };

/// A font at a size in pixels.
struct Text {
  ImFont* font = nullptr;
  float size = 0;
};

/// UI thread only.
class Theme {
 public:
  Theme(ThemeKind kind, float scale);

  ThemeKind kind() const { return kind_; }
  float scale() const { return scale_; }
  /// A length of the design, in pixels of this display, rounded.
  float px(float length) const;

  ImU32 color(Color color) const { return colors_[static_cast<size_t>(color)]; }
  ImVec4 vec(Color color) const;
  ImU32 color(Category category) const { return categories_[static_cast<size_t>(category)]; }
  ImU32 color(streamscope::WaitCause cause) const;
  ImU32 color(analysis::FindingSeverity severity) const;
  /// In the same hues as in the HTML report; none: what has no line of its own.
  ImU32 color(std::optional<analysis::TimeShare> share) const;
  /// A color for a name, the same in every run.
  ImU32 color_of_name(std::string_view name) const;
  /// A color for one of many numbered things.
  ImU32 color_of_number(size_t number) const;
  /// A text color that is readable on a fill.
  ImU32 on(ImU32 fill) const;
  /// The color with `alpha` in [0, 1].
  static ImU32 fade(ImU32 color, float alpha);
  /// The color blended over the timeline's background with `alpha`, opaque.
  ImU32 dim(ImU32 color, float alpha) const;

  const Text& text(Face face) const { return texts_[static_cast<size_t>(face)]; }
  /// Width of the text in pixels.
  float width(Face face, std::string_view text) const;

  /// Builds the fonts of this theme's scale into the atlas of the current ImGui context and sets
  /// ImGui's own style.
  void apply();

 private:
  void set_style() const;

  ThemeKind kind_;
  float scale_;
  std::array<ImU32, static_cast<size_t>(Color::kCount)> colors_;
  std::array<ImU32, kCategoryCount> categories_;
  std::array<Text, static_cast<size_t>(Face::kCount)> texts_;
};

}  // namespace streamscope::viewer
