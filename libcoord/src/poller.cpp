// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "poller.h"

#include <pthread.h>
#include <sys/prctl.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace coord {

struct PollClient::State {
  std::function<Look()> look;
  std::mutex running;  // held while `look` runs
  bool ended = false;  // under `running`
  std::atomic<bool> active{false};
};

namespace {

/// Looks without a pause before the thread begins to sleep in between: some 50 us on a GPU.
constexpr int kEagerLooks = 100;
/// What a value that a poller keeps may be stale by.
constexpr std::chrono::microseconds kPause{15};

class Poller {
 public:
  static Poller& instance() {
    static auto* poller = new Poller;  // its thread lives as long as the process
    return *poller;
  }

  void add(std::shared_ptr<PollClient::State> client) {
    const std::lock_guard lock(mutex_);
    clients_.push_back(std::move(client));
    if (!started_) {
      started_ = true;
      std::thread([this] { run(); }).detach();
    }
  }

  void remove(const std::shared_ptr<PollClient::State>& client) {
    const std::lock_guard lock(mutex_);
    std::erase(clients_, client);
  }

  void wake(PollClient::State& client) {
    if (client.active.exchange(true)) return;
    {
      const std::lock_guard lock(mutex_);
      woken_ = true;
    }
    wake_.notify_one();
  }

 private:
  void run() {
    pthread_setname_np(pthread_self(), "coord-poller");
    prctl(PR_SET_TIMERSLACK, 1000UL);  // the default would make 70 us of 20
    int quiet = 0;
    std::vector<std::shared_ptr<PollClient::State>> clients;
    for (;;) {
      {
        std::unique_lock lock(mutex_);
        clients = clients_;
        woken_ = false;
      }
      bool waiting = false, progress = false;
      for (const auto& client : clients) {
        if (!client->active.load()) continue;
        const std::lock_guard running(client->running);
        if (client->ended) continue;
        client->active.store(false);  // before the look: a wake() during it counts
        const Look look = client->look();
        if (look != Look::kIdle) client->active.store(true);
        waiting |= look != Look::kIdle;
        progress |= look == Look::kProgress;
      }
      clients.clear();
      quiet = progress ? 0 : quiet + 1;
      if (!waiting) {
        std::unique_lock lock(mutex_);
        wake_.wait(lock, [this] { return woken_; });
        quiet = 0;
      } else if (quiet > kEagerLooks) {
        std::this_thread::sleep_for(kPause);
      } else {
        std::this_thread::yield();
      }
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  bool woken_ = false;
  bool started_ = false;
  std::vector<std::shared_ptr<PollClient::State>> clients_;
};

}  // namespace

PollClient::PollClient(std::function<Look()> look) : state_(std::make_shared<State>()) {
  state_->look = std::move(look);
  Poller::instance().add(state_);
}

PollClient::~PollClient() {
  Poller::instance().remove(state_);
  const std::lock_guard running(state_->running);
  state_->ended = true;
}

void PollClient::wake() { Poller::instance().wake(*state_); }

}  // namespace coord
