// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "theme.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <utility>
#include <variant>

#include "fonts.h"
#include "imgui_compat.h"

namespace streamscope::viewer {
namespace {

constexpr ImU32 rgb(uint32_t value, uint32_t alpha = 255) {
  return IM_COL32((value >> 16) & 255, (value >> 8) & 255, value & 255, alpha);
}

// A color in the dark and in the light theme.
struct Shades {
  ImU32 dark, light;
};

constexpr std::array<Shades, static_cast<size_t>(Color::kCount)> kColors = {{
    {rgb(0x0f1318), rgb(0xffffff)},           // background
    {rgb(0x161b22), rgb(0xf5f7fa)},           // panel
    {rgb(0x1e252f), rgb(0xe9edf2)},           // panel raised
    {rgb(0x2b3440), rgb(0xcfd7e1)},           // border
    {rgb(0x232b36), rgb(0xe3e8ee)},           // grid
    {rgb(0x181e26), rgb(0xf1f4f7)},           // grid, minor
    {rgb(0xe7ecf3), rgb(0x17202c)},           // text
    {rgb(0x9aa7b8), rgb(0x48566a)},           // text, dim
    {rgb(0x7a889d), rgb(0x5f6d80)},           // text, faint
    {rgb(0x6cb6ff), rgb(0x0b62c4)},           // accent
    {rgb(0xffffff), rgb(0x0b1320)},           // selection
    {rgb(0xffffff, 60), rgb(0x0b1320, 40)},   // hover
    {rgb(0x6cb6ff, 34), rgb(0x0b62c4, 28)},   // mark
    {rgb(0xd9622b), rgb(0xb84a00)},           // waiting
    {rgb(0xff7f50), rgb(0xc8430a)},           // incoming
    {rgb(0x3fe0c5), rgb(0x00806a)},           // outgoing
    {rgb(0xff5fa2), rgb(0xc2186b)},           // critical
    {rgb(0x8fa3c8), rgb(0x5f7299)},           // counter
    {rgb(0xe0a526), rgb(0x8a5a00)},           // warning
    {rgb(0xff6b5e), rgb(0xc62f23)},           // error
    {rgb(0x221a04), rgb(0xffffff)},           // on warning
    {rgb(0x06090d, 170), rgb(0x17202c, 90)},  // shade
}};

constexpr std::array<Shades, kCategoryCount> kCategories = {{
    {rgb(0x56b4e9), rgb(0x4ba3dc)},  // kernel
    {rgb(0xe69f00), rgb(0xe69f00)},  // copy to device
    {rgb(0xe0d45c), rgb(0xe3d21a)},  // copy to host
    {rgb(0xb98a2e), rgb(0xc4923a)},  // copy on device
    {rgb(0x9fb1c4), rgb(0xa9b8c9)},  // memset
    {rgb(0xcc79a7), rgb(0xcc79a7)},  // host function
    {rgb(0xd55e00), rgb(0xd55e00)},  // memory wait
    {rgb(0xa993e0), rgb(0x9c86d8)},  // memory write
    {rgb(0x1fb391), rgb(0x009e73)},  // graph launch
    {rgb(0x3f7fae), rgb(0x8fc1e6)},  // launch call
    {rgb(0xa1762a), rgb(0xf0cb7a)},  // copy call
    {rgb(0x3fa889), rgb(0x7ccbb4)},  // record call
    {rgb(0xb86a94), rgb(0xe3afcb)},  // wait call
    {rgb(0xd9622b), rgb(0xe57f3b)},  // blocking call
    {rgb(0x56637a), rgb(0xc3ccd8)},  // other call
    {rgb(0x3a4658), rgb(0xdbe2eb)},  // range
    {rgb(0x5470b3), rgb(0x8fa9e6)},  // operation
    {rgb(0x2f8f7c), rgb(0x6cc5b2)},  // barrier
    {rgb(0x7f9a3a), rgb(0xb9cf7a)},  // task
    {rgb(0xb89a45), rgb(0xe8d9a0)},  // Python function
    {rgb(0x5d6672), rgb(0xd3d8de)},  // native function
    {rgb(0x57a35b), rgb(0x3f9443)},  // runs
    {rgb(0x4a5362), rgb(0xb9c2cd)},  // waits
    {rgb(0xd9622b), rgb(0xd9622b)},  // waits for Python's lock
}};

// Causes of waiting, in colors of what they are about.
using streamscope::WaitCause;
constexpr std::array<std::pair<WaitCause, std::variant<Color, Category>>, 15> kCauseColors = {
    {{WaitCause::kLaunch, Category::kLaunchCall},
     {WaitCause::kHostCall, Category::kLaunchCall},
     {WaitCause::kHost, Category::kOtherCall},
     {WaitCause::kCodeLoading, Color::kWarning},
     {WaitCause::kHostLock, Color::kWarning},
     {WaitCause::kEvent, Color::kWaiting},
     {WaitCause::kLegacyStream, Category::kHostFunction},
     {WaitCause::kHostFunction, Category::kHostFunction},
     {WaitCause::kMemoryWait, Category::kMemoryWait},
     {WaitCause::kHostSync, Category::kCopyToDevice},
     {WaitCause::kCopyEngine, Category::kCopyToHost},
     {WaitCause::kSmFull, Category::kMemoryWrite},
     {WaitCause::kQueueAliasing, Category::kGraphLaunch},
     {WaitCause::kGraph, Color::kTextDim},
     {WaitCause::kStart, Color::kTextDim}}};

// What the time of an iteration goes into, in the colors of the HTML report (page.css). The last
// one is of all that has no line of its own.
constexpr std::array<Shades, analysis::kShareCount + 1> kShares = {{
    {rgb(0x6ea8ec), rgb(0x2f6fbf)},  // kernels
    {rgb(0xc7a1e6), rgb(0x8250a8)},  // collectives
    {rgb(0x6fbf73), rgb(0x2e7d32)},  // copies
    {rgb(0x5cc4d6), rgb(0x0b7285)},  // other work
    {rgb(0x9db7d6), rgb(0x55708f)},  // device latency
    {rgb(0xf0955c), rgb(0xb8500f)},  // host launching
    {rgb(0xd6b656), rgb(0x8a6d00)},  // host outside CUDA
    {rgb(0xff8a80), rgb(0xb3261e)},  // host synchronization
    {rgb(0xf08cc4), rgb(0xa83277)},  // memory management
    {rgb(0xa9c46c), rgb(0x4d6b12)},  // code loading
    {rgb(0xc9a27e), rgb(0x7d5a3c)},  // host lock
    {rgb(0xb7a4d6), rgb(0x5e4a78)},  // recorder
    {rgb(0xa5adb7), rgb(0x57606a)},  // unknown
    {rgb(0x98a1ab), rgb(0x6e7781)},  // the rest
}};

// Alternating lightness, so that neighbors differ even without hue; none resembles waiting.
constexpr std::array<ImU32, 12> kNameColors = {
    rgb(0x56b4e9), rgb(0xe69f00), rgb(0x009e73), rgb(0xf0e442), rgb(0x3f7fd0), rgb(0x7fb800),
    rgb(0xcc79a7), rgb(0x9fd8c8), rgb(0xa993e0), rgb(0xb98a2e), rgb(0x8fa3b8), rgb(0xf2a48b)};

// A frame blends a color for each pixel of each lane: neither divisions nor function calls.
constexpr std::array<float, 256> kFractions = [] {
  std::array<float, 256> shares{};
  for (size_t i = 0; i < shares.size(); ++i) shares[i] = static_cast<float>(i) / 255;
  return shares;
}();

ImVec4 to_vec(ImU32 color) {
  return {kFractions[color >> IM_COL32_R_SHIFT & 255], kFractions[color >> IM_COL32_G_SHIFT & 255],
          kFractions[color >> IM_COL32_B_SHIFT & 255], kFractions[color >> IM_COL32_A_SHIFT & 255]};
}

// For a non-negative number; std::lround() is a call.
// NOLINTNEXTLINE(bugprone-incorrect-roundings)
ImU32 rounded(float value) { return static_cast<ImU32>(double{value} + 0.5); }

struct FaceSpec {
  std::span<const std::byte> (*file)();
  float size;
};
constexpr std::array<FaceSpec, static_cast<size_t>(Face::kCount)> kFaces = {{
    {sans_font, 14},  // body
    {sans_font, 12},  // small
    {bold_font, 14},  // bold
    {bold_font, 18},  // title
    {mono_font, 13},  // mono
    {mono_font, 12},  // mono, small
}};

// Latin, Greek and Cyrillic, punctuation, arrows, mathematical signs and shapes.
constexpr ImWchar kGlyphs[] = {0x20,   0x17f,  0x370,  0x52f,  0x2010, 0x2044, 0x20ac, 0x20ac,
                               0x2190, 0x21ff, 0x2200, 0x22ff, 0x25a0, 0x25ff, 0};

}  // namespace

Theme::Theme(ThemeKind kind, float scale) : kind_(kind), scale_(std::clamp(scale, 0.5f, 4.0f)) {
  const auto shade = kind == ThemeKind::kDark ? &Shades::dark : &Shades::light;
  std::ranges::transform(kColors, colors_.begin(), shade);
  std::ranges::transform(kCategories, categories_.begin(), shade);
}

float Theme::px(float length) const { return std::round(length * scale_); }

ImVec4 Theme::vec(Color color) const { return to_vec(this->color(color)); }

ImU32 Theme::color(streamscope::WaitCause cause) const {
  for (const auto& [of, look] : kCauseColors) {
    if (of == cause) return std::visit([&](auto meaning) { return color(meaning); }, look);
  }
  return color(Color::kTextFaint);
}

ImU32 Theme::color(analysis::FindingSeverity severity) const {
  return color(severity == analysis::FindingSeverity::kError     ? Color::kError
               : severity == analysis::FindingSeverity::kWarning ? Color::kWarning
                                                                 : Color::kTextDim);
}

ImU32 Theme::color(std::optional<analysis::TimeShare> share) const {
  const Shades& shades = share ? kShares[static_cast<size_t>(*share)] : kShares.back();
  return kind_ == ThemeKind::kDark ? shades.dark : shades.light;
}

ImU32 Theme::color_of_name(std::string_view name) const {
  uint32_t hash = 2166136261u;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return kNameColors[(hash ^ hash >> 15) % kNameColors.size()];
}

ImU32 Theme::color_of_number(size_t number) const {
  return kNameColors[number % kNameColors.size()];
}

ImU32 Theme::on(ImU32 fill) const {
  const ImVec4 c = to_vec(fill);
  const auto linear = [](float v) { return std::pow(v, 2.2f); };
  const float luminance = 0.2126f * linear(c.x) + 0.7152f * linear(c.y) + 0.0722f * linear(c.z);
  return luminance > 0.18f ? rgb(0x0b1016) : rgb(0xf4f7fb);
}

ImU32 Theme::fade(ImU32 color, float alpha) {
  const float own = static_cast<float>(color >> IM_COL32_A_SHIFT & 255);
  const ImU32 a = rounded(own * std::clamp(alpha, 0.0f, 1.0f));
  return (color & ~IM_COL32_A_MASK) | (a << IM_COL32_A_SHIFT);
}

ImU32 Theme::dim(ImU32 color, float alpha) const {
  const ImVec4 over = to_vec(color), under = vec(Color::kBackground);
  const auto mix = [&](float a, float b) { return rounded((a * alpha + b * (1 - alpha)) * 255); };
  return IM_COL32(mix(over.x, under.x), mix(over.y, under.y), mix(over.z, under.z), 255);
}

float Theme::width(Face face, std::string_view text) const {
  const Text& style = this->text(face);
  return style.font->CalcTextSizeA(style.size, FLT_MAX, 0, text.data(), text.data() + text.size())
      .x;
}

void Theme::apply() {
  ImFontAtlas& atlas = *ImGui::GetIO().Fonts;
  atlas.Clear();
  compat::use_freetype(atlas);
  for (size_t i = 0; i < kFaces.size(); ++i) {
    const std::span<const std::byte> file = kFaces[i].file();
    ImFontConfig config;
    config.FontDataOwnedByAtlas = false;  // embedded, never freed
    config.PixelSnapH = true;
    compat::set_hinting(config);
    const float size = std::round(kFaces[i].size * scale_ * 2) / 2;
    texts_[i] = {atlas.AddFontFromMemoryTTF(const_cast<std::byte*>(file.data()),
                                            static_cast<int>(file.size()), size, &config, kGlyphs),
                 size};
  }
  ImGui::GetIO().FontDefault = texts_[static_cast<size_t>(Face::kBody)].font;
  set_style();
}

void Theme::set_style() const {
  ImGuiStyle style;  // default sizes, so that a second apply() starts from the same state
  style.WindowRounding = style.ChildRounding = style.ScrollbarRounding = 0;
  style.FrameRounding = style.PopupRounding = style.GrabRounding = 4;
  style.WindowBorderSize = style.ChildBorderSize = style.FrameBorderSize = 0;
  style.WindowPadding = {14, 12};
  style.FramePadding = {8, 5};
  style.ItemSpacing = {8, 6};
  style.CellPadding = {6, 3};
  style.ScrollbarSize = 10;
  style.ScaleAllSizes(scale_);
  style.AntiAliasedLinesUseTex = false;  // textures are not smoothed (canvas.cpp)
  const auto set = [&](ImGuiCol index, Color color, float alpha = 1) {
    style.Colors[index] = to_vec(fade(this->color(color), alpha));
  };
  for (ImVec4& color : style.Colors) color = vec(Color::kPanelRaised);
  set(ImGuiCol_Text, Color::kText);
  set(ImGuiCol_TextDisabled, Color::kTextDim);
  set(ImGuiCol_WindowBg, Color::kPanel);
  set(ImGuiCol_ChildBg, Color::kPanel, 0);
  set(ImGuiCol_Border, Color::kBorder);
  set(ImGuiCol_BorderShadow, Color::kBorder, 0);
  set(ImGuiCol_FrameBg, Color::kBackground);
  set(ImGuiCol_FrameBgHovered, Color::kBackground);
  set(ImGuiCol_FrameBgActive, Color::kBackground);
  set(ImGuiCol_ScrollbarBg, Color::kPanel, 0);
  set(ImGuiCol_ScrollbarGrab, Color::kBorder);
  set(ImGuiCol_ScrollbarGrabHovered, Color::kTextFaint);
  set(ImGuiCol_ScrollbarGrabActive, Color::kTextDim);
  set(ImGuiCol_Separator, Color::kBorder);
  set(ImGuiCol_Header, Color::kAccent, 0.22f);
  set(ImGuiCol_HeaderHovered, Color::kAccent, 0.16f);
  set(ImGuiCol_HeaderActive, Color::kAccent, 0.28f);
  set(ImGuiCol_ButtonHovered, Color::kBorder);
  set(ImGuiCol_ButtonActive, Color::kBorder);
  set(ImGuiCol_TextSelectedBg, Color::kAccent, 0.35f);
  set(ImGuiCol_NavHighlight, Color::kAccent);
  set(ImGuiCol_PlotHistogram, Color::kAccent);
  set(ImGuiCol_ModalWindowDimBg, Color::kShade);
  set(ImGuiCol_TableRowBg, Color::kPanel, 0);
  set(ImGuiCol_TableRowBgAlt, Color::kPanel, 0);
  ImGui::GetStyle() = style;
}

}  // namespace streamscope::viewer
