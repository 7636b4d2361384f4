// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What a workspace shows over everything else: help, the command palette, the search.

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "model/labels.h"
#include "panels/widgets.h"
#include "workspace.h"

namespace streamscope::viewer {
namespace {

constexpr float kPaletteRow = 28;
constexpr float kMostPaletteRows = 12;
constexpr size_t kListedHits = 500;

// A window over everything drawn before, which takes mouse input.
void begin_overlay(float width, float height) {
  ImGui::SetNextWindowFocus();
  ImGui::SetNextWindowPos({0, 0});
  ImGui::SetNextWindowSize({width, height});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(0, 0));
  ImGui::Begin(
      "overlay", nullptr,
      (widgets::kPlain & ~ImGuiWindowFlags_NoBringToFrontOnFocus) | ImGuiWindowFlags_NoBackground);
  ImGui::PopStyleVar();
}

struct HelpLine {
  std::string_view left, right;
  bool heading;
};

// Groups of commands, then the mouse actions.
std::vector<HelpLine> help_lines(bool of_job) {
  std::vector<HelpLine> lines;
  std::string_view group;
  for (const Command& command : commands()) {
    if (of_job && command.action.on_job == nullptr) continue;
    if (command.group != group) {
      group = command.group;
      lines.push_back({group, "", true});
    }
    lines.push_back({command.keys, command.name, false});
  }
  static constexpr std::array<HelpLine, 8> kMouse = {
      {{"Mouse", "", true},
       {"click", "select", false},
       {"double click", "zoom to it; on empty space: show everything", false},
       {"drag", "pan and scroll; on a lane name: move the lane", false},
       {"Shift+drag", "mark a time range and show its sums", false},
       {"wheel", "zoom at the mouse", false},
       {"Shift+wheel", "pan", false},
       {"Ctrl+wheel", "scroll lanes; over lane names, wheel alone", false}}};
  lines.insert(lines.end(), kMouse.begin(), kMouse.end());
  return lines;
}

// Moves headings, so that each stays with the line below it; returns the number of rows, with
// another one if there is no space for what is moved.
size_t arrange(std::vector<HelpLine>& lines, size_t columns) {
  for (size_t rows = (lines.size() + columns - 1) / columns;; ++rows) {
    std::vector<HelpLine> moved = lines;
    for (size_t last = rows - 1; last < moved.size(); last += rows) {
      if (moved[last].heading)
        moved.insert(moved.begin() + static_cast<ptrdiff_t>(last), HelpLine{"", "", false});
    }
    if (moved.size() > rows * columns) continue;
    lines = std::move(moved);
    return rows;
  }
}

}  // namespace

std::vector<Workspace::PaletteRow> Workspace::palette_rows() const {
  std::vector<PaletteRow> rows;
  if (state_.overlay == Overlay::kPalette) {
    for (const Command* command : matching_commands(palette_text_)) {
      if (!shows_job() || command->action.on_job != nullptr)
        rows.push_back({std::string(command->name), std::string(command->keys), command});
    }
  } else if (state_.overlay == Overlay::kSearch && model_) {
    for (const Item item : std::span(state_.selection.hits)
                               .first(std::min(state_.selection.hits.size(), kListedHits))) {
      const auto time = model_->items().time(item);
      rows.push_back({model_->lanes().label_with_stream(item),
                      time ? format_exact(time->begin_ns) : "", nullptr, item});
    }
  } else if (state_.overlay == Overlay::kBookmarks) {
    const std::vector<Bookmark>& all = state_.nav.bookmarks.all();
    for (size_t i = 0; i < all.size(); ++i) {
      if (contains_text(all[i].note, palette_text_))
        rows.push_back({.left = all[i].note.empty() ? "no note" : all[i].note,
                        .right = format_exact(all[i].range.begin_ns),
                        .bookmark = i});
    }
  } else if (state_.overlay == Overlay::kGroups && model_) {
    if (palette_text_.empty() && !model_->items().groups().empty())
      rows.push_back({.left = "All operations"});
    for (const OperationGroup& group : model_->items().groups()) {
      const Item item{ItemKind::kOperation, group.operation};
      std::string name = model_->items().label(item);
      if (contains_text(name, palette_text_))
        rows.push_back({std::move(name), format_count(group.members, "operation"), nullptr, item});
    }
  }
  if (asks_for_file()) {
    for (const RecentTrace& each : recent_) {
      std::string name = each.trace.string();
      if (contains_text(name, palette_text_))
        rows.push_back({.left = std::move(name), .right = "recent", .file = each.trace});
    }
    if (!palette_text_.empty())
      rows.push_back({.left = palette_text_, .right = "path as typed", .file = palette_text_});
  }
  return rows;
}

bool Workspace::asks_for_file() const {
  return state_.overlay == Overlay::kOpen || state_.overlay == Overlay::kCompare;
}

void Workspace::run_palette_row(size_t index) {
  const std::vector<PaletteRow> rows = palette_rows();
  const Overlay overlay = std::exchange(state_.overlay, Overlay::kNone);
  if (index < rows.size() && !rows[index].file.empty()) {
    (overlay == Overlay::kOpen ? state_.wanted.open : state_.wanted.compare_with) =
        rows[index].file;
    return;
  }
  if (overlay == Overlay::kNote) {
    state_.nav.bookmarks.add(
        {state_.nav.marked.value_or(state_.nav.window.range()), palette_text_});
    if (!state_.nav.bookmarks.error().empty()) notice_ = state_.nav.bookmarks.error();
  }
  if (index >= rows.size()) return;
  if (rows[index].command != nullptr) return run(*rows[index].command);
  if (overlay == Overlay::kBookmarks)
    return show(*model_, state_, state_.nav.bookmarks.all()[rows[index].bookmark].range);
  if (overlay == Overlay::kGroups) {
    state_.selection.group = rows[index].item.id;
    return;
  }
  go_to(*model_, state_, rows[index].item);
}

void Workspace::draw_help(float width, float height) {
  begin_overlay(width, height);
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  draw.AddRectFilled({0, 0}, {width, height}, theme_.color(Color::kShade));

  std::vector<HelpLine> lines = help_lines(shows_job());
  const float row = theme_.px(22), column = theme_.px(376), key_column = theme_.px(104),
              pad = theme_.px(24), title = theme_.px(34);
  const float fitting = std::clamp(std::floor((width - pad) / column), 1.0f, 3.0f);
  const auto columns = static_cast<size_t>(fitting);
  const size_t rows = arrange(lines, columns);
  // If it is higher than the window, it scrolls below its title.
  const float margin = theme_.px(12), whole = static_cast<float>(rows) * row;
  const float shown = std::min(whole, height - 2 * (pad + margin) - title);
  const ImVec2 size{fitting * column + pad, shown + 2 * pad + title};
  const ImVec2 at{std::round(std::max((width - size.x) / 2, 0.0f)),
                  std::round((height - size.y) / 2)};
  draw.AddRectFilled(at, {at.x + size.x, at.y + size.y}, theme_.color(Color::kPanel), theme_.px(8));
  draw.AddRect(at, {at.x + size.x, at.y + size.y}, theme_.color(Color::kBorder), theme_.px(8));
  widgets::text(draw, theme_, Face::kTitle, {at.x + pad, at.y + pad - theme_.px(4)},
                theme_.color(Color::kText), "Keys and mouse");
  ImGui::SetCursorScreenPos({at.x + pad, at.y + pad + title});
  ImGui::BeginChild("keys", {size.x - pad - theme_.px(4), shown});
  ImGui::SetScrollY(ImGui::GetScrollY() + std::exchange(help_step_, 0.0f) * shown);
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  ImDrawList& list = *ImGui::GetWindowDrawList();
  for (size_t i = 0; i < lines.size(); ++i) {
    const size_t across = i / rows, down = i % rows;
    const float x = origin.x + static_cast<float>(across) * column,
                y = origin.y + static_cast<float>(down) * row;
    if (lines[i].heading) {
      widgets::text(list, theme_, Face::kBold, {x, y + theme_.px(3)}, theme_.color(Color::kAccent),
                    lines[i].left);
    } else {
      widgets::text(list, theme_, Face::kMonoSmall, {x, y + theme_.px(3)},
                    theme_.color(Color::kTextDim), lines[i].left);
      widgets::fit_text(list, theme_, Face::kBody, {x + key_column, y + theme_.px(1)},
                        column - key_column - pad / 2, theme_.color(Color::kText), lines[i].right);
    }
  }
  ImGui::Dummy({1, whole});
  ImGui::EndChild();
  // A click closes it, unless it is on the scroll bar.
  if (ImGui::IsMouseClicked(ImGuiMouseButton_Left) && !ImGui::IsAnyItemActive())
    state_.overlay = Overlay::kNone;
  ImGui::End();
}

void Workspace::draw_palette(float width, float height) {
  begin_overlay(width, height);
  ImGui::GetWindowDrawList()->AddRectFilled({0, 0}, {width, height}, theme_.color(Color::kShade));
  const bool outside = ImGui::IsWindowHovered() && ImGui::IsMouseClicked(ImGuiMouseButton_Left);
  ImGui::End();
  if (outside) state_.overlay = Overlay::kNone;

  const float box = std::min(theme_.px(560), width - theme_.px(40));
  ImGui::SetNextWindowFocus();
  ImGui::SetNextWindowPos({std::round((width - box) / 2), std::round(height * 0.16f)});
  ImGui::SetNextWindowSize({box, 0});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 1.0f);
  ImGui::Begin("palette", nullptr,
               (widgets::kPlain & ~ImGuiWindowFlags_NoBringToFrontOnFocus) |
                   ImGuiWindowFlags_AlwaysAutoResize);
  const PalettePrompt prompt = palette_prompt();
  draw_palette_input(prompt.ask);
  const std::vector<PaletteRow> found = palette_rows();
  const bool search = state_.overlay == Overlay::kSearch, empty = palette_text_.empty();
  if (!prompt.hint.empty()) {
    widgets::text(theme_, Face::kSmall, theme_.color(Color::kTextDim), prompt.hint);
  } else if (found.empty() && !(search && empty)) {
    widgets::text(theme_, Face::kBody, theme_.color(Color::kTextDim),
                  search                               ? "No matching names"
                  : state_.overlay == Overlay::kGroups ? "No matching groups"
                  : asks_for_file()                    ? "No recent traces: type a path"
                                                       : "No matching commands");
  } else if (search && !empty) {
    widgets::text(theme_, Face::kSmall, theme_.color(Color::kTextDim),
                  format_count(state_.selection.hits.size(), "hit") +
                      "; F3 goes to the next, Escape clears the search");
  }
  draw_palette_rows(found, height);
  ImGui::End();
  ImGui::PopStyleVar();
}

Workspace::PalettePrompt Workspace::palette_prompt() const {
  static constexpr std::array<PalettePrompt, 10> kPrompts = {
      {{},
       {},
       {"Type a command", ""},
       {"Search names", ""},
       {"Show only lanes whose name contains",
        "Enter applies the filter; Escape or an empty text shows all lanes"},
       {"Note for the bookmark", "Enter bookmarks the marked time, or else the time in view"},
       {"Go to a bookmark", "Delete removes the selected bookmark"},
       {"Show only one group in the graph", ""},
       {"Open a trace: type a path, or part of a recent trace's name", ""},
       {"Compare with another trace: type a path, or part of a recent trace's name", ""}}};
  PalettePrompt prompt = kPrompts[static_cast<size_t>(state_.overlay)];
  if (state_.overlay == Overlay::kBookmarks && state_.nav.bookmarks.all().empty())
    prompt.hint = "No bookmarks yet; Ctrl+B adds one";
  if (state_.overlay == Overlay::kGroups && subject().items().groups().empty())
    prompt.hint = "This trace has no groups of libcoord operations";
  return prompt;
}

// The typed text with a caret behind it, or a prompt.
void Workspace::draw_palette_input(std::string_view ask) {
  const bool empty = palette_text_.empty();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const ImVec2 size{ImGui::GetContentRegionAvail().x, theme_.px(32)};
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  draw.AddRectFilled(at, {at.x + size.x, at.y + size.y}, theme_.color(Color::kBackground),
                     theme_.px(4));
  draw.AddRect(at, {at.x + size.x, at.y + size.y}, theme_.color(Color::kAccent), theme_.px(4));
  const ImVec2 text{at.x + theme_.px(10),
                    at.y + std::round((size.y - theme_.text(Face::kBody).size) / 2 - 1)};
  widgets::text(draw, theme_, Face::kBody, text,
                theme_.color(empty ? Color::kTextFaint : Color::kText),
                empty ? ask : std::string_view(palette_text_));
  const float caret = text.x + (empty ? 0 : theme_.width(Face::kBody, palette_text_)) + 1;
  draw.AddLine({caret, at.y + theme_.px(7)}, {caret, at.y + size.y - theme_.px(7)},
               theme_.color(Color::kText));
  ImGui::Dummy(size);
}

// As many as fit above the lower end of the window, including the selected one.
void Workspace::draw_palette_rows(const std::vector<PaletteRow>& found, float height) {
  const ImGuiStyle& style = ImGui::GetStyle();
  const float row = theme_.px(kPaletteRow);
  const float below = height - ImGui::GetCursorScreenPos().y - style.WindowPadding.y;
  const auto rows = static_cast<size_t>(
      std::clamp(std::floor(below / (row + style.ItemSpacing.y)), 1.0f, kMostPaletteRows));
  const size_t first = palette_index_ >= rows ? palette_index_ - rows + 1 : 0;
  for (size_t i = first; i < std::min(found.size(), first + rows); ++i) {
    ImGui::PushID(static_cast<int>(i));
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float room = ImGui::GetContentRegionAvail().x;
    if (ImGui::InvisibleButton("row", {room, row})) run_palette_row(i);
    if (ImGui::IsItemHovered()) palette_index_ = i;
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    if (i == palette_index_) {
      draw.AddRectFilled(at, {at.x + room, at.y + row},
                         Theme::fade(theme_.color(Color::kAccent), 0.2f), theme_.px(4));
    }
    const float keys = theme_.width(Face::kMonoSmall, found[i].right);
    widgets::fit_text(draw, theme_, Face::kBody, {at.x + theme_.px(8), at.y + theme_.px(5)},
                      room - keys - theme_.px(32), theme_.color(Color::kText), found[i].left);
    widgets::text(draw, theme_, Face::kMonoSmall,
                  {at.x + room - keys - theme_.px(8), at.y + theme_.px(7)},
                  theme_.color(Color::kTextDim), found[i].right);
    ImGui::PopID();
  }
}

}  // namespace streamscope::viewer
