// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What the command line knows about the terminal: colors, width, progress, messages, and text that
// fits one line.
#pragma once

#include <fmt/format.h>

#include <chrono>
#include <string>
#include <string_view>
#include <utility>

namespace streamscope::cli {

/// True if standard output is a terminal that wants colors (https://no-color.org).
bool wants_color();
/// Columns of the terminal behind standard output; 0 if it is none.
size_t terminal_width();
/// Line breaks and control characters become spaces.
std::string one_line(std::string_view text);

/// Writes `text` to standard error. If nobody can read it (closed, a full disk, a pipe without a
/// reader), it is left out: what is said about work is no reason to fail it.
void write_message(std::string_view text) noexcept;
/// One line of a message: "streamscope: ", the text and a line break.
template <class... Arguments>
void message(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  write_message("streamscope: " + fmt::format(format, std::forward<Arguments>(arguments)...) +
                "\n");
}

/// A line on standard error that says how far long work is. Shown only on a terminal and after a
/// second; erased at the end.
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
