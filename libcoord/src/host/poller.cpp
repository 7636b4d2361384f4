// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "poller.h"

#include <pthread.h>
#include <sys/prctl.h>

#include <algorithm>
#include <atomic>
#include <ctime>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "doorbell.h"
#include "relax.h"
#include "ticks.h"

namespace coord {

struct PollClient::State {
  std::function<PollResult()> poll;
  std::mutex running;  // held while `look` runs
  bool ended = false;  // under `running`
  std::atomic<bool> woken{false};
  bool waiting = false;  // the poller's thread only
};

namespace {

/// How long the thread polls without a pause after the last progress, even with nothing left: about
/// ten times the cost of sleeping and waking up; and the same for kHurried clients.
constexpr std::int64_t kEagerNs = 50'000;
constexpr std::int64_t kEagerForHurriedNs = 500'000;
/// Pause between polls for kHurried clients: waking up and polling take longer.
constexpr std::int64_t kPauseNs = 4'000;
/// Pause between polls for kPatient clients: a sixteenth of their wait so far, up to the longest
/// pause.
constexpr std::int64_t kPatience = 16;

/// The longest pause between polls, such that they take less than 5 % of a processor. The cost of
/// one poll, including sleep and wake-up, is measured: with virtual timers it is ten times higher.
class LongestPause {
 public:
  std::int64_t ns() const { return pause_ns_; }
  /// A pause begins.
  void one_more() {
    if (pauses_ == 0) begin_ns_ = processor_ns();
    if (pauses_++ < kMeasured) return;
    pauses_ = 0;
    pause_ns_ = std::clamp((processor_ns() - begin_ns_) / kMeasured * 25, kLeastNs, kMostNs);
  }
  /// The thread does other work.
  void stop() { pauses_ = 0; }

 private:
  static constexpr std::int64_t kLeastNs = 250'000, kMostNs = 5'000'000, kMeasured = 32;
  static std::int64_t processor_ns() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return time.tv_sec * std::int64_t{1'000'000'000} + time.tv_nsec;
  }

  std::int64_t pauses_ = 0, begin_ns_ = 0, pause_ns_ = kLeastNs;
};

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
    client.woken.store(true);
    doorbell_.ring();
  }

 private:
  void run() {
    pthread_setname_np(pthread_self(), "coord-poller");
    prctl(PR_SET_TIMERSLACK, 1000UL);  // the default turns 4 us into 60
    std::int64_t news_ns = monotonic_ns();
    LongestPause longest_pause;
    std::vector<std::shared_ptr<PollClient::State>> clients;
    for (;;) {
      const std::uint64_t heard = doorbell_.rings();
      {
        const std::lock_guard lock(mutex_);
        clients = clients_;
      }
      PollResult all{PollResult::kIdle};
      bool news = false;
      for (const auto& client : clients) {
        const bool woken = client->woken.exchange(false);
        if (!woken && !client->waiting) continue;
        const std::lock_guard running(client->running);
        if (client->ended) continue;
        const PollResult poll = client->poll();
        client->waiting = poll.found != PollResult::kIdle;
        news |= woken || poll.found == PollResult::kProgress;
        all.found = std::max(all.found, poll.found);
        all.again_ns = std::min(all.again_ns, poll.again_ns);
      }
      clients.clear();
      const std::int64_t now_ns = monotonic_ns();
      if (news) news_ns = now_ns;
      const std::int64_t eager_ns =
          all.found == PollResult::kHurried ? kEagerForHurriedNs : kEagerNs;
      if (all.found == PollResult::kWaiting ||
          ((all.found != PollResult::kIdle || can_look_for_more()) &&
           now_ns - news_ns < eager_ns)) {
        longest_pause.stop();
        std::this_thread::yield();
        continue;
      }
      std::int64_t until_ns = all.again_ns;
      if (all.found == PollResult::kPatient) {
        longest_pause.one_more();
        until_ns = std::min(until_ns, now_ns + std::clamp((now_ns - news_ns) / kPatience, kPauseNs,
                                                          longest_pause.ns()));
      } else {
        longest_pause.stop();
        if (all.found != PollResult::kIdle) until_ns = std::min(until_ns, now_ns + kPauseNs);
      }
      doorbell_.sleep(heard, until_ns);
    }
  }

  std::mutex mutex_;
  bool started_ = false;
  std::vector<std::shared_ptr<PollClient::State>> clients_;
  Doorbell doorbell_;
};

}  // namespace

PollClient::PollClient(std::function<PollResult()> poll) : state_(std::make_shared<State>()) {
  state_->poll = std::move(poll);
  Poller::instance().add(state_);
}

PollClient::~PollClient() {
  Poller::instance().remove(state_);
  const std::lock_guard running(state_->running);
  state_->ended = true;
}

void PollClient::wake() { Poller::instance().wake(*state_); }

}  // namespace coord
