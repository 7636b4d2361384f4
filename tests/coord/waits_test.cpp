// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The waits of an AsyncWaiter in every order of the steps of the program, the device, the polling
// thread and the one that runs functions: each wait ends exactly once, and none is forgotten.

#include "host/waits.h"

#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "coord/interleave.h"

namespace {

using coord::WaitOutcome;
using coord::WaitResult;

constexpr std::int64_t kLater = 1'000'000;  // when timeouts are over

/// Something that threads wait for, read and changed in one step each. How the real ones do that
/// has its own tests.
class Place {
 public:
  template <typename Change>
  void change(Change change) {
    model::step();
    change();
    wake();
  }
  /// After a change in the calling thread's current step.
  void wake() { changed_.notify_all(); }
  /// Until `ready`, which is checked last in the same step.
  template <typename Ready>
  void await(Ready ready) {
    struct Step {
      void lock() { model::step(); }
      void unlock() {}
    } step;
    step.lock();
    changed_.wait(step, ready);
  }

 private:
  model::Condition changed_;
};

struct Env {
  using Mutex = model::Mutex;
  using Condition = model::Condition;
  using Event = std::size_t;

  std::int64_t now_ns() const {
    if (timeouts) look_at(late);
    return late ? 2 * kLater : 0;
  }
  bool reached(Event event) const { return look_at(reached_events[event]); }
  void release(Event) { ++released; }
  void post(std::function<void()> function) {
    posted.push_back(std::move(function));
    queue.wake();
  }

  static bool look_at(const bool& changing) {
    model::step();
    model::saw(changing ? 1 : 0);
    return changing;
  }

  bool timeouts = false;  // there are some
  bool late = false;      // they are over
  bool reached_events[2] = {};
  int released = 0;
  std::deque<std::function<void()>> posted;
  Place queue;  // of the thread that runs them
};

/// What a program does with its waits.
enum class Act { kAdd, kAddWithTimeout, kCancelFirst, kAwaitFirst };

struct World {
  explicit World(bool timeouts) { env.timeouts = timeouts; }

  Env env;
  coord::BasicWaits<Env> waits{env};
  Place bell;  // of the polling thread
  Place ran;   // functions have
  std::uint32_t rings = 0;
  bool woken = false, stop = false, stopped = false;
  std::vector<WaitResult> ended[2];
  std::vector<std::uint64_t> ids;
  bool cancelled = false;

  void add(std::int64_t deadline_ns) {
    const std::size_t number = ids.size();
    const auto note = [this, number](const WaitOutcome& outcome) {
      ended[number].push_back(outcome.result);
      ran.wake();
    };
    ids.push_back(waits.add(7, number, note, deadline_ns));
    bell.change([this] {
      ++rings;
      woken = true;
    });
  }

  void program(const std::vector<Act>& acts) {
    for (const Act act : acts) {
      if (act == Act::kAdd) add(0);
      if (act == Act::kAddWithTimeout) add(kLater);
      if (act == Act::kCancelFirst) cancelled = waits.cancel(ids.front());
      if (act == Act::kAwaitFirst) ran.await([this] { return !ended[0].empty(); });
    }
    bell.change([this] { stop = true; });
    bell.await([this] { return stopped; });
    waits.end_all();
  }

  // As the poller does for its clients. The device rings for what it would see after a pause.
  void look() {
    std::uint32_t heard = 0;
    for (bool waiting = false, again = false;;) {
      bell.await([&] { return stop || woken || again || rings != heard; });
      model::saw(rings << 2 | (stop ? 2u : 0u) | (woken ? 1u : 0u));
      if (stop) break;
      heard = rings;
      again = false;
      if (std::exchange(woken, false) || waiting) {
        const coord::PollResult polled = waits.poll_once();
        waiting = polled.found != coord::PollResult::kIdle;
        again = polled.found == coord::PollResult::kProgress;
      }
    }
    stopped = true;
    bell.wake();
  }

  void run(std::size_t functions) {
    for (std::size_t done = 0; done < functions; ++done) {
      env.queue.await([&] { return env.posted.size() > done; });
      env.posted[done]();
    }
  }

  std::string check() const {
    if (env.posted.size() != ids.size()) return "a wait did not end once";
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (ended[i].size() != 1) return "a function did not run once";
    }
    if (cancelled && ended[0].front() != WaitResult::kCancelled) return "cancelled, and yet not";
    if (env.released != static_cast<int>(ids.size())) return "an event was lost";
    if (waits.pending() != 0) return "a wait is left";
    return "";
  }
};

/// The actions of the program, and those of the device: the events that are reached, and kLater as
/// a time. `first_reached`: the first event is reached from the start.
model::Result orders(const std::vector<Act>& acts, const std::vector<std::int64_t>& device,
                     bool first_reached = false) {
  return model::explore([&] {
    std::size_t functions = 0;
    bool timeouts = false;
    for (const Act act : acts) {
      functions += act == Act::kAdd || act == Act::kAddWithTimeout ? 1 : 0;
      timeouts |= act == Act::kAddWithTimeout;
    }
    const auto world = std::make_shared<World>(timeouts);
    world->env.reached_events[0] = first_reached;
    model::Program program;
    program.threads.push_back([world, &acts] { world->program(acts); });
    program.threads.push_back([world] { world->look(); });
    program.threads.push_back([world, functions] { world->run(functions); });
    if (!device.empty()) {
      program.threads.push_back([world, &device] {
        for (const std::int64_t act : device) {
          world->bell.change([&] {
            (act == kLater ? world->env.late : world->env.reached_events[act]) = true;
            ++world->rings;
          });
        }
      });
    }
    program.check = [world] { return world->check(); };
    return program;
  });
}

using EveryOrderOfWaits = model::OrdersTest;

TEST_F(EveryOrderOfWaits, OneIsReachedOrCancelledAtTheEnd) {
  const model::Result result = orders({Act::kAdd}, {0});
  EXPECT_EQ(result.failure, "");
  EXPECT_GT(result.orders, 100u);
  RecordProperty("orders", std::to_string(result.orders));
}

TEST_F(EveryOrderOfWaits, OneIsCancelledOrReached) {
  EXPECT_EQ(orders({Act::kAdd, Act::kCancelFirst}, {0}).failure, "");
}

TEST_F(EveryOrderOfWaits, OneThatIsReachedOrTimesOutIsNotForgotten) {
  EXPECT_EQ(orders({Act::kAdd, Act::kAwaitFirst}, {0}).failure, "");
  EXPECT_EQ(orders({Act::kAddWithTimeout, Act::kAwaitFirst}, {kLater}).failure, "");
}

TEST_F(EveryOrderOfWaits, OneTimesOutOrIsReached) {
  EXPECT_EQ(orders({Act::kAddWithTimeout}, {kLater}).failure, "");
  EXPECT_EQ(orders({Act::kAddWithTimeout}, {0}).failure, "");
}

TEST_F(EveryOrderOfWaits, OneTimesOutOrIsCancelled) {
  EXPECT_EQ(orders({Act::kAddWithTimeout, Act::kCancelFirst}, {kLater}).failure, "");
}

TEST_F(EveryOrderOfWaits, ASecondIsAddedWhileTheFirstIsReached) {
  EXPECT_EQ(orders({Act::kAdd, Act::kAdd}, {}, true).failure, "");
}

}  // namespace
