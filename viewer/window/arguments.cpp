// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "arguments.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "analysis/extent.h"
#include "trace/error.h"
#include "vocabulary/read_number.h"

namespace streamscope::viewer {
namespace {

constexpr std::string_view kHelpHint = "see streamscope-viewer --help";

[[noreturn]] void refuse(std::string_view flag, std::string_view value, const std::string& why) {
  throw Error(std::string(flag) + " " + std::string(value), why, std::string(kHelpHint));
}

template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  Number value{};
  const auto [end, error] = read_number(text, value);
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
  if (value.find(':') == std::string_view::npos)
    refuse("--range", value, "a range is FROM:TO, as in 10ms:12.5ms or 40%:60%");
  arguments.range = parse_text_range(value);
  if (!arguments.range) refuse("--range", value, "a time is a number with ns, us, ms, s or %");
}

// What --select accepts, except findings: "op:ID, call:ID, …, ".
std::string rows() {
  std::string text;
  for (size_t kind = 1; kind < kItemKindNames.size(); ++kind)
    text += std::string(kItemKindNames[kind]) + ":ID, ";
  return text;
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
  const size_t colon = std::min(value.find(':'), value.size());
  const auto kind = std::ranges::find(kItemKindNames, value.substr(0, colon));
  const auto id = parse_number<Id>(value.substr(std::min(colon + 1, value.size())));
  if (colon == 0 || kind == kItemKindNames.end() || !id)
    refuse("--select", value, "a selection is " + rows() + "finding:NUMBER or none");
  arguments.select = {static_cast<ItemKind>(kind - kItemKindNames.begin()), *id};
}

void parse_scale(Arguments& arguments, std::string_view value) {
  const auto scale = parse_number<float>(value);
  if (!scale || !(*scale >= 0.5f && *scale <= 4))
    refuse("--scale", value, "a scale is a number from 0.5 to 4");
  arguments.scale = scale;
}

class CommandLine {
 public:
  explicit CommandLine(Arguments& arguments) : arguments_(arguments) {
    app_.set_help_flag();  // --help is a flag like the others
    app_.add_option("TRACE", traces_);
    option("--screenshot", "PNG",
           "write one picture to this file instead of opening a window; needs no display",
           arguments.screenshot);
    option("--size", "WxH", "size of the window or picture in pixels (default 1600x1000)",
           parse_size);
    option("--range", "FROM:TO", "time to show, in ns, us, ms, s or % of the trace (default all)",
           parse_range);
    option("--select", "op:ID",
           "what to select; a picture selects the longest wait by default, or what costs a run\n"
           "of many ranks most:\n" +
               rows() + "\nfinding:NUMBER or none",
           parse_select);
    app_.add_flag("--what-if", arguments.what_if,
                  "show the run with the selected finding fixed, below the recorded run; without "
                  "one, the median iteration with each finding to fix first");
    option("--panel", "NAME", "show only this panel", arguments.panel)
        .check(CLI::IsMember(view_names()));
    option("--drawer", "NAME", "panel to open below the timeline, or none", arguments.drawer)
        .check(CLI::IsMember(view_names()) | CLI::IsMember({kNoDrawer}));
    option("--theme", "NAME", "dark (default) or light", theme_)
        .check(CLI::IsMember({"dark", "light"}));
    option("--scale", "F", "size of text and lines, 0.5 to 4 (default: that of the display)",
           parse_scale);
    option("--state", "JSON", "write what is shown and selected to this file whenever it changes",
           arguments.state_file);
    app_.add_flag("--help", arguments.help, "print this help");
    app_.add_flag("--version", arguments.version, "print the version");
    app_.get_formatter()->column_width(24);
  }

  void parse(std::span<const char* const> words) {
    try {
      app_.parse(std::vector<std::string>(words.rbegin(),
                                          words.rend()));  // in reverse order, as CLI11 requires
    } catch (const CLI::ParseError& error) {
      throw Error("arguments", error.what(), std::string(kHelpHint));
    }
    if (traces_.size() > 2) throw Error(traces_[2], "two traces at most", std::string(kHelpHint));
    if (!traces_.empty()) arguments_.trace = traces_[0];
    if (traces_.size() > 1) arguments_.compared = traces_[1];
    if (theme_ == "light") arguments_.theme = ThemeKind::kLight;
  }

  // Without the usage line and the arguments, which CLI11 prints first.
  std::string options() const {
    std::string text = app_.help();
    text.erase(0, text.find("\nOptions:"));
    while (text.ends_with("\n\n")) text.pop_back();
    return text;
  }

 private:
  template <class T>
  CLI::Option& option(const char* name, const char* value, const std::string& help, T& into) {
    return named(*app_.add_option(name, into, help), value);
  }
  void option(const char* name, const char* value, const std::string& help,
              void (&read)(Arguments& arguments, std::string_view value)) {
    named(*app_.add_option_function<std::string>(
              name, [this, &read](const std::string& text) { read(arguments_, text); }, help),
          value);
  }
  // The name of the value in messages and in help. If a value is given several times, the last one
  // counts.
  static CLI::Option& named(CLI::Option& option, const char* value) {
    return *option.type_name(value)->option_text(value)->take_last();
  }

  CLI::App app_;
  Arguments& arguments_;
  std::vector<std::string> traces_;
  std::string theme_;
};

}  // namespace

TimeRange resolve(const TextRange& range, TimeRange extent) {
  const analysis::Extent part =
      analysis::resolve(range, {.begin_ns = extent.begin_ns, .end_ns = extent.end_ns});
  return {part.begin_ns, part.end_ns};
}

Arguments parse_arguments(std::span<const char* const> words) {
  Arguments result;
  CommandLine(result).parse(words);
  if (!result.screenshot.empty() && result.trace.empty() && !result.help && !result.version) {
    throw Error("--screenshot", "no trace given", "run streamscope-viewer TRACE --screenshot PNG");
  }
  return result;
}

std::string usage() {
  Arguments none;
  return "usage: streamscope-viewer [OPTIONS] [TRACE [OTHER]]\n\n"
         "Shows a trace of CUDA streams: what ran when, and who waited for whom.\n"
         "Given the folder of a run of many ranks, it shows the ranks as lanes.\n"
         "Given two traces, the compare panel shows what differs.\n" +
         CommandLine(none).options() + "\nPress F1 in the window to list the keys.\n";
}

}  // namespace streamscope::viewer
