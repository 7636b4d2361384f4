// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "coord/executor.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace coord {

class Executor::Impl {
 public:
  explicit Impl(std::size_t threads) {
    for (std::size_t i = 0; i < std::max<std::size_t>(threads, 1); ++i)
      threads_.emplace_back([this] { run(); });
  }
  ~Impl() {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
    }
    posted_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  void post(std::function<void()> function) {
    {
      const std::lock_guard lock(mutex_);
      waiting_.push_back(std::move(function));
    }
    posted_.notify_one();
  }

 private:
  void run() {
    std::unique_lock lock(mutex_);
    for (;;) {
      posted_.wait(lock, [this] { return ending_ || !waiting_.empty(); });
      if (waiting_.empty()) return;
      std::function<void()> function = std::move(waiting_.front());
      waiting_.pop_front();
      lock.unlock();
      function();
      function = nullptr;  // what it holds ends here, without the lock
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable posted_;
  std::deque<std::function<void()>> waiting_;
  bool ending_ = false;
  std::vector<std::thread> threads_;
};

Executor::Executor(std::size_t threads) : impl_(std::make_unique<Impl>(threads)) {}

Executor::~Executor() = default;

void Executor::post(std::function<void()> function) { impl_->post(std::move(function)); }

const std::shared_ptr<Executor>& Executor::shared() {
  // Never destroyed: callbacks may come until the very end of the process.
  static const auto* executor = new std::shared_ptr<Executor>(std::make_shared<Executor>());
  return *executor;
}

}  // namespace coord
