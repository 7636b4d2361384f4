// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The handshakes by which threads sleep and wake each other, in every order of their steps: no
// wake-up is lost.

#include "coord/interleave.h"

#include <gtest/gtest.h>

#include <limits>
#include <memory>

#include "host/doorbell.h"
#include "timeline/timeline_word.h"

namespace {

constexpr std::int64_t kForEver = std::numeric_limits<std::int64_t>::max();
using Word = coord::BasicTimelineWord<model::Platform>;

using EveryOrder = model::OrdersTest;

/// Sleeps until the value is reached or the timeline failed, as TimelineSignal::wait does.
template <typename AnyWord>
void wait_for(AnyWord& word, std::uint64_t value) {
  while (word.completed.load() < value && word.failed.load() == 0) word.sleep(value, kForEver);
}

/// Raises the value unless it is larger already, as TimelineSignal::signal does.
template <typename AnyWord>
void signal(AnyWord& word, std::uint64_t value) {
  std::uint64_t now = word.completed.load();
  while (now < value && !word.raise(now, value)) {
  }
}

/// Threads that wait for a value (> 0), signal one (< 0), or let the timeline fail (0).
template <typename AnyWord>
model::Result timeline(const std::vector<std::vector<int>>& threads, std::uint64_t end) {
  return model::explore([&] {
    const auto word = std::make_shared<AnyWord>();
    model::Program program;
    for (const std::vector<int>& acts : threads) {
      program.threads.push_back([word, &acts] {
        for (const int act : acts) {
          if (act > 0) wait_for(*word, static_cast<std::uint64_t>(act));
          if (act < 0) signal(*word, static_cast<std::uint64_t>(-act));
          if (act == 0) word->fail();
        }
      });
    }
    program.check = [word, end] {
      if (word->sleepers.now() != 0) return "somebody still counts as asleep";
      return word->completed.now() == end ? "" : "the value is wrong";
    };
    return program;
  });
}

TEST_F(EveryOrder, WakesAWaiterOfATimeline) {
  const model::Result result = timeline<Word>({{1}, {-1}}, 1);
  EXPECT_EQ(result.failure, "");
  EXPECT_GT(result.orders, 20u) << "there is more than one order";
}

TEST_F(EveryOrder, WakesAWaiterForALaterSignal) {
  EXPECT_EQ(timeline<Word>({{2}, {-1, -2}}, 2).failure, "");
}

TEST_F(EveryOrder, WakesAllWhoseValueASignalReaches) {
  EXPECT_EQ(timeline<Word>({{1}, {2}, {-2}}, 2).failure, "");
}

TEST_F(EveryOrder, WakesWaitersWhoShareABit) {
  EXPECT_EQ(timeline<Word>({{33}, {-1, -33}}, 33).failure, "");
  EXPECT_EQ(timeline<Word>({{1}, {33}, {-33}}, 33).failure, "");
}

TEST_F(EveryOrder, WakesAfterSignalsThatRace) {
  EXPECT_EQ(timeline<Word>({{2}, {-1}, {-2}}, 2).failure, "");
}

TEST_F(EveryOrder, AnswersFromThreadToThread) {
  EXPECT_EQ(timeline<Word>({{1, -2}, {-1, 2}}, 2).failure, "");
}

TEST_F(EveryOrder, AFailureWakesWaiters) {
  EXPECT_EQ(timeline<Word>({{5}, {0}}, 0).failure, "");
  EXPECT_EQ(timeline<Word>({{5}, {7}, {0}}, 0).failure, "");
  EXPECT_EQ(timeline<Word>({{2}, {-1}, {0}}, 1).failure, "");
}

/// The defect of an earlier timeline: the state that a signal changes is not checked again between
/// "not reached" and going to sleep.
struct SleepsWithoutLooking : Word {
  void sleep(std::uint64_t, std::int64_t until_ns) {
    sleepers.fetch_add(1);
    const std::uint32_t seen = wakes.load();
    model::Platform::wait(wakes, seen, until_ns);
    sleepers.fetch_sub(1);
  }
};

/// And its twin: whether somebody sleeps is checked before the value is changed.
struct LooksBeforeItSignals : Word {
  bool raise(std::uint64_t& from, std::uint64_t to) {
    const bool wake = sleepers.load() != 0;
    if (!completed.compare_exchange_strong(from, to)) return false;
    if (!wake) return true;
    wakes.fetch_add(1);
    model::Platform::wake(wakes);
    return true;
  }
};

TEST_F(EveryOrder, FindsALostWakeUp) {
  EXPECT_NE(timeline<SleepsWithoutLooking>({{1}, {-1}}, 1).failure, "");
  EXPECT_NE(timeline<LooksBeforeItSignals>({{1}, {-1}}, 1).failure, "");
}

/// `ringers` threads each leave one thing to do and ring; one thread does them and sleeps.
template <typename Bell>
model::Result doorbell(int ringers) {
  struct Shared {
    Bell bell;
    model::Atomic<std::uint32_t> to_do{0};
    std::uint32_t done = 0;
  };
  return model::explore([&] {
    const auto shared = std::make_shared<Shared>();
    model::Program program;
    program.threads.push_back([shared, ringers] {
      for (;;) {
        const std::uint64_t heard = shared->bell.rings();
        shared->done += shared->to_do.exchange(0);
        if (shared->done == static_cast<std::uint32_t>(ringers)) return;
        shared->bell.sleep(heard, kForEver);
      }
    });
    for (int i = 0; i < ringers; ++i) {
      program.threads.push_back([shared] {
        shared->to_do.fetch_add(1);
        shared->bell.ring();
      });
    }
    program.check = [] { return std::string(); };
    return program;
  });
}

TEST_F(EveryOrder, ReceivesEveryRingOfADoorbell) {
  EXPECT_EQ(doorbell<coord::BasicDoorbell<model::Platform>>(1).failure, "");
  EXPECT_EQ(doorbell<coord::BasicDoorbell<model::Platform>>(2).failure, "");
}

/// Counts after checking whether anybody sleeps.
struct DeafDoorbell {
  model::Atomic<std::uint64_t> rung{0};
  model::Atomic<std::uint32_t> asleep{0};
  std::uint64_t rings() { return rung.load(); }
  void ring() {
    const bool sleeps = asleep.load() != 0;
    rung.fetch_add(1);
    if (!sleeps) return;
    asleep.store(0);
    model::Platform::wake(asleep);
  }
  void sleep(std::uint64_t heard, std::int64_t) {
    asleep.store(1);
    if (rung.load() == heard) model::Platform::wait(asleep, 1, 0);
    asleep.store(0);
  }
};

TEST_F(EveryOrder, FindsARingThatIsLost) { EXPECT_NE(doorbell<DeafDoorbell>(1).failure, ""); }

}  // namespace
