// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A folder for temporary files that only this user can open. It ends with what is in it.
#pragma once

#include <filesystem>
#include <string>

namespace streamscope {

class ScratchFolder {
 public:
  /// Below TMPDIR or /tmp; its name has `purpose` in it. Throws Error.
  explicit ScratchFolder(const std::string& purpose);
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace streamscope
