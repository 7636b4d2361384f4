// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A descriptor of a file, folder or socket with an owner.
#pragma once

#include <unistd.h>

#include <utility>

namespace streamscope {

/// Closes its descriptor at the end. Move-only.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }

  int get() const { return number_; }
  /// False if nothing is open.
  explicit operator bool() const { return number_ >= 0; }
  /// The descriptor, which now is the caller's.
  int release() { return std::exchange(number_, -1); }

 private:
  int number_ = -1;
};

}  // namespace streamscope
