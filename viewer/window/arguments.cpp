// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "arguments.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "trace/error.h"
#include "vocabulary/time_text.h"

namespace streamscope::viewer {
namespace {

constexpr std::string_view kHelpHint = "see streamscope-viewer --help";

struct Flag {
  std::string_view name;
  std::string_view value;  // "" = takes none
  std::string_view text;
  void (*apply)(Arguments& arguments, std::string_view value);
};

[[noreturn]] void refuse(std::string_view flag, std::string_view value, const std::string& why) {
  throw Error(std::string(flag) + " " + std::string(value), why, std::string(kHelpHint));
}

template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

void parse_size(Arguments& arguments, std::string_view value) {
  const size_t x = std::min(value.find('x'), value.size());
  const int width = parse_number<int>(value.substr(0, x)).value_or(0);
  const int height = parse_number<int>(value.substr(std::min(x + 1, value.size()))).value_or(0);
  if (width < 320 || height < 200 || width > 16384 || height > 16384) {
    refuse("--size", value, "a size is WIDTHxHEIGHT, from 320x200 to 16384x16384");
  }
  arguments.width = width;
  arguments.height = height;
}

void parse_range(Arguments& arguments, std::string_view value) {
  const size_t colon = value.find(':');
  if (colon == std::string_view::npos)
    refuse("--range", value, "a range is FROM:TO, as in 10ms:12.5ms or 40%:60%");
  arguments.range = {parse_range_end(value.substr(0, colon)),
                     parse_range_end(value.substr(colon + 1))};
}

void parse_select(Arguments& arguments, std::string_view value) {
  if (value == "none") {
    arguments.select_nothing = true;
    return;
  }
  if (value.starts_with("finding:")) {
    const auto finding = parse_number<size_t>(value.substr(8));
    if (!finding) refuse("--select", value, "a finding is a number, from 0");
    arguments.finding = finding;
    return;
  }
  std::string known;
  for (size_t kind = 1; kind < kItemKindNames.size(); ++kind) {
    const std::string prefix = std::string(kItemKindNames[kind]) + ":";
    known += prefix + "ID, ";
    if (!value.starts_with(prefix)) continue;
    const auto id = parse_number<Id>(value.substr(prefix.size()));
    if (!id) continue;
    arguments.select = {static_cast<ItemKind>(kind), *id};
    return;
  }
  refuse("--select", value, "a selection is " + known + "finding:NUMBER or none");
}

void parse_panel(Arguments& arguments, std::string_view value) {
  const auto names = view_names();
  if (std::find(names.begin(), names.end(), value) == names.end()) {
    std::string known;
    for (const std::string_view name : names)
      known += (known.empty() ? "" : ", ") + std::string(name);
    refuse("--panel", value, "no such panel; there are " + known);
  }
  arguments.panel = value;
}

void parse_theme(Arguments& arguments, std::string_view value) {
  if (value != "dark" && value != "light") refuse("--theme", value, "a theme is dark or light");
  arguments.theme = value == "dark" ? ThemeKind::kDark : ThemeKind::kLight;
}

void parse_scale(Arguments& arguments, std::string_view value) {
  const auto scale = parse_number<float>(value);
  if (!scale || !(*scale >= 0.5f && *scale <= 4))
    refuse("--scale", value, "a scale is a number from 0.5 to 4");
  arguments.scale = scale;
}

constexpr std::array<Flag, 11> kFlags = {{
    {"--screenshot", "PNG",
     "write one picture to this file instead of opening a window; needs no display",
     [](Arguments& a, std::string_view value) { a.screenshot = value; }},
    {"--size", "WxH", "size of the window or picture in pixels (default 1600x1000)", parse_size},
    {"--range", "FROM:TO", "time to show, in ns, us, ms, s or % of the trace (default all)",
     parse_range},
    {"--select", "op:ID",
     "what to select: op:, call:, record:, wait:, sync:, range:, operation:, task:, finding:, or "
     "none; a\n"
     "                        picture selects the longest wait unless told otherwise",
     parse_select},
    {"--what-if", "",
     "show how the run would be with the selected finding fixed, below the recorded one",
     [](Arguments& a, std::string_view) { a.what_if = true; }},
    {"--panel", "NAME", "show only this panel", parse_panel},
    {"--theme", "NAME", "dark (default) or light", parse_theme},
    {"--scale", "F", "size of text and lines, 0.5 to 4 (default: that of the display)",
     parse_scale},
    {"--state", "JSON", "write what is shown and selected to this file whenever it changes",
     [](Arguments& a, std::string_view value) { a.state_file = value; }},
    {"--help", "", "print this help", [](Arguments& a, std::string_view) { a.help = true; }},
    {"--version", "", "print the version",
     [](Arguments& a, std::string_view) { a.version = true; }},
}};

}  // namespace

Ns RangeEnd::resolve(TimeRange extent) const {
  if (!is_percent) return ns;
  return add_ns(extent.begin_ns, percent / 100 * extent.span_ns());
}

RangeEnd parse_range_end(std::string_view text) {
  if (text.ends_with('%')) {
    const auto percent = parse_number<double>(text.substr(0, text.size() - 1));
    if (percent && std::isfinite(*percent)) return {.is_percent = true, .percent = *percent};
  } else if (const auto ns = parse_time_ns(text)) {
    return {.ns = *ns};
  }
  throw Error("--range " + std::string(text), "an instant is a number with ns, us, ms, s or %",
              std::string(kHelpHint));
}

Arguments parse_arguments(std::span<const char* const> arguments) {
  Arguments result;
  for (size_t i = 0; i < arguments.size(); ++i) {
    std::string_view text = arguments[i];
    if (!text.starts_with("-") || text == "-") {
      if (!result.compared.empty())
        throw Error(std::string(text), "two traces at most", std::string(kHelpHint));
      (result.trace.empty() ? result.trace : result.compared) = text;
      continue;
    }
    const size_t equals = text.find('=');
    const std::string_view name = text.substr(0, equals);
    const auto flag = std::find_if(kFlags.begin(), kFlags.end(),
                                   [&](const Flag& each) { return each.name == name; });
    if (flag == kFlags.end())
      throw Error(std::string(name), "no such option", std::string(kHelpHint));
    std::string_view value;
    if (!flag->value.empty()) {
      if (equals != std::string_view::npos) {
        value = text.substr(equals + 1);
      } else if (i + 1 < arguments.size()) {
        value = arguments[++i];
      } else {
        throw Error(std::string(name), "needs a value: " + std::string(flag->value),
                    std::string(kHelpHint));
      }
    } else if (equals != std::string_view::npos) {
      throw Error(std::string(name), "takes no value", std::string(kHelpHint));
    }
    flag->apply(result, value);
  }
  if (result.what_if && !result.finding)
    throw Error("--what-if", "no finding is selected", "name one: --select finding:NUMBER");
  if (!result.screenshot.empty() && result.trace.empty() && !result.help && !result.version) {
    throw Error("--screenshot", "no trace is named",
                "name one: streamscope-viewer TRACE --screenshot PNG");
  }
  return result;
}

std::string usage() {
  std::string text =
      "usage: streamscope-viewer [OPTIONS] [TRACE [OTHER]]\n\n"
      "Shows a trace of CUDA streams: what ran when, and who waited for whom.\n"
      "Given two traces, the compare panel shows what differs.\n\n";
  for (const Flag& flag : kFlags) {
    std::string left =
        "  " + std::string(flag.name) + (flag.value.empty() ? "" : " " + std::string(flag.value));
    left.resize(std::max<size_t>(left.size() + 1, 24), ' ');
    text += left + std::string(flag.text) + "\n";
  }
  return text + "\nPress F1 in the window for the keys.\n";
}

}  // namespace streamscope::viewer
