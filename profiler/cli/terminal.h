// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Terminal output: colors, width, progress, messages, and text that fits on one line.
#pragma once

#include <fmt/format.h>

#include <chrono>
#include <string>
#include <string_view>
#include <utility>

namespace streamscope::cli {

/// True if standard output is a terminal that wants colors (https://no-color.org).
bool wants_color();
/// Columns of the terminal on standard output; 0 if it is not a terminal.
size_t terminal_width();
/// Line breaks and control characters become spaces.
std::string one_line(std::string_view text);

/// Writes `text` to standard error. Ignores write errors (closed, full disk, a pipe without a
/// reader): a lost message is no reason to fail the command.
void write_message(std::string_view text) noexcept;
/// Writes one line: "streamscope: ", the text and a line break.
template <class... Arguments>
void message(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  write_message("streamscope: " + fmt::format(format, std::forward<Arguments>(arguments)...) +
                "\n");
}

/// A progress line on standard error. Shown only on a terminal and after one second; erased at the
/// end.
class Progress {
 public:
  Progress(std::string what, bool quiet);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();

  /// `fraction` in [0, 1]. Cheap; may be called often.
  void update(double fraction);

 private:
  using Clock = std::chrono::steady_clock;
  std::string what_;
  bool enabled_;
  bool shown_ = false;
  Clock::time_point next_;
};

}  // namespace streamscope::cli
