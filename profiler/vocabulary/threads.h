// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Work beside the caller, also where no thread can be started: in a web page that is not isolated.
#pragma once

#ifdef __EMSCRIPTEN__
#include <emscripten/threading.h>
#endif

#include <algorithm>
#include <cstddef>
#include <future>
#include <thread>
#include <utility>

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

/// std::async, on a thread of its own if `is_worth_it`; else, and where no thread may be waited
/// for, when the result is asked for.
template <class Work>
auto run_beside(Work&& work, bool is_worth_it = true) {
  return std::async(
      is_worth_it && may_wait_for_threads() ? std::launch::async : std::launch::deferred,
      std::forward<Work>(work));
}

}  // namespace streamscope
