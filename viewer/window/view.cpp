// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "view.h"

#include <algorithm>
#include <limits>

namespace streamscope::viewer {
namespace {

constexpr double kMargin = 0.02;
constexpr const char* kNothingSelected = "nothing is selected";
constexpr const char* kNoLane = "no lane is selected: Shift+Up and Shift+Down select one";
constexpr const char* kNoFindings = "no findings in this trace";
constexpr const char* kNoIterations = "no iterations in this trace; the diagnosis says why";
constexpr const char* kTooLarge = "this trace is too large to replay with a finding fixed";
constexpr const char* kNoEdges = "no ordering edge begins or ends here";
constexpr const char* kIssuedNothing = "the selection issued no work on a device";
// An item that is zoomed to fills this share of the width, so that its neighbors show where it is.
constexpr double kItemMargin = 0.75;

void refuse(ViewState& state, const char* why) { state.status = why; }

// In or out of ascending numbers.
void toggle(std::vector<size_t>& numbers, size_t number) {
  const auto at = std::ranges::lower_bound(numbers, number);
  if (at != numbers.end() && *at == number) {
    numbers.erase(at);
  } else {
    numbers.insert(at, number);
  }
}

// Also at least as long as the other trace, both counted from their first work.
TimeRange with_compared(const TraceModel& model, const ViewState& state, TimeRange range) {
  if (state.compared) {
    const TimeRange work = state.compared->work();
    range.end_ns = std::max(range.end_ns, add_ns(model.work().begin_ns, work.span_ns()));
  }
  return range;
}

// Keeps part of the trace in the window, and the window not much wider than the trace.
void clamp_window(const TraceModel& model, ViewState& state) {
  TimeWindow& window = state.nav.window;
  const TimeRange extent = with_compared(model, state, model.extent());
  const double widest = extent.span_ns() * 2 / window.width_px;
  if (window.ns_per_px > std::max(widest, kMinNsPerPx))
    window.zoom(window.width_px / 2, window.ns_per_px / widest);
  const double keep = window.width_px * 0.1;
  if (const double end = window.to_px(extent.end_ns); end < keep) window.pan_px(keep - end);
  if (const double begin = window.to_px(extent.begin_ns); begin > window.width_px - keep) {
    window.pan_px(window.width_px - keep - begin);
  }
}

std::optional<size_t> nearest(const Row& row, Ns at) {
  if (row.size() == 0) return std::nullopt;
  const auto it = std::upper_bound(row.start_ns.begin(), row.start_ns.end(), at);
  const size_t after = static_cast<size_t>(it - row.start_ns.begin());
  if (after == 0) return 0;
  if (after == row.size() || row.end_ns[after - 1] >= at) return after - 1;
  return distance_ns(row.end_ns[after - 1], at) <= distance_ns(at, row.start_ns[after]) ? after - 1
                                                                                        : after;
}

// Ops at the other ends of an item's edges: what it waited for, then what waited for it, each in
// order of time.
std::vector<Id> ends_of_edges(const TraceModel& model, Item item) {
  std::vector<Id> before, after;
  for (const uint32_t index : model.edges().of(item)) {
    const Dependency& dependency = model.edges()[index];
    const bool incoming = item.kind == ItemKind::kOp ? dependency.to_op == item.id
                                                     : item.kind == ItemKind::kEventWait;
    const Id other = incoming ? dependency.from_op : dependency.to_op;
    std::vector<Id>& side = incoming ? before : after;
    if (model.items().time({ItemKind::kOp, other}) && !std::ranges::count(side, other))
      side.push_back(other);
  }
  for (std::vector<Id>* side : {&before, &after})
    std::ranges::stable_sort(*side, {}, [&](Id op) {
      return model.items().time({ItemKind::kOp, op})->begin_ns;
    });
  before.insert(before.end(), after.begin(), after.end());
  return before;
}

// The first item of a lane that is in view.
Item first_visible(const Lane& lane, TimeRange shown) {
  for (const Band& band : lane.bands) {
    const auto [first, last] = visible(band.row, shown);
    if (first < last) return unpack(band.row.item[first]);
  }
  return {};
}

// When an op started to wait for something.
void widen_to_waits(const Waits& waits, Id op, std::optional<TimeRange>& range) {
  if (!range) return;
  Ns at = range->begin_ns;
  std::vector<analysis::WaitPart> parts = waits.of(op);
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    at -= part->duration_ns;
    if (analysis::is_wait(*part)) range->begin_ns = std::min(range->begin_ns, at);
  }
}

bool is_hidden(const LaneSet& lanes, const Navigation& nav, size_t lane) {
  for (int at = lanes[lane].parent; at >= 0; at = lanes[static_cast<size_t>(at)].parent) {
    if (nav.is_collapsed(static_cast<size_t>(at))) return true;
  }
  return false;
}

}  // namespace

void fit(const TraceModel& model, ViewState& state) {
  state.nav.window.show(with_compared(model, state, model.extent()), kMargin);
}

void fit_work(const TraceModel& model, ViewState& state) {
  const TimeRange work = model.work();
  const bool most = work.span_ns() * 2 > model.extent().span_ns();
  state.nav.window.show(with_compared(model, state, most ? model.extent() : work), kMargin);
}

bool opens_at_iteration(const TraceModel& model, const ViewState& state) {
  return model.diagnosis().has_iterations() && model.insights().waits.nodes.empty() &&
         !state.is_live && !state.compared;
}

void show_opening(const TraceModel& model, ViewState& state) {
  if (!opens_at_iteration(model, state)) return fit_work(model, state);
  go_to_iteration(model, state, model.diagnosis().opening());
}

void first_fit(const TraceModel& model, ViewState& state, double width_px) {
  state.nav.window.resize(width_px);
  show_opening(model, state);
}

void go_to_iteration(const TraceModel& model, ViewState& state, size_t iteration) {
  if (iteration >= model.diagnosis().iterations.all.size()) return;
  TimeRange range = model.diagnosis().range(iteration);
  range.end_ns = std::max(range.end_ns, add_ns(range.begin_ns, 1));
  state.nav.window.show(range, kMargin);
  clamp_window(model, state);
}

std::optional<size_t> current_iteration(const TraceModel& model, const ViewState& state) {
  constexpr double kMost = 2;  // times its duration in view
  const TimeWindow& window = state.nav.window;
  const auto iteration = model.diagnosis().iteration_at(window.to_ns(window.width_px / 2));
  if (!iteration ||
      window.span_ns() > kMost * model.diagnosis().range(*iteration).span_ns() + window.ns_per_px)
    return std::nullopt;
  return iteration;
}

void step_iteration(const TraceModel& model, ViewState& state, int by) {
  const Diagnosis& diagnosis = model.diagnosis();
  const TimeWindow& window = state.nav.window;
  const auto middle = diagnosis.iteration_at(window.to_ns(window.width_px / 2));
  if (!middle) return refuse(state, kNoIterations);
  if (!current_iteration(model, state)) return go_to_iteration(model, state, *middle);
  if (by < 0 && *middle == 0) return refuse(state, "this is the first iteration");
  if (by > 0 && *middle + 1 == diagnosis.iterations.all.size())
    return refuse(state, "this is the last iteration");
  go_to_iteration(model, state, by > 0 ? *middle + 1 : *middle - 1);
}

void go_to_median_iteration(const TraceModel& model, ViewState& state) {
  if (!model.diagnosis().has_iterations()) return refuse(state, kNoIterations);
  go_to_iteration(model, state, model.diagnosis().opening());
}

void show(const TraceModel& model, ViewState& state, TimeRange range) {
  state.nav.window.show(range);
  clamp_window(model, state);
}

void zoom_to_selection(const TraceModel& model, ViewState& state) {
  std::optional<TimeRange> range;
  if (state.selection.item) {
    range = model.items().time(state.selection.item);
    // An op is shown together with the ops that its edges lead to.
    for (const uint32_t index : model.edges().of(state.selection.item)) {
      const Dependency& dependency = model.edges()[index];
      for (const Id op : {dependency.from_op, dependency.to_op}) {
        const auto other = model.items().time({ItemKind::kOp, op});
        if (range && other) {
          range->begin_ns = std::min(range->begin_ns, other->begin_ns);
          range->end_ns = std::max(range->end_ns, other->end_ns);
        }
      }
    }
    if (state.selection.item.kind == ItemKind::kOp)
      widen_to_waits(model.waits(), state.selection.item.id, range);
  } else {
    range = state.nav.marked;
  }
  if (!range)
    return refuse(state,
                  state.selection.item ? "the time of the selection is unknown" : kNothingSelected);
  state.nav.window.show(*range, state.selection.item ? kItemMargin / 3 : kMargin);
  clamp_window(model, state);
  state.nav.reveal = true;
}

void zoom(const TraceModel& model, ViewState& state, double px, double factor) {
  state.nav.window.zoom(px, factor);
  clamp_window(model, state);
}

void pan(const TraceModel& model, ViewState& state, double px) {
  state.nav.window.pan_px(px);
  clamp_window(model, state);
}

void select(ViewState& state, Item item) {
  state.selection.item = item;
  state.nav.reveal = true;
}

void go_to(const TraceModel& model, ViewState& state, Item item) {
  select(state, item);
  zoom_to_selection(model, state);
}

void step_in_row(const TraceModel& model, ViewState& state, int by) {
  const TimeRange shown = state.nav.window.range();
  if (state.selection.has_lane()) {
    if (const Item item = first_visible(model.lanes()[state.selection.lane->lane], shown))
      return select(state, item);
    state.status = "nothing to select in view in this lane";
    return;
  }
  if (const auto place = model.lanes().place(state.selection.item)) {
    const Row& row = model.lanes()[place->lane].bands[place->band].row;
    const auto next = static_cast<ptrdiff_t>(place->index) + by;
    if (next >= 0 && next < static_cast<ptrdiff_t>(row.size()))
      return select(state, unpack(row.item[static_cast<size_t>(next)]));
    state.status = by > 0 ? "this is the last in its lane" : "this is the first in its lane";
    return;
  }
  // If nothing is selected, start with the first op in view.
  for (const LaneKind kind : {LaneKind::kStream, LaneKind::kThread}) {
    for (size_t lane = 0; lane < model.lanes().size(); ++lane) {
      if (model.lanes()[lane].kind != kind || is_hidden(model.lanes(), state.nav, lane)) continue;
      if (const Item item = first_visible(model.lanes()[lane], shown)) return select(state, item);
    }
  }
  state.status = "nothing to select in view";
}

void step_to_row(const TraceModel& model, ViewState& state, int by) {
  const auto place = model.lanes().place(state.selection.item);
  const auto time = model.items().time(state.selection.item);
  if (!place || !time) return step_in_row(model, state, by);
  const Ns at = time->begin_ns;
  const auto own = static_cast<ptrdiff_t>(place->lane);
  for (ptrdiff_t lane = own; lane >= 0 && lane < std::ssize(model.lanes()); lane += by) {
    if (is_hidden(model.lanes(), state.nav, static_cast<size_t>(lane))) continue;
    const std::vector<Band>& bands = model.lanes()[static_cast<size_t>(lane)].bands;
    ptrdiff_t band = lane == own ? static_cast<ptrdiff_t>(place->band) + by
                     : by > 0    ? 0
                                 : std::ssize(bands) - 1;
    for (; band >= 0 && band < std::ssize(bands); band += by) {
      const Row& row = bands[static_cast<size_t>(band)].row;
      if (const auto index = nearest(row, at)) return select(state, unpack(row.item[*index]));
    }
  }
  state.status =
      by > 0 ? "nothing to select in the lanes below" : "nothing to select in the lanes above";
}

void follow_edge(const TraceModel& model, ViewState& state, bool back) {
  const Item from = state.selection.item;
  if (from.kind == ItemKind::kApiCall) {
    if (const Id op = model.items().op_of(from); op != kNoId)
      return select(state, {ItemKind::kOp, op});
    state.status = kIssuedNothing;
    return;
  }
  Id best = kNoId;
  Ns best_score = std::numeric_limits<Ns>::min();
  for (const uint32_t index : model.edges().of(from)) {
    const Dependency& dependency = model.edges()[index];
    if (from.kind == ItemKind::kOp && (back ? dependency.to_op : dependency.from_op) != from.id)
      continue;
    const Id other = back ? dependency.from_op : dependency.to_op;
    const auto range = model.items().time({ItemKind::kOp, other});
    if (!range) continue;
    // Back: the op that ended last delayed it. Forward: the op that started first was delayed by
    // it.
    const Ns score = back ? range->end_ns : -range->begin_ns;
    if (score > best_score) {
      best_score = score;
      best = other;
    }
  }
  if (best != kNoId) {
    select(state, {ItemKind::kOp, best});
    state.selection.followed = {from, state.selection.item};
    return;
  }
  if (from.kind == ItemKind::kOp) return step_in_row(model, state, back ? -1 : 1);
  state.status = from ? kNoEdges : kNothingSelected;
}

void step_edge(const TraceModel& model, ViewState& state, int by) {
  const bool followed =
      state.selection.followed && state.selection.followed->to == state.selection.item;
  const Item from = followed ? state.selection.followed->from : state.selection.item;
  const std::vector<Id> ends = ends_of_edges(model, from);
  if (ends.empty()) return refuse(state, from ? kNoEdges : kNothingSelected);
  const auto count = static_cast<ptrdiff_t>(ends.size());
  const auto at = std::ranges::find(ends, state.selection.item.id);
  const ptrdiff_t index = followed && at != ends.end() ? at - ends.begin() + by
                          : by > 0                     ? 0
                                                       : count - 1;
  select(state, {ItemKind::kOp, ends[static_cast<size_t>((index + count) % count)]});
  state.selection.followed = {from, state.selection.item};
}

void jump_to_cause(const TraceModel& model, ViewState& state) {
  if (state.selection.item.kind == ItemKind::kOp) {
    if (const Item call = model.items().call_of(state.selection.item.id))
      return select(state, call);
    state.status = "the call that issued this operation is not in the trace";
  } else if (const Id op = model.items().op_of(state.selection.item); op != kNoId) {
    select(state, {ItemKind::kOp, op});
  } else {
    state.status = state.selection.item ? kIssuedNothing : kNothingSelected;
  }
}

void step_to_hit(const TraceModel& model, ViewState& state, int by) {
  if (state.selection.hits.empty()) {
    state.status =
        state.selection.searched.empty() ? "search for a name first: Ctrl+F" : "no search hits";
    return;
  }
  const auto at = std::ranges::find(state.selection.hits, state.selection.item);
  const auto count = static_cast<ptrdiff_t>(state.selection.hits.size());
  ptrdiff_t next = at - state.selection.hits.begin() + by;
  if (at == state.selection.hits.end()) {  // from the middle of the view
    const Ns middle = state.nav.window.to_ns(state.nav.window.width_px / 2);
    next = std::ranges::lower_bound(state.selection.hits, middle, {},
                                    [&](Item item) { return model.items().time(item)->begin_ns; }) -
           state.selection.hits.begin() - (by < 0 ? 1 : 0);
  }
  select(state, state.selection.hits[static_cast<size_t>((next + count) % count)]);
}

void look_at_finding(const TraceModel& model, ViewState& state, size_t index) {
  const std::vector<FindingLine>& findings = model.insights().findings;
  if (index >= findings.size()) return;
  const FindingLine& finding = findings[index];
  state.selection.finding = index;
  state.look.drawer = "findings";
  if (finding.subject && model.items().time(finding.subject)) {
    go_to(model, state, finding.subject);
  } else if (const TimeRange time = finding.time(); time.begin_ns != trace::kUnknownNs) {
    show(model, state, {time.begin_ns, std::max(time.end_ns, add_ns(time.begin_ns, 1))});
  }
}

void step_to_finding(const TraceModel& model, ViewState& state, ptrdiff_t by) {
  const auto count = static_cast<ptrdiff_t>(model.insights().firm_findings());
  if (count == 0) return refuse(state, kNoFindings);
  const ptrdiff_t from = state.selection.finding ? static_cast<ptrdiff_t>(*state.selection.finding)
                         : by > 0                ? -1
                                                 : count;
  look_at_finding(model, state, static_cast<size_t>((from + by + count) % count));
}

void toggle_repaired(const TraceModel& model, ViewState& state) {
  const size_t count = model.insights().firm_findings();
  if (count == 0) return refuse(state, kNoFindings);
  size_t finding = state.selection.finding.value_or(0);
  if (!state.selection.finding) {
    while (finding < count && !can_predict(model, finding)) ++finding;
    if (finding < count) look_at_finding(model, state, finding);
  }
  if (can_predict(model, finding)) return toggle_repaired(model, state, finding);
  state.status = model.insights().derived  ? kTooLarge
                 : state.selection.finding ? "the run cannot be replayed with this finding fixed"
                                           : "the run cannot be replayed with any finding fixed";
}

void select_longest_wait(const TraceModel& model, ViewState& state) {
  const std::vector<analysis::WaitPart> waits = model.waits().longest(1);
  if (waits.empty()) return refuse(state, "no waits in this trace");
  go_to(model, state, {ItemKind::kOp, waits[0].op});
}

void toggle_repaired(const TraceModel& model, ViewState& state, size_t finding) {
  if (can_predict(model, finding)) toggle(state.repaired, finding);
}

void toggle_repair_lane(const TraceModel& model, ViewState& state, size_t finding) {
  if (!can_schedule(model, finding)) return;
  toggle(state.repair_lanes, finding);
  if (std::ranges::binary_search(state.repair_lanes, finding)) go_to_median_iteration(model, state);
}

void toggle_repair_lanes(const TraceModel& model, ViewState& state) {
  if (!model.diagnosis().has_iterations()) return refuse(state, kNoIterations);
  if (!state.repair_lanes.empty()) return state.repair_lanes.clear();
  for (const Repair& repair : model.diagnosis().repairs)
    toggle_repair_lane(model, state, repair.finding);
  if (state.repair_lanes.empty())
    refuse(state, model.insights().derived ? kTooLarge : "no repair can be replayed");
}

void toggle_drawer(ViewState& state, std::string_view view) {
  state.look.drawer = state.look.drawer == view ? std::string_view() : view;
}

void step_focus(ViewState& state, int by) {
  std::vector<std::string_view> views = {kTimeline};
  if (!state.look.drawer.empty()) views.push_back(state.look.drawer);
  if (state.look.inspector) views.push_back("inspector");
  const auto count = static_cast<ptrdiff_t>(views.size());
  const auto at = std::ranges::find(views, state.focus.view) - views.begin();
  state.focus.view = views[static_cast<size_t>(((at == count ? 0 : at) + by + count) % count)];
  if (state.focus.view != kTimeline) state.focus.stops.enter();
}

std::vector<bool> collapsed_at_first(const LaneSet& lanes) {
  constexpr size_t kMostWorkers = 16;
  std::vector<size_t> inside(lanes.size(), 0);
  for (const Lane& lane : lanes) {
    if (lane.parent >= 0) ++inside[static_cast<size_t>(lane.parent)];
  }
  std::vector<bool> collapsed(lanes.size(), false);
  for (size_t lane = 0; lane < lanes.size(); ++lane)
    collapsed[lane] = lanes[lane].kind == LaneKind::kTaskQueue && inside[lane] > kMostWorkers;
  return collapsed;
}

void toggle_collapsed(const TraceModel& model, ViewState& state, size_t lane) {
  state.nav.collapsed.resize(model.lanes().size());
  if (lane < state.nav.collapsed.size()) state.nav.collapsed[lane] = !state.nav.collapsed[lane];
}

std::optional<size_t> current_lane(const TraceModel& model, const ViewState& state) {
  const Selection& selection = state.selection;
  if (selection.lane && selection.has_lane()) return selection.lane->lane;
  const auto place = model.lanes().place(state.selection.item);
  return place ? std::optional(place->lane) : std::nullopt;
}

void choose_lane(const TraceModel& model, ViewState& state, int by) {
  const std::vector<size_t> lanes =
      state.nav.lane_order.shown(model.lanes(), state.nav.collapsed).lanes;
  if (lanes.empty()) return refuse(state, "no lanes");
  const auto now = current_lane(model, state);
  const auto at = now ? std::ranges::find(lanes, *now) : lanes.end();
  const ptrdiff_t last = static_cast<ptrdiff_t>(lanes.size()) - 1;
  const ptrdiff_t next = at != lanes.end() ? at - lanes.begin() + by : by > 0 ? 0 : last;
  if (next < 0) state.status = "this is the first lane";
  if (next > last) state.status = "this is the last lane";
  state.selection.lane = {lanes[static_cast<size_t>(std::clamp(next, ptrdiff_t{0}, last))],
                          state.selection.item};
  state.nav.reveal = true;
}

void move_lane(const TraceModel& model, ViewState& state, int by) {
  const auto lane = current_lane(model, state);
  if (!lane) return refuse(state, kNoLane);
  const std::vector<size_t> lanes =
      state.nav.lane_order.shown(model.lanes(), state.nav.collapsed).lanes;
  auto at = std::ranges::find(lanes, *lane) - lanes.begin() + by;
  const int parent = model.lanes()[*lane].parent;
  while (at >= 0 && at < static_cast<ptrdiff_t>(lanes.size())) {
    const size_t other = lanes[static_cast<size_t>(at)];
    if (model.lanes()[other].parent == parent &&
        state.nav.lane_order.is_pinned(other) == state.nav.lane_order.is_pinned(*lane)) {
      state.nav.lane_order.move(model.lanes(), *lane, other);
      state.nav.reveal = true;
      return;
    }
    at += by;
  }
  state.status =
      by > 0 ? "this is the last lane of its group" : "this is the first lane of its group";
}

void toggle_current_lane(const TraceModel& model, ViewState& state) {
  if (const auto lane = current_lane(model, state)) {
    toggle_collapsed(model, state, *lane);
  } else {
    state.status = kNoLane;
  }
}

void toggle_pinned(const TraceModel& model, ViewState& state) {
  const auto lane = current_lane(model, state);
  if (!lane) {
    state.status = kNoLane;
  } else if (is_group(model.lanes()[*lane].kind)) {
    state.status = "a group of lanes cannot be pinned";
  } else {
    state.nav.lane_order.toggle_pinned(model.lanes(), *lane);
  }
}

void collapse_all(const TraceModel& model, ViewState& state, LaneKind kind) {
  state.nav.collapsed.resize(model.lanes().size());
  size_t count = 0, open = 0;
  for (size_t lane = 0; lane < model.lanes().size(); ++lane) {
    if (model.lanes()[lane].kind != kind) continue;
    ++count;
    open += !state.nav.collapsed[lane];
  }
  for (size_t lane = 0; lane < model.lanes().size(); ++lane) {
    if (model.lanes()[lane].kind == kind) state.nav.collapsed[lane] = open > 0;
  }
  if (count == 0) state.status = "no such lanes in this trace";
}

void mark(const TraceModel& model, ViewState& state, bool extend) {
  const Ns middle = state.nav.window.to_ns(state.nav.window.width_px / 2);
  const TimeRange at =
      model.items().time(state.selection.item).value_or(TimeRange{middle, add_ns(middle, 1)});
  if (extend && state.nav.marked) {
    state.nav.marked->begin_ns = std::min(state.nav.marked->begin_ns, at.begin_ns);
    state.nav.marked->end_ns = std::max(state.nav.marked->end_ns, at.end_ns);
  } else {
    state.nav.marked = at;
  }
}

Ns instant_of_keys(const ViewState& state) {
  const TimeRange shown = state.nav.window.range();
  if (state.nav.marked && state.nav.marked->begin_ns >= shown.begin_ns &&
      state.nav.marked->begin_ns < shown.end_ns)
    return state.nav.marked->begin_ns;
  return state.nav.window.to_ns(state.nav.window.width_px / 2);
}

}  // namespace streamscope::viewer
