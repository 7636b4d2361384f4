// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "ring/held_signals.h"

namespace streamscope::cli {

bool wants_color() {
  const char* no_color = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  if (no_color && *no_color) return false;
  return isatty(STDOUT_FILENO) && terminal && std::string_view(terminal) != "dumb";
}

size_t terminal_width() {
  winsize size{};
  if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_col;
}

std::string one_line(std::string_view text) {
  std::string line(text);
  while (!line.empty() && (line.back() == '\n' || line.back() == ' ')) line.pop_back();
  std::replace_if(
      line.begin(), line.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
  return line;
}

void write_message(std::string_view text) noexcept {
  const ring::HeldSignals held;
  while (!text.empty()) {
    const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    text.remove_prefix(static_cast<size_t>(written));
  }
}

Progress::Progress(std::string what, bool quiet)
    : what_(std::move(what)),
      enabled_(!quiet && isatty(STDERR_FILENO)),
      next_(Clock::now() + std::chrono::seconds(1)) {}

Progress::~Progress() {
  if (shown_) write_message("\r\x1b[K");
}

void Progress::update(double fraction) {
  if (!enabled_ || Clock::now() < next_) return;
  next_ = Clock::now() + std::chrono::milliseconds(100);
  shown_ = true;
  write_message(fmt::format("\r{} {:3.0f} %\x1b[K", what_, 100 * std::clamp(fraction, 0.0, 1.0)));
}

}  // namespace streamscope::cli
