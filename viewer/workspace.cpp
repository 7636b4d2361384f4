// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "workspace.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdio>

#include "imgui_compat.h"
#include "labels.h"
#include "trace/error.h"
#include "views/widgets.h"

namespace streamscope::viewer {
namespace {

constexpr float kHeader = 44;
constexpr float kFooter = 30;
constexpr float kInspector = 372;
constexpr float kTabs = 32;
constexpr size_t kPaletteLength = 60;
constexpr size_t kMostHits = 100'000;

std::string json_text(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    if (static_cast<unsigned char>(c) < 0x20) {
      std::array<char, 8> code;
      std::snprintf(code.data(), code.size(), "\\u%04x", c);
      result += code.data();
    } else {
      result += c;
    }
  }
  return result + "\"";
}

std::string_view name_of(ItemKind kind) {
  static constexpr std::array<std::string_view, 9> kNames = {
      "", "op", "call", "record", "wait", "sync", "range", "operation", "barrier"};
  return kNames[static_cast<size_t>(kind)];
}

}  // namespace

Workspace::Workspace(Arguments arguments)
    : arguments_(std::move(arguments)),
      theme_(arguments_.theme, arguments_.scale.value_or(1)),
      views_(make_views()) {
  state_.theme = arguments_.theme;
  state_.scale = arguments_.scale.value_or(1);
}

Workspace::~Workspace() = default;

void Workspace::set_document(std::shared_ptr<const Document> document) {
  // Where a sketch gives way to all details, stay where the user went.
  const bool stay = document_ && document_->is_sketch() && !is_fitted();
  document_ = std::move(document);
  error_.clear();
  if (stay) return state_.collapsed.assign(document_->lanes().size(), false);
  state_.window = {};
  state_.selection = {};
  state_.marked.reset();
  state_.searched.clear();
  state_.hits.clear();
  state_.collapsed.assign(document_->lanes().size(), false);
  apply_arguments();
}

bool Workspace::is_fitted() const {
  ViewState fitted;
  fitted.window.width_px = state_.window.width_px;
  fit_work(*document_, fitted);
  return fitted.window.range() == state_.window.range();
}

void Workspace::apply_arguments() {
  if (document_->is_sketch()) return;
  const Item wanted = arguments_.select;
  if (wanted && !document_->time(wanted)) {
    throw Error("--select " + std::string(name_of(wanted.kind)) + ":" + std::to_string(wanted.id),
                "the trace has none of this id",
                "ids are those of the table, see streamscope query");
  }
  // The timeline fits the window to its own width when it is drawn first; a range given here is
  // kept.
  if (arguments_.range) {
    const TimeRange extent = document_->extent();
    const TimeRange range{arguments_.range->first.resolve(extent),
                          arguments_.range->second.resolve(extent)};
    if (range.end_ns <= range.begin_ns) {
      throw Error("--range", "it ends before it begins", "write FROM:TO with FROM before TO");
    }
    if (range.end_ns <= extent.begin_ns || range.begin_ns >= extent.end_ns) {
      throw Error("--range", "the trace has nothing there",
                  "it runs from " + std::to_string(extent.begin_ns) + "ns to " +
                      std::to_string(extent.end_ns) + "ns");
    }
    state_.window.width_px = static_cast<double>(arguments_.width);
    state_.window.show(range);
  }
  if (wanted) {
    state_.selection = wanted;
    state_.reveal = true;
    if (!arguments_.range) {
      state_.window.width_px = static_cast<double>(arguments_.width);
      zoom_to_selection(*document_, state_);
    }
  } else if (!arguments_.screenshot.empty() && !arguments_.select_nothing) {
    // A picture should show what the tool is for: what hangs, else who waited for whom.
    const std::vector<Id> hanging = document_->never_ended_ops();
    if (!hanging.empty() && !arguments_.range) {
      state_.selection = {ItemKind::kOp, hanging.front()};
      state_.reveal = true;
      return;
    }
    for (const uint32_t index :
         document_->longest_waits(arguments_.range ? document_->dependency_count() : 1)) {
      const Item item{ItemKind::kOp, document_->dependency(index).to_op};
      const TimeRange shown = state_.window.range();
      const Ns at = document_->time(item)->begin_ns;
      if (arguments_.range && (at < shown.begin_ns || at >= shown.end_ns)) continue;
      state_.selection = item;
      break;
    }
  }
}

bool Workspace::press(const Key& key) {
  if (is_typing() && key != "Escape") return false;
  if (takes_text()) {
    const size_t rows = palette_rows().size();
    if (key == "Escape") state_.overlay = Overlay::kNone;
    if (key == "Down" && palette_index_ + 1 < rows) ++palette_index_;
    if (key == "Up" && palette_index_ > 0) --palette_index_;
    if (key == "Backspace" && !palette_text_.empty()) {
      palette_text_.pop_back();
      text_changed();
    }
    if (key == "Enter") run_palette_row(palette_index_);
    return true;
  }
  const Command* command = find_command(key);
  if (command == nullptr) return false;
  if (document_ && document_->is_sketch() && command->group == "Select") return true;
  if (document_) {
    const bool help_was_open = state_.overlay == Overlay::kHelp;
    command->run(*document_, state_);
    if (help_was_open && state_.overlay == Overlay::kHelp) state_.overlay = Overlay::kNone;
    if (takes_text()) {
      palette_text_.clear();
      palette_index_ = 0;
    }
  } else if (command->name == "Quit") {
    state_.quit = true;
  }
  return true;
}

bool Workspace::takes_text() const {
  return state_.overlay == Overlay::kPalette || state_.overlay == Overlay::kSearch;
}

void Workspace::text_changed() {
  palette_index_ = 0;
  if (state_.overlay != Overlay::kSearch || !document_) return;
  state_.searched = document_->names_with(palette_text_);
  state_.hits = document_->items_with(state_.searched, kMostHits);
}

bool Workspace::is_typing() const {
  return state_.overlay == Overlay::kNone && ImGui::GetIO().WantTextInput;
}

void Workspace::type(unsigned int character) {
  if (is_typing()) return;
  if (character < ' ' || character > '~') return;  // names of commands are plain ASCII
  const char c = static_cast<char>(character);
  if (takes_text()) {
    if (palette_text_.size() < kPaletteLength) palette_text_ += c;
    text_changed();
  } else if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != ' ') {
    press(Key(1, c));
  }
}

bool Workspace::update_theme() {
  if (themed_ && theme_.kind() == state_.theme && theme_.scale() == state_.scale) return false;
  themed_ = true;
  theme_ = Theme(state_.theme, state_.scale);
  state_.scale = theme_.scale();
  theme_.apply();
  return true;
}

void Workspace::draw(float width, float height) {
  ImGui::PushStyleVar(ImGuiStyleVar_WindowMinSize, ImVec2(1, 1));
  const float header = theme_.px(kHeader), footer = theme_.px(kFooter);
  draw_header(width, header);
  if (document_ && error_.empty()) {
    const float top = draw_banner(header, width);
    draw_panels(top, width, height - footer - top);
    draw_footer(height - footer, width, footer);
    if (state_.overlay == Overlay::kHelp) draw_help(width, height);
    if (takes_text()) draw_palette(width, height);
  } else {
    draw_message(width, height);
  }
  ImGui::PopStyleVar();
}

void Workspace::draw_header(float width, float height) {
  widgets::begin_panel("header", {0, 0}, {width, height}, ImGuiWindowFlags_NoInputs);
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  const auto color = [&](Color meaning) { return theme_.color(meaning); };
  const float middle = height / 2;
  const auto put = [&](Face face, float x, ImU32 ink, std::string_view text) {
    widgets::text(draw, theme_, face, {x, std::round(middle - theme_.text(face).size / 2 - 1)}, ink,
                  text);
    return x + theme_.width(face, text);
  };
  // The mark: two lanes and an edge between them.
  const float unit = theme_.px(4), left = theme_.px(14);
  draw.AddRectFilled({left, middle - 2 * unit}, {left + 3 * unit, middle - unit},
                     theme_.color(Category::kCopyToDevice));
  draw.AddRectFilled({left + 3 * unit, middle + unit}, {left + 6 * unit, middle + 2 * unit},
                     theme_.color(Category::kKernel));
  draw.AddLine({left + 3 * unit, middle - unit}, {left + 3 * unit, middle + unit},
               color(Color::kWaiting), theme_.px(1.5f));
  float x = put(Face::kBold, left + 8 * unit, color(Color::kText), "StreamScope") + theme_.px(18);

  const std::string hint = "Ctrl+P commands    F1 help";
  const float right = width - theme_.px(14) - theme_.width(Face::kSmall, hint);
  put(Face::kSmall, right, color(Color::kTextFaint), hint);
  if (document_) {
    const trace::Trace& trace = document_->trace();
    std::string facts;
    const auto add = [&](const std::string& fact) {
      facts += (facts.empty() ? "" : "  \u00b7  ") + fact;
    };
    if (trace.process.size() > 1) add(format_count(trace.process.size(), "process", "processes"));
    if (!trace.device.empty() && trace.device.name_id[0] != kNoId) {
      add((trace.device.size() > 1
               ? format_count(static_cast<int64_t>(trace.device.size())) + " \u00d7 "
               : "") +
          std::string(trace.text(trace.device.name_id[0])));
    }
    add(format_duration(document_->extent().duration_ns()));
    if (document_->is_sketch()) {
      add("reading the details: " + format_percent(progress_));
    } else {
      add(format_count(trace.op.size(), "operation"));
      add(format_count(document_->dependency_count(), "edge"));
    }
    const std::string file = ellipsize(trace.file.filename().string(), 60);
    x = put(Face::kBody, x, color(Color::kText), file) + theme_.px(18);
    widgets::fit_text(draw, theme_, Face::kSmall,
                      {x, std::round(middle - theme_.text(Face::kSmall).size / 2 - 1)},
                      right - x - theme_.px(20), color(Color::kTextDim), facts);
  }
  draw.AddLine({0, height - 0.5f}, {width, height - 0.5f}, color(Color::kBorder));
  ImGui::End();
}

float Workspace::draw_banner(float top, float width) {
  const bool lossy =
      std::any_of(document_->losses().begin(), document_->losses().end(),
                  [](const LossLine& line) { return line.severity >= trace::Severity::kDataLoss; });
  if (!lossy && notice_.empty()) return top;
  std::string text = notice_;
  if (lossy) {
    text += (text.empty() ? "" : "  ") + std::string("This trace is incomplete.");
    for (const LossLine& line : document_->losses()) text += " " + line.text;
  }
  const float height = theme_.px(28);
  widgets::begin_panel("banner", {0, top}, {width, height}, ImGuiWindowFlags_NoBackground);
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  draw.AddRectFilled({0, top}, {width, top + height}, theme_.color(Color::kWarning));
  const float room = width - theme_.px(28);
  const float used = widgets::fit_text(
      draw, theme_, Face::kBold,
      {theme_.px(14), std::round(top + (height - theme_.text(Face::kBold).size) / 2 - 1)}, room,
      theme_.color(Color::kOnWarning), text);
  if (ImGui::IsWindowHovered() && used < theme_.width(Face::kBold, text)) {
    ImGui::BeginTooltip();
    ImGui::PushTextWrapPos(theme_.px(560));
    widgets::text(theme_, Face::kBody, theme_.color(Color::kText), text);
    ImGui::PopTextWrapPos();
    ImGui::EndTooltip();
  }
  ImGui::End();
  return top + height;
}

void Workspace::draw_panels(float top, float width, float height) {
  state_.busy = false;
  if (!arguments_.panel.empty()) return draw_view(arguments_.panel, {0, top}, {width, height});
  const float side = state_.show_inspector ? std::min(theme_.px(kInspector), width * 0.4f) : 0;
  const float strip = theme_.px(kTabs);
  const float drawer = state_.drawer.empty() ? 0
                                             : std::clamp(theme_.px(state_.drawer_height),
                                                          theme_.px(120), height * 0.8f - strip);
  const float middle = height - strip - drawer;
  draw_view("timeline", {0, top}, {width - side, middle});
  draw_tabs({0, top + middle}, {width - side, strip});
  if (drawer > 0) draw_view(state_.drawer, {0, top + middle + strip}, {width - side, drawer});
  if (side > 0) draw_view("inspector", {width - side, top}, {side, height});
}

void Workspace::draw_view(std::string_view name, ImVec2 at, ImVec2 size) {
  const auto view = std::ranges::find(views_, name, [](const auto& each) { return each->name(); });
  if (view == views_.end()) return;
  const std::string id(name);
  if (name == "timeline") {
    widgets::begin_panel(id.c_str(), at, size,
                         ImGuiWindowFlags_NoBackground | ImGuiWindowFlags_NoScrollWithMouse);
    (*view)->draw(*document_, state_, theme_);
  } else {
    widgets::begin_panel(id.c_str(), at, size, 0);
    if (at.x > 0) {
      ImGui::GetWindowDrawList()->AddLine({at.x + 0.5f, at.y}, {at.x + 0.5f, at.y + size.y},
                                          theme_.color(Color::kBorder));
    }
    const ImVec2 pad = ImGui::GetStyle().WindowPadding;
    ImGui::SetCursorPos(pad);
    ImGui::BeginChild("content", {size.x - 2 * pad.x, size.y - pad.y - theme_.px(4)}, false,
                      ImGuiWindowFlags_NoNav);
    if (document_->is_sketch()) {
      widgets::wrapped(theme_, Face::kBody, theme_.color(Color::kTextDim),
                       "Reading the details of this large trace: " + format_percent(progress_));
    } else {
      (*view)->draw(*document_, state_, theme_);
    }
    ImGui::EndChild();
  }
  ImGui::End();
}

// The names of the panels below the timeline; the strip is dragged to make room for one.
void Workspace::draw_tabs(ImVec2 at, ImVec2 size) {
  widgets::begin_panel("tabs", at, size, 0);
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  draw.AddLine({at.x, at.y + 0.5f}, {at.x + size.x, at.y + 0.5f}, theme_.color(Color::kBorder));
  float x = at.x + theme_.px(6);
  for (const auto& view : views_) {
    const std::string_view name = view->name();
    if (name == "timeline" || name == "inspector") continue;
    std::string text(view->title());
    const Insights& insights = document_->insights();
    if (name == "findings" && !insights.findings.empty())
      text += "  " + std::to_string(insights.findings.size());
    const bool open = state_.drawer == name;
    const float width = theme_.width(Face::kBody, text) + theme_.px(22);
    ImGui::SetCursorScreenPos({x, at.y});
    ImGui::PushID(text.c_str());
    if (ImGui::InvisibleButton("tab", {width, size.y})) toggle_drawer(state_, name);
    const bool hovered = ImGui::IsItemHovered();
    ImGui::PopID();
    if (hovered || open)
      draw.AddRectFilled({x, at.y + 1}, {x + width, at.y + size.y},
                         theme_.color(Color::kPanelRaised));
    if (open)
      draw.AddRectFilled({x, at.y}, {x + width, at.y + theme_.px(2)}, theme_.color(Color::kAccent));
    const bool alarming = name == "deadlocks" && !insights.waits.nodes.empty();
    const Color ink = alarming ? Color::kError : open || hovered ? Color::kText : Color::kTextDim;
    widgets::text(
        draw, theme_, Face::kBody,
        {x + theme_.px(11), at.y + std::round((size.y - theme_.text(Face::kBody).size) / 2 - 1)},
        theme_.color(ink), text);
    x += width;
  }
  // What is left of the strip is its handle.
  ImGui::SetCursorScreenPos({x, at.y});
  ImGui::InvisibleButton("handle", {std::max(at.x + size.x - x, 1.0f), size.y});
  if (ImGui::IsItemHovered() || ImGui::IsItemActive())
    ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeNS);
  if (ImGui::IsItemActive() && !state_.drawer.empty())
    state_.drawer_height =
        std::max(state_.drawer_height - ImGui::GetIO().MouseDelta.y / theme_.scale(), 120.0f);
  ImGui::End();
}

void Workspace::draw_footer(float top, float width, float height) {
  widgets::begin_panel("footer", {0, top}, {width, height}, ImGuiWindowFlags_NoInputs);
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  draw.AddLine({0, top + 0.5f}, {width, top + 0.5f}, theme_.color(Color::kBorder));
  const float middle = top + height / 2;
  const float text_y = std::round(middle - theme_.text(Face::kSmall).size / 2 - 1);
  const ImU32 dim = theme_.color(Color::kTextDim);
  if (!arguments_.panel.empty() && arguments_.panel != "timeline") return ImGui::End();

  constexpr std::string_view kHint = "wheel: zoom   drag: pan   Shift+drag: mark time";
  float right = width - theme_.px(14) - theme_.width(Face::kSmall, kHint);
  widgets::text(draw, theme_, Face::kSmall, {right, text_y}, theme_.color(Color::kTextFaint),
                kHint);
  right -= theme_.px(24);

  // The legend: what this trace has, in the colours in use.
  float x = theme_.px(14);
  const auto entry = [&](std::string_view text, auto&& swatch) {
    const float needed = theme_.px(16) + theme_.width(Face::kSmall, text);
    if (x + needed > right) return;
    swatch(x);
    widgets::text(draw, theme_, Face::kSmall, {x + theme_.px(16), text_y}, dim, text);
    x += needed + theme_.px(18);
  };
  const float box = theme_.px(10);
  const auto square = [&](ImU32 color) {
    return [&, color](float at) {
      draw.AddRectFilled({at, std::round(middle - box / 2)},
                         {at + box, std::round(middle - box / 2) + box}, color);
    };
  };
  if (state_.color_by == ColorBy::kName) {
    entry("operations and ranges colored by name (K: by kind)",
          square(theme_.color(Color::kAccent)));
  }
  const std::array<bool, kCategoryCount>& present = document_->present();
  for (size_t i = 0; i < kCategoryCount; ++i) {
    const auto category = static_cast<Category>(i);
    if (!present[i] || category == Category::kRecordCall || category == Category::kWaitCall ||
        category == Category::kRange)
      continue;
    if (state_.color_by == ColorBy::kName && category <= Category::kGraphLaunch) continue;
    entry(to_string(category), square(theme_.color(category)));
  }
  const float glyph = theme_.px(9);
  if (present[static_cast<size_t>(Category::kRecordCall)]) {
    entry("event record", [&](float at) {
      widgets::record_glyph(draw, at + box / 2, std::round(middle + glyph / 2), glyph,
                            theme_.color(Category::kRecordCall));
    });
  }
  if (present[static_cast<size_t>(Category::kWaitCall)]) {
    entry("stream wait", [&](float at) {
      widgets::wait_glyph(draw, at + box / 2, std::round(middle + glyph / 2), glyph,
                          theme_.color(Category::kWaitCall));
    });
  }
  if (state_.show_critical_path && !document_->insights().path.empty()) {
    entry("critical path", [&](float at) {
      draw.AddRectFilled({at, std::round(middle - theme_.px(1.5f))},
                         {at + box, std::round(middle + theme_.px(1.5f))},
                         theme_.color(Color::kCritical));
    });
  }
  if (document_->stands_still()) {
    entry("standing still", [&](float at) {
      draw.AddRectFilled({at, std::round(middle - box / 2)},
                         {at + box, std::round(middle + box / 2)},
                         theme_.dim(theme_.color(Color::kWaiting), 0.13f));
      draw.AddRectFilled({at, std::round(middle + box / 2) - theme_.px(2)},
                         {at + box, std::round(middle + box / 2)}, theme_.color(Color::kWaiting));
    });
  }
  ImGui::End();
}

void Workspace::draw_message(float width, float height) {
  widgets::begin_panel("message", {0, theme_.px(kHeader)}, {width, height - theme_.px(kHeader)},
                       ImGuiWindowFlags_NoBackground);
  const float box = std::min(width - theme_.px(40), theme_.px(620));
  ImGui::SetCursorPos({(width - box) / 2, height * 0.32f});
  ImGui::BeginChild("box", {box, height * 0.5f});
  if (!error_.empty()) {
    widgets::wrapped(theme_, Face::kTitle, theme_.color(Color::kError),
                     "This trace cannot be shown");
    ImGui::Spacing();
    widgets::wrapped(theme_, Face::kBody, theme_.color(Color::kText), error_);
  } else if (!arguments_.trace.empty()) {
    widgets::wrapped(theme_, Face::kTitle, theme_.color(Color::kText),
                     "Reading " + arguments_.trace.filename().string());
    ImGui::Spacing();
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float bar = theme_.px(4);
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    draw.AddRectFilled(at, {at.x + box, at.y + bar}, theme_.color(Color::kPanelRaised));
    draw.AddRectFilled(at, {at.x + box * static_cast<float>(progress_), at.y + bar},
                       theme_.color(Color::kAccent));
  } else {
    widgets::wrapped(theme_, Face::kTitle, theme_.color(Color::kText), "No trace yet");
    ImGui::Spacing();
    widgets::wrapped(theme_, Face::kBody, theme_.color(Color::kTextDim),
                     "Record one and open it, or drop a trace file here:");
    ImGui::Spacing();
    widgets::wrapped(theme_, Face::kMono, theme_.color(Color::kText),
                     "streamscope record -o trace.sqlite -- ./app");
    widgets::wrapped(theme_, Face::kMono, theme_.color(Color::kText),
                     "streamscope-viewer trace.sqlite");
  }
  ImGui::EndChild();
  ImGui::End();
}

std::string Workspace::state_json() const {
  const auto item = [](const Item& what) {
    return what ? json_text(std::string(name_of(what.kind)) + ":" + std::to_string(what.id))
                : std::string("null");
  };
  static constexpr std::array<std::string_view, 4> kOverlays = {"", "help", "palette", "search"};
  std::string text = "{\"schema\":1";
  text += ",\"loaded\":" + std::string(document_ ? "true" : "false");
  text += ",\"error\":" + json_text(error_);
  text += ",\"window\":{\"begin_ns\":" + std::to_string(state_.window.begin_ns);
  text += ",\"end_ns\":" + std::to_string(state_.window.range().end_ns);
  std::array<char, 64> number;
  std::snprintf(number.data(), number.size(), "%.17g,\"width_px\":%.17g", state_.window.ns_per_px,
                state_.window.width_px);
  text += ",\"ns_per_px\":" + std::string(number.data()) + "}";
  text += ",\"selection\":" + item(state_.selection) + ",\"hovered\":" + item(state_.hovered);
  text += ",\"marked\":" + (state_.marked ? "[" + std::to_string(state_.marked->begin_ns) + "," +
                                                std::to_string(state_.marked->end_ns) + "]"
                                          : std::string("null"));
  text += ",\"hits\":" + std::to_string(state_.hits.size());
  text += ",\"drawer\":" + json_text(state_.drawer);
  text += ",\"compared\":" + std::string(state_.compared ? "true" : "false");
  text += ",\"theme\":" + std::string(state_.theme == ThemeKind::kDark ? "\"dark\"" : "\"light\"");
  text += ",\"overlay\":" + json_text(kOverlays[static_cast<size_t>(state_.overlay)]);
  text += ",\"pressed\":" + std::string(ImGui::GetIO().MouseDown[0] ? "true" : "false");
  text += ",\"drawn_items\":" + std::to_string(state_.drawn_items);
  return text + "}\n";
}

}  // namespace streamscope::viewer
