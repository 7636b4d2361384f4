// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Compares an output with the approved one in tests/golden/. `cmake --build build --target
// update-golden` approves what the programs write now; the difference is then read in the commit.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace streamscope::test {

inline void expect_golden(const std::string& name, const std::string& text) {
  const auto file = std::filesystem::path(STREAMSCOPE_GOLDEN_DIR) / name;
  if (std::getenv("STREAMSCOPE_UPDATE_GOLDEN")) {
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
    return;
  }
  std::ifstream in(file, std::ios::binary);
  ASSERT_TRUE(in) << "no approved output " << file << "; target update-golden makes it";
  const std::string approved((std::istreambuf_iterator<char>(in)), {});
  EXPECT_EQ(approved, text) << "differs from " << file << "; target update-golden approves it";
}

}  // namespace streamscope::test
