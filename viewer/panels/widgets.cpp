// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "widgets.h"

#include <algorithm>
#include <cfloat>
#include <cmath>

#include "model/labels.h"
#include "render/imgui_compat.h"

namespace streamscope::viewer::widgets {
namespace {

constexpr std::string_view kEllipsis = "\u2026";
constexpr float kFactColumn = 112;

// Pushes a face for the lifetime of a scope.
class PushFace {
 public:
  PushFace(const Theme& theme, Face face) {
    compat::push_font(theme.text(face).font, theme.text(face).size);
  }
  ~PushFace() { ImGui::PopFont(); }
  PushFace(const PushFace&) = delete;
  PushFace& operator=(const PushFace&) = delete;
};

// A glyph of the font, standing on the middle of its lower edge: two triangles, where a smooth
// shape takes a dozen. Uses the font size nearest to `height`, as glyphs are never scaled.
void sign(ImDrawList& draw, const Theme& theme, ImWchar code, ImVec2 foot, float height,
          ImU32 color) {
  const ImFontGlyph* best = nullptr;
  const auto away = [&](const ImFontGlyph& glyph) {
    return std::fabs(glyph.Y1 - glyph.Y0 - height);
  };
  for (const Face face : {Face::kSmall, Face::kBody, Face::kTitle}) {
    const Text& text = theme.text(face);
    const ImFontGlyph* glyph = compat::find_glyph(text.font, text.size, code);
    if (glyph != nullptr && (best == nullptr || away(*glyph) < away(*best))) best = glyph;
  }
  if (best == nullptr) return;
  const ImVec2 size{best->X1 - best->X0, best->Y1 - best->Y0};
  const ImVec2 at{std::round(foot.x - size.x / 2), std::round(foot.y - size.y)};
  draw.PrimReserve(6, 4);
  draw.PrimRectUV(at, {at.x + size.x, at.y + size.y}, {best->U0, best->V0}, {best->U1, best->V1},
                  color);
}

}  // namespace

void text(ImDrawList& draw, const Theme& theme, Face face, ImVec2 at, ImU32 color,
          std::string_view text) {
  const Text& style = theme.text(face);
  // Whole pixels keep text crisp.
  draw.AddText(
      style.font, style.size,
      {static_cast<float>(static_cast<int>(at.x)), static_cast<float>(static_cast<int>(at.y))},
      color, text.data(), text.data() + text.size());
}

float fit_text(ImDrawList& draw, const Theme& theme, Face face, ImVec2 at, float width, ImU32 color,
               std::string_view content) {
  const Text& style = theme.text(face);
  const char* end = content.data() + content.size();
  const char* cut = nullptr;
  // A bar of a hundred pixels never holds thousands of characters: measure only what can fit.
  const char* measured = std::min(end, content.data() + 512);
  const float whole =
      style.font->CalcTextSizeA(style.size, width, 0, content.data(), measured, &cut).x;
  if (cut == end) {
    text(draw, theme, face, at, color, content);
    return whole;
  }
  const float dots = theme.width(face, kEllipsis);
  if (width <= dots) return 0;
  const float part =
      style.font->CalcTextSizeA(style.size, width - dots, 0, content.data(), measured, &cut).x;
  if (cut - content.data() < 3) return 0;
  text(draw, theme, face, at, color, {content.data(), static_cast<size_t>(cut - content.data())});
  text(draw, theme, face, {at.x + part, at.y}, color, kEllipsis);
  return part + dots;
}

ImVec2 chip(ImDrawList* draw, const Theme& theme, Face face, ImVec2 at, ImU32 background,
            ImU32 color, std::string_view content) {
  const ImVec2 pad{theme.px(6), theme.px(2)};
  const ImVec2 size{theme.width(face, content) + 2 * pad.x, theme.text(face).size + 2 * pad.y};
  if (draw != nullptr) {
    draw->AddRectFilled(at, {at.x + size.x, at.y + size.y}, background, theme.px(4));
    text(*draw, theme, face, {at.x + pad.x, at.y + pad.y}, color, content);
  }
  return size;
}

void record_glyph(ImDrawList& draw, const Theme& theme, float x, float bottom, float size,
                  ImU32 color) {
  sign(draw, theme, u'\u25b2', {x, bottom}, size, color);
}

void wait_glyph(ImDrawList& draw, const Theme& theme, float x, float bottom, float size,
                ImU32 color) {
  sign(draw, theme, u'\u25c6', {x, bottom}, size, color);
}

void finding_glyph(ImDrawList& draw, const Theme& theme, float x, float bottom, float size,
                   ImU32 color) {
  sign(draw, theme, u'\u25bc', {x, bottom}, size, color);
}

void disclosure(ImDrawList& draw, ImVec2 center, float size, bool open, ImU32 color) {
  const float r = size * 0.5f;
  if (open) {
    draw.AddTriangleFilled({center.x - r, center.y - r * 0.6f}, {center.x + r, center.y - r * 0.6f},
                           {center.x, center.y + r * 0.8f}, color);
  } else {
    draw.AddTriangleFilled({center.x - r * 0.6f, center.y - r}, {center.x + r * 0.8f, center.y},
                           {center.x - r * 0.6f, center.y + r}, color);
  }
}

void begin_panel(const char* id, ImVec2 at, ImVec2 size, ImGuiWindowFlags flags) {
  ImGui::SetNextWindowPos(at);
  ImGui::SetNextWindowSize(size);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(0, 0));
  ImGui::Begin(id, nullptr, kPlain | flags);
  ImGui::PopStyleVar();
}

void text(const Theme& theme, Face face, ImU32 color, std::string_view content) {
  const PushFace push(theme, face);
  ImGui::PushStyleColor(ImGuiCol_Text, color);
  const float room = compat::room_to_wrap();
  const auto width = [&](std::string_view part) { return theme.width(face, part); };
  if ((room <= 0 || width(content) <= room) && content.find('\n') == content.npos) {
    ImGui::TextUnformatted(content.data(), content.data() + content.size());
  } else {
    // ImGui would also break numbers after their point, and put only the first line on whole
    // pixels.
    const std::string lines = room > 0 ? break_lines(content, room, width) : std::string(content);
    ImGui::BeginGroup();
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {ImGui::GetStyle().ItemSpacing.x, 0});
    for (size_t begin = 0, end = 0; begin <= lines.size(); begin = end + 1) {
      end = std::min(lines.find('\n', begin), lines.size());
      ImGui::TextUnformatted(lines.data() + begin, lines.data() + end);
    }
    ImGui::PopStyleVar();
    ImGui::EndGroup();
  }
  ImGui::PopStyleColor();
}

void wrapped(const Theme& theme, Face face, ImU32 color, std::string_view content) {
  ImGui::PushTextWrapPos(0);
  text(theme, face, color, content);
  ImGui::PopTextWrapPos();
}

bool link(const Theme& theme, TabStops& stops, Face face, std::string_view content, int id) {
  const PushFace push(theme, face);
  ImGui::PushID(id);
  const float room = ImGui::GetContentRegionAvail().x;
  const ImVec2 size{std::min(theme.width(face, content), room), theme.text(face).size};
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const bool clicked = ImGui::InvisibleButton("link", {std::max(size.x, 1.0f), size.y});
  stops.add();
  focus_frame(theme);
  const ImU32 color = theme.color(Color::kAccent);
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  const float used = fit_text(draw, theme, face, at, room, color, content);
  if (ImGui::IsItemHovered()) {
    draw.AddLine({at.x, at.y + size.y + 1}, {at.x + used, at.y + size.y + 1}, color);
    ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
  }
  ImGui::PopID();
  return clicked;
}

bool wrapped_link(const Theme& theme, TabStops& stops, Face face, std::string_view content,
                  int id) {
  const PushFace push(theme, face);
  ImGui::PushID(id);
  const float room = std::max(ImGui::GetContentRegionAvail().x, 1.0f);
  const auto width = [&](std::string_view part) { return theme.width(face, part); };
  const std::string lines = break_lines(content, room - 1, width);  // fit_text() cuts at its edge
  const float height = std::round(theme.text(face).size * 1.25f);
  const auto count = static_cast<float>(1 + std::ranges::count(lines, '\n'));
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const bool clicked = ImGui::InvisibleButton(
      "link", {std::min(width(lines), room), (count - 1) * height + theme.text(face).size});
  stops.add();
  focus_frame(theme);
  const bool hovered = ImGui::IsItemHovered();
  if (hovered) ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
  const ImU32 color = theme.color(Color::kAccent);
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  float y = at.y;
  for (size_t begin = 0, end = 0; begin <= lines.size(); begin = end + 1, y += height) {
    end = std::min(lines.find('\n', begin), lines.size());
    const float used = fit_text(draw, theme, face, {at.x, y}, room, color,
                                std::string_view(lines).substr(begin, end - begin));
    const float under = y + theme.text(face).size + 1;
    if (hovered) draw.AddLine({at.x, under}, {at.x + used, under}, color);
  }
  ImGui::PopID();
  return clicked;
}

void focus_frame(const Theme& theme) {
  if (!has_key_focus()) return;
  // Around its visible part, also at the end of the window.
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  const float room = theme.px(3);
  const ImVec2 low = draw.GetClipRectMin(), high = draw.GetClipRectMax();
  const ImVec2 min{std::max(ImGui::GetItemRectMin().x, low.x) - room,
                   std::max(ImGui::GetItemRectMin().y, low.y) - room};
  const ImVec2 max{std::min(ImGui::GetItemRectMax().x, high.x) + room,
                   std::min(ImGui::GetItemRectMax().y, high.y) + room};
  draw.PushClipRect(min, max);
  draw.AddRect({min.x + 1, min.y + 1}, {max.x - 1, max.y - 1}, theme.color(Color::kAccent), room, 0,
               theme.px(2));
  draw.PopClipRect();
}

void place_tooltip(const Theme& theme, ImVec2 min, ImVec2 max) {
  const ImVec2 size = ImGui::GetIO().DisplaySize;
  const bool left = min.x > size.x / 2, above = min.y > size.y - max.y;  // of more space
  const float room = theme.px(8);
  ImGui::SetNextWindowPos({left ? max.x : min.x, above ? min.y - room : max.y + room},
                          ImGuiCond_Always, {left ? 1.0f : 0.0f, above ? 1.0f : 0.0f});
}

Tooltip::Tooltip(float wrap_at) {
  ImGui::BeginTooltip();
  ImGui::PushTextWrapPos(wrap_at);
}

Tooltip::~Tooltip() {
  ImGui::PopTextWrapPos();
  ImGui::EndTooltip();
}

void push_mono(const Theme& theme) {
  compat::push_font(theme.text(Face::kMono).font, theme.text(Face::kMono).size);
}

bool button(const Theme& theme, TabStops& stops, std::string_view content, bool is_on) {
  const PushFace push(theme, Face::kBody);
  const ImU32 background = theme.color(is_on ? Color::kAccent : Color::kPanelRaised);
  ImGui::PushStyleColor(ImGuiCol_Button, background);
  if (is_on) {
    ImGui::PushStyleColor(ImGuiCol_ButtonHovered, background);
    ImGui::PushStyleColor(ImGuiCol_Text, theme.on(background));
  }
  const bool clicked = ImGui::Button(std::string(content).c_str());
  ImGui::PopStyleColor(is_on ? 3 : 1);
  stops.add();
  return clicked;
}

float button_width(const Theme& theme, std::string_view content) {
  return theme.width(Face::kBody, content) + 2 * ImGui::GetStyle().FramePadding.x;
}

void beside(float width, float gap) {
  if (gap < 0) gap = ImGui::GetStyle().ItemSpacing.x;
  const float end = ImGui::GetCursorScreenPos().x + ImGui::GetContentRegionAvail().x;
  if (ImGui::GetItemRectMax().x + gap + width <= end) ImGui::SameLine(0, gap);
}

void label(const Theme& theme, std::string_view content) {
  ImGui::AlignTextToFramePadding();
  wrapped(theme, Face::kBody, theme.color(Color::kTextDim), content);
}

void label_beside(const Theme& theme, std::string_view content) {
  beside(theme.width(Face::kBody, content));
  label(theme, content);
}

void empty_state(const Theme& theme, std::string_view title, std::string_view content) {
  ImGui::Dummy({0, theme.px(24)});
  wrapped(theme, Face::kTitle, theme.color(Color::kText), title);
  ImGui::Spacing();
  ImGui::PushTextWrapPos(ImGui::GetCursorPosX() +
                         std::min(theme.px(620), ImGui::GetContentRegionAvail().x));
  text(theme, Face::kBody, theme.color(Color::kTextDim), content);
  ImGui::PopTextWrapPos();
}

void heading(const Theme& theme, std::string_view content) {
  ImGui::Dummy({0, theme.px(8)});
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImGui::GetWindowDrawList()->AddLine({at.x, at.y}, {at.x + ImGui::GetContentRegionAvail().x, at.y},
                                      theme.color(Color::kBorder));
  ImGui::Dummy({0, theme.px(4)});
  text(theme, Face::kBold, theme.color(Color::kText), content);
}

void fact_name(const Theme& theme, std::string_view name) {
  const float room = ImGui::GetContentRegionAvail().x;
  text(theme, Face::kBody, theme.color(Color::kTextDim), name);
  ImGui::SameLine(
      std::min(theme.px(kFactColumn) + ImGui::GetStyle().WindowPadding.x, room * 0.48f));
}

void fact(const Theme& theme, std::string_view name, std::string_view value) {
  if (value.empty()) return;
  fact_name(theme, name);
  wrapped(theme, Face::kBody, theme.color(Color::kText), value);
}

}  // namespace streamscope::viewer::widgets
