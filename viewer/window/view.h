// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What a view is, the one state that all views share, and the actions that change it.
//
// There is one ViewState and the selection is never copied: a view draws from it and writes user
// input to it; commands and the command line change it through the actions below.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bookmarks.h"
#include "job_state.h"
#include "model/comparison.h"
#include "model/prediction.h"
#include "model/repair_schedule.h"
#include "model/trace_model.h"
#include "render/pixel_background.h"
#include "render/theme.h"
#include "tab_stops.h"
#include "timeline/lane_order.h"
#include "timeline/timeline_layout.h"

namespace streamscope::viewer {

enum class ColorBy : uint8_t { kKind, kName, kStream, kCause, kPath };
inline constexpr size_t kColorByCount = 5;
enum class Overlay : uint8_t {
  kNone,
  kHelp,
  kPalette,
  kSearch,
  kFilter,
  kNote,
  kBookmarks,
  kGroups,
  kOpen,
  kCompare
};

/// The view that has the focus by default.
inline constexpr std::string_view kTimeline = "timeline";

/// What keys request from a canvas: a picture in a panel in which arrow keys move.
struct CanvasSteps {
  int right = 0, down = 0;     ///< steps from item to item
  float pan_x = 0, pan_y = 0;  ///< in widths and heights of the canvas
  int zoom = 0;                ///< steps in
  bool fit = false;            ///< shows everything
};

/// Where in the trace the user is.
struct Navigation {
  TimeWindow window;                ///< what the timeline shows; its width is set by the timeline
  std::optional<TimeRange> marked;  ///< time range marked for sums
  std::vector<bool> collapsed;      ///< by lane
  LaneOrder lane_order;
  Bookmarks bookmarks;
  bool reveal = false;  ///< the timeline brings the selection into view when it is drawn next
  bool reveal_lane_only = false;  ///< then only its lane: the range is one that was asked for
  float scroll_pages = 0;  ///< the timeline scrolls by this many heights when it is drawn next

  bool is_collapsed(size_t lane) const { return lane < collapsed.size() && collapsed[lane]; }
};

/// What the user selected, and what could be selected next.
struct Selection {
  Item item;
  /// The lane selected by keys, until the selection changes; otherwise keys act on the lane of the
  /// selection.
  struct ChosenLane {
    size_t lane;
    Item selection;
  };
  std::optional<ChosenLane> lane;
  /// The item whose edge led to the selection.
  struct Followed {
    Item from, to;
  };
  std::optional<Followed> followed;
  Item hovered;
  std::optional<size_t> finding;  ///< as Insights lists them
  std::vector<bool> searched;     ///< names that a search found, by string id; the rest is dimmed
  std::vector<Item> hits;         ///< items that have these names, by time
  Id group = kNoId;               ///< the graph shows only operations of this group; kNoId: all

  bool has_lane() const { return lane && lane->selection == item; }
};

/// How the trace looks, and which panels are open.
struct Appearance {
  ThemeKind theme = ThemeKind::kDark;
  float scale = 1;
  ColorBy color_by = ColorBy::kKind;
  bool inspector = true;
  bool minimap = true;
  bool critical_path = true;
  bool whole_chain = false;  ///< arrows of everything that led to the selection and follows from it
  std::string_view drawer;   ///< name of the view below the timeline; empty: closed
  float drawer_height = 340;  ///< before scaling
};

/// What keys act on.
struct Focus {
  std::string_view view = kTimeline;  ///< its name
  TabStops stops;                     ///< of that view
  bool on_canvas = false;             ///< in that view; it takes arrow keys
  bool by_keys = false;               ///< the last input was a key, not the mouse
  CanvasSteps steps;                  ///< the canvas takes them when it is drawn next
};

/// What the views report about the last frame.
struct Drawn {
  size_t items = 0;                      ///< bars and glyphs; bounded by pixels, whatever the trace
  std::optional<int64_t> counter_value;  ///< maximum of a counter, if no item is hovered
  std::optional<double> counter_mean;    ///< its mean
  std::optional<size_t> holders;         ///< of a pool at an instant, in its panel
  size_t result_rows = 0;                ///< of the last query, in its panel
  float graph_scale = 0;                 ///< of the columns of the graph, in its panel
  bool busy = false;                     ///< a view waits for something and must be redrawn soon
  PixelBackground background;            ///< below what ImGui draws
};

/// What the user requested of the window.
struct Wanted {
  std::filesystem::path open;          ///< a trace, or the folder of a run, to open
  std::optional<TimeRange> shown;      ///< what to show of it; none: what was shown last
  std::filesystem::path compare_with;  ///< another to compare the first with
  bool quit = false;
};

/// UI thread only.
struct ViewState {
  Navigation nav;
  Selection selection;
  Appearance look;
  Focus focus;
  Drawn drawn;
  Wanted wanted;
  JobState job;
  std::shared_ptr<const TraceModel> compared;    ///< a second trace to compare the first with
  std::shared_ptr<const Comparison> comparison;  ///< of both, once computed
  std::vector<size_t> repaired;  ///< findings that the prediction assumes fixed, ascending
  std::shared_ptr<const Prediction> prediction;  ///< for these, once computed
  std::vector<size_t> repair_lanes;              ///< findings whose repair has a lane, ascending
  std::vector<std::shared_ptr<const RepairSchedule>> schedules;  ///< of these, as far as computed
  std::shared_ptr<const IterationSummary> summary;  ///< what bounds an iteration, once computed
  /// Message about the last key or click, mostly why it had no effect. Cleared by the next one.
  std::string status;
  bool is_live = false;  ///< the trace is still being recorded
  Overlay overlay = Overlay::kNone;
};

/// One panel. Draws into the current ImGui window and nothing else: no I/O, no SQL, no cost per
/// event.
class View {
 public:
  virtual ~View() = default;
  /// Value of --panel.
  virtual std::string_view name() const = 0;
  virtual std::string_view title() const = 0;
  virtual void draw(const TraceModel& model, ViewState& state, const Theme& theme) = 0;
};

/// All panels, in order; views.cpp has the only list.
std::vector<std::unique_ptr<View>> make_views();
/// The ranks of a run as lanes, instead of the timeline.
std::unique_ptr<View> make_ranks_view();
/// The names of all panels.
std::vector<std::string_view> view_names();

// Actions. All keep the window near the trace, or near a compared trace, and the state consistent.
// An action without effect reports the reason in `status`.

void fit(const TraceModel& model, ViewState& state);
/// show_opening() in a window that had no width before.
void first_fit(const TraceModel& model, ViewState& state, double width_px);
/// Fits the work on the devices to the width, unless it is most of the trace anyway: creating a
/// CUDA context takes longer than many programs.
void fit_work(const TraceModel& model, ViewState& state);
/// What a trace opens with: the median iteration, or else fit_work(). Iterations are not shown
/// first of a program that hangs or is still running, or while two traces are compared.
void show_opening(const TraceModel& model, ViewState& state);
/// True if that is an iteration.
bool opens_at_iteration(const TraceModel& model, const ViewState& state);
/// Fits an iteration to the width.
void go_to_iteration(const TraceModel& model, ViewState& state, size_t iteration);
/// The iteration that the window shows: the one in the middle, unless much more than that is in
/// view. Logarithmic.
std::optional<size_t> current_iteration(const TraceModel& model, const ViewState& state);
/// Goes to the next (+1) or previous (-1) iteration; from a wider view, to the one in the middle.
void step_iteration(const TraceModel& model, ViewState& state, int by);
void go_to_median_iteration(const TraceModel& model, ViewState& state);
/// Shows `range` with a small margin.
void show(const TraceModel& model, ViewState& state, TimeRange range);
/// Shows the selection, or the marked range if nothing is selected.
void zoom_to_selection(const TraceModel& model, ViewState& state);
void zoom(const TraceModel& model, ViewState& state, double px, double factor);
void pan(const TraceModel& model, ViewState& state, double px);
/// Selects and brings into view.
void select(ViewState& state, Item item);
/// Selects and zooms to it.
void go_to(const TraceModel& model, ViewState& state, Item item);
/// Next (+1) or previous (-1) item in the row of the selection; the first visible one if nothing is
/// selected.
void step_in_row(const TraceModel& model, ViewState& state, int by);
/// Nearest item in the row below (+1) or above (-1).
void step_to_row(const TraceModel& model, ViewState& state, int by);
/// From an op to the one it waited for longest (back) or the first one that waited for it
/// (forward); for an op without such edges, to its neighbor in the stream. From a record or wait to
/// the op at that end of its edge.
void follow_edge(const TraceModel& model, ViewState& state, bool back);
/// Among the edges of the item whose edge led to the selection, or else of the selection, to the
/// next (+1) or previous (-1) end, wrapping around: what it waited for, then what waited for it,
/// each in order of time.
void step_edge(const TraceModel& model, ViewState& state, int by);
/// Between an op and the call that issued it.
void jump_to_cause(const TraceModel& model, ViewState& state);
/// What is collapsed at first, by lane: task queues with more lanes than fit beside everything
/// else.
std::vector<bool> collapsed_at_first(const LaneSet& lanes);
void toggle_collapsed(const TraceModel& model, ViewState& state, size_t lane);
/// The lane that keys act on.
std::optional<size_t> current_lane(const TraceModel& model, const ViewState& state);
/// Selects the lane below (+1) or above (-1) it, also one that contains nothing to select.
void choose_lane(const TraceModel& model, ViewState& state, int by);
/// Moves it past its neighbor below (+1) or above (-1) in the same group.
void move_lane(const TraceModel& model, ViewState& state, int by);
/// Marks the time of the selection, or the instant in the middle of the window if nothing is
/// selected. With `extend`, extends the existing mark to it.
void mark(const TraceModel& model, ViewState& state, bool extend);
/// Collapses or opens the lane that keys act on.
void toggle_current_lane(const TraceModel& model, ViewState& state);
/// Pins or unpins the lane that keys act on; a pinned lane stays in view while the others scroll.
void toggle_pinned(const TraceModel& model, ViewState& state);
/// Collapses or opens all lanes of one kind together.
void collapse_all(const TraceModel& model, ViewState& state, LaneKind kind);
/// The instant that keyboard users inspect: the start of the marked time if in view, else the
/// middle.
Ns instant_of_keys(const ViewState& state);
/// Selects the hit after (+1) or before (-1) the selection, wrapping around.
void step_to_hit(const TraceModel& model, ViewState& state, int by);
/// Shows what a finding is about and opens the findings panel.
void look_at_finding(const TraceModel& model, ViewState& state, size_t finding);
/// Goes to the next (+1) or previous (-1) finding.
void step_to_finding(const TraceModel& model, ViewState& state, ptrdiff_t by);
/// Assumes a finding fixed, or no longer; does nothing if the fix cannot be replayed.
void toggle_repaired(const TraceModel& model, ViewState& state, size_t finding);
/// The same for the selected finding, or else for the first that can be replayed.
void toggle_repaired(const TraceModel& model, ViewState& state);
/// Shows a lane with the median iteration as it would be with the finding fixed, or hides it; does
/// nothing if it cannot be replayed.
void toggle_repair_lane(const TraceModel& model, ViewState& state, size_t finding);
/// The same for all findings to fix first.
void toggle_repair_lanes(const TraceModel& model, ViewState& state);
/// Selects the op that waited longest, of all waits that the inspector lists.
void select_longest_wait(const TraceModel& model, ViewState& state);
/// Opens the drawer with a view, or closes it if it already shows this view.
void toggle_drawer(ViewState& state, std::string_view view);
/// Moves the focus to the next (+1) or previous (-1) of timeline, drawer and inspector, skipping
/// those that are closed.
void step_focus(ViewState& state, int by);

}  // namespace streamscope::viewer
