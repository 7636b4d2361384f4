// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "units.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>

namespace streamscope::analysis {
namespace {

// Three significant digits, but never fewer than those of the integer part.
std::string three_digits(double value) {
  const int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  return fmt::format("{:.{}f}", value, decimals);
}

}  // namespace

std::string format_duration(int64_t ns) {
  if (ns < 0) return "-" + format_duration(ns == INT64_MIN ? INT64_MAX : -ns);
  if (ns < 1000) return fmt::format("{} ns", ns);
  const double value = static_cast<double>(ns);
  if (value < 999.5e3) return three_digits(value / 1e3) + " µs";
  if (value < 999.5e6) return three_digits(value / 1e6) + " ms";
  if (value < 120e9) return three_digits(value / 1e9) + " s";
  const int64_t seconds = std::llround(value / 1e9);
  if (seconds < 7200) return fmt::format("{} min {} s", seconds / 60, seconds % 60);
  return fmt::format("{} h {} min", seconds / 3600, seconds / 60 % 60);
}

std::string format_count(uint64_t count) {
  std::string digits = std::to_string(count);
  for (size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, 1, ',');
  return digits;
}

std::string format_count(uint64_t count, const char* noun) {
  return fmt::format("{} {}{}", format_count(count), noun, count == 1 ? "" : "s");
}

std::string format_mean(double count) {
  return count >= 9.5 ? format_count(static_cast<uint64_t>(std::llround(count)))
                      : fmt::format("{:.2g}", count);
}

std::string format_mean(double count, const char* one, const char* many) {
  const std::string number = format_mean(count);
  return fmt::format("{} {}", number, number == "1" ? one : many);
}

std::string format_bytes(int64_t bytes) {
  if (bytes < 1024) return fmt::format("{} B", bytes);
  const char* const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double value = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  while (value >= 1023.5 && unit + 1 < std::size(units)) {
    value /= 1024;
    ++unit;
  }
  const bool is_whole = value == std::floor(value);
  return (is_whole ? fmt::format("{:.0f}", value) : three_digits(value)) + ' ' + units[unit];
}

std::string format_percent(double share) {
  const double percent = share * 100;
  if (percent == 0) return "0 %";
  if (percent > 0 && percent < 0.05) return "<0.1 %";
  if (percent > 0 && percent < 0.95) return fmt::format("{:.1f} %", percent);
  return fmt::format("{:.0f} %", percent);
}

std::string format_percent(int64_t part, int64_t whole) {
  if (whole <= 0) return "–";
  return format_percent(static_cast<double>(part) / static_cast<double>(whole));
}

std::string format_change(double share) {
  return fmt::format("{}{:.1f} %", share < 0 ? "−" : "+", std::fabs(share) * 100);
}

std::string format_duration_change(int64_t ns) {
  const std::string duration = format_duration(ns);
  if (ns < 0) return "−" + duration.substr(1);
  return ns > 0 ? "+" + duration : duration;
}

std::string format_range(double low_percent, double high_percent) {
  const auto signed_number = [](double number) {
    return fmt::format("{}{:.1f}", number < 0 ? "−" : "", std::fabs(number));
  };
  return signed_number(low_percent) + " to " + signed_number(high_percent) + " %";
}

std::string format_step(const std::string& before, const std::string& after) {
  return before == after ? after : before + " → " + after;
}

std::string format_gain(int64_t before_ns, int64_t after_ns) {
  const int64_t gain = before_ns - after_ns;
  return fmt::format("{} → {} ({}{})", format_duration(before_ns), format_duration(after_ns),
                     gain < 0 ? "+" : "−", format_percent(std::abs(gain), before_ns));
}

}  // namespace streamscope::analysis
