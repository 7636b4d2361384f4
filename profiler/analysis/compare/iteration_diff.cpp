// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "iteration_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <tuple>
#include <utility>

#include "analysis/call_sites.h"
#include "analysis/iterations/iteration_series.h"
#include "analysis/labels.h"
#include "analysis/units.h"
#include "analysis/usage/host_syncs.h"
#include "compared_work.h"
#include "trace/ns_math.h"

namespace streamscope::analysis {
namespace {

// Sequences of different lengths are different parts of the program, such as a layer and a step.
constexpr double kMostOpsRatio = 1.5;

using PlaceKey = std::tuple<PlaceChange::Kind, std::string, std::string>;  // name, call site
struct PlaceCost {
  Ns ns = 0;
  uint64_t count = 0;
};
using PlaceCosts = std::map<PlaceKey, PlaceCost>;

std::string why_not(const Iterations& base, const Iterations& now) {
  if (!base.found() || !now.found()) {
    return fmt::format("no iterations were found in the {} run{}", base.found() ? "new" : "base",
                       base.found() || now.found() ? "" : ", nor in the new one");
  }
  const auto [fewer, more] = std::minmax(base.op_count, now.op_count);
  const bool alike = base.source == now.source && base.name == now.name &&
                     (base.source != IterationSource::kSequence ||
                      static_cast<double>(more) <= kMostOpsRatio * static_cast<double>(fewer));
  return alike ? ""
               : fmt::format(
                     "iterations were found in different ways: {} in the base run, {} in "
                     "the new one",
                     how_found(base), how_found(now));
}

ComparedIterations summarize(Analyses& analyses, const IterationModel& model) {
  const Iterations& iterations = model.iterations();
  const auto count = static_cast<Ns>(iterations.steady_count());
  ComparedIterations result{
      .count = iterations.steady_count(),
      .median_ns = iterations.median_ns,
      .low_ns = iterations.low_ns,
      .high_ns = iterations.high_ns,
      .mean_ns = model.shares().total_ns() / count,
      .mean_shares_ns = {},
      .launch_count = model.shares().launch_count,
      .pace = host_pace(analyses, model.iterations(), model.shares().threads)};
  for (size_t i = 0; i < kShareCount; ++i)
    result.mean_shares_ns[i] = model.shares().total[i] / count;
  return result;
}

ComparedIterations summarize(const std::vector<Ns>& durations) {
  const Quartiles usual = quartiles_of(durations);
  Ns total_ns = 0;
  for (const Ns duration : durations) trace::add_to(total_ns, duration);
  return {.count = durations.size(),
          .median_ns = usual.median_ns,
          .low_ns = usual.low_ns,
          .high_ns = usual.high_ns,
          .mean_ns = total_ns / static_cast<Ns>(durations.size()),
          .mean_shares_ns = {},
          .launch_count = 0,
          .pace = {}};
}

// What the host did in the steady part, by place.
PlaceCosts costs_of(Analyses& analyses, const Iterations& iterations) {
  const Trace& trace = analyses.trace();
  const Ns from = iterations.issued_from_ns(), to = iterations.issued_to_ns();
  const std::vector<std::string> sites = call_sites(trace);
  const auto site_of = [&](Id stack) { return stack < sites.size() ? sites[stack] : ""; };
  const auto is_steady = [&](Ns at, Id thread) {
    return at >= from && at < to && trace.process_of_thread(thread) == iterations.process_id;
  };
  PlaceCosts costs;
  const auto& syncs = trace.host_sync;
  for (Id sync = 0; sync < syncs.size(); ++sync) {
    if (!blocks_host(trace, sync) || !is_steady(syncs.start_ns[sync], syncs.thread_id[sync]))
      continue;
    PlaceCost& cost = costs[{PlaceChange::kSynchronization, sync_name(trace, sync),
                             site_of(syncs.stack_id[sync])}];
    ++cost.count;
    trace::add_to(cost.ns,
                  std::max<Ns>(0, trace::between(syncs.start_ns[sync], syncs.end_ns[sync])));
  }
  Id counted = kNoId;  // the parts of one op are neighbors
  for (const WaitPart& part : analyses.waits()) {
    const Id call = trace.op.api_call_id[part.op];
    const bool is_late = is_host(part.cause) && part.cause != WaitCause::kProfiler;
    if (!is_late || call >= trace.api_call.size() ||
        !is_steady(trace.api_call.start_ns[call], trace.api_call.thread_id[call]))
      continue;
    PlaceCost& cost = costs[{PlaceChange::kLateLaunch, op_label(trace, part.op),
                             site_of(trace.api_call.stack_id[call])}];
    cost.count += part.op != counted;
    counted = part.op;
    trace::add_to(cost.ns, part.duration_ns);
  }
  return costs;
}

// "train.py step" for "train.py:41 step": the same when lines move.
std::string without_line(const std::string& call_site) {
  const auto source = source_line(call_site);
  return source ? fmt::format("{} {}", source->file, source->function) : call_site;
}

// If a place is in one run only, and the only other one of its function is in the other run only,
// lines have moved: the costs of the base get the call site of the new run.
void follow_moved_lines(PlaceCosts& base, const PlaceCosts& now) {
  std::map<PlaceKey, std::pair<std::vector<PlaceKey>, std::vector<PlaceKey>>> moved;
  const auto without = [](const PlaceKey& key) {
    return PlaceKey{std::get<0>(key), std::get<1>(key), without_line(std::get<2>(key))};
  };
  for (const auto& [key, cost] : base) {
    if (!now.contains(key)) moved[without(key)].first.push_back(key);
  }
  for (const auto& [key, cost] : now) {
    if (!base.contains(key)) moved[without(key)].second.push_back(key);
  }
  for (const auto& [key, both] : moved) {
    if (both.first.size() != 1 || both.second.size() != 1) continue;
    base[both.second.front()] = base[both.first.front()];
    base.erase(both.first.front());
  }
}

std::vector<PlaceChange> compare_places(PlaceCosts base, const PlaceCosts& now, size_t base_count,
                                        size_t new_count) {
  follow_moved_lines(base, now);
  std::vector<PlaceChange> changes;
  for_both(base, now, [&](const PlaceKey& key, const PlaceCost& before, const PlaceCost& after) {
    PlaceChange change{
        .kind = std::get<0>(key),
        .name = std::get<1>(key),
        .call_site = std::get<2>(key),
        .base_ns = before.ns / static_cast<Ns>(base_count),
        .new_ns = after.ns / static_cast<Ns>(new_count),
        .base_count = static_cast<double>(before.count) / static_cast<double>(base_count),
        .new_count = static_cast<double>(after.count) / static_cast<double>(new_count)};
    if (change.growth_ns() != 0 || change.base_count != change.new_count)
      changes.push_back(std::move(change));
  });
  std::ranges::stable_sort(changes, std::ranges::greater{},
                           [](const PlaceChange& change) { return std::abs(change.growth_ns()); });
  if (changes.size() > IterationDiff::kMostPlaces) changes.resize(IterationDiff::kMostPlaces);
  return changes;
}

}  // namespace

TimeShare IterationDiff::most_grown() const {
  size_t best = 0;
  for (size_t i = 1; i < kShareCount; ++i) {
    if (growth_ns(static_cast<TimeShare>(i)) > growth_ns(static_cast<TimeShare>(best))) best = i;
  }
  return static_cast<TimeShare>(best);
}

double IterationDiff::host_slowdown() const {
  constexpr double kAlike = 0.05;
  return std::abs(now.launch_count - base.launch_count) > kAlike * base.launch_count
             ? 1
             : slowdown(base.pace, now.pace);
}

IterationDiff compare_iterations(Analyses& base, Analyses& now) {
  const IterationModel &before = base.iteration_model(), &after = now.iteration_model();
  IterationDiff result{.why_not = base.iteration_request().off
                                      ? "none were requested"
                                      : why_not(before.iterations(), after.iterations())};
  if (!result.comparable()) return result;
  result.how = how_found(after.iterations());
  result.base = summarize(base, before);
  result.now = summarize(now, after);
  result.test =
      compare_ranks(before.iterations().steady_durations(), after.iterations().steady_durations());
  result.places =
      compare_places(costs_of(base, before.iterations()), costs_of(now, after.iterations()),
                     result.base.count, result.now.count);
  return result;
}

IterationDiff compare_durations(std::string how, const std::vector<Ns>& base,
                                const std::vector<Ns>& now) {
  return {.how = std::move(how),
          .base = summarize(base),
          .now = summarize(now),
          .test = compare_ranks(base, now)};
}

}  // namespace streamscope::analysis
