// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What a view is, the one state that all views share, and the moves that change it.
//
// There is one ViewState and never a copy of a selection: a view draws from it and writes user
// input into it, commands and the command line change it through the moves below.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bookmarks.h"
#include "document/comparison.h"
#include "document/document.h"
#include "document/prediction.h"
#include "render/ground.h"
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

/// The view that has the focus unless another is given it.
inline constexpr std::string_view kTimeline = "timeline";

/// What keys ask of a canvas: a picture in a panel that arrow keys move in.
struct CanvasSteps {
  int right = 0, down = 0;     ///< from one thing in it to another
  float pan_x = 0, pan_y = 0;  ///< in widths and heights of it
  int zoom = 0;                ///< steps in
  bool fit = false;            ///< shows all of it
};

/// UI thread only.
struct ViewState {
  TimeWindow window;  ///< what the timeline shows; its width is set by the timeline
  Item selection;
  /// A lane that keys chose, for as long as the selection is what it was; else it is the lane of
  /// the selection that they act on.
  struct ChosenLane {
    size_t lane;
    Item selection;
  };
  std::optional<ChosenLane> chosen_lane;
  /// Whose edge led to the selection.
  struct Followed {
    Item from, to;
  };
  std::optional<Followed> followed;
  Item hovered;
  std::optional<int64_t> hovered_value;   ///< highest of a counter, instead of an item
  std::optional<size_t> hovered_holders;  ///< of a pool at an instant, in its panel
  size_t result_rows = 0;                 ///< of the last query, in its panel
  float graph_scale = 0;                  ///< of the columns of the graph, in its panel
  std::optional<TimeRange> marked;        ///< range of time chosen for sums
  std::vector<bool> collapsed;            ///< by lane
  LaneOrder lane_order;
  Bookmarks bookmarks;
  bool reveal = false;  ///< the timeline brings the selection into view when it is drawn next
  std::string_view focus = kTimeline;  ///< name of the view that keys act on
  TabStops stops;                      ///< of that view
  bool canvas_has_focus = false;       ///< in that view; it takes arrow keys
  bool by_keys = false;                ///< the last input was a key, not the mouse
  CanvasSteps steps;                   ///< the canvas takes them when it is drawn next
  float scroll_pages = 0;  ///< the timeline scrolls by this many heights when it is drawn next

  ThemeKind theme = ThemeKind::kDark;
  float scale = 1;
  ColorBy color_by = ColorBy::kKind;
  bool show_inspector = true;
  bool show_minimap = true;
  bool show_critical_path = true;
  bool whole_chain = false;   ///< arrows of all that led to the selection and follows from it
  std::string_view drawer;    ///< name of the view below the timeline; empty: closed
  float drawer_height = 340;  ///< before scaling
  std::shared_ptr<const Document> compared;      ///< a second trace to hold the first against
  std::shared_ptr<const Comparison> comparison;  ///< of both, once it is made
  Id graph_group = kNoId;         ///< the graph shows only operations of this group; kNoId: all
  std::optional<size_t> finding;  ///< the one looked at, as Insights lists them
  std::vector<size_t> repaired;   ///< findings that the prediction takes for repaired, ascending
  std::shared_ptr<const Prediction> prediction;  ///< of them, once it is made
  std::vector<bool> searched;  ///< names that a search found, by string id; the rest is dimmed
  std::vector<Item> hits;      ///< what has them, by time
  /// What the last key or click has to tell: mostly why it could do nothing. The next one clears
  /// it.
  std::string status;
  bool is_live = false;  ///< the trace is still being recorded
  bool busy = false;     ///< a view waits for something and wants to be drawn again soon
  Overlay overlay = Overlay::kNone;
  std::filesystem::path open;          ///< a trace that the user asked for; the window opens it
  std::filesystem::path compare_with;  ///< another to hold the first against
  bool quit = false;

  size_t drawn_items =
      0;          ///< bars and glyphs of the last frame; bounded by pixels, whatever the trace
  Ground ground;  ///< below what ImGui draws

  bool lane_is_chosen() const { return chosen_lane && chosen_lane->selection == selection; }
  bool is_collapsed(size_t lane) const { return lane < collapsed.size() && collapsed[lane]; }
};

/// One panel. Draws into the current ImGui window and nothing else: no I/O, no SQL, no cost per
/// event.
class View {
 public:
  virtual ~View() = default;
  /// Value of --panel.
  virtual std::string_view name() const = 0;
  virtual std::string_view title() const = 0;
  virtual void draw(const Document& document, ViewState& state, const Theme& theme) = 0;
};

/// All panels, in their order; views.cpp holds the only list.
std::vector<std::unique_ptr<View>> make_views();
/// Their names.
std::vector<std::string_view> view_names();

// Moves. All keep the window near the trace, and near a trace it is compared with, and the state
// consistent. One that finds nothing to do says why in `status`.

/// How much wider all gets by one step of the wheel or a key.
inline constexpr double kZoomStep = 1.25;

void fit(const Document& document, ViewState& state);
/// fit_work() in a window that had no width yet.
void first_fit(const Document& document, ViewState& state, double width_px);
/// The work on the devices fills the width, unless it is most of the trace anyway: making a CUDA
/// context takes longer than many programs.
void fit_work(const Document& document, ViewState& state);
/// Shows `range` with a little around it.
void show(const Document& document, ViewState& state, TimeRange range);
/// Shows the selection, or the marked range if nothing is selected.
void zoom_to_selection(const Document& document, ViewState& state);
void zoom(const Document& document, ViewState& state, double px, double factor);
void pan(const Document& document, ViewState& state, double px);
/// Selects and brings into view.
void select(ViewState& state, Item item);
/// Next (+1) or previous (-1) item in the row of the selection; the first visible one if nothing is
/// selected.
void step_in_row(const Document& document, ViewState& state, int by);
/// Nearest item in the row below (+1) or above (-1).
void step_to_row(const Document& document, ViewState& state, int by);
/// From an op to the one it waited for longest (back) or the first one that waited for it
/// (forward). An op without such edges: its neighbor in the stream. A record or wait: the op at
/// that end of its edge.
void follow_edge(const Document& document, ViewState& state, bool back);
/// From whose edge led to the selection, or else from it, to the next (+1) or previous (-1) end of
/// its edges, around: what it waited for, then what waited for it, each by time.
void step_edge(const Document& document, ViewState& state, int by);
/// Between an op and the call that issued it.
void jump_to_cause(const Document& document, ViewState& state);
/// What is collapsed in a picture that nobody has touched, by lane: queues of tasks with more lanes
/// than there is room for beside all else.
std::vector<bool> collapsed_at_first(const Document& document);
void toggle_collapsed(const Document& document, ViewState& state, size_t lane);
/// The lane that keys act on.
std::optional<size_t> current_lane(const Document& document, const ViewState& state);
/// Goes from it to the lane below (+1) or above (-1), also to one that holds nothing to select.
void choose_lane(const Document& document, ViewState& state, int by);
/// Moves it past its neighbor below (+1) or above (-1) in the same group.
void move_lane(const Document& document, ViewState& state, int by);
/// Marks the time of the selection; nothing selected: the instant in the middle of the window. With
/// `extend` the mark reaches from what it was to there.
void mark(const Document& document, ViewState& state, bool extend);
/// Collapses the lane that keys act on, or opens it.
void toggle_current_lane(const Document& document, ViewState& state);
/// Keeps the lane that keys act on in sight while the others scroll, or no longer.
void toggle_pinned(const Document& document, ViewState& state);
/// Collapses, or opens, all lanes of one kind together.
void collapse_all(const Document& document, ViewState& state, LaneKind kind);
/// Where those look who have no mouse: at the marked time if it is in sight, else in the middle.
Ns instant_of_keys(const ViewState& state);
/// Selects the hit after (+1) or before (-1) the selection, from the end to the start again.
void step_to_hit(const Document& document, ViewState& state, int by);
/// Shows what a finding is about and opens the panel that says it.
void look_at_finding(const Document& document, ViewState& state, size_t finding);
/// Goes to the next (+1) or previous (-1) finding.
void step_to_finding(const Document& document, ViewState& state, ptrdiff_t by);
/// Takes a finding for repaired, or no longer; nothing if its repair cannot be replayed.
void toggle_repaired(const Document& document, ViewState& state, size_t finding);
/// The same for the finding that is looked at, or else for the first that can be replayed.
void toggle_repaired(const Document& document, ViewState& state);
/// Selects the op that waited longest, of all waits that the inspector lists.
void select_longest_wait(const Document& document, ViewState& state);
/// Opens the drawer with a view, or closes it if that is there already.
void toggle_drawer(ViewState& state, std::string_view view);
/// Gives the focus to the next (+1) or previous (-1) of timeline, drawer and inspector, as far as
/// they are there.
void step_focus(ViewState& state, int by);

}  // namespace streamscope::viewer
