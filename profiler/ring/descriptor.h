// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Descriptors that the program never meets: above standard input, output and error, which a program
// may have closed and expect to be the next ones to open.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace streamscope::ring {

/// `file` or a copy of it above 2, closed on exec; -1 with errno if there is none, and then `file`
/// is closed.
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

}  // namespace streamscope::ring
