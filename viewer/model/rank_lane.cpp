// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "rank_lane.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace streamscope::viewer {
namespace {

using job::Steps;

// A part of a step.
struct Stretch {
  TimeRange range;
  uint32_t step;
};

// What the work of several steps has in common, as they depend on one collective, is part of the
// one that comes first.
Row work_row(const Steps& steps, std::vector<Stretch> work) {
  std::ranges::stable_sort(work, {}, [](const Stretch& each) { return each.range.end_ns; });
  Row row;
  Ns free_from = std::numeric_limits<Ns>::min();
  for (const Stretch& each : work) {
    const Ns begin = std::max(each.range.begin_ns, free_from);
    if (begin >= each.range.end_ns) continue;
    row.push(begin, each.range.end_ns, each.step,
             static_cast<uint8_t>(largest_share(steps, each.step)));
    free_from = each.range.end_ns;
  }
  row.finish();
  return row;
}

// First the waiting, then the collective itself.
std::vector<Row> collective_rows(const JobModel& model, std::vector<Stretch> collectives) {
  const Steps& steps = model.steps();
  std::ranges::stable_sort(collectives, {},
                           [](const Stretch& each) { return each.range.begin_ns; });
  std::vector<Ns> starts, ends;
  for (const Stretch& each : collectives) {
    starts.push_back(each.range.begin_ns);
    ends.push_back(each.range.end_ns);
  }
  const std::vector<uint16_t> row_of = pack_rows(starts, ends, kMostCollectiveRows);
  std::vector<std::vector<std::pair<Stretch, uint8_t>>> parts;
  for (size_t i = 0; i < collectives.size(); ++i) {
    const auto& [range, step] = collectives[i];
    const job::Wait& wait = model.job().waiting.waits[steps.group[step]];
    const Ns together =
        range.begin_ns + std::clamp<Ns>(job::waited_ns(steps, wait, step), 0, range.duration_ns());
    if (row_of[i] >= parts.size()) parts.resize(row_of[i] + 1u);
    if (together > range.begin_ns)
      parts[row_of[i]].push_back({{{range.begin_ns, together}, step}, kWaits});
    if (together < range.end_ns)
      parts[row_of[i]].push_back({{{together, range.end_ns}, step}, kTogether});
  }
  std::vector<Row> rows(parts.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    std::ranges::stable_sort(parts[i], {},
                             [](const auto& part) { return part.first.range.begin_ns; });
    for (const auto& [part, kind] : parts[i])
      rows[i].push(part.range.begin_ns, part.range.end_ns, part.step, kind);
    rows[i].finish();
  }
  return rows;
}

}  // namespace

RankLane lane_of(const JobModel& model, uint32_t rank_row) {
  const Steps& steps = model.steps();
  std::vector<Stretch> work, collectives;
  const job::RankRow& rank = steps.ranks[rank_row];
  for (uint32_t i = rank.first_row; i < rank.first_row + rank.row_count; ++i) {
    const job::IterationRow& iteration = steps.iterations[i];
    for (uint32_t step = iteration.first_step; step < iteration.first_step + iteration.step_count;
         ++step) {
      if (const auto range = model.time({step, true})) work.push_back({*range, step});
      if (steps.ends_iteration(step)) continue;
      if (const auto range = model.time({step, false})) collectives.push_back({*range, step});
    }
  }
  return {work_row(steps, std::move(work)), collective_rows(model, std::move(collectives))};
}

}  // namespace streamscope::viewer
