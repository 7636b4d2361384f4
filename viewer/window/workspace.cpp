// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "workspace.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <nlohmann/json.hpp>
#include <utility>

#include "model/job_facts.h"
#include "model/labels.h"
#include "panels/bar_colors.h"
#include "panels/widgets.h"
#include "trace/error.h"

namespace streamscope::viewer {
namespace {

constexpr float kFooter = 30;
constexpr float kInspector = 372;
constexpr float kTabs = 32;
constexpr float kLeastTimeline = 84;
constexpr size_t kPaletteLength = 200;  // the text may be a path
constexpr size_t kMostHits = 100'000;
constexpr size_t kReportedLanes = 100;  // lanes listed in the state

using Json = nlohmann::ordered_json;

template <class T>
Json number_or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

Json name_or_null(const Item& item) {
  return item ? Json(std::string(to_string(item.kind)) + ":" + std::to_string(item.id)) : Json();
}

// Names that no other part of the state has.
Json json_of(const JobState& job) {
  const JobModel& model = *job.model;
  const StepPart part = job.selection, hovered = job.hovered;
  const auto rank_of = [&](StepPart of) {
    return of ? Json(model.steps().rank_number(of.step)) : Json();
  };
  const auto hop = part ? model.hop_of(part.step) : std::nullopt;
  return {
      {"folder", model.folder().filename().string()},
      {"ranks", model.steps().ranks.size()},
      {"world_size", model.progress().world_size},
      {"running", model.progress().is_running},
      {"iterations", model.iterations().size()},
      {"rank_rows", job.rows.size()},
      {"rank_order", job.by_number ? "number" : "late"},
      {"first_rank",
       job.rows.empty() ? Json() : Json(model.steps().ranks[job.rows.front().rank].identity.rank)},
      {"selected_rank", rank_of(part)},
      {"selected_step", part ? Json(title_of(model, part)) : Json()},
      {"selected_hop", hop ? Json(*hop + 1) : Json()},
      {"hovered_rank", rank_of(hovered)},
      {"hovered_step", hovered ? Json(title_of(model, hovered)) : Json()}};
}

// As the panel is named for good; empty if there is none of this name.
std::string_view panel_named(std::string_view name) {
  const auto names = view_names();
  const auto panel = std::ranges::find(names, name);
  return panel != names.end() ? *panel : std::string_view();
}

}  // namespace

Workspace::Workspace(Arguments arguments)
    : arguments_(std::move(arguments)),
      theme_(arguments_.theme, arguments_.scale.value_or(1)),
      views_(make_views()),
      ranks_(make_ranks_view()) {
  state_.look.theme = arguments_.theme;
  state_.look.scale = arguments_.scale.value_or(1);
}

Workspace::~Workspace() = default;

void Workspace::set_model(std::shared_ptr<const TraceModel> model) {
  // When the full model replaces a sketch, the view stays where the user moved it.
  const bool opened = std::exchange(state_.job.is_shown, false);
  const bool stay = !opened && model_ && model_->is_sketch() && !is_fitted();
  if (!opened && model_ && !model_->is_sketch() && !model->is_sketch() &&
      !model->trace().file.empty() && model_->trace().file == model->trace().file)
    return take_news(std::move(model));
  model_ = std::move(model);
  error_.clear();
  // The trace of another rank keeps the run at hand.
  if (state_.job.model && state_.job.model->folder() != model_->trace().file.parent_path())
    state_.job = {};
  if (!has_content(state_.look.drawer)) state_.look.drawer = {};
  state_.nav.bookmarks.open(model_->trace().file);
  state_.nav.collapsed = collapsed_at_first(model_->lanes());
  if (stay) return;
  state_.nav.window = {};
  state_.nav.marked.reset();
  state_.nav.lane_order.reset();
  state_.selection = {.hovered = state_.selection.hovered};
  state_.repaired.clear();
  state_.repair_lanes.clear();
  state_.prediction.reset();
  apply_arguments();
}

void Workspace::set_compared(std::shared_ptr<const TraceModel> model) {
  const bool fitted = model_ && is_fitted();
  state_.compared = std::move(model);
  if (fitted) show_opening(*model_, state_);
}

// The same trace, grown: everything stays in place, and a view of its end follows the end.
void Workspace::take_news(std::shared_ptr<const TraceModel> model) {
  const bool fitted = is_fitted();
  const std::shared_ptr<const TraceModel> before = std::move(model_);
  const double end_px = state_.nav.window.to_px(before->extent().end_ns);
  model_ = std::move(model);
  error_.clear();
  if (fitted) {
    show_opening(*model_, state_);
  } else if (end_px >= 0 && end_px <= state_.nav.window.width_px) {
    pan(*model_, state_, end_px - state_.nav.window.to_px(model_->extent().end_ns));
  }
  std::vector<bool> collapsed(model_->lanes().size());
  for (size_t lane = 0; lane < before->lanes().size(); ++lane) {
    if (!state_.nav.is_collapsed(lane)) continue;
    const Lane& was = before->lanes()[lane];
    const auto now = std::ranges::find_if(model_->lanes(), [&](const Lane& each) {
      return each.kind == was.kind && each.object == was.object && each.title == was.title;
    });
    if (now != model_->lanes().end())
      collapsed[static_cast<size_t>(now - model_->lanes().begin())] = true;
  }
  state_.nav.collapsed = std::move(collapsed);
  if (before->lanes().size() != model_->lanes().size()) {
    state_.nav.lane_order.reset();
    state_.selection.lane.reset();
  }
  state_.selection.finding.reset();
  state_.repaired.clear();
  state_.repair_lanes.clear();
}

RecentTrace Workspace::recent() const {
  if (shows_job())
    return {std::filesystem::absolute(state_.job.model->folder()), state_.job.window.range(),
            std::string(state_.look.drawer)};
  if (!model_ || model_->trace().file.empty()) return {};
  return {std::filesystem::absolute(model_->trace().file), state_.nav.window.range(),
          std::string(state_.look.drawer)};
}

bool Workspace::is_fitted() const {
  ViewState fitted;
  fitted.nav.window.width_px = state_.nav.window.width_px;
  fitted.compared = state_.compared;
  fitted.is_live = state_.is_live;
  show_opening(*model_, fitted);
  return fitted.nav.window.range() == state_.nav.window.range();
}

void Workspace::open_diagnosis() {
  constexpr float kLeastHeight = 760;  // less would leave little of the timeline
  // Of a very large trace it costs much time and memory (Diagnoser).
  if (state_.look.drawer.empty() && opens_at_iteration(*model_, state_) &&
      model_->diagnosis().summary &&
      static_cast<float>(arguments_.height) >= kLeastHeight * state_.look.scale)
    state_.look.drawer = "diagnosis";
}

void Workspace::apply_arguments() {
  if (model_->is_sketch()) return;
  if (arguments_.finding) {
    const size_t count = model_->insights().findings.size();
    if (*arguments_.finding >= count) {
      throw Error("--select finding:" + std::to_string(*arguments_.finding),
                  count == 0 ? "this trace has no findings"
                             : "this trace has findings 0 to " + std::to_string(count - 1),
                  "findings are numbered from 0 in the order of the panel");
    }
    state_.nav.window.width_px = static_cast<double>(arguments_.width);
    look_at_finding(*model_, state_, *arguments_.finding);
    if (arguments_.what_if) toggle_repaired(*model_, state_, *arguments_.finding);
    if (!arguments_.range) return;
  }
  if (arguments_.what_if && !arguments_.finding) toggle_repair_lanes(*model_, state_);
  const Item wanted = arguments_.select;
  if (wanted && !model_->items().time(wanted)) {
    throw Error("--select " + std::string(to_string(wanted.kind)) + ":" + std::to_string(wanted.id),
                "this trace has no such id", "list the ids of a table with streamscope query");
  }
  if (restored_ && !arguments_.range && !wanted) {
    state_.look.drawer = panel_named(restored_->panel);
    if (restored_->shown.end_ns > model_->extent().begin_ns &&
        restored_->shown.begin_ns < model_->extent().end_ns) {
      state_.nav.window.width_px = static_cast<double>(arguments_.width);
      state_.nav.window.show(restored_->shown);
    }
  }
  if (!restored_ && !arguments_.range && !wanted) open_diagnosis();
  restored_.reset();
  if (!arguments_.drawer.empty()) state_.look.drawer = panel_named(arguments_.drawer);
  // The timeline fits the window to its own width when it is first drawn; a range given here is
  // kept.
  if (arguments_.range) {
    const TimeRange range = resolve(*arguments_.range, model_->extent());
    state_.nav.window.width_px = static_cast<double>(arguments_.width);
    state_.nav.window.show(range);
  }
  if (wanted) {
    state_.selection.item = wanted;
    state_.nav.reveal = true;
    state_.nav.reveal_lane_only = arguments_.range.has_value();
    if (!arguments_.range) {
      state_.nav.window.width_px = static_cast<double>(arguments_.width);
      zoom_to_selection(*model_, state_);
    }
  } else if (!arguments_.screenshot.empty() && !arguments_.select_nothing && !arguments_.finding) {
    // A picture should show the most important: what hangs, else what bounds an iteration, else the
    // longest wait.
    const std::vector<Id> hanging = never_ended_ops(model_->trace());
    if (!hanging.empty() && !arguments_.range) {
      state_.selection.item = {ItemKind::kOp, hanging.front()};
      state_.nav.reveal = true;
      return;
    }
    if (!arguments_.range && opens_at_iteration(*model_, state_)) return;
    const auto shown = arguments_.range ? std::optional(state_.nav.window.range()) : std::nullopt;
    for (const analysis::WaitPart& wait : model_->waits().longest(1, shown))
      state_.selection.item = {ItemKind::kOp, wait.op};
  }
}

bool Workspace::press(const Key& key) {
  skips_character_ = false;
  state_.focus.by_keys = true;
  state_.status.clear();
  // Keys that leave a text field, and keys that move in a panel; the others are ImGui's.
  static constexpr std::array<std::string_view, 5> kLeaving = {"Escape", "Tab", "Shift+Tab", "F6",
                                                               "Shift+F6"};
  static constexpr std::array<std::string_view, 10> kMoving = {
      "Left", "Right", "Up", "Down", "Home", "End", "PageUp", "PageDown", "Enter", "Space"};
  if (is_typing()) {
    if (std::ranges::find(kLeaving, key) == kLeaving.end()) return false;
    if (key == "Escape" && !is_in_panel()) {  // the field was focused with the mouse
      had_focus_ = true;
      return true;
    }
  }
  if (takes_text()) {
    const size_t rows = palette_rows().size();
    if (key == "Escape") {
      if (state_.overlay == Overlay::kFilter) state_.nav.lane_order.set_filter("");
      state_.overlay = Overlay::kNone;
    }
    if (key == "Down" && palette_index_ + 1 < rows) ++palette_index_;
    if (key == "Up" && palette_index_ > 0) --palette_index_;
    if (key == "Backspace" && !palette_text_.empty()) {
      palette_text_.pop_back();
      text_changed();
    }
    if (key == "Delete" && state_.overlay == Overlay::kBookmarks && palette_index_ < rows)
      state_.nav.bookmarks.remove(palette_rows()[palette_index_].bookmark);
    if (key == "Enter") run_palette_row(palette_index_);
    return true;
  }
  if (state_.overlay == Overlay::kHelp && std::ranges::find(kMoving, key) != kMoving.end()) {
    constexpr float kLine = 0.1f, kPage = 0.9f, kAll = 1000;
    help_step_ += key == "Down"                         ? kLine
                  : key == "Up"                         ? -kLine
                  : key == "PageDown" || key == "Space" ? kPage
                  : key == "PageUp"                     ? -kPage
                  : key == "End"                        ? kAll
                  : key == "Home"                       ? -kAll
                                                        : 0;
    return true;
  }
  if (key == "Escape" && state_.overlay == Overlay::kNone && !notice_.empty()) {
    notice_.clear();
    return true;
  }
  if (is_in_panel() && !state_.focus.on_canvas && std::ranges::find(kMoving, key) != kMoving.end())
    return false;
  const Command* command = find_command(key);
  if (command == nullptr) return false;
  if (!shows_job() && model_ && model_->is_sketch() && command->group == "Select") {
    state_.status = "the details of this trace are still loading";
    return true;
  }
  const bool help_was_open = state_.overlay == Overlay::kHelp;
  run(*command);
  if (help_was_open && state_.overlay == Overlay::kHelp) state_.overlay = Overlay::kNone;
  if (takes_text()) {
    palette_text_.clear();
    palette_index_ = 0;
    skips_character_ = !key.starts_with("Ctrl+");
  }
  return true;
}

void Workspace::run(const Command& command) {
  if (!shows_job()) return command.action.on_trace(subject(), state_);
  if (command.action.on_job != nullptr) return command.action.on_job(*state_.job.model, state_);
  state_.status = "this is for the trace of one rank: click the name of a rank";
}

const TraceModel& Workspace::subject() const {
  static const TraceModel nothing{trace::Trace{}};
  return model_ ? *model_ : nothing;
}

bool Workspace::is_in_panel() const {
  return state_.overlay == Overlay::kNone &&
         ((!model_ && !shows_job()) || state_.focus.view != kTimeline);
}

void Workspace::apply_focus() {
  ImGuiIO& io = ImGui::GetIO();
  // ImGui does not navigate without a keyboard, as in a picture without a window.
  const bool has_focus = is_in_panel() && io.BackendPlatformUserData != nullptr;
  if (has_focus) {
    io.ConfigFlags |= ImGuiConfigFlags_NavEnableKeyboard;
    if (!had_focus_) state_.focus.stops.resume();
  } else {
    io.ConfigFlags &= ~ImGuiConfigFlags_NavEnableKeyboard;
    if (state_.overlay == Overlay::kNone) state_.focus.stops.leave();
    if (had_focus_) ImGui::SetWindowFocus(nullptr);
  }
  had_focus_ = has_focus;
  state_.focus.on_canvas = false;
}

bool Workspace::takes_text() const {
  return state_.overlay != Overlay::kNone && state_.overlay != Overlay::kHelp;
}

void Workspace::text_changed() {
  palette_index_ = 0;
  if (state_.overlay == Overlay::kFilter) state_.nav.lane_order.set_filter(palette_text_);
  if (state_.overlay != Overlay::kSearch || !model_) return;
  state_.selection.searched = model_->items().names_with(palette_text_);
  state_.selection.hits = model_->lanes().items_with(state_.selection.searched, kMostHits);
}

bool Workspace::is_typing() const {
  return state_.overlay == Overlay::kNone && ImGui::GetIO().WantTextInput;
}

void Workspace::type(unsigned int character) {
  if (is_typing()) return;
  if (std::exchange(skips_character_, false)) return;
  if (character < ' ' || character > '~') return;  // names of commands are plain ASCII
  const char c = static_cast<char>(character);
  if (takes_text()) {
    if (palette_text_.size() < kPaletteLength) palette_text_ += c;
    text_changed();
  } else if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != ' ') {
    press(Key(1, c));
    skips_character_ = false;  // this was the character
  }
}

bool Workspace::update_theme() {
  if (themed_ && theme_.kind() == state_.look.theme && theme_.scale() == state_.look.scale)
    return false;
  themed_ = true;
  theme_ = Theme(state_.look.theme, state_.look.scale);
  state_.look.scale = theme_.scale();
  theme_.apply();
  return true;
}

void Workspace::draw(float width, float height) {
  ImGui::PushStyleVar(ImGuiStyleVar_WindowMinSize, ImVec2(1, 1));
  const bool has_legend = arguments_.panel.empty() || arguments_.panel == "timeline";
  const float header = theme_.px(kHeader), footer = has_legend ? theme_.px(kFooter) : 0;
  if (ImGui::IsMouseClicked(ImGuiMouseButton_Left)) state_.status.clear();
  draw_header(width, header);
  apply_focus();
  if ((model_ || shows_job()) && error_.empty()) {
    if (!shows_job()) ask_workers();
    const float top = draw_banner(header, width);
    draw_panels(top, width, height - footer - top);
    if (has_legend) draw_footer(height - footer, width, footer);
  } else {
    draw_message(width, height);
  }
  if (state_.overlay == Overlay::kHelp) draw_help(width, height);
  if (takes_text()) draw_palette(width, height);
  state_.focus.steps = {};
  ImGui::PopStyleVar();
}

// What a trace's views show once it is computed.
void Workspace::ask_workers() {
  state_.prediction = predictor_.ask(model_, state_.repaired);
  state_.schedules = scheduler_.ask(model_, state_.repair_lanes);
  const bool diagnoses = arguments_.panel == "diagnosis" || state_.look.drawer == "diagnosis";
  state_.summary = diagnoser_.ask(model_, diagnoses);
  const bool compares = arguments_.panel == "compare" || state_.look.drawer == "compare";
  state_.comparison = comparer_.ask(model_, compares ? state_.compared : nullptr);
}

void Workspace::draw_panels(float top, float width, float height) {
  state_.drawn.busy = !shows_job() && (predictor_.is_busy() || scheduler_.is_busy() ||
                                       comparer_.is_busy() || diagnoser_.is_busy());
  state_.drawn.holders.reset();
  if (!arguments_.panel.empty()) {
    if (state_.focus.view != kTimeline) state_.focus.view = arguments_.panel;
    return draw_view(arguments_.panel, {0, top}, {width, height});
  }
  if (state_.focus.view != state_.look.drawer &&
      !(state_.focus.view == "inspector" && state_.look.inspector))
    state_.focus.view = kTimeline;
  const float side = state_.look.inspector ? std::min(theme_.px(kInspector), width * 0.4f) : 0;
  const float strip = theme_.px(kTabs);
  // Keeps the axis of the timeline visible.
  const float most = std::min(height * 0.8f, height - theme_.px(kLeastTimeline)) - strip;
  const float drawer =
      state_.look.drawer.empty()
          ? 0
          : std::min(std::max(theme_.px(state_.look.drawer_height), theme_.px(120)), most);
  const float middle = height - strip - drawer;
  draw_view("timeline", {0, top}, {width - side, middle});
  draw_tabs({0, top + middle}, {width - side, strip});
  if (drawer > 0) draw_view(state_.look.drawer, {0, top + middle + strip}, {width - side, drawer});
  if (side > 0) draw_view("inspector", {width - side, top}, {side, height});
}

void Workspace::draw_view(std::string_view name, ImVec2 at, ImVec2 size) {
  const auto found = std::ranges::find(views_, name, [](const auto& each) { return each->name(); });
  if (found == views_.end()) return;
  View& view = name == kTimeline && shows_job() ? *ranks_ : **found;
  const std::string id(name);
  if (name == kTimeline) {
    widgets::begin_panel(id.c_str(), at, size,
                         ImGuiWindowFlags_NoBackground | ImGuiWindowFlags_NoScrollWithMouse);
    view.draw(subject(), state_, theme_);
  } else {
    widgets::begin_panel(id.c_str(), at, size, 0);
    if (at.x > 0) {
      ImGui::GetWindowDrawList()->AddLine({at.x + 0.5f, at.y}, {at.x + 0.5f, at.y + size.y},
                                          theme_.color(Color::kBorder));
    }
    const ImVec2 pad = ImGui::GetStyle().WindowPadding;
    ImGui::SetCursorPos(pad);
    ImGui::BeginChild("content", {size.x - 2 * pad.x, size.y - pad.y - theme_.px(4)});
    const bool has_focus = is_in_panel() && state_.focus.view == name;
    if (has_focus) state_.focus.stops.begin();
    if (!shows_job() && model_->is_sketch()) {
      widgets::wrapped(
          theme_, Face::kBody, theme_.color(Color::kTextDim),
          progress_ ? "Loading the details of this large trace: " + format_percent(*progress_)
                    : "Only the overview of this trace is loaded.");
    } else {
      view.draw(subject(), state_, theme_);
    }
    if (has_focus) state_.focus.stops.end();
    ImGui::EndChild();
    if (has_focus && arguments_.panel.empty())
      ImGui::GetWindowDrawList()->AddRectFilled(at, {at.x + size.x, at.y + theme_.px(2)},
                                                theme_.color(Color::kAccent));
  }
  ImGui::End();
}

std::string Workspace::state_json() const {
  static constexpr std::array<std::string_view, 10> kOverlays = {
      "", "help", "palette", "search", "filter", "note", "bookmarks", "groups", "open", "compare"};
  const LaneOrder::Shown shown =
      model_ ? state_.nav.lane_order.shown(model_->lanes(), state_.nav.collapsed)
             : LaneOrder::Shown{};
  std::string order;
  for (size_t i = 0; i < std::min(shown.lanes.size(), kReportedLanes); ++i)
    order += (i > 0 ? " " : "") + std::to_string(shown.lanes[i]);
  const auto iteration = shows_job() ? current_iteration(*state_.job.model, state_)
                         : model_    ? current_iteration(*model_, state_)
                                     : std::nullopt;
  const TimeWindow& window = shows_job() ? state_.job.window : state_.nav.window;
  const Json state{
      {"schema", 1},
      {"loaded", model_ != nullptr || shows_job()},
      {"error", error_},
      {"notice", notice_},
      {"status", state_.status},
      {"window",
       {{"begin_ns", window.begin_ns},
        {"end_ns", window.range().end_ns},
        {"ns_per_px", window.ns_per_px},
        {"width_px", window.width_px}}},
      {"selection", name_or_null(state_.selection.item)},
      {"hovered", name_or_null(state_.selection.hovered)},
      {"hovered_value", number_or_null(state_.drawn.counter_value)},
      {"hovered_holders", number_or_null(state_.drawn.holders)},
      {"hovered_mean", number_or_null(state_.drawn.counter_mean)},
      {"iteration", iteration ? Json(*iteration + 1) : Json()},
      {"marked", state_.nav.marked
                     ? Json::array({state_.nav.marked->begin_ns, state_.nav.marked->end_ns})
                     : Json()},
      {"lane", model_ ? number_or_null(current_lane(*model_, state_)) : Json()},
      {"focus", state_.focus.view},
      {"graph_scale", state_.drawn.graph_scale},
      {"result_rows", state_.drawn.result_rows},
      {"hits", state_.selection.hits.size()},
      {"graph_group", state_.selection.group != kNoId ? Json(state_.selection.group) : Json()},
      {"finding", number_or_null(state_.selection.finding)},
      {"repaired", state_.repaired.size()},
      {"repair_lanes", state_.schedules.size()},
      {"predicted_gain_ns", state_.prediction ? Json(state_.prediction->gain_ns) : Json()},
      {"color_by", to_string(state_.look.color_by)},
      {"lane_filter", state_.nav.lane_order.filter()},
      {"lanes", shown.lanes.size()},
      {"pinned", shown.pinned_count},
      {"order", order},
      {"bookmarks", state_.nav.bookmarks.all().size()},
      {"live", state_.is_live},
      {"sketch", model_ && model_->is_sketch()},
      {"operations", model_ ? model_->trace().op.size() : 0},
      {"drawer", state_.look.drawer},
      {"compared", state_.compared != nullptr},
      {"job", shows_job() ? json_of(state_.job) : Json()},
      {"theme", state_.look.theme == ThemeKind::kDark ? "dark" : "light"},
      {"overlay", kOverlays[static_cast<size_t>(state_.overlay)]},
      {"pressed", ImGui::GetIO().MouseDown[0]},
      {"drawn_items", state_.drawn.items}};
  return state.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace streamscope::viewer
