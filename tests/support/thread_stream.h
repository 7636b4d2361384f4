// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A stream of a driver in miniature: a thread that does one thing after the other.
#pragma once

#include <cuda.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace streamscope::test {

class ThreadStream {
 public:
  ~ThreadStream() {
    run([this] { ends_ = true; });
    worker_.join();
  }
  void run(std::function<void()> work) {
    std::lock_guard lock(mutex_);
    work_.push_back(std::move(work));
    changed_.notify_one();
  }
  void synchronize() {
    std::atomic<bool> done = false;
    run([&] { done = true; });
    while (!done) std::this_thread::yield();
  }
  bool is_idle() {
    std::lock_guard lock(mutex_);
    return work_.empty() && !busy_;
  }
  CUstream handle() { return reinterpret_cast<CUstream>(this); }
  static ThreadStream& of(CUstream handle) { return *reinterpret_cast<ThreadStream*>(handle); }

 private:
  void work() {
    while (!ends_) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return !work_.empty(); });
      const auto next = std::move(work_.front());
      work_.pop_front();
      busy_ = true;
      lock.unlock();
      next();
      lock.lock();
      busy_ = false;
    }
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> work_;
  bool busy_ = false;
  bool ends_ = false;  // in the worker
  std::thread worker_{[this] { work(); }};
};

}  // namespace streamscope::test
