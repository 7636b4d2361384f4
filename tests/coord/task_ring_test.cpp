// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What task queues are made of: alone, and in every order of the steps of several workers.

#include "coord/task_ring.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "coord/interleave.h"

namespace {

using coord::kNoTask;
using coord::Task;
using coord::TaskClaim;

template <typename Platform, std::uint32_t kCapacity>
struct RingOf {
  std::array<typename coord::TaskRing<Platform>::Slot, kCapacity> slots;
  coord::TaskRing<Platform> ring;

  RingOf() {
    for (auto& slot : slots) slot.store(kNoTask);
    ring.bind(slots.data(), kCapacity);
  }
};

TEST(TaskRing, GivesTheNewestToItsOwnerAndTheOldestToThieves) {
  RingOf<coord::HostPlatform, 4> held;
  for (const Task task : {1, 2, 3, 4}) EXPECT_TRUE(held.ring.push(task));
  const TaskClaim newest = held.ring.claim_newest(1);
  ASSERT_EQ(newest.count, 1u);
  EXPECT_EQ(held.ring.take(newest.first), 4u);
  const TaskClaim oldest = held.ring.claim_oldest(8, 2);
  ASSERT_EQ(oldest.count, 2u) << "half of three, rounded up";
  EXPECT_EQ(held.ring.take(oldest.first), 1u);
  EXPECT_EQ(held.ring.take(oldest.first + 1), 2u);
  EXPECT_EQ(held.ring.size(), 1u);
}

TEST(TaskRing, RefusesTasksWhileItIsFull) {
  RingOf<coord::HostPlatform, 2> held;
  EXPECT_TRUE(held.ring.push(1));
  EXPECT_TRUE(held.ring.push(2));
  EXPECT_FALSE(held.ring.push(3));
  const TaskClaim claim = held.ring.claim_oldest(1);
  EXPECT_FALSE(held.ring.push(3)) << "claimed, but not taken yet";
  EXPECT_EQ(held.ring.take(claim.first), 1u);
  EXPECT_TRUE(held.ring.push(3));
}

TEST(TaskRing, ContinuesWhenPositionsWrapAround) {
  coord::TaskSpan<coord::HostPlatform> span;
  span.reset(0xfffffffe, 0xfffffffe);
  span.append(4);
  EXPECT_EQ(span.size(), 4u);
  EXPECT_EQ(span.claim_oldest(3).first, 0xfffffffeu);
  EXPECT_EQ(span.claim_newest(3).first, 1u);
  EXPECT_EQ(span.size(), 0u);
}

TEST(TaskCount, HoldsWhileTasksSpawnOthers) {
  coord::TaskCount<coord::HostPlatform> count;
  coord::TaskTally<coord::HostPlatform> tally;
  count.reset(1);
  tally.ended(1);
  tally.spawned(2);
  tally.before_publishing(count);
  EXPECT_FALSE(count.remove(1)) << "another worker ran one of them";
  tally.ended(1);
  tally.before_publishing(count);
  EXPECT_FALSE(count.none()) << "what makes it smaller may come late";
  tally.before_idling(count);
  EXPECT_TRUE(count.none());
}

using EveryOrderOfTasks = model::OrdersTest;

/// Two or three workers with a ring each. Task 0 exists at first; task t spawns the tasks in
/// `spawns[t]`. A worker gives up after `rounds` polls, so that orders end.
template <typename Ring, typename Tally>
struct Pool {
  static constexpr std::uint32_t kSlots = 2;

  explicit Pool(std::size_t workers, const std::vector<std::vector<Task>>& spawns)
      : rings(workers), tallies(workers), spawned(spawns), runs(spawns.size(), 0) {
    for (Held& held : rings) {
      for (auto& slot : held.slots) slot.store(kNoTask);
      held.ring.bind(held.slots.data(), kSlots);
    }
    count.reset(1);
    rings[0].ring.push(0);
  }

  void work(std::size_t self, int rounds) {
    for (int round = 0; round < rounds; ++round) {
      TaskClaim claim = rings[self].ring.claim_newest(2);
      std::size_t from = self;
      if (claim.count == 0) {
        from = (self + 1) % rings.size();
        claim = rings[from].ring.claim_oldest(2, 2);
      }
      std::vector<Task> batch;
      for (std::uint32_t i = 0; i < claim.count; ++i)
        batch.push_back(rings[from].ring.take(claim.first + i));
      run(self, batch);
      if (claim.count != 0) continue;
      tallies[self].before_idling(count);
      if (!count.none()) continue;
      if (ran() != runs.size()) failure = "it seemed to be over while there were tasks left";
      return;
    }
  }

  /// Like a warp: all tasks of the batch, then what they spawned.
  void run(std::size_t self, const std::vector<Task>& batch) {
    std::vector<Task> children;
    for (const Task task : batch) {
      if (task >= runs.size()) {
        failure = "something was taken that is no task";
        continue;
      }
      if (runs[task]++ != 0) failure = "a task ran twice";
      for (const Task child : spawned[task]) children.push_back(child);
    }
    tallies[self].ended(static_cast<std::uint32_t>(batch.size()));
    tallies[self].spawned(static_cast<std::uint32_t>(children.size()));
    if (!children.empty()) tallies[self].before_publishing(count);
    for (const Task child : children) {
      if (!rings[self].ring.push(child)) run(self, {child});
    }
  }

  [[nodiscard]] std::size_t ran() const {
    std::size_t sum = 0;
    for (const int times : runs) sum += static_cast<std::size_t>(times);
    return sum;
  }

  /// What was not run must still be there, for a worker that polls longer.
  [[nodiscard]] std::string check() {
    if (!failure.empty()) return failure;
    for (std::size_t i = 0; i < rings.size(); ++i) work(i, 100);
    if (!failure.empty()) return failure;
    return ran() == runs.size() && count.none() ? "" : "a task is lost";
  }

  struct Held {
    std::array<model::Atomic<Task>, kSlots> slots;
    Ring ring;
  };
  std::vector<Held> rings;
  std::vector<Tally> tallies;
  coord::TaskCount<model::Platform> count;
  const std::vector<std::vector<Task>>& spawned;
  std::vector<int> runs;
  std::string failure;
};

using Ring = coord::TaskRing<model::Platform>;
using Tally = coord::TaskTally<model::Platform>;

template <typename AnyRing = Ring, typename AnyTally = Tally>
model::Result explore_ring(std::size_t workers, int rounds,
                           const std::vector<std::vector<Task>>& tasks) {
  return model::explore([&] {
    const auto pool = std::make_shared<Pool<AnyRing, AnyTally>>(workers, tasks);
    model::Program program;
    for (std::size_t i = 0; i < workers; ++i)
      program.threads.push_back([pool, i, rounds] { pool->work(i, rounds); });
    program.check = [pool] { return pool->check(); };
    return program;
  });
}

const std::vector<std::vector<Task>> tree = {{1, 2}, {3}, {}, {}};
const std::vector<std::vector<Task>> more_than_fits = {{1, 2, 3}, {}, {4, 5}, {}, {}, {}};

TEST_F(EveryOrderOfTasks, EachRunsOnceAndNoneIsLeftAtTheEnd) {
  const model::Result result = explore_ring(2, 3, tree);
  EXPECT_EQ(result.failure, "");
  EXPECT_GT(result.states, 1000u);
  RecordProperty("states", static_cast<int>(result.states));
}

TEST_F(EveryOrderOfTasks, TasksThatDoNotFitAreRunByTheirSpawner) {
  EXPECT_EQ(explore_ring(2, 2, more_than_fits).failure, "");
}

TEST_F(EveryOrderOfTasks, ThievesShareTheTasks) { EXPECT_EQ(explore_ring(3, 1, tree).failure, ""); }

/// Checks for space by what is not claimed, instead of by what was taken.
struct WritesOverClaimed : Ring {
  bool push(Task task) {
    if (size() >= capacity()) return false;
    put(end(), task);
    publish(1);
    return true;
  }
};

TEST_F(EveryOrderOfTasks, FindsASlotThatIsWrittenBeforeItWasTaken) {
  EXPECT_NE(explore_ring<WritesOverClaimed>(2, 2, more_than_fits).failure, "");
}

/// Opens a position before its task is stored.
struct PublishesFirst : Ring {
  bool push(Task task) {
    const std::uint32_t position = end();
    if (!is_free(position)) return false;
    publish(1);
    put(position, task);
    return true;
  }
};

TEST_F(EveryOrderOfTasks, FindsAPositionThatIsOpenTooEarly) {
  EXPECT_NE(explore_ring<PublishesFirst>(2, 2, tree).failure, "");
}

/// Reports what was spawned as late as what has ended.
struct TellsTooLate : Tally {
  void before_publishing(coord::TaskCount<model::Platform>&) {}
};

TEST_F(EveryOrderOfTasks, FindsAnEndThatComesTooEarly) {
  EXPECT_NE((explore_ring<Ring, TellsTooLate>(2, 3, tree).failure), "");
}

/// Workers 1 and 2 wait, each for one task at most, and then find one elsewhere (worker 2 at once);
/// worker 0 has two tasks to give.
template <typename Idle>
model::Result explore_gifts() {
  struct Shared {
    Idle idle;
    std::array<coord::TaskGift<model::Platform, 1>, 3> gifts;
    std::array<int, 2> runs{};
    std::string failure;

    Shared() {
      idle.reset();
      for (auto& gift : gifts) gift.reset();
    }
    bool accept(std::size_t self) {
      if (gifts[self].accept() == 0) return false;
      const Task task = gifts[self].take(0);
      if (task >= runs.size())
        failure = "a gift holds no task";
      else
        ++runs[task];
      return true;
    }
    void wait(std::size_t self, int looks) {
      idle.enter(1u << self);
      for (int look = 0; look < looks; ++look) {
        if (accept(self)) return;
      }
      if (!idle.leave(1u << self)) ++awaited[self];
    }
    std::array<int, 3> awaited{};  // gifts that a worker would otherwise wait for
  };
  return model::explore([&] {
    const auto shared = std::make_shared<Shared>();
    model::Program program;
    program.threads.push_back([shared] {
      Task task = 0;
      const std::uint32_t claimed = shared->idle.claim(2);
      for (const std::size_t self : {1, 2}) {
        if ((claimed >> self & 1) == 0) continue;
        shared->gifts[self].put(0, task++);
        shared->gifts[self].give(1);
      }
      for (; task < 2; ++task) ++shared->runs[task];
    });
    program.threads.push_back([shared] { shared->wait(1, 2); });
    program.threads.push_back([shared] { shared->wait(2, 0); });
    program.check = [shared]() -> std::string {
      for (const std::size_t self : {1, 2}) {
        if (shared->awaited[self] != 0 && !shared->accept(self))
          return "a worker waits for a gift that nobody gives";
      }
      if (!shared->failure.empty()) return shared->failure;
      return shared->runs == std::array{1, 1} ? "" : "a task is lost or ran twice";
    };
    return program;
  });
}

struct Idle : coord::TaskIdle<model::Platform> {};

TEST_F(EveryOrderOfTasks, AGiftReachesTheClaimedWorker) {
  EXPECT_EQ(explore_gifts<Idle>().failure, "");
}

/// Does not check whether it was claimed meanwhile.
struct LeavesAnyway : Idle {
  bool leave(std::uint32_t bit) {
    (void)Idle::leave(bit);
    return true;
  }
};

TEST_F(EveryOrderOfTasks, FindsAGiftToAWorkerThatHasLeft) {
  EXPECT_NE(explore_gifts<LeavesAnyway>().failure, "");
}

/// Claims workers that it saw waiting, whether they still do or not.
struct ClaimsWhoeverWaited : Idle {
  std::uint32_t claim(std::uint32_t most) {
    const std::uint32_t seen = now();
    (void)Idle::claim(most);
    return seen;
  }
};

TEST_F(EveryOrderOfTasks, FindsAGiftToAWorkerThatNoLongerWaits) {
  EXPECT_NE(explore_gifts<ClaimsWhoeverWaited>().failure, "");
}

/// Tasks 0 and 1 each precede 2 and 3.
template <typename Edges>
model::Result explore_edges() {
  static constexpr std::array<std::uint32_t, 5> kOffsets = {0, 2, 4, 4, 4};
  static constexpr std::array<std::uint32_t, 4> kSuccessors = {2, 3, 2, 3};
  static constexpr std::array<std::uint32_t, 4> kInDegrees = {0, 0, 2, 2};
  struct Shared {
    std::array<model::Atomic<std::uint32_t>, 4> pending;
    Edges edges;
    std::array<int, 4> enabled{};
  };
  return model::explore([&] {
    const auto shared = std::make_shared<Shared>();
    for (std::size_t i = 0; i < 4; ++i) shared->pending[i].store(kInDegrees[i]);
    static_cast<coord::TaskEdges<model::Platform>&>(shared->edges) = {
        kOffsets.data(), kSuccessors.data(), kInDegrees.data(), shared->pending.data()};
    model::Program program;
    for (const std::uint64_t task : {0, 1}) {
      program.threads.push_back([shared, task] {
        shared->edges.end(task, [&](std::uint32_t next) { ++shared->enabled[next]; });
      });
    }
    program.check = [shared]() -> std::string {
      if (shared->enabled != std::array{0, 0, 1, 1}) return "not each successor was enabled once";
      for (std::size_t i = 0; i < 4; ++i) {
        if (shared->pending[i].now() != kInDegrees[i]) return "it cannot run again";
      }
      return "";
    };
    return program;
  });
}

struct Edges : coord::TaskEdges<model::Platform> {};

/// Reads the counter and writes it in two steps.
struct CountsDownInTwoSteps : Edges {
  template <typename Ready>
  void end(std::uint64_t task, Ready&& ready) const {
    for (std::uint32_t k = offsets[task]; k < offsets[task + 1]; ++k) {
      const std::uint32_t next = successors[k];
      const std::uint32_t left = pending[next].load() - 1;
      pending[next].store(left == 0 ? in_degrees[next] : left);
      if (left == 0) ready(next);
    }
  }
};

TEST_F(EveryOrderOfTasks, OnlyTheLastDependencyEnablesASuccessor) {
  EXPECT_EQ(explore_edges<Edges>().failure, "");
}

TEST_F(EveryOrderOfTasks, FindsADependencyThatIsCountedInTwoSteps) {
  EXPECT_NE(explore_edges<CountsDownInTwoSteps>().failure, "");
}

}  // namespace
