// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "job/replay.h"

#include <algorithm>

#include "analysis/large_vector.h"

namespace streamscope::job {

Replay::Replay(const Steps& steps, const Matching& matching, const Peers& peers)
    : steps_(steps), matching_(matching) {
  analysis::resize_large(queued_, steps.count());
  for (uint32_t step = 0; step < steps.count(); ++step) {
    const uint32_t queued = steps.queued_after[step];
    queued_[slot_of(step)] = queued == kNone ? kNone : steps.group[queued];
  }
  // Each step depends on up to three others of its rank; what-ifs may choose the usual one.
  const auto needs = [&](uint32_t step) {
    const uint32_t after = steps.after[step], usual = usual_after(steps, peers, step);
    return std::array{after, steps.queued_after[step], usual == after ? kNone : usual};
  };
  const auto count = static_cast<uint32_t>(steps.count());
  std::vector<uint32_t> first_dependent(steps.group_count + 1), missing(steps.group_count);
  for (uint32_t step = 0; step < count; ++step) {
    for (uint32_t needed : needs(step)) {
      if (needed == kNone) continue;
      ++first_dependent[steps.group[needed] + 1];
      ++missing[steps.group[step]];
    }
  }
  for (uint32_t group = 0; group < steps.group_count; ++group) {
    first_dependent[group + 1] += first_dependent[group];
  }
  auto dependents = analysis::large_vector<uint32_t>(first_dependent.back(), 0);
  std::vector<uint32_t> next(first_dependent.begin(), first_dependent.end() - 1);
  for (uint32_t step = 0; step < count; ++step) {
    for (uint32_t needed : needs(step)) {
      if (needed != kNone) dependents[next[steps.group[needed]]++] = steps.group[step];
    }
  }
  order_.reserve(steps.group_count);
  for (uint32_t group = 0; group < steps.group_count; ++group) {
    if (missing[group] == 0) order_.push_back(group);
  }
  for (size_t done = 0; done < order_.size(); ++done) {
    const uint32_t group = order_[done];
    for (uint32_t i = first_dependent[group]; i < first_dependent[group + 1]; ++i) {
      if (--missing[dependents[i]] == 0) order_.push_back(dependents[i]);
    }
  }
  circular_count_ = steps.group_count - static_cast<uint32_t>(order_.size());
  if (circular_count_ == 0) return;
  for (uint32_t group = 0; group < steps.group_count; ++group) {
    if (missing[group] != 0) order_.push_back(group);
  }
}

Scenario Replay::measured(const Waiting& waiting, std::vector<Ns> starts) const {
  Scenario result;
  result.start_ns = std::move(starts);
  result.start_ns.resize(steps_.ranks.size());
  analysis::resize_large(result.work_ns, steps_.count());
  analysis::resize_large(result.after, steps_.count());
  for (uint32_t step = 0; step < steps_.count(); ++step) {
    set(result, step, steps_.work_ns[step], steps_.after[step]);
  }
  result.own_ns.reserve(waiting.waits.size());
  for (const Wait& wait : waiting.waits) result.own_ns.push_back(wait.own_ns);
  analysis::resize_large(result.called_ns, steps_.count(), trace::kUnknownNs);
  for (uint32_t rank = 0; rank < steps_.ranks.size(); ++rank) set_calls(rank, result);
  return result;
}

Scenario reserved_like(const Scenario& other) {
  Scenario result;
  analysis::reserve_large(result.work_ns, other.work_ns.size());
  analysis::reserve_large(result.after, other.after.size());
  analysis::reserve_large(result.called_ns, other.called_ns.size());
  return result;
}

void Replay::set_calls(uint32_t rank, Scenario& scenario) const {
  const RankRow& row = steps_.ranks[rank];
  if (row.row_count == 0 || row.first_call_ns == trace::kUnknownNs) return;
  const uint32_t first = steps_.iterations[row.first_row].first_step;
  const IterationRow& last = steps_.iterations[row.first_row + row.row_count - 1];
  Ns now = scenario.start_ns[rank] + row.first_call_ns;
  for (uint32_t step = first; step < last.first_step + last.step_count; ++step) {
    if (step != first && steps_.host_ns[step] > 0) now += static_cast<Ns>(steps_.host_ns[step]);
    // The end of an iteration is no call.
    if (steps_.host_ns[step] >= 0 && !steps_.ends_iteration(step))
      scenario.called_ns[slot_of(step)] = now;
  }
}

Ns Replay::ready_ns(const Scenario& scenario, const std::vector<Ns>& ends, uint32_t slot) const {
  const uint32_t after = scenario.after[slot];
  const Ns from =
      after == kNone ? scenario.start_ns[steps_.rank_of(matching_.members[slot])] : ends[after];
  return std::max(from + scenario.work_ns[slot], scenario.called_ns[slot]);
}

void Replay::find_ends(const Scenario& scenario, std::vector<Ns>& ends) const {
  ends.assign(matching_.group_count(), 0);
  for (uint32_t group : order_) {
    Ns last = std::numeric_limits<Ns>::min();
    const uint32_t end = matching_.first_member[group + 1];
    for (uint32_t slot = matching_.first_member[group]; slot < end; ++slot) {
      last = std::max(last, ready_ns(scenario, ends, slot));
      if (queued_[slot] != kNone) last = std::max(last, ends[queued_[slot]]);
    }
    ends[group] = last + scenario.own_ns[group];
  }
}

double Replay::iteration_ns(const Scenario& scenario, const std::vector<Ns>& ends) const {
  if (steps_.iterations.empty()) return 0;
  uint32_t first = kNone, last = 0;
  for (const IterationRow& row : steps_.iterations) {
    first = std::min(first, row.number);
    last = std::max(last, row.number);
  }
  Ns end = std::numeric_limits<Ns>::min();
  for (const IterationRow& row : steps_.iterations) {
    if (row.number == last) {
      end = std::max(end, ends[steps_.group[row.first_step + row.step_count - 1]]);
    }
  }
  const Ns start = std::ranges::max(scenario.start_ns);
  return static_cast<double>(end - start) / (last - first + 1);
}

std::vector<Hop> Replay::critical_path(const Scenario& scenario,
                                       const std::vector<Ns>& ends) const {
  std::vector<Hop> path;
  uint32_t group = kNone;
  for (const RankRow& rank : steps_.ranks) {
    if (rank.row_count == 0) continue;
    const IterationRow& row = steps_.iterations[rank.first_row + rank.row_count - 1];
    const uint32_t end = steps_.group[row.first_step + row.step_count - 1];
    if (group == kNone || ends[end] > ends[group]) group = end;
  }
  // A circle of groups would never end.
  while (group != kNone && path.size() < matching_.group_count()) {
    Hop hop{kNone, 0, scenario.own_ns[group]};
    uint32_t before = kNone;
    Ns latest = std::numeric_limits<Ns>::min();
    const uint32_t end = matching_.first_member[group + 1];
    for (uint32_t slot = matching_.first_member[group]; slot < end; ++slot) {
      const Ns ready = ready_ns(scenario, ends, slot);
      if (ready > latest) {
        latest = ready;
        hop.step = matching_.members[slot];
        hop.work_ns = scenario.work_ns[slot];
        before = scenario.after[slot];
      }
      const uint32_t queued = queued_[slot];
      if (queued != kNone && ends[queued] > latest) {
        latest = ends[queued];
        hop.step = matching_.members[slot];
        hop.work_ns = 0;
        before = queued;
      }
    }
    path.push_back(hop);
    group = before;
  }
  return path;
}

}  // namespace streamscope::job
