// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
//
// Times the steps of a program that somebody else wrote, or puts an NVTX range around each of them
// where the environment has MARK.
#pragma once
#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

namespace marks {

constexpr int kWarmUp = 10;

struct Steps {
  const bool mark = std::getenv("MARK") != nullptr;
  int count = 0;
  std::chrono::steady_clock::time_point begin;
};

inline Steps& steps() {
  static Steps all;
  return all;
}

/// Begins a step and ends the one before. True, so that it can stand before a statement: `if
/// (marks::step()) statement;`
inline bool step() {
  Steps& all = steps();
  if (all.mark && all.count > 0) nvtxRangePop();
  if (!all.mark && all.count == kWarmUp) {
    cudaDeviceSynchronize();
    all.begin = std::chrono::steady_clock::now();
  }
  if (all.mark) nvtxRangePushA("step");
  ++all.count;
  return true;
}

/// Ends the last step and the program, and prints the mean: a step that does not wait for the
/// device has no end of its own.
inline void end() {
  const Steps& all = steps();
  if (all.mark) nvtxRangePop();
  cudaDeviceSynchronize();
  const std::chrono::duration<double, std::milli> took =
      std::chrono::steady_clock::now() - all.begin;
  if (!all.mark) std::printf("\n{\"step_ms\": %.6f}\n", took.count() / (all.count - kWarmUp));
  std::exit(0);
}

}  // namespace marks
