// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Reads the machine code that nvcc makes of signals.cu, tensor_maps.cu and others, for GPUs of
// several kinds.
#include "collect/observed/kernel_code.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace streamscope::collect {
namespace {

std::string contents_of(const std::filesystem::path& file) {
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
void expect_as_named(const CodeOfKernels& found, size_t least) {
  for (const auto& [name, traits] : found) {
    const int expected = name.starts_with("both_")         ? kMaySignal | kMayWait
                         : name.starts_with("signals_")    ? kMaySignal
                         : name.starts_with("waits_")      ? kMayWait
                         : name.starts_with("map_reads_")  ? kReadsByTensorMap
                         : name.starts_with("map_writes_") ? kWritesByTensorMap
                         : name.starts_with("map_both_")   ? kByTensorMap
                         : name.starts_with("unseen_")     ? kTouchesUnseen
                                                           : 0;
    EXPECT_EQ(traits, expected) << name;
  }
  EXPECT_GE(found.size(), least);
}

TEST(KernelCode, ShowsSignals) {
  const auto files = cubins("signals");
  EXPECT_GE(files.size(), 3u);
  for (const auto& file : files) {
    SCOPED_TRACE(file);
    const std::string code = contents_of(file);
    CodeOfKernels found;
    EXPECT_TRUE(read_code(code.data(), code.size(), found));
    expect_as_named(found, 16);
  }
}

TEST(KernelCode, ShowsWhatIsTouchedByTensorMapsTexturesAndSurfaces) {
  for (const auto& [source, least] : {std::pair("textures", 8u), std::pair("tensor_maps", 5u)}) {
    const auto files = cubins(source);
    EXPECT_GE(files.size(), 1u) << source;
    for (const auto& file : files) {
      SCOPED_TRACE(file);
      const std::string code = contents_of(file);
      CodeOfKernels found;
      EXPECT_TRUE(read_code(code.data(), code.size(), found));
      expect_as_named(found, least);
    }
  }
}

TEST(KernelCode, IncludesFunctionsThatAreCalled) {
  for (const auto& file : cubins("signals_in_a_function")) {
    SCOPED_TRACE(file);
    const std::string code = contents_of(file);
    CodeOfKernels found;
    EXPECT_TRUE(read_code(code.data(), code.size(), found));
    expect_as_named(found, 2);
  }
}

TEST(KernelCode, CannotAlwaysBeRead) {
  CodeOfKernels found;
  EXPECT_FALSE(read_code("not a cubin", 11, found));
  EXPECT_TRUE(found.empty());
  for (const auto& file : cubins("signals")) {
    const std::string code = contents_of(file);
    for (size_t bytes = 0; bytes < code.size(); bytes += 97)
      read_code(std::string(code, 0, bytes).data(), bytes, found);  // reads no further
  }
}

TEST(KernelCode, DamagedCodeIsReadWithinItsBounds) {
  for (const auto& file : cubins("signals_in_a_function")) {
    const std::string code = contents_of(file);
    for (size_t at = 0; at < code.size(); at += 3) {
      std::string damaged = code;
      damaged[at] = static_cast<char>(~damaged[at]);
      CodeOfKernels found;
      read_code(damaged.data(), damaged.size(), found);
    }
  }
}

}  // namespace
}  // namespace streamscope::collect
