// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "cost_windows.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace streamscope::analysis {
namespace {

using trace::Id;

constexpr size_t kWarmUpWindows = 4;

// Logarithm of the progress per time; nothing if the window cannot be compared.
std::optional<double> log_rate(const trace::CostWindow& window) {
  if (window.progress == trace::kNoInt || window.progress <= 0 ||
      window.start_ns == trace::kUnknownNs || window.end_ns == trace::kUnknownNs ||
      window.end_ns <= window.start_ns)
    return std::nullopt;
  return std::log(static_cast<double>(window.progress)) -
         std::log(static_cast<double>(window.end_ns) - static_cast<double>(window.start_ns));
}

// Appends how much faster the program is without recording, as a logarithm, for each window.
void append_ratios(std::span<const trace::CostWindow> windows, std::vector<double>& ratios) {
  for (size_t i = kWarmUpWindows + 1; i + 1 < windows.size(); ++i) {
    const trace::CostWindow &before = windows[i - 1], &on = windows[i], &after = windows[i + 1];
    if (on.recorded != 1 || before.recorded != 0 || after.recorded != 0 ||
        before.end_ns != on.start_ns || on.end_ns != after.start_ns)
      continue;
    const auto slow = log_rate(on), fast = log_rate(before), faster = log_rate(after);
    if (slow && fast && faster) ratios.push_back((*fast + *faster) / 2 - *slow);
  }
}

}  // namespace

std::vector<std::vector<trace::CostWindow>> windows_by_process(const trace::Trace& trace) {
  std::vector<std::vector<trace::CostWindow>> result;
  const auto& rows = trace.cost_window;
  for (Id row = 0; row < rows.size(); ++row) {
    const Id process = rows.process_id[row];
    if (process >= trace.process.size()) continue;
    if (result.empty()) result.resize(trace.process.size());
    result[process].push_back({.process_id = process,
                               .start_ns = rows.start_ns[row],
                               .end_ns = rows.end_ns[row],
                               .recorded = rows.recorded[row],
                               .progress = rows.progress[row]});
  }
  return result;
}

MeasuredCost cost_of_ratios(std::vector<double> log_ratios) {
  MeasuredCost cost{.windows = log_ratios.size()};
  if (log_ratios.empty()) return cost;
  std::ranges::sort(log_ratios);
  const size_t count = log_ratios.size(), last = count - 1;
  // Half the width in ranks: 1.96 standard deviations of a binomial distribution, which are
  // sqrt(n) / 2, and 10 % more because neighbors share a window.
  const double half = 1.08 * std::sqrt(static_cast<double>(count));
  const auto low =
      static_cast<size_t>(std::max(0.0, std::floor(static_cast<double>(count) / 2 - half)));
  const auto percent = [](double ratio) { return std::expm1(ratio) * 100; };
  cost.percent = percent((log_ratios[last / 2] + log_ratios[count / 2]) / 2);
  cost.low_percent = percent(log_ratios[low]);
  cost.high_percent = percent(log_ratios[last - low]);
  return cost;
}

MeasuredCost cost_of_windows(std::span<const trace::CostWindow> windows) {
  std::vector<double> ratios;
  append_ratios(windows, ratios);
  return cost_of_ratios(std::move(ratios));
}

MeasuredCost measured_cost(const trace::Trace& trace) {
  std::vector<double> ratios;
  for (const auto& windows : windows_by_process(trace)) append_ratios(windows, ratios);
  return cost_of_ratios(std::move(ratios));
}

std::vector<std::vector<OffWindow>> off_windows(const trace::Trace& trace) {
  std::vector<std::vector<OffWindow>> result;
  for (const auto& windows : windows_by_process(trace)) {
    std::vector<OffWindow>& off = result.emplace_back();
    for (const trace::CostWindow& window : windows) {
      if (window.recorded != 0 || window.start_ns == trace::kUnknownNs) continue;
      off.push_back({window.start_ns, window.end_ns == trace::kUnknownNs
                                          ? std::numeric_limits<trace::Ns>::max()
                                          : window.end_ns});
    }
    std::ranges::sort(off, {}, &OffWindow::start_ns);
  }
  return result;
}

size_t count_off_windows(const trace::Trace& trace) {
  return static_cast<size_t>(std::ranges::count(trace.cost_window.recorded, 0));
}

}  // namespace streamscope::analysis
