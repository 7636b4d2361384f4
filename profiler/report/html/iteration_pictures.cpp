// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "iteration_pictures.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/units.h"
#include "report/formats/markup.h"

namespace streamscope::report {
namespace {

using analysis::format_count;
using analysis::format_duration;
using analysis::format_percent;
using analysis::Iteration;
using analysis::Iterations;
using trace::Ns;

// ---- the bar

constexpr double kBarWidth = 1000;  // of a page on a usual screen, to see whether a label fits
constexpr double kBarLetter = 7.5;

std::string kind_of(const ShareLine& line) { return line.id.empty() ? "rest" : line.id; }

// What fits into a part of the bar: its name and percentage, the latter, or nothing.
std::string label_of(const ShareLine& line, double share) {
  const std::string percent = format_percent(share), whole = line.name + " " + percent;
  for (const std::string& label : {whole, percent}) {
    if (share * kBarWidth >= static_cast<double>(label.size()) * kBarLetter + 16) return label;
  }
  return "";
}

// ---- the strip

constexpr double kStripWidth = 1200, kMostPitch = 24, kMedianMargin = 110;  // right of the columns
constexpr double kStripTop = 18, kStripBottom = 98, kStripHeight = 116;
constexpr double kLabelLetter = 7;  // of labels

const char* kind_of(IterationPart part) {
  switch (part) {
    case IterationPart::kStartUp:
      return "before";
    case IterationPart::kAfter:
      return "after";
    case IterationPart::kOutlier:
      return "outlier";
    case IterationPart::kSteady:
      break;
  }
  return "steady";
}

// Places and sizes of the columns.
struct Strip {
  explicit Strip(const Iterations& all)
      : iterations(all), columns(iteration_columns(all, kMostColumns)) {
    const auto count = static_cast<double>(columns.size());
    pitch = std::min(kMostPitch, (kStripWidth - kMedianMargin) / std::max(count, 1.0));
    width = pitch * count;
    shown = strip_height(all);
  }
  double x(size_t column) const { return pitch * static_cast<double>(column); }
  double height(double times) const {
    return std::clamp(times / shown, 0.01, 1.0) * (kStripBottom - kStripTop);
  }

  const Iterations& iterations;
  const std::vector<IterationColumn> columns;
  double pitch = 0, width = 0;
  double shown = 0;  // of the highest column, in times of the median
};

std::string label_at(double x, double y, const char* anchor, const std::string& text) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>", x, y, anchor,
                     escape_markup(text));
}

std::string columns_of(const Strip& strip) {
  const double width = strip.pitch < 4 ? strip.pitch : strip.pitch * 0.8;  // narrow ones touch
  std::string text;
  for (size_t c = 0; c < strip.columns.size(); ++c) {
    const size_t i = strip.columns[c].longest;
    const Iteration& iteration = strip.iterations.all[i];
    const double times = times_median(strip.iterations, i), height = strip.height(times);
    text += fmt::format(
        "<g class=\"{}\" data-from=\"{}\" data-to=\"{}\"><title>{}</title><rect x=\"{:.1f}\" "
        "y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/>",
        kind_of(part_of(strip.iterations, i)), iteration.start_ns, iteration.end_ns,
        escape_markup(column_title(strip.iterations, strip.columns[c])), strip.x(c),
        kStripBottom - height, width, height);
    if (times > strip.shown)
      text += fmt::format("<path class=\"cut\" d=\"M{:.1f} {:.1f} l{:.1f} -4 v4 l-{:.1f} 4 z\"/>",
                          strip.x(c), kStripTop + 10, width, width);
    text += "</g>\n";
  }
  return text;
}

// The durations of columns that are cut off, where there is room for them.
std::string cut_labels(const Strip& strip) {
  std::string text;
  double free_from = 0;
  for (size_t c = 0; c < strip.columns.size(); ++c) {
    const size_t i = strip.columns[c].longest;
    if (times_median(strip.iterations, i) <= strip.shown) continue;
    const std::string label = format_duration(strip.iterations.all[i].duration_ns());
    const double half = static_cast<double>(label.size()) * kLabelLetter / 2;
    const double middle = std::max(strip.x(c) + strip.pitch / 2, half + 3);
    if (middle - half < free_from) continue;
    free_from = middle + half + 8;
    text += label_at(middle, kStripTop - 6, "middle", label);
  }
  return text;
}

// Numbers of iterations below their columns: the first, then round ones.
std::string numbers(const Strip& strip) {
  const size_t step = number_step(strip.iterations.all.size(), 16);
  std::string text;
  for (size_t c = 0; c < strip.columns.size(); ++c) {
    const size_t first = strip.columns[c].first + 1, last = strip.columns[c].last + 1;
    const size_t round = last / step * step;
    if (c > 0 && (round < first || strip.x(c) < 24)) continue;
    const std::string label = format_count(c == 0 ? 1 : round);
    const double half = static_cast<double>(label.size()) * kLabelLetter / 2;
    text +=
        label_at(std::max(strip.x(c) + strip.pitch * 0.4, half), kStripHeight - 4, "middle", label);
  }
  return text;
}

std::string key(const char* kind, const std::string& text) {
  return fmt::format("<li class=\"{}\"><span class=\"swatch\"></span>{}</li>", kind,
                     escape_markup(text));
}

std::string legend_of(const Strip& strip) {
  std::string text = "<ul class=\"legend strip-legend\">";
  for (const IterationKey& each : strip_keys(strip.iterations))
    text += key(kind_of(each.part), each.text);
  return text + key("current", "marked in the timeline") + "</ul>";
}

}  // namespace

std::string shares_picture(const IterationSummary& summary) {
  const std::vector<ShareLine> lines = share_lines(summary);
  double total = 0;
  for (const ShareLine& line : lines) total += static_cast<double>(line.duration_ns);
  if (total <= 0) return "";
  std::string all, parts, legend;
  double begin = 0;
  for (const ShareLine& line : lines) {
    const double share = static_cast<double>(line.duration_ns) / total;
    const std::string name = escape_markup(line.name), time = format_duration(line.duration_ns);
    const std::string percent = format_percent(share), kind = kind_of(line);
    all += fmt::format("{}{} {}", all.empty() ? "" : ", ", name, percent);
    parts += fmt::format(
        "<svg class=\"share {}\" x=\"{:.2f}%\" width=\"{:.2f}%\" height=\"100%\"><title>{}: {}, "
        "{}</title><rect width=\"100%\" height=\"100%\"/>",
        kind, begin * 100, share * 100, name, percent, time);
    if (const std::string label = label_of(line, share); !label.empty())
      parts += fmt::format("<text x=\"8\" y=\"22\">{}</text>", escape_markup(label));
    parts += "</svg>\n";
    legend += fmt::format(
        "<li class=\"share {}\"><span class=\"swatch\"></span>{} <strong>{}</strong> {}</li>\n",
        kind, name, percent, times_of(line));
    begin += share;
  }
  return fmt::format(
      "<svg class=\"shares\" width=\"100%\" height=\"34\" role=\"img\" aria-label=\"Shares of an "
      "iteration: {}\">\n{}</svg>\n<ul class=\"legend\">\n{}</ul>\n",
      all, parts, legend);
}

std::string strip_picture(const IterationSummary& summary) {
  const Iterations& iterations = summary.iterations;
  if (iterations.is_only_one()) return "";
  const Strip strip(iterations);
  const size_t each = strip.columns.empty() ? 0 : strip.columns.front().last + 1;
  const double y = kStripBottom - strip.height(1);
  std::string text = fmt::format(
      "<figure>\n<svg class=\"strip\" viewBox=\"0 0 {:.0f} {:.0f}\" role=\"group\" "
      "aria-label=\"Durations of {}, median {}\">\n",
      kStripWidth, kStripHeight, format_count(iterations.all.size(), "iteration"),
      format_duration(iterations.median_ns));
  text += columns_of(strip) + cut_labels(strip);
  text += fmt::format(
      "<line class=\"rule\" x1=\"0\" x2=\"{0:.1f}\" y1=\"{1:.1f}\" y2=\"{1:.1f}\"/><line "
      "class=\"median\" x1=\"0\" x2=\"{0:.1f}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\"/>",
      strip.width, kStripBottom, y);
  text += label_at(strip.width + 6, y - 2, "start", "median");
  text += label_at(strip.width + 6, y + 11, "start", format_duration(iterations.median_ns));
  text += numbers(strip) + "</svg>\n" + legend_of(strip);
  text += "<figcaption>";
  text += each > 1 ? fmt::format("Each column is the longest of {} iterations", each)
                   : "Each column is an iteration";
  return text +
         "<span class=\"hint\">; click one, or use the arrow keys, to see it in the "
         "timeline</span>."
         "</figcaption></figure>\n";
}

Json opening_iteration(const Iterations& iterations) {
  const size_t i = median_iteration(iterations);
  const Iteration& iteration = iterations.all[i];
  const size_t each = iteration_columns(iterations, kMostColumns).front().last + 1;
  const std::string duration = format_duration(iteration.duration_ns());
  return {{"from", iteration.start_ns},
          {"to", iteration.end_ns},
          {"title",
           iterations.is_only_one()
               ? "the only iteration: " + duration
               : fmt::format("iteration {}: {}, the median of the steady part", i + 1, duration)},
          {"column", i / each}};
}

}  // namespace streamscope::report
