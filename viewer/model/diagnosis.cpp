// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "diagnosis.h"

#include <algorithm>

#include "analysis/derive.h"
#include "analysis/iterations/iteration_model.h"
#include "labels.h"
#include "report/sections/iteration_strip.h"
#include "report/sections/summary.h"
#include "trace_model.h"

namespace streamscope::viewer {

namespace {

// The source line, or else the innermost NVTX ranges.
std::string place_of(const analysis::Location& location) {
  constexpr size_t kMostRanges = 60;  // bytes
  if (!location.call_site.empty() || location.ranges.empty()) return location.call_site;
  return "in " + ellipsize(location.ranges, kMostRanges);
}

}  // namespace

std::optional<TimeRange> Diagnosis::steady() const {
  if (!has_iterations()) return std::nullopt;
  return TimeRange{iterations.steady_start_ns(), iterations.steady_end_ns()};
}

std::optional<size_t> Diagnosis::iteration_at(Ns at) const {
  if (!has_iterations()) return std::nullopt;
  const auto end_of = [](const analysis::Iteration& iteration) { return iteration.end_ns; };
  const auto found = std::ranges::upper_bound(iterations.all, at, {}, end_of);
  return std::min(static_cast<size_t>(found - iterations.all.begin()), iterations.all.size() - 1);
}

size_t Diagnosis::opening() const { return report::median_iteration(iterations); }

Diagnosis diagnose(analysis::Analyses& analyses, const Insights& insights, Ns window_ns) {
  Diagnosis result;
  if (insights.derived) {
    result.iterations = analysis::stored_iterations(analyses.trace());
  } else if (const analysis::IterationModel& model = analyses.iteration_model(); model.found()) {
    result.iterations = model.iterations();
    result.summary = std::make_shared<const IterationSummary>(report::summarize(analyses, model));
  }
  const analysis::Iterations& iterations = result.iterations;
  for (size_t i = iterations.steady_from; i < iterations.steady_to; ++i) {
    if (report::part_of(iterations, i) == report::IterationPart::kOutlier)
      result.outliers.push_back(static_cast<uint32_t>(i));
  }
  std::vector<report::Advice> possible;
  for (size_t i = 0; i < insights.findings.size(); ++i) {
    const FindingLine& line = insights.findings[i];
    if (line.is_possible()) {
      possible.push_back(line.advice);
    } else if (line.advice.is_small()) {
      result.small.push_back(line.advice);
    }
    if (line.is_possible() || line.severity() == analysis::FindingSeverity::kNote) continue;
    if (!line.advice.repeats && result.repairs.size() < report::kFixedFirst) {
      result.repairs.push_back({i, report::gain_text(line.advice.finding, window_ns),
                                place_of(line.advice.finding.place)});
    } else {
      ++result.more;
    }
  }
  result.possible = report::possible_line(possible);
  if (result.has_iterations()) return result;
  result.why_none = report::no_iterations_sentence(analyses.trace());
  const analysis::PathSums path = analysis::sum_path(analyses.trace(), insights.path);
  if (path.total_ns() > 0) result.path = report::path_sentence(path);
  return result;
}

std::shared_ptr<const IterationSummary> Diagnoser::ask(
    const std::shared_ptr<const TraceModel>& model, bool is_wanted) {
  if (std::optional<Answer> answer = next_.take()) answer_ = std::move(*answer);
  const Diagnosis& diagnosis = model->diagnosis();
  if (diagnosis.summary || !diagnosis.has_iterations()) return diagnosis.summary;
  if (answer_.serial == model->serial()) return answer_.summary;
  if (is_wanted && !is_busy()) {
    next_.start([model] {
      analysis::Analyses analyses(model->trace());
      Answer answer{.serial = model->serial(), .summary = nullptr};
      if (analyses.iteration_model().found())
        answer.summary = std::make_shared<const IterationSummary>(
            report::summarize(analyses, analyses.iteration_model()));
      return answer;
    });
  }
  return nullptr;
}

}  // namespace streamscope::viewer
