// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Files by descriptor: closed at the end, read and written as a whole.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string>
#include <utility>

#include "trace/error.h"

namespace streamscope::record {

/// Closes its file at the end. Move-only.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }

  int get() const { return number_; }
  /// False if the file could not be opened.
  explicit operator bool() const { return number_ >= 0; }

 private:
  int number_ = -1;
};

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

/// The error of a file that "cannot be `what`", for this errno.
inline Error file_error(const std::string& file, const std::string& what, int code) {
  return Error(file, "cannot be " + what + ": " + std::strerror(code), remedy_for(code), code);
}

}  // namespace streamscope::record
