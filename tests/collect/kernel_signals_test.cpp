// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Reads the machine code that nvcc makes of signals.cu, for GPUs of several kinds.
#include "collect/observed/kernel_signals.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace streamscope::collect {
namespace {

std::string contents(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<std::filesystem::path> cubins(std::string_view source) {
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::directory_iterator(COLLECT_CUBINS)) {
    const std::string name = entry.path().filename();
    if (name.starts_with(std::string(source) + ".sm_")) found.push_back(entry.path());
  }
  return found;
}

// The names of all kernels begin with what they may do.
void expect_as_named(const SignalsOfKernels& found, size_t least) {
  for (const auto& [name, signals] : found) {
    const uint8_t expected = name.starts_with("both_")      ? kMaySignal | kMayWait
                             : name.starts_with("signals_") ? kMaySignal
                             : name.starts_with("waits_")   ? kMayWait
                                                            : 0;
    EXPECT_EQ(signals, expected) << name;
  }
  EXPECT_GE(found.size(), least);
}

TEST(KernelSignals, AreReadFromTheCode) {
  const auto files = cubins("signals");
  EXPECT_GE(files.size(), 3u);
  for (const auto& file : files) {
    SCOPED_TRACE(file);
    const std::string code = contents(file);
    bool unknown = true;
    expect_as_named(signals_of_kernels(code.data(), code.size(), &unknown), 16);
    EXPECT_FALSE(unknown);
  }
}

TEST(KernelSignals, IncludeThoseOfFunctionsThatAreCalled) {
  for (const auto& file : cubins("signals_in_a_function")) {
    SCOPED_TRACE(file);
    const std::string code = contents(file);
    bool unknown = true;
    expect_as_named(signals_of_kernels(code.data(), code.size(), &unknown), 2);
  }
}

TEST(KernelSignals, AreUnknownWithoutReadableCode) {
  bool unknown = false;
  EXPECT_TRUE(signals_of_kernels("not a cubin", 11, &unknown).empty());
  EXPECT_TRUE(unknown);
  for (const auto& file : cubins("signals")) {
    const std::string code = contents(file);
    for (size_t bytes = 0; bytes < code.size(); bytes += 97)
      signals_of_kernels(std::string(code, 0, bytes).data(), bytes, &unknown);  // reads no further
  }
}

TEST(KernelSignals, DamagedCodeIsReadWithinItsBounds) {
  for (const auto& file : cubins("signals_in_a_function")) {
    const std::string code = contents(file);
    for (size_t at = 0; at < code.size(); at += 3) {
      std::string damaged = code;
      damaged[at] = static_cast<char>(~damaged[at]);
      bool unknown = false;
      signals_of_kernels(damaged.data(), damaged.size(), &unknown);
    }
  }
}

}  // namespace
}  // namespace streamscope::collect
