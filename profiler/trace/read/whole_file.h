// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A trace as the bytes of one file, for those who pass it on as it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <utility>

#include "trace/descriptor.h"

namespace streamscope::trace {

/// Whether there is a log beside the file that belongs to its content: it is being recorded, or its
/// recording ended badly.
bool has_log(const std::filesystem::path& file);

/// An open trace. Move-only.
class WholeFile {
 public:
  /// The file itself; if it has a log or may get one, a copy of what both contain at this moment,
  /// which is a temporary file without a name. Throws Error: no trace, or no space for the copy.
  static WholeFile open(const std::filesystem::path& file);

  bool is_copy() const { return is_copy_; }
  uint64_t bytes() const { return bytes_; }
  /// Reads up to `size` bytes from `offset` on; 0 at the end. Throws Error.
  size_t read(uint64_t offset, char* into, size_t size) const;
  /// The open file, which now is the caller's.
  Descriptor release() { return std::move(descriptor_); }

 private:
  WholeFile(Descriptor descriptor, bool is_copy, const std::filesystem::path& file);

  std::filesystem::path file_;  // in messages
  Descriptor descriptor_;
  bool is_copy_ = false;
  uint64_t bytes_ = 0;
};

}  // namespace streamscope::trace
