// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A text file in memory, decompressed if it is gzip, followed by the padding that a JSON parser
// needs.
#pragma once

#include <filesystem>
#include <memory>
#include <string_view>

namespace streamscope::import {

class Text {
 public:
  /// `padding` zero bytes follow the text.
  Text(std::unique_ptr<char[]> bytes, size_t size) : bytes_(std::move(bytes)), size_(size) {}
  std::string_view view() const { return {bytes_.get(), size_}; }
  const char* data() const { return bytes_.get(); }
  size_t size() const { return size_; }
  /// Puts `tail`, which is at most as long as the padding allows, after the first `size` bytes.
  void replace_tail(size_t size, std::string_view tail) {
    tail.copy(bytes_.get() + size, tail.size());
    size_ = size + tail.size();
  }

 private:
  std::unique_ptr<char[]> bytes_;
  size_t size_;
};

/// Reads FILE. Throws Error: unreadable, damaged gzip, more than `most_bytes` of text, or a gzip
/// with an extreme compression ratio (a zip bomb).
Text read_text(const std::filesystem::path& file, size_t most_bytes, size_t padding);

}  // namespace streamscope::import
