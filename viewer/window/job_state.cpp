// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "job_state.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <span>
#include <utility>

#include "model/rank_lane.h"
#include "view.h"

namespace streamscope::viewer {
namespace {

constexpr double kJobMargin = 0.02;

void refuse_on_job(ViewState& state, const char* why) { state.status = why; }

void lay_out_rows(const JobModel& job, JobState& state) {
  state.rows = shown_ranks(job.groups(), job.caused_ns(), state.by_number, state.unfolded);
  state.row_of.assign(job.steps().ranks.size(), 0);
  for (uint32_t row = 0; row < state.rows.size(); ++row) {
    const ShownRank& shown = state.rows[row];
    if (!shown.is_fold) {
      state.row_of[shown.rank] = row;
    } else {
      for (const uint32_t rank : job.groups()[shown.group].ranks) state.row_of[rank] = row;
    }
  }
}

// Keeps part of the run in the window, and the window not much wider than the run.
void clamp_job_window(const JobModel& job, TimeWindow& window) {
  const TimeRange extent = job.extent();
  const double widest = extent.span_ns() * 2 / window.width_px;
  if (window.ns_per_px > std::max(widest, kMinNsPerPx))
    window.zoom(window.width_px / 2, window.ns_per_px / widest);
  const double keep = window.width_px * 0.1;
  if (const double end = window.to_px(extent.end_ns); end < keep) window.pan_px(keep - end);
  if (const double begin = window.to_px(extent.begin_ns); begin > window.width_px - keep)
    window.pan_px(window.width_px - keep - begin);
}

// What a rank did, in the order of time.
std::vector<StepPart> parts_of(const JobModel& job, uint32_t rank) {
  const RankLane lane = lane_of(job, rank);
  std::vector<std::pair<Ns, StepPart>> parts;
  for (size_t i = 0; i < lane.work.size(); ++i)
    parts.push_back({lane.work.start_ns[i], {lane.work.item[i], true}});
  for (const Row& row : lane.collectives) {
    for (size_t i = 0; i < row.size(); ++i) {
      const StepPart part{row.item[i], false};
      if (i == 0 || row.item[i - 1] != part.step) parts.push_back({row.start_ns[i], part});
    }
  }
  std::ranges::stable_sort(parts, {}, [](const auto& each) { return each.first; });
  std::vector<StepPart> result;
  for (const auto& [at, part] : parts) result.push_back(part);
  return result;
}

// What a rank did last before an instant, or else first.
StepPart part_at(const JobModel& job, uint32_t rank, Ns at) {
  StepPart last;
  for (const StepPart part : parts_of(job, rank)) {
    if (last && job.time(part)->begin_ns > at) break;
    last = part;
  }
  return last;
}

// Of these steps, the work that took longest beyond what is usual.
void select_longest(const JobModel& job, ViewState& state, std::span<const uint32_t> steps) {
  StepPart longest;
  Ns most = std::numeric_limits<Ns>::min();
  for (const uint32_t step : steps) {
    if (job.steps().work_ns[step] <= 0 || !job.steps().ran(step)) continue;
    const Ns excess = job::excess_ns(job.steps(), job.job().peers, step);
    if (excess <= most) continue;
    most = excess;
    longest = {step, true};
  }
  if (!longest) return refuse_on_job(state, "no work in view");
  select(job, state, longest);
}

// An instant in the trace of a rank, which stays the same while the run grows.
Ns in_trace(const JobModel& job, uint32_t rank_row, Ns own_ns) {
  return own_ns - job.steps().ranks[rank_row].shift_ns;
}

// The same part of the run, read again; none if it is not there any more.
StepPart same_part(const JobModel& before, const JobModel& now, StepPart part) {
  if (!part || !before.steps().ran(part.step)) return {};
  const job::Steps &was = before.steps(), &is = now.steps();
  const auto rank = now.row_of(was.rank_number(part.step));
  if (!rank) return {};
  const auto start = [](const JobModel& job, uint32_t step) {
    return in_trace(job, job.steps().rank_of(step), job.steps().start_ns[step]);
  };
  const job::RankRow& row = is.ranks[*rank];
  for (uint32_t i = row.first_row; i < row.first_row + row.row_count; ++i) {
    const job::IterationRow& iteration = is.iterations[i];
    for (uint32_t step = iteration.first_step; step < iteration.first_step + iteration.step_count;
         ++step) {
      if (is.ran(step) && is.sequence[step] == was.sequence[part.step] &&
          is.kind[step] == was.kind[part.step] && start(now, step) == start(before, part.step))
        return {step, part.is_work};
    }
  }
  return {};
}

// What an instant in view has moved by, as the clock of the first rank may be that of another one.
Ns moved_ns(const JobModel& before, const JobModel& now, const JobState& state) {
  const auto iteration = before.iteration_at(state.window.to_ns(state.window.width_px / 2));
  for (uint32_t rank = 0; iteration && rank < before.steps().ranks.size(); ++rank) {
    const auto row = now.row_of(before.steps().ranks[rank].identity.rank);
    const job::IterationRow* shown =
        before.iteration_of(rank, before.iterations()[*iteration].number);
    if (!row || shown == nullptr || before.has_clock(rank) != now.has_clock(*row)) continue;
    const Ns at = in_trace(before, rank, shown->start_ns);
    return distance_ns(before.at(rank, shown->start_ns),
                       now.at(*row, at + now.steps().ranks[*row].shift_ns));
  }
  return 0;
}

Ns middle_of(const JobState& state) { return state.window.to_ns(state.window.width_px / 2); }

}  // namespace

void set_job(ViewState& state, std::shared_ptr<const JobModel> model) {
  state.job = {};
  if (!model) return;
  state.job.model = std::move(model);
  state.job.is_shown = true;
  state.job.unfolded.assign(state.job.model->groups().size(), false);
  lay_out_rows(*state.job.model, state.job);
}

void update_job(ViewState& state, std::shared_ptr<const JobModel> model) {
  JobState& job = state.job;
  const std::shared_ptr<const JobModel> before = std::exchange(job.model, std::move(model));
  const JobModel& now = *job.model;
  const std::vector<bool> unfolded =
      std::exchange(job.unfolded, std::vector<bool>(now.groups().size(), false));
  for (uint32_t group = 0; group < unfolded.size(); ++group) {
    if (!unfolded[group]) continue;
    for (const uint32_t rank : before->groups()[group].ranks) {
      if (const auto row = now.row_of(before->steps().ranks[rank].identity.rank))
        job.unfolded[now.group_of(*row)] = true;
    }
  }
  lay_out_rows(now, job);
  job.hovered = {};
  job.selection = same_part(*before, now, job.selection);
  TimeWindow& window = job.window;
  if (window.width_px <= 1) return;  // not drawn yet
  TimeWindow all = window;
  all.show(before->extent(), kJobMargin);
  if (all.range() == window.range()) return fit(now, state);
  const double end_px = window.to_px(before->extent().end_ns);
  if (!job.selection && end_px >= 0 && end_px <= window.width_px) {
    window.pan_px(end_px - window.to_px(now.extent().end_ns));
  } else {
    window.begin_ns += moved_ns(*before, now, job);
  }
  clamp_job_window(now, window);
}

void fit(const JobModel& job, ViewState& state) { state.job.window.show(job.extent(), kJobMargin); }

void first_fit(const JobModel& job, ViewState& state, double width_px) {
  state.job.window.resize(width_px);
  if (job.iterations().empty()) return fit(job, state);
  go_to_iteration(job, state, job.opening());
}

void show(const JobModel& job, ViewState& state, TimeRange range) {
  state.job.window.show(range);
  clamp_job_window(job, state.job.window);
}

void zoom(const JobModel& job, ViewState& state, double px, double factor) {
  state.job.window.zoom(px, factor);
  clamp_job_window(job, state.job.window);
}

void pan(const JobModel& job, ViewState& state, double px) {
  state.job.window.pan_px(px);
  clamp_job_window(job, state.job.window);
}

std::optional<size_t> current_iteration(const JobModel& job, const ViewState& state) {
  constexpr double kMost = 2;  // times its duration in view
  const TimeWindow& window = state.job.window;
  const auto iteration = job.iteration_at(middle_of(state.job));
  if (!iteration ||
      window.span_ns() > kMost * job.iterations()[*iteration].range.span_ns() + window.ns_per_px)
    return std::nullopt;
  return iteration;
}

void go_to_iteration(const JobModel& job, ViewState& state, size_t iteration) {
  state.job.window.show(job.iterations()[iteration].range, kJobMargin);
  clamp_job_window(job, state.job.window);
}

void step_iteration(const JobModel& job, ViewState& state, int by) {
  const auto middle = job.iteration_at(middle_of(state.job));
  if (!middle) return refuse_on_job(state, "this run has no iterations");
  if (!current_iteration(job, state)) return go_to_iteration(job, state, *middle);
  if (by < 0 && *middle == 0) return refuse_on_job(state, "this is the first iteration");
  if (by > 0 && *middle + 1 == job.iterations().size())
    return refuse_on_job(state, "this is the last iteration");
  go_to_iteration(job, state, by > 0 ? *middle + 1 : *middle - 1);
}

void go_to_median_iteration(const JobModel& job, ViewState& state) {
  if (job.iterations().empty()) return refuse_on_job(state, "this run has no iterations");
  go_to_iteration(job, state, job.opening());
}

void select(const JobModel& job, ViewState& state, StepPart part) {
  state.job.selection = part;
  state.job.reveal = true;
  const auto range = job.time(part);
  const TimeWindow& window = state.job.window;
  if (!range || window.width_px <= 1) return;
  const double from = window.to_px(range->begin_ns), to = window.to_px(range->end_ns);
  if (to < window.width_px * 0.02 || from > window.width_px * 0.98)
    pan(job, state, window.width_px / 2 - (from + to) / 2);
}

void zoom_to_selection(const JobModel& job, ViewState& state) {
  const auto range = job.time(state.job.selection);
  if (!range) return refuse_on_job(state, "nothing is selected");
  state.job.window.show(*range, 0.25);
  clamp_job_window(job, state.job.window);
  state.job.reveal = true;
}

void step_in_row(const JobModel& job, ViewState& state, int by) {
  const StepPart now = state.job.selection;
  if (!now) {
    if (state.job.rows.empty()) return refuse_on_job(state, "nothing to select");
    return select(job, state, part_at(job, state.job.rows.front().rank, middle_of(state.job)));
  }
  const std::vector<StepPart> parts = parts_of(job, job.steps().rank_of(now.step));
  const ptrdiff_t next = std::ranges::find(parts, now) - parts.begin() + by;
  if (next < 0) return refuse_on_job(state, "this is the first in its lane");
  if (next >= std::ssize(parts)) return refuse_on_job(state, "this is the last in its lane");
  select(job, state, parts[static_cast<size_t>(next)]);
}

void step_to_row(const JobModel& job, ViewState& state, int by) {
  const StepPart now = state.job.selection;
  const auto time = job.time(now);
  if (!time) return step_in_row(job, state, by);
  const uint32_t own = state.job.row_of[job.steps().rank_of(now.step)];
  for (ptrdiff_t row = static_cast<ptrdiff_t>(own) + by;
       row >= 0 && row < std::ssize(state.job.rows); row += by) {
    // An unfolded group has a row for the rank that stands for it as well.
    const ShownRank& shown = state.job.rows[static_cast<size_t>(row)];
    if (state.job.row_of[shown.rank] != row) continue;
    if (const StepPart part = part_at(job, shown.rank, time->begin_ns))
      return select(job, state, part);
  }
  refuse_on_job(state, by > 0 ? "nothing to select in the lanes below"
                              : "nothing to select in the lanes above");
}

void follow_path(const JobModel& job, ViewState& state, bool back) {
  const std::vector<PathHop>& path = job.path();
  if (path.empty()) return refuse_on_job(state, "this run has no critical path");
  const StepPart now = state.job.selection;
  const auto hop = now ? job.hop_of(now.step) : std::nullopt;
  if (!hop) {
    const auto time = job.time(now);
    const Ns at = time ? time->begin_ns : middle_of(state.job);
    const auto nearest =
        std::ranges::lower_bound(path, at, {}, [](const PathHop& each) { return each.end_ns; });
    const PathHop& found = nearest == path.end() ? path.back() : *nearest;
    return select(job, state, {found.step, found.begin_ns < found.arrive_ns});
  }
  // A hop is its work, if it has any, then its collective, if it is one.
  const auto has_part = [&](size_t index, bool is_work) {
    return is_work ? path[index].begin_ns < path[index].arrive_ns
                   : !job.steps().ends_iteration(path[index].step);
  };
  ptrdiff_t at = static_cast<ptrdiff_t>(*hop) * 2 + (now.is_work ? 0 : 1);
  do {
    at += back ? -1 : 1;
    if (at < 0) return refuse_on_job(state, "the critical path begins here");
    if (at >= 2 * std::ssize(path)) return refuse_on_job(state, "the critical path ends here");
  } while (!has_part(static_cast<size_t>(at / 2), at % 2 == 0));
  select(job, state, {path[static_cast<size_t>(at / 2)].step, at % 2 == 0});
}

void select_rank(const JobModel& job, ViewState& state, uint32_t rank_row) {
  const auto iteration = job.iteration_at(middle_of(state.job));
  const job::IterationRow* row =
      iteration ? job.iteration_of(rank_row, job.iterations()[*iteration].number) : nullptr;
  if (row == nullptr) return refuse_on_job(state, "this rank has no such iteration");
  std::vector<uint32_t> steps(row->step_count);
  std::iota(steps.begin(), steps.end(), row->first_step);
  select_longest(job, state, steps);
}

void select_delay(const JobModel& job, ViewState& state, size_t delay) {
  state.job.is_shown = true;
  const std::vector<int32_t>& ranks = job.job().delays[delay].ranks;
  if (ranks.empty()) return select_latest(job, state);  // another one each time
  select_rank(job, state, job.row_of(ranks.front()).value());
}

void select_latest(const JobModel& job, ViewState& state) {
  const TimeRange shown = state.job.window.range();
  std::vector<uint32_t> steps;
  for (const PathHop& hop : job.path()) {
    if (hop.arrive_ns > shown.begin_ns && hop.begin_ns < shown.end_ns) steps.push_back(hop.step);
  }
  select_longest(job, state, steps);
}

void toggle_fold(const JobModel& job, ViewState& state, uint32_t group) {
  state.job.unfolded[group] = !state.job.unfolded[group];
  lay_out_rows(job, state.job);
}

void toggle_current_fold(const JobModel& job, ViewState& state) {
  const StepPart now = state.job.selection;
  if (!now) return refuse_on_job(state, "nothing is selected");
  const uint32_t group = job.group_of(job.steps().rank_of(now.step));
  if (!job.groups()[group].is_fold())
    return refuse_on_job(state, "no other rank waits as this one does");
  toggle_fold(job, state, group);
  state.job.reveal = true;
}

void toggle_order(const JobModel& job, ViewState& state) {
  state.job.by_number = !state.job.by_number;
  lay_out_rows(job, state.job);
  state.job.reveal = static_cast<bool>(state.job.selection);
}

void open_rank(const JobModel& job, ViewState& state, uint32_t rank_row) {
  const job::RankRow& rank = job.steps().ranks[rank_row];
  state.wanted.open = job.folder() / rank.identity.trace;
  state.wanted.shown.reset();
  const auto iteration = job.iteration_at(middle_of(state.job));
  if (!iteration) return;
  const job::IterationRow* own = job.iteration_of(rank_row, job.iterations()[*iteration].number);
  if (own != nullptr)
    state.wanted.shown = {own->start_ns - rank.shift_ns, own->end_ns - rank.shift_ns};
}

void open_selected_rank(const JobModel& job, ViewState& state) {
  if (!state.job.selection) return refuse_on_job(state, "nothing is selected");
  open_rank(job, state, job.steps().rank_of(state.job.selection.step));
}

void show_ranks(ViewState& state) {
  if (!state.job.model) return refuse_on_job(state, "this trace was not opened from a run");
  state.job.is_shown = true;
}

}  // namespace streamscope::viewer
