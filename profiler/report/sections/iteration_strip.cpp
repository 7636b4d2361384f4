// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "iteration_strip.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/units.h"

namespace streamscope::report {
namespace {

using analysis::format_count;
using analysis::format_duration;
using analysis::Iterations;
using trace::Ns;

constexpr double kLeastHeight = 1.6, kMostHeight = 2.5;

std::string from_to(const char* what, size_t from, size_t to) {
  return to - from == 1 ? fmt::format("{}: {}", what, from + 1)
                        : fmt::format("{}: {} to {}", what, from + 1, to);
}

}  // namespace

double times_median(const Iterations& iterations, size_t iteration) {
  return static_cast<double>(iterations.all[iteration].duration_ns()) /
         static_cast<double>(std::max<Ns>(iterations.median_ns, 1));
}

IterationPart part_of(const Iterations& iterations, size_t iteration) {
  if (iteration < iterations.steady_from) return IterationPart::kStartUp;
  if (iteration >= iterations.steady_to) return IterationPart::kAfter;
  return times_median(iterations, iteration) >= analysis::kOutlierFactor ? IterationPart::kOutlier
                                                                         : IterationPart::kSteady;
}

std::string iteration_title(const Iterations& iterations, size_t iteration) {
  std::string text = fmt::format("iteration {}: {}", iteration + 1,
                                 format_duration(iterations.all[iteration].duration_ns()));
  switch (part_of(iterations, iteration)) {
    case IterationPart::kStartUp:
      return text + ", start-up";
    case IterationPart::kAfter:
      return text + ", after the steady part";
    case IterationPart::kOutlier:
      return text + fmt::format(", {:.2g} times the median", times_median(iterations, iteration));
    case IterationPart::kSteady:
      break;
  }
  return text;
}

std::vector<IterationColumn> iteration_columns(const Iterations& iterations, size_t most) {
  const size_t count = iterations.all.size();
  most = std::max<size_t>(most, 1);
  const size_t each = std::max<size_t>(1, (count + most - 1) / most);
  std::vector<IterationColumn> columns;
  for (size_t first = 0; first < count; first += each) {
    IterationColumn column{first, std::min(first + each, count) - 1, first};
    for (size_t i = first; i <= column.last; ++i) {
      if (iterations.all[i].duration_ns() > iterations.all[column.longest].duration_ns())
        column.longest = i;
    }
    columns.push_back(column);
  }
  return columns;
}

std::string column_title(const Iterations& iterations, const IterationColumn& column) {
  std::string text = iteration_title(iterations, column.longest);
  if (column.first < column.last)
    text += fmt::format(", the longest of {} to {}", column.first + 1, column.last + 1);
  return text;
}

double strip_height(const Iterations& iterations) {
  double highest = 0;
  for (size_t i = iterations.steady_from; i < iterations.steady_to; ++i)
    highest = std::max(highest, times_median(iterations, i) * 1.1);
  return std::clamp(highest, kLeastHeight, kMostHeight);
}

std::vector<IterationKey> strip_keys(const Iterations& iterations) {
  std::vector<IterationKey> keys;
  if (iterations.steady_from > 0)
    keys.push_back({IterationPart::kStartUp, from_to("start-up", 0, iterations.steady_from)});
  keys.push_back({IterationPart::kSteady,
                  from_to("steady part", iterations.steady_from, iterations.steady_to)});
  if (iterations.steady_to < iterations.all.size())
    keys.push_back({IterationPart::kAfter,
                    from_to("afterwards", iterations.steady_to, iterations.all.size())});
  if (iterations.outlier_count > 0)
    keys.push_back({IterationPart::kOutlier,
                    fmt::format("{} times the median or more: {}", analysis::kOutlierFactor,
                                format_count(iterations.outlier_count))});
  return keys;
}

size_t number_step(size_t count, size_t most) {
  size_t step = 1;
  for (size_t i = 0; count / step > most; ++i) step = i % 3 == 1 ? step / 2 * 5 : step * 2;
  return step;
}

}  // namespace streamscope::report
