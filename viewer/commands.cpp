// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "commands.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace streamscope::viewer {
namespace {

constexpr double kPanStep = 0.1;  // of the width

void zoom_step(const Document& document, ViewState& state, double factor) {
  zoom(document, state, state.window.width_px / 2, factor);
}

void pan_step(const Document& document, ViewState& state, double direction) {
  pan(document, state, direction * kPanStep * state.window.width_px);
}

void go_to(const Document& document, ViewState& state, Ns at) {
  pan(document, state, state.window.width_px / 2 - state.window.to_px(at));
}

void set_scale(ViewState& state, float scale) { state.scale = std::clamp(scale, 0.5f, 4.0f); }

std::optional<size_t> lane_of_selection(const Document& document, const ViewState& state) {
  const auto place = document.place(state.selection);
  return place ? std::optional(place->lane) : std::nullopt;
}

void step_to_finding(const Document& document, ViewState& state, ptrdiff_t by) {
  const auto count = static_cast<ptrdiff_t>(document.insights().findings.size());
  if (count == 0) return;
  const ptrdiff_t from = state.finding ? static_cast<ptrdiff_t>(*state.finding)
                         : by > 0      ? -1
                                       : count;
  look_at_finding(document, state, static_cast<size_t>((from + by + count) % count));
}

// Collapses (or opens) all lanes of a kind together.
void collapse_all(const Document& document, ViewState& state,
                  std::initializer_list<LaneKind> kinds) {
  state.collapsed.resize(document.lanes().size());
  bool any_open = false;
  const auto each = [&](auto&& act) {
    for (size_t lane = 0; lane < document.lanes().size(); ++lane) {
      if (std::find(kinds.begin(), kinds.end(), document.lanes()[lane].kind) != kinds.end())
        act(lane);
    }
  };
  each([&](size_t lane) { any_open = any_open || !state.collapsed[lane]; });
  each([&](size_t lane) { state.collapsed[lane] = any_open; });
}

void escape(const Document&, ViewState& state) {
  if (state.overlay != Overlay::kNone) {
    state.overlay = Overlay::kNone;
  } else if (!state.searched.empty()) {
    state.searched.clear();
    state.hits.clear();
  } else if (state.marked) {
    state.marked.reset();
  } else {
    state.selection = {};
  }
}

using D = const Document&;
using S = ViewState&;

constexpr auto kCommands = std::to_array<Command>({
    {"Move", "Show everything", "F", [](D d, S s) { fit(d, s); }},
    {"Move", "Zoom to selection", "Z", [](D d, S s) { zoom_to_selection(d, s); }},
    {"Move", "Zoom in", "W +", [](D d, S s) { zoom_step(d, s, kZoomStep); }},
    {"Move", "Zoom out", "S -", [](D d, S s) { zoom_step(d, s, 1 / kZoomStep); }},
    {"Move", "Pan left", "A", [](D d, S s) { pan_step(d, s, 1); }},
    {"Move", "Pan right", "D", [](D d, S s) { pan_step(d, s, -1); }},
    {"Move", "Go to the start", "Home", [](D d, S s) { go_to(d, s, d.extent().begin_ns); }},
    {"Move", "Go to the end", "End", [](D d, S s) { go_to(d, s, d.extent().end_ns); }},
    {"Move", "Scroll lanes up", "PageUp", [](D, S s) { s.scroll_pages -= 0.8f; }},
    {"Move", "Scroll lanes down", "PageDown", [](D, S s) { s.scroll_pages += 0.8f; }},

    {"Select", "Next in lane", "Right .", [](D d, S s) { step_in_row(d, s, 1); }},
    {"Select", "Previous in lane", "Left ,", [](D d, S s) { step_in_row(d, s, -1); }},
    {"Select", "Lane below", "Down", [](D d, S s) { step_to_row(d, s, 1); }},
    {"Select", "Lane above", "Up", [](D d, S s) { step_to_row(d, s, -1); }},
    {"Select", "Follow edge back: what it waited for", "[ B", [](D d, S s) { follow_edge(d, s, true); }},
    {"Select", "Follow edge forward: who waited for it", "] N", [](D d, S s) { follow_edge(d, s, false); }},
    {"Select", "Between an operation and its call", "G", [](D d, S s) { jump_to_cause(d, s); }},
    {"Select", "The longest wait", "L",
     [](D d, S s) {
       const auto waits = d.longest_waits(1);
       if (waits.empty()) return;
       select(s, {ItemKind::kOp, d.dependency(waits[0]).to_op});
       zoom_to_selection(d, s);
     }},
    {"Select", "Search names", "Ctrl+F /", [](D, S s) { s.overlay = Overlay::kSearch; }},
    {"Select", "Next hit of the search", "F3", [](D d, S s) { step_to_hit(d, s, 1); }},
    {"Select", "Previous hit of the search", "Shift+F3", [](D d, S s) { step_to_hit(d, s, -1); }},
    {"Select", "Next finding", "E", [](D d, S s) { step_to_finding(d, s, 1); }},
    {"Select", "Previous finding", "Shift+E", [](D d, S s) { step_to_finding(d, s, -1); }},
    {"Select", "What if the finding were repaired?", "X",
     [](D d, S s) {
       if (s.finding) toggle_repaired(d, s, *s.finding);
     }},
    {"Select", "Mark the time of the selection", "M", [](D d, S s) { s.marked = d.time(s.selection); }},
    {"Select", "Bookmark this time", "Ctrl+B", [](D, S s) { s.overlay = Overlay::kNote; }},
    {"Select", "Bookmarks", "Shift+B", [](D, S s) { s.overlay = Overlay::kBookmarks; }},
    {"Select", "Clear", "Escape", escape},

    {"Show", "Collapse or open the lane of the selection", "C",
     [](D d, S s) {
       if (const auto lane = lane_of_selection(d, s)) toggle_collapsed(d, s, *lane);
     }},
    {"Show", "Collapse or open all streams", "Shift+S",
     [](D d, S s) { collapse_all(d, s, {LaneKind::kStream}); }},
    {"Show", "Collapse or open all host threads", "Shift+H",
     [](D d, S s) { collapse_all(d, s, {LaneKind::kThread}); }},
    {"Show", "Collapse or open all queues of tasks", "Shift+T",
     [](D d, S s) { collapse_all(d, s, {LaneKind::kTaskQueue}); }},
    {"Show", "Filter lanes by name", "Shift+F", [](D, S s) { s.overlay = Overlay::kFilter; }},
    {"Show", "Graph of one group of operations", "Shift+G",
     [](D, S s) {
       s.drawer = "graph";
       s.overlay = Overlay::kGroups;
     }},
    {"Show", "Pin the lane of the selection on top", "Shift+P",
     [](D d, S s) {
       if (const auto lane = lane_of_selection(d, s)) s.lane_order.toggle_pinned(d, *lane);
     }},
    {"Show", "Color by kind, name, stream, cause or path", "K",
     [](D, S s) {
       s.color_by = static_cast<ColorBy>((static_cast<size_t>(s.color_by) + 1) % kColorByCount);
     }},
    {"Show", "Critical path", "P", [](D, S s) { s.show_critical_path = !s.show_critical_path; }},
    {"Show", "Arrows: one step or the whole chain", "H", [](D, S s) { s.whole_chain = !s.whole_chain; }},
    {"Show", "Inspector", "I", [](D, S s) { s.show_inspector = !s.show_inspector; }},
    {"Show", "Overview strip", "O", [](D, S s) { s.show_minimap = !s.show_minimap; }},
    {"Show", "Dark or light theme", "T",
     [](D, S s) { s.theme = s.theme == ThemeKind::kDark ? ThemeKind::kLight : ThemeKind::kDark; }},
    {"Show", "Larger", "Ctrl+= Ctrl++", [](D, S s) { set_scale(s, s.scale * 1.1f); }},
    {"Show", "Smaller", "Ctrl+-", [](D, S s) { set_scale(s, s.scale / 1.1f); }},

    {"Panels", "Findings", "1", [](D, S s) { toggle_drawer(s, "findings"); }},
    {"Panels", "Graph of dependencies", "2", [](D, S s) { toggle_drawer(s, "graph"); }},
    {"Panels", "Pools", "3", [](D, S s) { toggle_drawer(s, "pools"); }},
    {"Panels", "Deadlocks", "4", [](D, S s) { toggle_drawer(s, "deadlocks"); }},
    {"Panels", "Statistics", "5", [](D, S s) { toggle_drawer(s, "statistics"); }},
    {"Panels", "SQL", "6", [](D, S s) { toggle_drawer(s, "sql"); }},
    {"Panels", "Compare two traces", "7", [](D, S s) { toggle_drawer(s, "compare"); }},

    {"Program", "Commands", "Ctrl+P", [](D, S s) { s.overlay = Overlay::kPalette; }},
    {"Program", "Help", "F1 ?",
     [](D, S s) { s.overlay = s.overlay == Overlay::kHelp ? Overlay::kNone : Overlay::kHelp; }},
    {"Program", "Quit", "Ctrl+Q", [](D, S s) { s.quit = true; }},
});

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

// Calls `each` with the words of a text; stops when it returns false.
template <class Each>
bool all_words(std::string_view text, Each each) {
  while (!text.empty()) {
    const size_t end = text.find(' ');
    const std::string_view word = text.substr(0, end);
    if (!word.empty() && !each(word)) return false;
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  return true;
}

}  // namespace

std::span<const Command> commands() { return kCommands; }

const Command* find_command(const Key& key) {
  for (const Command& command : kCommands) {
    if (!all_words(command.keys, [&](std::string_view word) { return word != key; }))
      return &command;
  }
  return nullptr;
}

std::vector<const Command*> matching_commands(std::string_view text) {
  const std::string wanted = lower(text);
  std::vector<const Command*> result;
  for (const Command& command : kCommands) {
    const std::string name = lower(command.name);
    if (all_words(wanted,
                  [&](std::string_view word) { return name.find(word) != std::string::npos; })) {
      result.push_back(&command);
    }
  }
  std::stable_sort(result.begin(), result.end(), [&](const Command* a, const Command* b) {
    return lower(a->name).starts_with(wanted) > lower(b->name).starts_with(wanted);
  });
  return result;
}

}  // namespace streamscope::viewer
