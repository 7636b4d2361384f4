// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "commands.h"

#include <algorithm>
#include <array>

#include "model/labels.h"

namespace streamscope::viewer {
namespace {

constexpr double kPanStep = 0.1;  // of the width

// The graph has its own scale and position; everything else that can be zoomed and panned shows the
// time of the timeline.
bool is_on_graph(const ViewState& state) { return state.focus.view == "graph"; }

void show_all(const TraceModel& model, ViewState& state) {
  if (is_on_graph(state)) {
    state.focus.steps.fit = true;
  } else {
    fit(model, state);
  }
}

void zoom_step(const TraceModel& model, ViewState& state, int by) {
  if (is_on_graph(state)) {
    state.focus.steps.zoom += by;
  } else {
    zoom(model, state, state.nav.window.width_px / 2, by > 0 ? kZoomStep : 1 / kZoomStep);
  }
}

void pan_step(const TraceModel& model, ViewState& state, int direction) {
  if (is_on_graph(state)) {
    state.focus.steps.pan_x -= static_cast<float>(direction * kPanStep);
  } else {
    pan(model, state, direction * kPanStep * state.nav.window.width_px);
  }
}

void page(ViewState& state, float by) {
  (state.job.is_shown   ? state.job.scroll_pages
   : is_on_graph(state) ? state.focus.steps.pan_y
                        : state.nav.scroll_pages) += by;
}

// Arrow keys move in the focused canvas, or among what the timeline shows.
void step_across(const TraceModel& model, ViewState& state, int by) {
  if (state.focus.on_canvas) {
    state.focus.steps.right += by;
  } else {
    step_in_row(model, state, by);
  }
}

void step_down(const TraceModel& model, ViewState& state, int by) {
  if (state.focus.on_canvas) {
    state.focus.steps.down += by;
  } else {
    step_to_row(model, state, by);
  }
}

// From the timeline to the panels, and within a panel from stop to stop.
void step_stop(ViewState& state, int by) {
  if (state.focus.view == kTimeline) {
    step_focus(state, by);
  } else {
    state.focus.stops.step(by);
  }
}

void go_to(const TraceModel& model, ViewState& state, Ns at) {
  pan(model, state, state.nav.window.width_px / 2 - state.nav.window.to_px(at));
}

void set_scale(ViewState& state, float scale) { state.look.scale = std::clamp(scale, 0.5f, 4.0f); }

void toggle_critical_path(const TraceModel& model, ViewState& state) {
  state.look.critical_path = !state.look.critical_path;
  if (model.insights().path.empty()) state.status = "no critical path in this trace";
}

// From what is over the lanes back to them; false if nothing is.
bool return_to_lanes(ViewState& state) {
  if (state.overlay != Overlay::kNone) {
    state.overlay = Overlay::kNone;
  } else if (state.focus.view != kTimeline) {
    state.focus.view = kTimeline;
  } else {
    return false;
  }
  return true;
}

void escape(const TraceModel&, ViewState& state) {
  if (return_to_lanes(state)) return;
  if (state.selection.lane) {
    state.selection.lane.reset();
  } else if (!state.selection.searched.empty()) {
    state.selection.searched.clear();
    state.selection.hits.clear();
  } else if (state.nav.marked) {
    state.nav.marked.reset();
  } else {
    state.selection.item = {};
  }
}

void show_all(const JobModel& job, ViewState& state) { fit(job, state); }

void zoom_step(const JobModel& job, ViewState& state, int by) {
  zoom(job, state, state.job.window.width_px / 2, by > 0 ? kZoomStep : 1 / kZoomStep);
}

void pan_step(const JobModel& job, ViewState& state, int direction) {
  pan(job, state, direction * kPanStep * state.job.window.width_px);
}

void go_to(const JobModel& job, ViewState& state, Ns at) {
  pan(job, state, state.job.window.width_px / 2 - state.job.window.to_px(at));
}

void escape_on_job(const JobModel&, ViewState& state) {
  if (!return_to_lanes(state)) state.job.selection = {};
}

void no_ranks(const TraceModel&, ViewState& state) {
  state.status = "these are the lanes of one trace, not of ranks";
}

using D = const TraceModel&;
using J = const JobModel&;
using S = ViewState&;

constexpr auto kCommands = std::to_array<Command>({
    {"Move", "Show everything", "F", [](auto& m, S s) { show_all(m, s); }},
    {"Move", "Zoom to selection", "Z Enter", [](auto& m, S s) { zoom_to_selection(m, s); }},
    {"Move", "Zoom in", "W +", [](auto& m, S s) { zoom_step(m, s, 1); }},
    {"Move", "Zoom out", "S -", [](auto& m, S s) { zoom_step(m, s, -1); }},
    {"Move", "Pan left", "A", [](auto& m, S s) { pan_step(m, s, 1); }},
    {"Move", "Pan right", "D", [](auto& m, S s) { pan_step(m, s, -1); }},
    {"Move", "Go to the start", "Home", [](auto& m, S s) { go_to(m, s, m.extent().begin_ns); }},
    {"Move", "Go to the end", "End", [](auto& m, S s) { go_to(m, s, m.extent().end_ns); }},
    {"Move", "Next iteration", "J", [](auto& m, S s) { step_iteration(m, s, 1); }},
    {"Move", "Previous iteration", "Shift+J", [](auto& m, S s) { step_iteration(m, s, -1); }},
    {"Move", "Median iteration", "Ctrl+J", [](auto& m, S s) { go_to_median_iteration(m, s); }},
    {"Move", "Scroll lanes up", "PageUp", [](S s) { page(s, -0.8f); }},
    {"Move", "Scroll lanes down", "PageDown", [](S s) { page(s, 0.8f); }},

    {"Select", "Next in the lane", "Right .",
     {[](D d, S s) { step_across(d, s, 1); }, [](J j, S s) { step_in_row(j, s, 1); }}},
    {"Select", "Previous in the lane", "Left ,",
     {[](D d, S s) { step_across(d, s, -1); }, [](J j, S s) { step_in_row(j, s, -1); }}},
    {"Select", "Nearest in the lane below", "Down",
     {[](D d, S s) { step_down(d, s, 1); }, [](J j, S s) { step_to_row(j, s, 1); }}},
    {"Select", "Nearest in the lane above", "Up",
     {[](D d, S s) { step_down(d, s, -1); }, [](J j, S s) { step_to_row(j, s, -1); }}},
    {"Select", "Follow edge back: what it waited for", "[ B",
     {[](D d, S s) { follow_edge(d, s, true); }, [](J j, S s) { follow_path(j, s, true); }}},
    {"Select", "Follow edge forward: who waited for it", "] N",
     {[](D d, S s) { follow_edge(d, s, false); }, [](J j, S s) { follow_path(j, s, false); }}},
    {"Select", "Next edge of the same operation", "}", [](D d, S s) { step_edge(d, s, 1); }},
    {"Select", "Previous edge of the same operation", "{", [](D d, S s) { step_edge(d, s, -1); }},
    {"Select", "From an operation to its call, or back", "G", [](D d, S s) { jump_to_cause(d, s); }},
    {"Select", "The longest wait; of ranks, the longest delay", "L", {select_longest_wait, select_latest}},
    {"Select", "Search names", "Ctrl+F /", [](D, S s) { s.overlay = Overlay::kSearch; }},
    {"Select", "Next search hit", "F3", [](D d, S s) { step_to_hit(d, s, 1); }},
    {"Select", "Previous search hit", "Shift+F3", [](D d, S s) { step_to_hit(d, s, -1); }},
    {"Select", "Next finding", "E", [](D d, S s) { step_to_finding(d, s, 1); }},
    {"Select", "Previous finding", "Shift+E", [](D d, S s) { step_to_finding(d, s, -1); }},
    {"Select", "What if the finding were fixed?", "X", [](D d, S s) { toggle_repaired(d, s); }},
    {"Select", "The iteration with each finding fixed", "Shift+X", toggle_repair_lanes},
    {"Select", "Mark the time of the selection", "M", [](D d, S s) { mark(d, s, false); }},
    {"Select", "Measure: extend the mark to the selection", "Shift+M", [](D d, S s) { mark(d, s, true); }},
    {"Select", "Bookmark this time", "Ctrl+B", [](D, S s) { s.overlay = Overlay::kNote; }},
    {"Select", "Bookmarks", "Shift+B", [](D, S s) { s.overlay = Overlay::kBookmarks; }},
    {"Select", "Clear", "Escape", {escape, escape_on_job}},

    {"Lanes", "Select the lane below", "Shift+Down", [](D d, S s) { choose_lane(d, s, 1); }},
    {"Lanes", "Select the lane above", "Shift+Up", [](D d, S s) { choose_lane(d, s, -1); }},
    {"Lanes", "Move the lane down", "Ctrl+Down", [](D d, S s) { move_lane(d, s, 1); }},
    {"Lanes", "Move the lane up", "Ctrl+Up", [](D d, S s) { move_lane(d, s, -1); }},
    {"Lanes", "Collapse or open the lane or alike ranks", "C",
     {toggle_current_lane, toggle_current_fold}},
    {"Lanes", "Pin the lane on top", "Shift+P", toggle_pinned},
    {"Lanes", "Collapse or open all streams", "Shift+S",
     [](D d, S s) { collapse_all(d, s, LaneKind::kStream); }},
    {"Lanes", "Collapse or open all host threads", "Shift+H",
     [](D d, S s) { collapse_all(d, s, LaneKind::kThread); }},
    {"Lanes", "Collapse or open all task queues", "Shift+T",
     [](D d, S s) { collapse_all(d, s, LaneKind::kTaskQueue); }},
    {"Lanes", "Order of ranks: late first, or by number", "R", {no_ranks, toggle_order}},
    {"Lanes", "From a rank to its trace, or back to the ranks", "U",
     {[](D, S s) { show_ranks(s); }, open_selected_rank}},
    {"Lanes", "Filter lanes by name", "Shift+F", [](D, S s) { s.overlay = Overlay::kFilter; }},

    {"Show", "Graph of one operation group", "Shift+G",
     [](D, S s) {
       s.look.drawer = "graph";
       s.overlay = Overlay::kGroups;
     }},
    {"Show", "Color by kind, name, stream, cause or path", "K",
     [](D, S s) {
       s.look.color_by = static_cast<ColorBy>((static_cast<size_t>(s.look.color_by) + 1) % kColorByCount);
     }},
    {"Show", "Critical path", "P", {toggle_critical_path, [](J, S s) { s.look.critical_path = !s.look.critical_path; }}},
    {"Show", "Arrows: one step or the whole chain", "H", [](D, S s) { s.look.whole_chain = !s.look.whole_chain; }},
    {"Show", "Inspector", "I", [](S s) { s.look.inspector = !s.look.inspector; }},
    {"Show", "Overview strip", "O", [](S s) { s.look.minimap = !s.look.minimap; }},
    {"Show", "Dark or light theme", "T",
     [](S s) { s.look.theme = s.look.theme == ThemeKind::kDark ? ThemeKind::kLight : ThemeKind::kDark; }},
    {"Show", "Larger", "Ctrl+= Ctrl++", [](S s) { set_scale(s, s.look.scale * 1.1f); }},
    {"Show", "Smaller", "Ctrl+-", [](S s) { set_scale(s, s.look.scale / 1.1f); }},

    {"Panels", "Diagnosis", "1", [](D, S s) { toggle_drawer(s, "diagnosis"); }},
    {"Panels", "Findings", "2", [](D, S s) { toggle_drawer(s, "findings"); }},
    {"Panels", "Dependency graph", "3", [](D, S s) { toggle_drawer(s, "graph"); }},
    {"Panels", "Pools", "4", [](D, S s) { toggle_drawer(s, "pools"); }},
    {"Panels", "Deadlocks", "5", [](D, S s) { toggle_drawer(s, "deadlocks"); }},
    {"Panels", "Statistics", "6", [](D, S s) { toggle_drawer(s, "statistics"); }},
    {"Panels", "SQL", "7", [](D, S s) { toggle_drawer(s, "sql"); }},
    {"Panels", "Compare two traces", "8", [](D, S s) { toggle_drawer(s, "compare"); }},
    {"Panels", "Job of many ranks", "9", [](S s) { toggle_drawer(s, "job"); }},
    {"Panels", "Move focus to the next panel", "F6", [](S s) { step_focus(s, 1); }},
    {"Panels", "Move focus to the previous panel", "Shift+F6", [](S s) { step_focus(s, -1); }},
    {"Panels", "Next control in the panel", "Tab", [](S s) { step_stop(s, 1); }},
    {"Panels", "Previous control in the panel", "Shift+Tab", [](S s) { step_stop(s, -1); }},

    {"Program", "Open a trace", "Ctrl+O", [](S s) { s.overlay = Overlay::kOpen; }},
    {"Program", "Compare with another trace", "Shift+C", [](D, S s) { s.overlay = Overlay::kCompare; }},
    {"Program", "Commands", "Ctrl+P", [](S s) { s.overlay = Overlay::kPalette; }},
    {"Program", "Help", "F1 ?",
     [](S s) { s.overlay = s.overlay == Overlay::kHelp ? Overlay::kNone : Overlay::kHelp; }},
    {"Program", "Quit", "Ctrl+Q", [](S s) { s.wanted.quit = true; }},
});

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
  std::vector<const Command*> result;
  for (const Command& command : kCommands) {
    if (all_words(text, [&](std::string_view word) { return contains_text(command.name, word); }))
      result.push_back(&command);
  }
  // Those that begin with the text.
  std::ranges::stable_partition(result, [&](const Command* command) {
    return contains_text(command->name.substr(0, text.size()), text);
  });
  return result;
}

}  // namespace streamscope::viewer
