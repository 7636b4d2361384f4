// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// One file per fuzzer, overwritten by every input.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace streamscope::test {

/// In the folder that STREAMSCOPE_FUZZ_SCRATCH names, which the caller cleans up.
inline std::filesystem::path scratch(const char* name) {
  const char* const own = std::getenv("STREAMSCOPE_FUZZ_SCRATCH");
  const std::filesystem::path folder =
      own != nullptr ? own : std::filesystem::temp_directory_path();
  return folder / ("streamscope-fuzz-" + std::to_string(getpid()) + "-" + name);
}

inline std::filesystem::path write_scratch(const uint8_t* data, size_t size) {
  static const std::filesystem::path kFile = scratch("input");
  std::ofstream(kFile, std::ios::binary | std::ios::trunc)
      .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  return kFile;
}

}  // namespace streamscope::test
