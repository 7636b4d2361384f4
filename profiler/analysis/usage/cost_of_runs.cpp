// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "cost_of_runs.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "analysis/iterations/issued_work.h"

namespace streamscope::analysis {
namespace {

using Points = std::vector<RunProgress::Point>;

constexpr size_t kFewestWindowsOfRun = 10;
// Windows are not cut at equal work: a part of several is known more precisely.
constexpr size_t kWindowsOfPart = 4, kMostParts = 20;

// When the run had come so far: the first such time.
double seconds_at(const Points& points, double progress) {
  const auto after = std::ranges::lower_bound(points, progress, {}, &RunProgress::Point::progress);
  if (after == points.begin()) return 0;
  if (after == points.end()) return points.back().seconds;
  const auto before = std::prev(after);
  const double share = (progress - before->progress) / (after->progress - before->progress);
  return before->seconds + share * (after->seconds - before->seconds);
}

size_t windows_until(const Points& points, double progress) {
  return static_cast<size_t>(
      std::ranges::lower_bound(points, progress, {}, &RunProgress::Point::progress) -
      points.begin());
}

}  // namespace

RunProgress progress_of_run(const trace::Trace& trace) {
  std::vector<Points> by_process(trace.process.size());
  std::vector<trace::Ns> starts(trace.process.size(), trace::kUnknownNs);
  const auto& rows = trace.cost_window;
  for (trace::Id row = 0; row < rows.size(); ++row) {
    const trace::Id process = rows.process_id[row];
    if (process >= by_process.size() || rows.progress[row] == trace::kNoInt ||
        rows.start_ns[row] == trace::kUnknownNs || rows.end_ns[row] == trace::kUnknownNs)
      continue;
    Points& points = by_process[process];
    if (points.empty()) {
      points.push_back({});
      starts[process] = rows.start_ns[row];
    }
    points.push_back({static_cast<double>(rows.end_ns[row] - starts[process]) * 1e-9,
                      points.back().progress + static_cast<double>(rows.progress[row])});
  }
  RunProgress furthest;
  double most = 0;
  for (Points& points : by_process) {
    if (points.empty() || points.back().progress <= most) continue;
    most = points.back().progress;
    furthest.points = std::move(points);
  }
  return furthest;
}

std::optional<ComparedRuns> compare_runs(const PairOfRuns& runs) {
  const Points& bare = runs.bare.points;
  Points recorded = runs.recorded.points;
  if (bare.empty() || recorded.empty()) return std::nullopt;
  if (!runs.counted_alike) {
    const double scale = bare.back().progress / recorded.back().progress;
    for (RunProgress::Point& point : recorded) point.progress *= scale;
  }
  const double end = std::min(bare.back().progress, recorded.back().progress);
  const size_t windows = std::min(windows_until(bare, end), windows_until(recorded, end));
  if (windows < kFewestWindowsOfRun) return std::nullopt;

  const size_t parts = std::min(windows / kWindowsOfPart, kMostParts);
  std::vector<double> ratios;
  for (size_t part = 0; part < parts; ++part) {
    const double from = end * static_cast<double>(part) / static_cast<double>(parts),
                 to = end * static_cast<double>(part + 1) / static_cast<double>(parts);
    const double without = seconds_at(bare, to) - seconds_at(bare, from),
                 with = seconds_at(recorded, to) - seconds_at(recorded, from);
    if (without > 0 && with > 0) ratios.push_back(std::log(with / without));
  }
  if (ratios.empty()) return std::nullopt;
  return ComparedRuns{.bare_s = seconds_at(bare, end),
                      .recorded_s = seconds_at(recorded, end),
                      .log_ratio = median(std::move(ratios))};
}

MeasuredCost cost_of_pairs(std::span<const ComparedRuns> pairs) {
  std::vector<double> ratios;
  for (const ComparedRuns& pair : pairs) ratios.push_back(pair.log_ratio);
  return cost_of_ratios(std::move(ratios));
}

}  // namespace streamscope::analysis
