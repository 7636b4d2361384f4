// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Loops over independent parts on all processors.
#pragma once

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace streamscope::job {

/// Calls `part(i)` for every i below `count`, in any order and several at once. `part` must not
/// throw.
template <class Part>
void for_each_part(size_t count, const Part& part) {
  const size_t workers = std::min<size_t>(std::max(std::thread::hardware_concurrency(), 1u), count);
  std::atomic<size_t> next{0};
  const auto work = [&] {
    for (size_t i = next++; i < count; i = next++) part(i);
  };
  std::vector<std::jthread> others;
  for (size_t i = 1; i < workers; ++i) others.emplace_back(work);
  work();
}

}  // namespace streamscope::job
