// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "analysis/analyses.h"
#include "analysis/detector.h"
#include "analysis/hang/hang.h"
#include "analysis/iterations/iteration_model.h"
#include "job/hang_state.h"
#include "metrics.h"
#include "report/sections/info.h"
#include "trace/ns_math.h"

namespace streamscope::report {
namespace {

using trace::Id;
using trace::Ns;

IterationMetrics iteration_metrics(const analysis::IterationModel& model) {
  const analysis::Iterations& iterations = model.iterations();
  const analysis::IterationShares& shares = model.shares();
  IterationMetrics result{.count = iterations.all.size(),
                          .last_ns = iterations.all.back().duration_ns(),
                          .bare_ns = model.bare_ns(),
                          .bound = model.bound()};
  for (const analysis::Iteration& iteration : iterations.all)
    trace::add_to(result.total_ns, iteration.duration_ns());

  std::vector<Ns> steady;
  for (size_t i = iterations.steady_from; i < iterations.steady_to; ++i)
    steady.push_back(iterations.all[i].duration_ns());
  std::ranges::sort(steady);
  for (size_t i = 0; i < std::size(kQuantiles) && !steady.empty(); ++i) {
    const auto place = static_cast<size_t>(kQuantiles[i] * static_cast<double>(steady.size()));
    result.quantiles_ns[i] = steady[std::min(place, steady.size() - 1)];
  }

  const auto total = static_cast<double>(shares.total_ns());
  if (total <= 0) return result;
  for (size_t i = 0; i < analysis::kShareCount; ++i)
    result.shares[i] = static_cast<double>(shares.total[i]) / total;
  result.busy = static_cast<double>(shares.busy_ns) /
                static_cast<double>(std::max<Ns>(1, iterations.median_ns));
  return result;
}

void add_findings(analysis::Analyses& analyses, ProcessMetrics& result) {
  for (const analysis::Detector& detector : analysis::detectors()) result.findings[detector.id] = 0;
  for (const analysis::Verdict& verdict : analysis::evaluate_all(analyses)) {
    result.findings[verdict.detector->id] += static_cast<uint64_t>(
        std::ranges::count_if(verdict.findings, [](const analysis::Finding& finding) {
          return finding.confidence != Confidence::kPossible;
        }));
  }
}

}  // namespace

ProcessMetrics metrics_of(const trace::Trace& trace, std::string run,
                          const analysis::IterationRequest& request) {
  analysis::Analyses analyses(trace, request);
  const analysis::IterationModel& model = analyses.iteration_model();
  ProcessMetrics result{.run = std::move(run)};
  if (model.found()) result.iteration = iteration_metrics(model);

  const Id process = model.found() && model.iterations().process_id < trace.process.size()
                         ? model.iterations().process_id
                         : 0;
  if (process < trace.process.size()) {
    result.host = trace.text(trace.process.host_id[process]);
    result.pid = std::max<int64_t>(-1, trace.process.os_pid[process]);
    result.rank = std::max(-1, trace.process.rank[process]);
  }
  for (const analysis::WaitPart& part : analyses.waits())
    trace::add_to(result.waited_ns[static_cast<size_t>(part.cause)], part.duration_ns);
  add_findings(analyses, result);
  const bool hangs =
      std::ranges::any_of(analysis::explain_hangs(analyses), &trace::HangReport::alarm);
  result.state =
      hangs ? job::RankState::kHangs : job::hang_state(analyses, {.rank = result.rank}).state;

  const Info info = info_of(trace);
  for (const LossFact& loss : info.losses)
    trace::add_to(result.losses.at(static_cast<size_t>(loss.severity)),
                  std::max<uint64_t>(1, loss.count));
  result.finished = !info.unfinished;
  result.recorded_ns = info.duration_ns;
  if (info.recording_cost.is_measured()) result.cost = info.recording_cost.measured.percent / 100;
  return result;
}

}  // namespace streamscope::report
