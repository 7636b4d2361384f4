// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Small building blocks of views: text in a face, links, chips, facts, glyphs, arrows.
#pragma once

#include <string_view>

#include "render/theme.h"
#include "window/tab_stops.h"

namespace streamscope::viewer::widgets {

// On a draw list, at a position.

/// Draws one line of text with its top left corner at `at`.
void text(ImDrawList& draw, const Theme& theme, Face face, ImVec2 at, ImU32 color,
          std::string_view text);
/// Draws as much of the text as fits in `width`, with an ellipsis if it was cut; nothing if only a
/// letter or two would fit. Returns the width used.
float fit_text(ImDrawList& draw, const Theme& theme, Face face, ImVec2 at, float width, ImU32 color,
               std::string_view text);
/// Text on a rounded background; returns its size. With a null `draw` it only measures.
ImVec2 chip(ImDrawList* draw, const Theme& theme, Face face, ImVec2 at, ImU32 background,
            ImU32 color, std::string_view text);
/// The glyph of a record: a triangle standing on `bottom`.
void record_glyph(ImDrawList& draw, const Theme& theme, float x, float bottom, float size,
                  ImU32 color);
/// The glyph of a wait: a diamond standing on `bottom`.
void wait_glyph(ImDrawList& draw, const Theme& theme, float x, float bottom, float size,
                ImU32 color);
/// The glyph of a finding: a triangle that points down at `bottom`.
void finding_glyph(ImDrawList& draw, const Theme& theme, float x, float bottom, float size,
                   ImU32 color);
/// A triangle that points right, or down if `open`.
void disclosure(ImDrawList& draw, ImVec2 center, float size, bool open, ImU32 color);

// Windows.

/// Flags of a window without decorations or behavior of its own.
inline constexpr ImGuiWindowFlags kPlain =
    ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings |
    ImGuiWindowFlags_NoBringToFrontOnFocus | ImGuiWindowFlags_NoNav;
/// Begins such a window at a position, without padding; `flags` are added. End it with
/// ImGui::End().
void begin_panel(const char* id, ImVec2 at, ImVec2 size, ImGuiWindowFlags flags);

// In the flow of an ImGui window.

void text(const Theme& theme, Face face, ImU32 color, std::string_view text);
/// Text that wraps at the window's edge, also within words that are longer than a line.
void wrapped(const Theme& theme, Face face, ImU32 color, std::string_view text);
/// A text link; `id` distinguishes equal texts. True when clicked.
bool link(const Theme& theme, TabStops& stops, Face face, std::string_view text, int id);
/// The same for a text that wraps at the window's edge.
bool wrapped_link(const Theme& theme, TabStops& stops, Face face, std::string_view text, int id);
/// Frames the last item if it has keyboard focus; ImGui does so for its own.
void focus_frame(const Theme& theme);
/// Places the next tooltip above or below a box instead of at the mouse.
void place_tooltip(const Theme& theme, ImVec2 min, ImVec2 max);
/// A tooltip until the end of a scope; its text wraps at this width, or not at all.
class Tooltip {
 public:
  explicit Tooltip(float wrap_at = -1);
  ~Tooltip();
  Tooltip(const Tooltip&) = delete;
  Tooltip& operator=(const Tooltip&) = delete;
};
/// Until ImGui::PopFont(), ImGui's own widgets use a monospaced font.
void push_mono(const Theme& theme);
/// A button; `is_on` for the selected one of several. True when clicked.
bool button(const Theme& theme, TabStops& stops, std::string_view text, bool is_on);
float button_width(const Theme& theme, std::string_view text);
/// Puts the next item, of this width, beside the last one, or below it if there is no space. A
/// negative gap means the default between controls.
void beside(float width, float gap = -1);
/// Text as high as a button, to put beside buttons.
void label(const Theme& theme, std::string_view text);
/// The same beside the last item, or below it.
void label_beside(const Theme& theme, std::string_view text);
/// What a panel shows if it has no content: what that means, and what to do.
void empty_state(const Theme& theme, std::string_view title, std::string_view text);
/// A heading with space above it.
void heading(const Theme& theme, std::string_view text);
/// Name on the left, value on the right.
void fact(const Theme& theme, std::string_view name, std::string_view value);
/// Begins the value of a fact; the caller draws it.
void fact_name(const Theme& theme, std::string_view name);

}  // namespace streamscope::viewer::widgets
