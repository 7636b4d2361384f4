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

// The first point that is so far.
Points::const_iterator reaching(const Points& points, double progress) {
  return std::ranges::lower_bound(points, progress, {}, &RunProgress::Point::progress);
}

double seconds_at(const Points& points, double progress) {
  const auto after = reaching(points, progress);
  if (after == points.begin()) return 0;
  if (after == points.end()) return points.back().seconds;
  const auto before = std::prev(after);
  const double share = (progress - before->progress) / (after->progress - before->progress);
  return before->seconds + share * (after->seconds - before->seconds);
}

size_t windows_until(const Points& points, double progress) {
  return static_cast<size_t>(reaching(points, progress) - points.begin());
}

Points points_of(std::span<const trace::CostWindow> windows) {
  Points points;
  trace::Ns start_ns = 0;
  for (const trace::CostWindow& window : windows) {
    if (window.progress == trace::kNoInt || window.start_ns == trace::kUnknownNs ||
        window.end_ns == trace::kUnknownNs)
      continue;
    if (points.empty()) {
      points.push_back({});
      start_ns = window.start_ns;
    }
    points.push_back({static_cast<double>(window.end_ns - start_ns) * 1e-9,
                      points.back().progress + static_cast<double>(window.progress)});
  }
  return points;
}

}  // namespace

RunProgress progress_of_run(const trace::Trace& trace) {
  RunProgress furthest;
  double most = 0;
  for (const auto& windows : windows_by_process(trace)) {
    Points points = points_of(windows);
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
