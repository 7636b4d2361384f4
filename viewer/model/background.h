// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// One piece of work beside the window: on a thread, or, where there are none, between two frames.
#pragma once

#include <chrono>
#include <optional>
#include <utility>

#include "vocabulary/threads.h"

namespace streamscope::viewer {

/// UI thread only. Destruction waits for a thread.
template <class Result>
class Background {
 public:
  /// Starts what returns a Result, in place of the work before, which it waits for.
  template <class Work>
  void start(Work&& work) {
    result_ = std::async(kHasThreads ? std::launch::async : std::launch::deferred,
                         std::forward<Work>(work));
    was_seen_ = false;
  }
  /// True from start() until the result was taken.
  bool is_busy() const { return result_.valid(); }
  /// The result, once. Where there are no threads, the second call does the work: by then a frame
  /// has shown what takes so long.
  std::optional<Result> take() {
    if (!is_busy()) return std::nullopt;
    const bool is_ready =
        kHasThreads ? result_.wait_for(std::chrono::seconds(0)) == std::future_status::ready
                    : std::exchange(was_seen_, true);
    if (!is_ready) return std::nullopt;
    return result_.get();
  }
  /// Returns when the work is done.
  void wait() const {
    if (is_busy()) result_.wait();
  }

 private:
  std::future<Result> result_;
  bool was_seen_ = false;
};

}  // namespace streamscope::viewer
