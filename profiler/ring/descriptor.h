// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Descriptors that the program never sees: above standard input, output and error, which a program
// may have closed and expect to be the next ones to open.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace streamscope::ring {

/// `file` or a copy of it above 2, closed on exec. -1 with errno if that fails, and then `file` is
/// closed.
inline int moved_high(int file) {
  if (file < 0 || file > STDERR_FILENO) return file;
  const int high = ::fcntl(file, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  const int error = errno;
  ::close(file);
  errno = error;
  return high;
}

/// open() above 2. `flags` has O_CLOEXEC.
inline int open_high(const char* path, int flags, unsigned mode = 0) {
  return moved_high(::open(path, flags, mode));
}

/// pipe2(O_CLOEXEC) with both ends above 2; false with errno if that fails.
inline bool pipe_high(int (&ends)[2]) {
  if (::pipe2(ends, O_CLOEXEC) != 0) return false;
  for (int& end : ends) end = moved_high(end);
  if (ends[0] >= 0 && ends[1] >= 0) return true;
  const int error = errno;
  for (const int end : ends) {
    if (end >= 0) ::close(end);
  }
  errno = error;
  return false;
}

}  // namespace streamscope::ring
