// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A changed copy of a file that replaces it in one step, so that anyone who opens or copies the
// file at any time gets the complete old or new one.
#pragma once

#include <filesystem>

namespace streamscope::trace {

/// Thread-compatible. A process that is killed leaves the file unchanged, and perhaps a hidden file
/// `.NAME.streamscope-XXXXXX` that the next Replacement in that folder removes.
class Replacement {
 public:
  /// Copies `file`, or what it links to, into a new file in the same folder with its mode and
  /// owner. Shares the blocks if the file system can; otherwise the space is needed twice. Throws
  /// Error.
  explicit Replacement(const std::filesystem::path& file);
  /// Removes the copy unless it has replaced the file.
  ~Replacement();
  Replacement(const Replacement&) = delete;
  Replacement& operator=(const Replacement&) = delete;

  const std::filesystem::path& copy() const { return copy_; }
  /// The file, or what it links to.
  const std::filesystem::path& target() const { return target_; }
  /// Writes the copy to the disk and renames it to the file. Throws Error; the file is then
  /// unchanged.
  void commit();

  /// Removes the copies of killed processes from `folder`.
  static void remove_abandoned(const std::filesystem::path& folder);

 private:
  void make_copy(const std::filesystem::path& folder);
  void discard();
  [[noreturn]] void fail(const char* what, int error) const;

  std::filesystem::path file_;  // as the caller names it
  std::filesystem::path target_;
  std::filesystem::path copy_;
  int source_descriptor_ = -1;
  int copy_descriptor_ = -1;  // locked, which shows that it is in use
  bool committed_ = false;
};

}  // namespace streamscope::trace
