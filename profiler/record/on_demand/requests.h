// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What is asked of a recording that is off until somebody asks for it, and what it answers.
#pragma once

#include <sys/types.h>

#include <deque>
#include <filesystem>
#include <future>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "trace/error.h"

namespace streamscope::record {

/// What a recording on demand does at this moment.
struct OnDemandStatus {
  bool recording = false;
  std::filesystem::path trace;  ///< of the part that is recorded, or of the last; empty: none yet
  double seconds = 0;           ///< since that part began, while recording
  uint64_t parts = 0;           ///< that were begun
  std::vector<pid_t> processes;
};

/// The part that a request has begun or ended.
struct OnDemandAnswer {
  std::filesystem::path trace;
  std::optional<Error> failure;
};

/// Passes requests from any thread to the recorder's, which takes them. Thread-safe.
class OnDemandRequests {
 public:
  enum class Kind { kStart, kStop };
  struct Request {
    Kind kind;
    std::optional<double> seconds;  ///< kStart: ends by itself after that time
    std::promise<OnDemandAnswer> answer;
  };

  /// Answered once all processes record; an error if recording is on already.
  std::future<OnDemandAnswer> start(std::optional<double> seconds) {
    return ask({Kind::kStart, seconds, {}});
  }
  /// Answered once the trace is complete; an error if recording is off.
  std::future<OnDemandAnswer> stop() { return ask({Kind::kStop, {}, {}}); }
  OnDemandStatus status() const {
    std::lock_guard lock(mutex_);
    return status_;
  }

  /// For the recorder: the oldest request that was not taken.
  std::optional<Request> take() {
    std::lock_guard lock(mutex_);
    if (waiting_.empty()) return std::nullopt;
    Request first = std::move(waiting_.front());
    waiting_.pop_front();
    return first;
  }
  void set_status(OnDemandStatus status) {
    std::lock_guard lock(mutex_);
    status_ = std::move(status);
  }
  /// The recorder leaves: what is waiting, and what is asked later, is refused.
  void close() {
    std::deque<Request> left;
    {
      std::lock_guard lock(mutex_);
      closed_ = true;
      left.swap(waiting_);
    }
    for (Request& request : left) refuse(request);
  }

 private:
  std::future<OnDemandAnswer> ask(Request request) {
    std::future<OnDemandAnswer> answer = request.answer.get_future();
    std::lock_guard lock(mutex_);
    if (closed_) {
      refuse(request);
    } else {
      waiting_.push_back(std::move(request));
    }
    return answer;
  }
  static void refuse(Request& request) {
    request.answer.set_value({{}, Error("the recording", "has ended")});
  }

  mutable std::mutex mutex_;
  std::deque<Request> waiting_;
  OnDemandStatus status_;
  bool closed_ = false;
};

}  // namespace streamscope::record
