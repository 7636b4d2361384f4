// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Files by descriptor: closed at the end, read and written as a whole.
#pragma once

#include <unistd.h>

#include <cstring>
#include <string>
#include <utility>

#include "ring/descriptor.h"
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

using ring::read_all;
using ring::write_all;

/// The error of a file that "cannot be `what`", for this errno.
inline Error file_error(const std::string& file, const std::string& what, int code) {
  return Error(file, "cannot be " + what + ": " + std::strerror(code), remedy_for(code), code);
}

}  // namespace streamscope::record
