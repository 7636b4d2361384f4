// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "coord/executor.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "relax.h"
#include "ticks.h"

namespace coord {

namespace {

/// How long a thread polls after running a function or after expect() before it sleeps: about ten
/// times the cost of sleeping and waking up.
constexpr std::int64_t kLookForMoreNs = 50'000;

/// Interval in ns at which it yields the processor. A function may be posted meanwhile, because the
/// call takes longer than a poll.
constexpr std::int64_t kYieldNs = 10'000;

}  // namespace

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
    bool noticed = false;
    {
      const std::lock_guard lock(mutex_);
      waiting_.push_back(std::move(function));
      noticed = looking_ && waiting_.size() == 1;
    }
    // With the lock released: a polling thread takes it at once.
    if (noticed) {
      news_.store(true, std::memory_order_relaxed);
    } else {
      posted_.notify_one();
    }
  }
  void expect() noexcept { expected_.store(true, std::memory_order_relaxed); }

 private:
  void run() {
    std::unique_lock lock(mutex_);
    for (bool eager = false;;) {
      if (eager && waiting_.empty() && !looking_) poll(lock);
      posted_.wait(lock, [this] { return ending_ || !waiting_.empty(); });
      if (waiting_.empty()) return;
      std::function<void()> function = std::move(waiting_.front());
      waiting_.pop_front();
      eager = can_look_for_more();
      lock.unlock();
      function();
      function = nullptr;  // destroys its captures here, without the lock
      lock.lock();
    }
  }

  // Polls for a while for posted functions, so that no wake-up is needed.
  void poll(std::unique_lock<std::mutex>& lock) {
    looking_ = true;
    news_.store(false, std::memory_order_relaxed);
    lock.unlock();
    std::int64_t until_ns = 0;
    std::int64_t yielded_ns = monotonic_ns();
    expected_.store(true, std::memory_order_relaxed);
    while (!news_.load(std::memory_order_relaxed)) {
      const std::int64_t now_ns = monotonic_ns();
      if (expected_.load(std::memory_order_relaxed)) {
        expected_.store(false, std::memory_order_relaxed);
        until_ns = now_ns + kLookForMoreNs;
      }
      if (now_ns >= until_ns) break;
      if (now_ns - yielded_ns < kYieldNs) {
        relax();
      } else {
        std::this_thread::yield();
        yielded_ns = now_ns;
      }
    }
    lock.lock();
    looking_ = false;
  }

  std::mutex mutex_;
  std::condition_variable posted_;
  std::deque<std::function<void()>> waiting_;
  std::atomic<bool> news_{false};      // something was posted since a thread began to poll
  std::atomic<bool> expected_{false};  // since the polling thread last checked
  bool looking_ = false;               // one of the threads polls
  bool ending_ = false;
  std::vector<std::thread> threads_;
};

Executor::Executor(std::size_t threads) : impl_(std::make_unique<Impl>(threads)) {}

Executor::~Executor() = default;

void Executor::post(std::function<void()> function) { impl_->post(std::move(function)); }

void Executor::expect() noexcept { impl_->expect(); }

const std::shared_ptr<Executor>& Executor::shared() {
  // Never destroyed: callbacks may arrive until the process ends.
  static const auto* executor = new std::shared_ptr<Executor>(std::make_shared<Executor>());
  return *executor;
}

}  // namespace coord
