// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The differences between Dear ImGui 1.86 and 1.92, in one place; all other code uses their common
// API.
#pragma once

#include <backends/imgui_impl_opengl3.h>
#include <imgui.h>
#include <imgui_freetype.h>
#include <imgui_internal.h>

namespace streamscope::viewer::compat {

/// Rasterizes with FreeType instead of stb_truetype.
inline void use_freetype(ImFontAtlas& atlas) {
#if IMGUI_VERSION_NUM >= 19200
  atlas.SetFontLoader(ImGuiFreeType::GetFontLoader());
#else
  atlas.FontBuilderIO = ImGuiFreeType::GetBuilderForFreeType();
#endif
}

/// Flags for crisp, lightly hinted text.
inline void set_hinting(ImFontConfig& config) {
#if IMGUI_VERSION_NUM >= 19200
  config.FontLoaderFlags = ImGuiFreeTypeLoaderFlags_LightHinting;
#else
  config.FontBuilderFlags = ImGuiFreeTypeBuilderFlags_LightHinting;
#endif
}

/// Fonts of 1.92 have any size; earlier ones have the size they were built with.
inline void push_font(ImFont* font, [[maybe_unused]] float size) {
#if IMGUI_VERSION_NUM >= 19200
  ImGui::PushFont(font, size);
#else
  ImGui::PushFont(font);
#endif
}

/// A glyph of a font in the atlas; nullptr if the font does not have this code point.
inline const ImFontGlyph* find_glyph(ImFont* font, [[maybe_unused]] float size, ImWchar code) {
#if IMGUI_VERSION_NUM >= 19200
  return font->GetFontBaked(size)->FindGlyphNoFallback(code);
#else
  return font->FindGlyphNoFallback(code);
#endif
}

/// The width at which text wraps here; 0 if it does not wrap.
inline float room_to_wrap() {
  const ImGuiWindowTempData& flow = ImGui::GetCurrentWindow()->DC;
  return flow.TextWrapPos < 0 ? 0 : ImGui::CalcWrapWidthForPos(flow.CursorPos, flow.TextWrapPos);
}

/// Notifies the renderer that the font atlas was rebuilt; 1.92 detects that itself.
inline void upload_fonts() {
#if IMGUI_VERSION_NUM < 19200
  if (ImGui::GetIO().Fonts->TexID == ImTextureID{})
    return;  // nothing uploaded yet, the first frame will
  ImGui_ImplOpenGL3_DestroyFontsTexture();
  ImGui_ImplOpenGL3_CreateFontsTexture();
#endif
}

/// The texture of the font atlas; 0 before the first frame.
inline ImTextureID font_texture() {
#if IMGUI_VERSION_NUM >= 19200
  return ImGui::GetIO().Fonts->TexRef._TexData != nullptr ? ImGui::GetIO().Fonts->TexRef.GetTexID()
                                                          : ImTextureID{};
#else
  return ImGui::GetIO().Fonts->TexID;
#endif
}

/// Shows which item has keyboard focus; from 1.87 on, a focus set by the program is not shown
/// automatically.
inline void show_focus() {
#if IMGUI_VERSION_NUM >= 19140
  ImGui::SetNavCursorVisible(true);
#else
  ImGui::GetCurrentContext()->NavDisableHighlight = false;
#endif
}

/// Moves keyboard focus to the last item.
inline void focus_last_item() {
  ImGui::SetKeyboardFocusHere(-1);
  show_focus();
}

}  // namespace streamscope::viewer::compat
