// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "job/segment_cutter.h"

#include <algorithm>

#include "analysis/labels.h"

namespace streamscope::job {

using analysis::Iteration;
using analysis::PathStep;
using analysis::TimeShare;
using trace::Id;
using trace::kNoId;
using trace::kUnknownNs;

namespace {

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
      ends_of_(analyses.trace().op.size()) {}

void SegmentCutter::ends_at(const analysis::Collective& collective) {
  if (collective.last_op < ends_of_.size()) ends_of_[collective.last_op] = true;
}

Segment SegmentCutter::before(const analysis::Collective& collective, const Iteration& iteration,
                              const IndexOf& index_of) {
  if (collective.start_ns == kUnknownNs || collective.start_ns <= iteration.start_ns) return {};
  Path path = analyses_.path_part(
      {.last_op = collective.op, .from_ns = iteration.start_ns, .ends_of = &ends_of_});
  if (!path.empty() && path.back().kind == trace::kOpStep && path.back().op == collective.op)
    path.pop_back();
  return cut(std::move(path), collective.start_ns, iteration, index_of);
}

Segment SegmentCutter::before_end(const Iteration& iteration, const IndexOf& index_of) {
  const Id last = iteration.last_op;
  if (last == kNoId) return cut({}, iteration.end_ns, iteration, index_of);
  Path path;
  if (ends_of_[last]) {
    const Ns end = trace_.op.end_ns[last];
    path.push_back({.kind = trace::kOpStep, .op = last, .start_ns = end, .end_ns = end});
  } else {
    path =
        analyses_.path_part({.last_op = last, .from_ns = iteration.start_ns, .ends_of = &ends_of_});
  }
  return cut(std::move(path), iteration.end_ns, iteration, index_of);
}

// `path` leads to `to`, or ends earlier if the host is the rest of the way.
Segment SegmentCutter::cut(Path path, Ns to, const Iteration& iteration, const IndexOf& index_of) {
  Segment segment;
  at_place_.clear();
  Ns from = iteration.start_ns;
  if (!path.empty() && path.front().start_ns == path.front().end_ns) {
    const Id op = path.front().op;
    const Ns ended = trace_.op.end_ns[op];
    if (const auto known = index_of.find(op); known != index_of.end() && ended > from) {
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
    steps_.split_host(iterations_.thread_id, std::max(path.back().end_ns, from), to,
                      [&](TimeShare share, Ns duration) { add_to(segment, share, duration); });
  }
  Ns rest = to - from;
  for (const Ns part : segment.shares) rest -= part;
  add_to(segment, TimeShare::kUnknown, rest);
  const auto most =
      std::ranges::max_element(at_place_, {}, [](const auto& at) { return at.second; });
  if (most != at_place_.end()) segment.place = most->first;
  return segment;
}

void SegmentCutter::add(const PathStep& step, Ns from, Ns to, Segment& segment) {
  if (from >= to) return;
  steps_.split(step, from, to,
               [&](TimeShare share, Ns duration) { add_to(segment, share, duration); });
  if (step.kind == trace::kLaunchStep) return charge_launch(step, from, to);
  charge(place_of(step), to - from);
}

// Where samples saw the host; without samples at the launch to which it was on its way.
void SegmentCutter::charge_launch(const PathStep& step, Ns from, Ns to) {
  const auto samples = samples_.of(step.thread, from, to);
  if (samples.empty()) return charge(place_of_op(step.op), to - from);
  const Ns each = (to - from) / static_cast<Ns>(samples.size());
  for (const Id sample : samples) {
    const Id stack = trace_.host_sample.stack_id[sample];
    const std::string site = stack == kNoId ? "" : analyses_.places().call_site(stack);
    charge(site.empty() ? place_of_op(step.op) : place(site), each);
  }
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
