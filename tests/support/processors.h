// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Processors on which threads of a test are kept: two that must run at the same moment may
// otherwise share one for as long as others are busy.
#pragma once

#include <pthread.h>
#include <sched.h>

#include <vector>

namespace streamscope::test {

/// The numbers of those in the set.
inline std::vector<int> processors_in(const cpu_set_t& set) {
  std::vector<int> numbers;
  for (int number = 0; number < CPU_SETSIZE; ++number) {
    if (CPU_ISSET(number, &set)) numbers.push_back(number);
  }
  return numbers;
}

/// Those that the calling thread may use; none if that cannot be known.
inline std::vector<int> usable_processors() {
  cpu_set_t set;
  if (pthread_getaffinity_np(pthread_self(), sizeof set, &set) != 0) return {};
  return processors_in(set);
}

/// Keeps the calling thread on one processor. False if it may not run there.
inline bool stay_on(int processor) {
  cpu_set_t only;
  CPU_ZERO(&only);
  CPU_SET(processor, &only);
  return pthread_setaffinity_np(pthread_self(), sizeof only, &only) == 0;
}

}  // namespace streamscope::test
