// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "flame_graph.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/units.h"
#include "report/formats/markup.h"
#include "report/formats/table.h"

namespace streamscope::report {
namespace {

using analysis::format_duration;
using analysis::format_percent;
using analysis::HostFunction;

constexpr double kGraphWidth = 1200, kFrameHeight = 19, kLetterWidth = 6.4, kPadding = 5;
constexpr size_t kMostRows = 28;
constexpr double kTrunk = 0.985;  // of the whole: a function that hardly branches is no news

// What all samples have in common: from the root to where it branches.
std::vector<std::string> trunk(const HostFunction*& function) {
  std::vector<std::string> names;
  while (!function->calls.empty() && static_cast<double>(function->calls.front().each_ns) >=
                                         kTrunk * static_cast<double>(function->each_ns)) {
    function = &function->calls.front();
    names.push_back(function->name);
  }
  return names;
}

size_t rows_of(const HostFunction& function) {
  size_t most = 0;
  for (const HostFunction& called : function.calls) most = std::max(most, rows_of(called));
  return most + 1;
}

std::string label_of(const std::string& name, double width) {
  const auto room = static_cast<size_t>(std::max(0.0, (width - 2 * kPadding) / kLetterWidth));
  return room < 5 && display_width(name) > room ? "" : shortened(name, room);
}

// "step (train.py)" is a function of the program's source, "cuLaunchKernel" of a library.
const char* kind_of(const std::string& name) {
  return name.find(".py)") != name.npos ? "python" : "native";
}

void draw(const HostFunction& function, double x, double width, size_t row, double whole,
          std::string* text) {
  if (row >= kMostRows) return;
  for (const HostFunction& called : function.calls) {
    const double part = width * static_cast<double>(called.each_ns) /
                        static_cast<double>(std::max<trace::Ns>(1, function.each_ns));
    const double y = static_cast<double>(row) * kFrameHeight;
    const std::string label = label_of(called.name, part);
    *text += fmt::format(
        "<g class=\"{}\"><title>{}: {} ({})</title><rect x=\"{:.1f}\" y=\"{:.1f}\" "
        "width=\"{:.1f}\" height=\"{:.1f}\"/>",
        kind_of(called.name), escape_markup(called.name), format_duration(called.each_ns),
        format_percent(static_cast<double>(called.each_ns) / whole), x, y, part, kFrameHeight - 1);
    if (!label.empty())
      *text += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>", x + kPadding,
                           y + kFrameHeight - 6, escape_markup(label));
    *text += "</g>\n";
    draw(called, x, part, row + 1, whole, text);
    x += part;
  }
}

}  // namespace

std::string flame_graph(const IterationSummary& summary) {
  const HostFunction* function = &summary.host_functions;
  if (function->each_ns <= 0 || function->calls.empty()) return "";
  const auto whole = static_cast<double>(function->each_ns);
  const std::vector<std::string> common = trunk(function);
  if (function->calls.empty()) return "";
  const size_t rows = std::min(kMostRows, rows_of(*function) - 1);
  std::string boxes;
  draw(*function, 0, kGraphWidth * static_cast<double>(function->each_ns) / whole, 0, whole,
       &boxes);
  std::string caption =
      fmt::format("Functions of the host while the device waits for it: {} of an iteration, by {}",
                  format_duration(summary.host.each_ns), analysis::counted_source(summary.host));
  constexpr size_t kMostCommon = 4;
  if (!common.empty()) {
    caption += ", below ";
    for (size_t i = common.size() - std::min(common.size(), kMostCommon); i < common.size(); ++i)
      caption += (i > 0 && i + kMostCommon > common.size() ? " › " : "") + common[i];
  }
  return fmt::format(
      "<figure>\n<svg class=\"flame\" viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" "
      "aria-label=\"{}\">\n{}</svg>\n<figcaption>{}</figcaption></figure>\n",
      kGraphWidth, static_cast<double>(rows) * kFrameHeight, escape_markup(caption), boxes,
      escape_markup(caption));
}

}  // namespace streamscope::report
