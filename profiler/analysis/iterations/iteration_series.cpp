// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "iteration_series.h"

#include <algorithm>
#include <span>

#include "iterations.h"

namespace streamscope::analysis {
namespace {

bool is_steady(uint32_t slot, const Iterations& iterations) {
  return slot > iterations.steady_from && slot <= iterations.steady_to;
}

// Of these values and a number of zeros.
Quartiles quartiles_with(std::vector<Ns> values, size_t zeros) {
  const size_t count = zeros + values.size(), quarter = count / 4;
  if (count == 0) return {};
  std::ranges::sort(values);
  const auto at = [&](size_t rank) { return rank < zeros ? 0 : values[rank - zeros]; };
  return {at(quarter), at(count / 2), at(count - 1 - quarter)};
}

}  // namespace

IterationSlots IterationSlots::of_device(const Iterations& iterations) {
  IterationSlots slots;
  if (!iterations.found()) return slots;
  for (const Iteration& iteration : iterations.all) slots.begins_.push_back(iteration.start_ns);
  slots.begins_.push_back(iterations.all.back().end_ns);
  slots.steady_from_ = iterations.steady_from + 1;
  slots.steady_to_ = iterations.steady_to + 1;
  return slots;
}

IterationSlots IterationSlots::of_host(const Iterations& iterations) {
  IterationSlots slots = of_device(iterations);
  for (size_t i = 0; i < iterations.all.size(); ++i) slots.begins_[i] = iterations.all[i].issued_ns;
  return slots;
}

uint32_t IterationSlots::find(Ns at) {
  if (last_ < begins_.size() && is_in(last_ + 1, at)) return ++last_;
  last_ = static_cast<uint32_t>(std::ranges::upper_bound(begins_, at) - begins_.begin());
  return last_;
}

void IterationSeries::begin(uint32_t slot) {
  constexpr size_t kLeast = 64;
  if (sums_.size() >= std::max(kLeast, 2 * merged_count_)) {
    merge(sums_);
    merged_count_ = sums_.size();
  }
  sums_.push_back({slot, 0});
}

void IterationSeries::add(const IterationSeries& other) {
  for (const Sum& sum : other.sums_) add(sum.slot, sum.time_ns);
}

std::vector<IterationSeries::Sum> IterationSeries::sums() const {
  std::vector<Sum> result = sums_;
  merge(result);
  return result;
}

void IterationSeries::merge(std::vector<Sum>& sums) {
  const auto before = [](const Sum& a, const Sum& b) { return a.slot < b.slot; };
  if (!std::ranges::is_sorted(sums, before)) std::ranges::stable_sort(sums, before);
  size_t kept = 0;
  for (const Sum& sum : sums) {
    if (kept > 0 && sums[kept - 1].slot == sum.slot) {
      trace::add_to(sums[kept - 1].time_ns, sum.time_ns);
    } else {
      sums[kept++] = sum;
    }
  }
  sums.resize(kept);
}

Ns IterationSeries::steady_ns(const Iterations& iterations) const {
  Ns result = 0;
  for (const Sum& sum : sums_) {
    if (is_steady(sum.slot, iterations)) trace::add_to(result, sum.time_ns);
  }
  return result;
}

Quartiles quartiles_of(std::vector<Ns> values) { return quartiles_with(std::move(values), 0); }

double interquartile_mean(std::vector<Ns> values) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  const size_t cut = std::min((values.size() + 2) / 4, (values.size() - 1) / 2);
  const auto middle = std::span(values).subspan(cut, values.size() - 2 * cut);
  double sum = 0;
  for (const Ns value : middle) sum += static_cast<double>(value);
  return sum / static_cast<double>(middle.size());
}

PerIteration per_iteration(const IterationSeries& series, const Iterations& iterations) {
  constexpr double kFence = 3;  // times half the distance of the quartiles
  std::vector<Ns> values;
  const std::vector<IterationSeries::Sum> sums = series.sums();
  for (const IterationSeries::Sum& sum : sums) {
    if (is_steady(sum.slot, iterations)) values.push_back(sum.time_ns);
  }
  const size_t zeros = iterations.steady_count() - values.size();
  PerIteration result{.usual = quartiles_with(std::move(values), zeros), .outliers = {}};
  const Quartiles& usual = result.usual;
  const Ns little = iterations.median_ns / kSmallPart;
  const double least = std::max(
      {kOutlierFactor * static_cast<double>(usual.median_ns),
       static_cast<double>(usual.high_ns) + kFence * static_cast<double>(usual.spread_ns()),
       static_cast<double>(usual.median_ns + little)});
  for (const IterationSeries::Sum& sum : sums) {
    if (is_steady(sum.slot, iterations) && static_cast<double>(sum.time_ns) >= least)
      result.outliers.push_back({sum.slot - 1, sum.time_ns});
  }
  std::ranges::stable_sort(result.outliers, std::ranges::greater{},
                           &PerIteration::Outlier::time_ns);
  return result;
}

}  // namespace streamscope::analysis
