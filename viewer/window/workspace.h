// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The whole picture: header, banner of losses, panels, legend, overlays. The window and the
// offscreen surface draw the same workspace; so do tests.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "arguments.h"
#include "commands.h"
#include "model/trace_model.h"
#include "recent_traces.h"
#include "render/theme.h"
#include "view.h"

namespace streamscope::viewer {

/// Height of the header, before scaling.
inline constexpr float kHeader = 44;

/// UI thread only. Needs a current ImGui context for its whole lifetime.
class Workspace {
 public:
  /// Arguments are applied once a model is set.
  explicit Workspace(Arguments arguments);
  ~Workspace();

  ViewState& state() { return state_; }
  const TraceModel* model() const { return model_.get(); }
  /// Shows a model; without one, a message or the progress of loading. The first model throws
  /// Error if the arguments request what it does not have; it is shown all the same.
  void set_model(std::shared_ptr<const TraceModel> model);
  /// Shows the ranks of a run, also in front of an open trace. Throws like set_model().
  void set_job(std::shared_ptr<const JobModel> job);
  /// The run that is open, grown: what the user selected and looks at stays.
  void update_job(std::shared_ptr<const JobModel> job);
  /// True while the ranks of a run are shown.
  bool shows_job() const { return state_.job.is_shown; }
  /// A second trace to compare the first with; null to stop comparing. A window that showed all of
  /// the first then shows all of both.
  void set_compared(std::shared_ptr<const TraceModel> model);
  /// The file being read, while there is no model.
  void set_reading(std::filesystem::path trace) {
    reading_ = std::move(trace);
    error_.clear();
  }
  void set_error(std::string message) { error_ = std::move(message); }
  /// A line of text above the panels; Escape closes it.
  void set_notice(std::string message) { notice_ = std::move(message); }
  /// nullopt: the details of the trace will not be loaded.
  void set_progress(std::optional<double> fraction) { progress_ = fraction; }
  /// Traces to offer while none is open.
  void set_recent(std::vector<RecentTrace> recent) { recent_ = std::move(recent); }
  /// Whether the trace is still being recorded.
  void set_live(bool is_live) { state_.is_live = is_live; }
  /// What was in view when this trace was last shown; call it before the trace is set.
  void restore(const RecentTrace& recent) { restored_ = recent; }
  /// What is in view now; without a trace, a session without a file.
  RecentTrace recent() const;

  /// Handles a key press. False if the key has no meaning here.
  bool press(const Key& key);
  /// Handles a typed character: as text if a text field is active, else as the key of that symbol
  /// ("?", "+", ...).
  void type(unsigned int character);
  /// Rebuilds fonts and style if theme or scale changed; returns true if so, so that the renderer
  /// can follow.
  bool update_theme();
  /// Draws everything into the current ImGui frame.
  void draw(float width, float height);
  /// The state as one JSON object, for tests and scripts.
  std::string state_json() const;

 private:
  void draw_header(float width, float height);
  float draw_banner(float top, float width);
  void draw_footer(float top, float width, float height);
  // Of a legend: `entry` takes a text and a function that draws at its x.
  auto square(ImDrawList& draw, float middle, ImU32 color) const;
  auto critical_line(ImDrawList& draw, float middle) const;
  template <class Entry>
  void trace_legend(ImDrawList& draw, float middle, Entry entry);
  template <class Entry>
  void job_legend(ImDrawList& draw, float middle, Entry entry);
  void draw_panels(float top, float width, float height);
  void draw_view(std::string_view name, ImVec2 at, ImVec2 size);
  void draw_tabs(ImVec2 at, ImVec2 size);
  /// True while a text field of a panel receives the keys.
  bool is_typing() const;
  /// True if keys act on the content of a panel, not on the timeline.
  bool is_in_panel() const;
  /// What commands act on: the model, or an empty one while there is none.
  const TraceModel& subject() const;
  void run(const Command& command);
  /// Gives ImGui's focus to the panel that has the focus.
  void apply_focus();
  void draw_message(float width, float height);
  void draw_help(float width, float height);
  void draw_palette(float width, float height);
  /// A line of the palette or of a search: its text and its action.
  struct PaletteRow {
    std::string left, right;
    const Command* command = nullptr;
    Item item;
    size_t bookmark = 0;
    std::filesystem::path file;
  };
  std::vector<PaletteRow> palette_rows() const;
  /// The prompt of an overlay, and a hint.
  struct PalettePrompt {
    std::string_view ask, hint;
  };
  PalettePrompt palette_prompt() const;
  void draw_palette_input(std::string_view ask);
  void draw_palette_rows(const std::vector<PaletteRow>& found, float height);
  void run_palette_row(size_t index);
  bool takes_text() const;
  bool asks_for_file() const;
  void text_changed();
  void ask_workers();
  void apply_arguments();
  void apply_job_arguments();
  /// True if the panel has something to show: of a trace, or of a run.
  bool has_content(std::string_view panel) const;
  void take_news(std::shared_ptr<const TraceModel> model);
  /// True if the timeline shows its initial range.
  bool is_fitted() const;
  /// Shows the diagnosis below a timeline that opens at an iteration.
  void open_diagnosis();

  Arguments arguments_;
  ViewState state_;
  Theme theme_;
  bool themed_ = false;
  std::vector<std::unique_ptr<View>> views_;
  std::unique_ptr<View> ranks_;  // where the timeline is for a trace
  std::shared_ptr<const TraceModel> model_;
  std::filesystem::path reading_;
  std::string error_;
  std::string notice_;
  std::optional<double> progress_ = 0;
  Predictor predictor_;
  RepairScheduler scheduler_;
  Diagnoser diagnoser_;
  Comparer comparer_;
  std::vector<RecentTrace> recent_;
  std::optional<RecentTrace> restored_;
  std::string palette_text_;
  size_t palette_index_ = 0;
  float help_step_ = 0;           // pending scroll of the help, in heights of its visible part
  bool had_focus_ = false;        // a panel had it in the last frame
  bool skips_character_ = false;  // the next one belongs to the key that opened a text field
};

}  // namespace streamscope::viewer
