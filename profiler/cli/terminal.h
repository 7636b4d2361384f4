// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What the command line knows about the terminal: colours, width, progress, and text that fits one
// line.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace streamscope::cli {

/// True if standard output is a terminal that wants colours (https://no-color.org).
bool wants_colour();
/// Columns of the terminal behind standard output; 0 if it is none.
size_t terminal_width();
/// Line breaks and control characters become spaces.
std::string one_line(std::string_view text);

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
