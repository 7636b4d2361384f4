// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Loops over independent parts on all processors.
#pragma once

#include <algorithm>
#include <atomic>
#include <future>
#include <vector>

#include "vocabulary/threads.h"

namespace streamscope::job {

/// Calls `part(i)` for every i below `count`, in any order and several at once. `part` must not
/// throw.
template <class Part>
void for_each_part(size_t count, const Part& part) {
  const size_t workers = std::min(processor_count(), count);
  std::atomic<size_t> next{0};
  const auto work = [&] {
    for (size_t i = next++; i < count; i = next++) part(i);
  };
  std::vector<std::future<void>> others;
  for (size_t i = 1; i < workers; ++i) others.push_back(run_beside(work));
  work();
}

}  // namespace streamscope::job
