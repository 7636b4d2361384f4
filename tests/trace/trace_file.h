// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The name of a file that does not exist yet; the file, and anything that SQLite left beside it, is
// removed when the test ends.
#pragma once

#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace streamscope::trace {

class TempTrace {
 public:
  TempTrace() {
    static std::atomic<int> count = 0;
    path_ =
        std::filesystem::temp_directory_path() / ("streamscope-test-" + std::to_string(getpid()) +
                                                  "-" + std::to_string(count++) + ".sqlite");
  }
  TempTrace(const TempTrace&) = delete;
  TempTrace& operator=(const TempTrace&) = delete;
  ~TempTrace() {
    std::error_code ignored;
    for (const char* suffix : {"", "-wal", "-shm", "-journal"}) {
      std::filesystem::remove(path_.string() + suffix, ignored);
    }
  }

  const std::filesystem::path& path() const { return path_; }
  operator const std::filesystem::path&() const { return path_; }

  void write_text(std::string_view bytes) const { std::ofstream(path_, std::ios::binary) << bytes; }

 private:
  std::filesystem::path path_;
};

}  // namespace streamscope::trace
