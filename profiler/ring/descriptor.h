// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Descriptors that the program never sees: above standard input, output and error, which a program
// may have closed and expect to be the next ones to open. They are read and written as a whole.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

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

/// Moves all bytes by `call`, which is ::read or ::write. False with errno if not all could be.
template <class Call, class Byte>
bool move_all(Call call, int file, Byte* at, size_t left) {
  while (left > 0) {
    const ssize_t moved = call(file, at, left);
    if (moved < 0 && errno == EINTR) continue;
    if (moved == 0) errno = EIO;
    if (moved <= 0) return false;
    at += moved;
    left -= static_cast<size_t>(moved);
  }
  return true;
}
inline bool read_all(int file, void* data, size_t size) {
  return move_all(::read, file, static_cast<char*>(data), size);
}
inline bool write_all(int file, const void* data, size_t size) {
  return move_all(::write, file, static_cast<const char*>(data), size);
}

}  // namespace streamscope::ring
