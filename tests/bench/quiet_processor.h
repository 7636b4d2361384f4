// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Where to measure nanoseconds. Virtual CPUs share cores with other virtual machines, which makes
// any of them half as fast for seconds to minutes; on an H200 host with 16, some always are.
#pragma once

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <vector>

#include "support/processors.h"

namespace streamscope::bench {

/// CPU time of a piece of work that keeps all units of a core busy, in ns.
inline double processor_probe_ns() {
  const auto now = [] {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
  };
  static std::uint32_t memory[1024];
  std::uint64_t state[6] = {1, 2, 3, 4, 5, 6};
  const double begin = now();
  for (int i = 0; i < 5'000; ++i) {
    for (std::uint64_t& one : state) {
      one = one * 6364136223846793005u + 1442695040888963407u;
      memory[one >> 54] += static_cast<std::uint32_t>(one);
    }
  }
  return now() - begin;
}

/// The currently fastest of these CPUs, or -1. Takes a millisecond for each, and leaves the calling
/// thread on one of them.
inline int quietest_of(const cpu_set_t& allowed) {
  struct Processor {
    int number;
    double spent_ns;
  };
  std::vector<Processor> processors;
  for (const int number : test::processors_in(allowed)) processors.push_back({number, 0});
  for (int round = 0; round < 5; ++round) {
    for (Processor& one : processors) {
      if (test::stay_on(one.number)) one.spent_ns += processor_probe_ns();
    }
  }
  const auto best = std::min_element(
      processors.begin(), processors.end(),
      [](const Processor& a, const Processor& b) { return a.spent_ns < b.spent_ns; });
  return best != processors.end() && best->spent_ns > 0 ? best->number : -1;
}

/// Keeps the calling thread, and those it starts meanwhile, on the currently fastest CPU of those
/// that it may use, as long as this object lives.
class OnQuietProcessor {
 public:
  OnQuietProcessor()
      : known_(pthread_getaffinity_np(pthread_self(), sizeof before_, &before_) == 0) {
    const int number = known_ ? quietest_of(before_) : -1;
    if (number < 0 || !test::stay_on(number)) restore();
  }
  ~OnQuietProcessor() { restore(); }
  OnQuietProcessor(const OnQuietProcessor&) = delete;
  OnQuietProcessor& operator=(const OnQuietProcessor&) = delete;

 private:
  void restore() {
    if (known_) pthread_setaffinity_np(pthread_self(), sizeof before_, &before_);
  }

  cpu_set_t before_{};
  bool known_;
};

}  // namespace streamscope::bench
