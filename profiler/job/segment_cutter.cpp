// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "job/segment_cutter.h"

#include <algorithm>

#include "analysis/labels.h"
#include "trace/ns_math.h"

namespace streamscope::job {

using analysis::Iteration;
using analysis::PathStep;
using analysis::TimeShare;
using trace::Id;
using trace::kNoId;
using trace::kUnknownNs;

namespace {

// A longer wait for something that is unknown has another cause.
constexpr Ns kJustBeforeNs = 60'000;

constexpr size_t kAll = SIZE_MAX;  // collectives are before this number

bool has_unknown_waits(const trace::Trace& trace) {
  for (Id loss = 0; loss < trace.loss.size(); ++loss) {
    if (trace.text(trace.loss.name_id[loss]) == "import-unknown-object") return true;
  }
  return false;
}

// 0 if there is none where a third of the time went.
uint32_t place_of_most(const std::map<uint32_t, Ns>& times) {
  constexpr Ns kLeastOfTime = 3;  // its reciprocal
  const auto most = std::ranges::max_element(times, {}, [](const auto& at) { return at.second; });
  Ns all = 0;
  for (const auto& [place, time] : times) trace::add_to(all, time);
  return most == times.end() || most->second < all / kLeastOfTime ? 0 : most->first;
}

void add_to(Segment& segment, TimeShare share, Ns duration) {
  segment.shares[static_cast<size_t>(share)] += duration;
}

}  // namespace

SegmentCutter::SegmentCutter(analysis::Analyses& analyses, const analysis::Iterations& iterations)
    : analyses_(analyses),
      trace_(analyses.trace()),
      iterations_(iterations),
      steps_(analyses, long_pause_ns(iterations), iterations.process_id),
      samples_(analyses.trace()),
      ends_of_(analyses.trace().op.size()) {
  if (!has_unknown_waits(trace_)) return;
  for (const Id op : analyses.by_start()) {
    if (trace_.process_of_stream(trace_.op.stream_id[op]) == iterations.process_id)
      by_end_.push_back(op);
  }
  std::ranges::stable_sort(by_end_, {}, [&](Id op) { return trace_.op.end_ns[op]; });
  const auto& syncs = trace_.host_sync;
  for (Id sync = 0; sync < syncs.size(); ++sync) {
    const bool of_one = syncs.kind[sync] == trace::kStreamSynchronize ||
                        syncs.kind[sync] == trace::kEventSynchronize;
    if (of_one && syncs.stream_id[sync] == kNoId && syncs.event_id[sync] == kNoId &&
        syncs.start_ns[sync] != kUnknownNs && syncs.end_ns[sync] != kUnknownNs)
      unknown_syncs_[syncs.thread_id[sync]].push_back(sync);
  }
  for (auto& [thread, all] : unknown_syncs_)
    std::ranges::stable_sort(all, {}, [&](Id sync) { return syncs.end_ns[sync]; });
}

void SegmentCutter::end_at(const std::vector<analysis::Collective>& collectives) {
  for (size_t i = 0; i < collectives.size(); ++i) {
    const analysis::Collective& one = collectives[i];
    if (one.last_op < ends_of_.size()) {
      ends_of_[one.last_op] = true;
      collective_of_op_[one.last_op] = i;
    } else if (one.end_ns != kUnknownNs) {
      on_host_[one.thread].push_back({i, one.end_ns});
    }
  }
  if (on_host_.empty()) return;
  host_places_.emplace(trace_);
  for (auto& [thread, ends] : on_host_) std::ranges::stable_sort(ends, {}, &Beginning::ended_ns);
}

// The last collective of a thread on the host that had ended; nullptr without one. `before`: the
// number of a later one.
const SegmentCutter::Beginning* SegmentCutter::last_on_host(Id thread, Ns until,
                                                            size_t before) const {
  const auto known = on_host_.find(thread);
  if (known == on_host_.end()) return nullptr;
  auto next = std::ranges::upper_bound(known->second, until, {}, &Beginning::ended_ns);
  while (next != known->second.begin()) {
    if ((--next)->collective < before) return &*next;
  }
  return nullptr;
}

SegmentCutter::Path SegmentCutter::path_to_host(Id thread, Ns at, size_t before, Ns from) const {
  // A shorter way to what the thread did last: there may be thousands of messages.
  const Beginning* const last = last_on_host(thread, at, before);
  const analysis::HostBounds::Bound* const bound = analyses_.host_bounds().last(thread, at);
  const Ns begins =
      last && (!bound || bound->end_ns <= last->ended_ns) ? std::max(from, last->ended_ns) : from;
  return path_to({.thread = thread, .until_ns = at, .from_ns = begins, .ends_of = &ends_of_});
}

// Removes what precedes the last collective of the path; `before`: what it leads to.
std::optional<SegmentCutter::Beginning> SegmentCutter::begin(Path& path, size_t before) const {
  for (size_t i = path.size(); i-- > 0;) {
    PathStep& step = path[i];
    if (step.kind != trace::kLaunchStep) continue;
    Ns until = step.end_ns;
    if (step.op != kNoId) {
      const analysis::Issue issue = analyses_.order().issue(step.op);
      if (issue.thread_id == step.thread && issue.start_ns != kUnknownNs)
        until = std::min(until, issue.start_ns);
    }
    const Beginning* last = last_on_host(step.thread, until, before);
    if (!last || last->ended_ns < step.start_ns) continue;
    step.start_ns = last->ended_ns;
    path.erase(path.begin(), path.begin() + static_cast<ptrdiff_t>(i));
    return *last;
  }
  if (path.empty() || path.front().kind != trace::kOpStep ||
      path.front().start_ns != path.front().end_ns)
    return std::nullopt;
  const auto known = collective_of_op_.find(path.front().op);
  if (known == collective_of_op_.end()) return std::nullopt;
  return Beginning{known->second, trace_.op.end_ns[known->first]};
}

SegmentCutter::Path SegmentCutter::path_to(const analysis::PathPart& part) const {
  Path path = analyses_.path_part(part);
  for (size_t i = path.size(); i-- > 0;) {
    const Detour found = detour(path[i]);
    if (found.cause == kNoId) continue;
    const Ns ended = trace_.op.end_ns[found.cause];
    Path longer;
    if (ends_of_[found.cause]) {
      longer.push_back(
          {.kind = trace::kOpStep, .op = found.cause, .start_ns = ended, .end_ns = ended});
    } else {
      longer = path_to({.last_op = found.cause, .from_ns = part.from_ns, .ends_of = &ends_of_});
    }
    longer.insert(longer.end(), found.steps.begin(), found.steps.end());
    longer.insert(longer.end(), path.begin() + static_cast<ptrdiff_t>(i) + 1, path.end());
    return longer;
  }
  return path;
}

SegmentCutter::Detour SegmentCutter::detour(const PathStep& step) const {
  if (by_end_.empty() || (step.kind != trace::kLaunchStep && step.kind != trace::kGapStep))
    return {};
  Detour found = step.op == kNoId ? Detour{} : detour_of_op(step);
  return found.cause == kNoId && step.kind == trace::kLaunchStep ? detour_of_host(step) : found;
}

// The last op that ended in (from, to], just before `to`, and that is wanted.
template <class Wanted>
Id SegmentCutter::ended_before(Ns from, Ns to, Wanted wanted) const {
  const auto end_of = [&](Id op) { return trace_.op.end_ns[op]; };
  const auto next = std::ranges::upper_bound(by_end_, to, {}, end_of);
  for (auto at = next; at != by_end_.begin();) {
    const Id op = *--at;
    if (end_of(op) <= std::max(from, to - kJustBeforeNs)) break;
    if (wanted(op)) return op;
  }
  return kNoId;
}

SegmentCutter::Detour SegmentCutter::detour_of_op(const PathStep& step) const {
  const analysis::Issue issue = analyses_.order().issue(step.op);
  // The call of a synchronous copy lasts until the copy has ended.
  const bool waits = analyses_.order().copy_sync(step.op) != kNoId;
  const Ns issued = waits ? issue.start_ns : issue.end_ns;
  if (issued == kUnknownNs || step.end_ns != trace_.op.start_ns[step.op]) return {};
  const Ns ready = step.kind == trace::kGapStep ? std::max(issued, step.start_ns) : issued;
  if (step.end_ns - ready <= analysis::kStartLatencyNs) return {};
  const Id cause = ended_before(ready, step.end_ns, [&](Id op) {
    return (ends_of_[op] || ends_of_[step.op]) &&
           trace_.op.stream_id[op] != trace_.op.stream_id[step.op];
  });
  if (cause == kNoId) return {};
  return {cause,
          {{.kind = trace::kGapStep,
            .op = step.op,
            .start_ns = trace_.op.end_ns[cause],
            .end_ns = step.end_ns}}};
}

SegmentCutter::Detour SegmentCutter::detour_of_host(const PathStep& step) const {
  const auto syncs = unknown_syncs_.find(step.thread);
  if (syncs == unknown_syncs_.end()) return {};
  const auto& ends = trace_.host_sync.end_ns;
  auto at =
      std::ranges::upper_bound(syncs->second, step.end_ns, {}, [&](Id sync) { return ends[sync]; });
  while (at != syncs->second.begin()) {
    const Id sync = *--at;
    if (ends[sync] <= step.start_ns) break;
    const Id cause = ended_before(std::max(step.start_ns, trace_.host_sync.start_ns[sync]),
                                  ends[sync], [](Id) { return true; });
    if (cause == kNoId) continue;
    const PathStep waited{.kind = trace::kHostSyncStep,
                          .host_sync = sync,
                          .start_ns = trace_.op.end_ns[cause],
                          .end_ns = ends[sync]};
    PathStep launch = step;
    launch.start_ns = ends[sync];
    return {cause, {waited, launch}};
  }
  return {};
}

Segment SegmentCutter::before(const analysis::Collective& collective, size_t number,
                              const Iteration& iteration, const IndexOf& index_of) {
  if (collective.start_ns == kUnknownNs || collective.start_ns <= iteration.start_ns) return {};
  Path path;
  if (collective.op == kNoId) {
    path = path_to_host(collective.thread, collective.start_ns, number, iteration.start_ns);
  } else {
    path = path_to({.last_op = collective.op, .from_ns = iteration.start_ns, .ends_of = &ends_of_});
    if (!path.empty() && path.back().kind == trace::kOpStep && path.back().op == collective.op)
      path.pop_back();
  }
  return cut(std::move(path), collective.start_ns, number, iteration, index_of);
}

Segment SegmentCutter::before_end(const Iteration& iteration, const IndexOf& index_of) {
  const Id last = iteration.last_op;
  const Ns ended = last == kNoId ? iteration.start_ns : trace_.op.end_ns[last];
  const Beginning* const on_host = last_on_host(iterations_.thread_id, iteration.end_ns, kAll);
  Path path;
  if (on_host && on_host->ended_ns > ended) {
    path = path_to_host(iterations_.thread_id, iteration.end_ns, kAll, iteration.start_ns);
  } else if (last != kNoId && ends_of_[last]) {
    path.push_back({.kind = trace::kOpStep, .op = last, .start_ns = ended, .end_ns = ended});
  } else if (last != kNoId) {
    path = path_to({.last_op = last, .from_ns = iteration.start_ns, .ends_of = &ends_of_});
  }
  return cut(std::move(path), iteration.end_ns, kAll, iteration, index_of);
}

// `path` leads to `to`, or ends earlier if the host is the rest of the way.
Segment SegmentCutter::cut(Path path, Ns to, size_t before, const Iteration& iteration,
                           const IndexOf& index_of) {
  Segment segment;
  at_place_.clear();
  at_host_place_.clear();
  Ns from = iteration.start_ns;
  if (const std::optional<Beginning> beginning = begin(path, before)) {
    const Ns ended = beginning->ended_ns;
    if (const auto known = index_of.find(beginning->collective);
        known != index_of.end() && ended > from) {
      segment.after = known->second;
      from = ended;
    } else if (ended > from) {  // of the iteration before, which had not ended
      add_to(segment, TimeShare::kCollectives, ended - from);
    }
  } else if (!path.empty() && path.front().start_ns > from) {
    // Before the first launch the host was on its way to it, unless the calls of work are missing.
    const PathStep& first = path.front();
    if (!steps_.works_between(from, first.start_ns)) {
      path.insert(path.begin(), {.kind = trace::kLaunchStep,
                                 .op = first.op,
                                 .start_ns = from,
                                 .end_ns = first.start_ns,
                                 .thread = first.thread});
    }
  }
  for (const PathStep& step : path)
    add(step, std::max(step.start_ns, from), std::min(step.end_ns, to), segment);
  if (!path.empty() && path.back().end_ns < to) {
    steps_.split_host(iterations_.thread_id, std::max(path.back().end_ns, from), to, kNoId,
                      [&](TimeShare share, Ns duration) { add_to(segment, share, duration); });
  }
  Ns rest = to - from;
  for (const Ns part : segment.shares) rest -= part;
  add_to(segment, TimeShare::kUnknown, rest);
  segment.place = place_of_most(at_place_);
  segment.host_place = place_of_most(at_host_place_);
  return segment;
}

void SegmentCutter::add(const PathStep& step, Ns from, Ns to, Segment& segment) {
  if (from >= to) return;
  steps_.split(step, from, to,
               [&](TimeShare share, Ns duration) { add_to(segment, share, duration); });
  if (step.kind == trace::kLaunchStep) return charge_launch(step, from, to);
  charge(place_of(step), to - from, step.kind == trace::kHostSyncStep);
}

void SegmentCutter::charge(uint32_t place, Ns duration, bool host) {
  at_place_[place] += duration;
  if (host) at_host_place_[place] += duration;
}

// Where samples saw the host; without samples where ranges say it was, or at the launch to which it
// was on its way.
void SegmentCutter::charge_launch(const PathStep& step, Ns from, Ns to) {
  const auto samples = samples_.of(step.thread, from, to);
  if (samples.empty() && host_places_) return charge_ranges(step, from, to);
  if (samples.empty()) return charge(place_of_op(step.op), to - from, true);
  const Ns each = (to - from) / static_cast<Ns>(samples.size());
  for (const Id sample : samples) {
    const Id stack = trace_.host_sample.stack_id[sample];
    const std::string site = stack == kNoId ? "" : analyses_.places().call_site(stack);
    charge(site.empty() ? place_of_op(step.op) : place(site), each, true);
  }
}

// A range that had ended before the launch says more than the call site of the launch.
void SegmentCutter::charge_ranges(const PathStep& step, Ns from, Ns to) {
  const uint32_t launch = place_of_op(step.op);
  Ns rest = to - from;
  host_places_->each(step.thread, from, to, [&](std::string_view name, Ns ended, Ns begin, Ns end) {
    if (launch != 0 && (ended == kUnknownNs || ended > to)) return;
    charge(place(analysis::printable(name)), end - begin, true);
    rest -= end - begin;
  });
  if (rest > 0) charge(launch, rest, true);
}

uint32_t SegmentCutter::place_of(const PathStep& step) {
  if (step.kind != trace::kHostSyncStep) return place_of_op(step.op);
  const Id stack = trace_.host_sync.stack_id[step.host_sync];
  const std::string site = stack == kNoId ? "" : analyses_.places().call_site(stack);
  return place(site.empty() ? analysis::sync_name(trace_, step.host_sync) : site);
}

uint32_t SegmentCutter::place_of_op(Id op) {
  if (op == kNoId) return 0;
  const Id copy = analyses_.order().copy_sync(op);
  const Id call = trace_.op.api_call_id[op];
  const Id stack = copy != kNoId                   ? trace_.host_sync.stack_id[copy]
                   : call < trace_.api_call.size() ? trace_.api_call.stack_id[call]
                                                   : kNoId;
  const std::string site = stack == kNoId ? "" : analyses_.places().call_site(stack);
  return place(site.empty() ? analysis::op_label(trace_, op) : site);
}

uint32_t SegmentCutter::place(const std::string& text) {
  const auto [known, is_new] = place_ids_.try_emplace(text, static_cast<uint32_t>(places_.size()));
  if (is_new) places_.push_back(text);
  return known->second;
}

}  // namespace streamscope::job
