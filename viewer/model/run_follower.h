// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Follows a run of many ranks while it grows: on a separate thread, polls its files and reads the
// run again when they have changed. It ends with the run.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "job_model.h"

namespace streamscope::viewer {

/// UI thread only, except `on_change`, which is called from the worker. Reading takes at most a
/// tenth of the worker's time, however long it takes.
class RunFollower {
 public:
  /// Follows the run from what was read of it; does nothing if it has ended.
  RunFollower(const JobModel& read, std::function<void()> on_change);
  /// Cancels what is being read.
  ~RunFollower();

  const std::filesystem::path& folder() const { return folder_; }
  /// What was read since the last call; null if there is nothing new.
  std::shared_ptr<const JobModel> take();
  /// Why the run cannot be read at the moment; "" if it can be.
  std::string error() const;
  /// True once the run has ended, or its folder is gone: it is not polled any more.
  bool is_done() const { return is_done_; }

 private:
  void follow(RunProgress known);
  /// False if it was cancelled.
  bool sleep(std::chrono::nanoseconds pause);
  void publish(std::shared_ptr<const JobModel> model, std::string error);

  const std::filesystem::path folder_;
  std::atomic<bool> cancelled_ = false, is_done_ = false;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::shared_ptr<const JobModel> model_;
  std::string error_;
  std::function<void()> on_change_;
  std::thread worker_;
};

}  // namespace streamscope::viewer
