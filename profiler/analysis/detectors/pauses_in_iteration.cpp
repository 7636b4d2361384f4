// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "pauses_in_iteration.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "../delay/wait_groups.h"
#include "../iterations/iteration_series.h"
#include "trace/ns_math.h"

namespace streamscope::analysis {
namespace {

constexpr double kLeastOutsideShare = 0.05;
constexpr Ns kLeastOutsideGain = 20;  // 1/20 of the iteration: shorter pauses are the host's pace

}  // namespace

std::optional<PausesInIteration> pauses_in_iterations(Analyses& analyses) {
  const IterationModel& model = analyses.iteration_model();
  if (!model.found() || part_of(model, TimeShare::kOutside) < kLeastOutsideShare)
    return std::nullopt;
  const Trace& trace = analyses.trace();
  const Iterations& iterations = model.iterations();
  const Acts& issues = analyses.thread_acts().issues;
  struct Before {  // pauses before the same work
    Ns total_ns = 0, longest_ns = 0, start_ns = kUnknownNs, end_ns = kUnknownNs;
    Id op = kNoId;
  };
  std::map<Work, Before> by_work;
  PausesInIteration result;
  IterationSlots slots = IterationSlots::of_host(iterations);
  IterationSeries series;
  const SamplesByThread by_thread(trace);
  std::vector<Id> samples;
  const Ns from = iterations.issued_from_ns(), to = iterations.issued_to_ns();
  for (const Id thread : model.shares().threads) {
    for (const HostPause& pause : analyses.host_pauses().of(thread)) {
      if (pause.start_ns < from || pause.end_ns > to) continue;
      const Ns begin = pause.own_start_ns();
      const Ns lasted = pause.end_ns - begin;
      if (lasted < long_pause_ns(iterations)) continue;
      const Id op = issues.next(thread, pause.end_ns).second;
      if (op == kNoId) continue;
      result.change.cuts.add(thread, begin, pause.end_ns);
      ++result.count;
      slots.cut(begin, pause.end_ns, [&](uint32_t slot, Ns time) { series.add(slot, time); });
      std::ranges::copy(by_thread.of(thread, begin, pause.end_ns), std::back_inserter(samples));
      Before& before = by_work[work_of(trace, op)];
      trace::add_to(before.total_ns, lasted);
      if (lasted <= before.longest_ns) continue;
      before = {before.total_ns, lasted, begin, pause.end_ns, op};
    }
  }
  result.each_ns = per_iteration(series, iterations).usual.median_ns;
  if (result.each_ns == 0) return std::nullopt;
  const auto most = std::ranges::max_element(
      by_work, {}, [](const auto& entry) { return entry.second.total_ns; });
  const Before& before = most->second;
  result.activities = host_activities(
      analyses, samples, series.total_ns() / static_cast<Ns>(iterations.steady_count()));
  result.before_op = before.op;
  result.before = static_cast<double>(before.total_ns) / static_cast<double>(series.total_ns());
  result.start_ns = before.start_ns;
  result.end_ns = before.end_ns;
  return result;
}

std::optional<PausesInIteration> input_pauses(Analyses& analyses) {
  if (analyses.trace().host_sample.empty()) return std::nullopt;
  auto pauses = pauses_in_iterations(analyses);
  if (pauses && !is_input_bound(pauses->activities)) pauses.reset();
  return pauses;
}

bool set_pauses(const IterationModel& model, const PausesInIteration& pauses, Finding& finding) {
  if (!set_iteration_gain(model, pauses.change, model.shares().busy_ns, finding) ||
      finding.iteration->gain_ns() < finding.iteration->before_ns / kLeastOutsideGain)
    return false;
  if (pauses.activities.samples >= kLeastSamples)
    finding.place.call_site = pauses.activities.lines.front().place;
  finding.second_op = pauses.before_op;
  finding.count = pauses.count;
  finding.start_ns = pauses.start_ns;
  finding.end_ns = pauses.end_ns;
  return true;
}

}  // namespace streamscope::analysis
