// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Work beside the caller, also where no thread can be started: in a web page that is not isolated.
#pragma once

#ifdef __EMSCRIPTEN__
#include <emscripten/threading.h>
#endif

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <future>
#include <system_error>
#include <thread>
#include <vector>

namespace streamscope {

#if defined(__EMSCRIPTEN__) && !defined(__EMSCRIPTEN_PTHREADS__)
inline constexpr bool kHasThreads = false;
#else
inline constexpr bool kHasThreads = true;
#endif

/// True where the caller may start a thread and wait for it. In a page, the thread that draws may
/// not: the browser starts no other while that one waits.
inline bool may_wait_for_threads() {
#ifdef __EMSCRIPTEN__
  return kHasThreads && emscripten_is_main_browser_thread() == 0;
#else
  return true;
#endif
}

/// How many threads run at once, at least 1.
inline size_t processor_count() {
  return may_wait_for_threads() ? std::max<size_t>(std::thread::hardware_concurrency(), 1) : 1;
}

/// std::async, on a thread of its own if `is_worth_it`; else, and where no thread can be started or
/// waited for, when the result is asked for.
template <class Work>
auto run_beside(const Work& work, bool is_worth_it = true) {
  const auto later = [&] { return std::async(std::launch::deferred, work); };
  if (!is_worth_it || !may_wait_for_threads()) return later();
  try {
    return std::async(std::launch::async, work);
  } catch (const std::system_error&) {  // a limit of the system, or of a container
    return later();
  }
}

/// Calls `part(i)` for every i below `count`, on all processors: each takes the lowest that is
/// left. Throws what a part threw.
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
  for (std::future<void>& other : others) other.get();
}

}  // namespace streamscope
