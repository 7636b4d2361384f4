// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What task graphs are made of, in every order of the steps of two workers in two runs.

#include "coord/task_order.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "coord/interleave.h"

namespace {

/// A diamond with a tail: 1 and 2 wait for 0, 3 for both, and 4 for 3 and 0.
constexpr std::uint32_t kTasks = 5, kWorkers = 2, kRuns = 2;
constexpr std::array<std::uint32_t, kTasks + 1> kOffsets = {0, 0, 1, 2, 4, 6};
constexpr std::array<std::uint32_t, 6> kBefore = {0, 0, 1, 2, 3, 0};

using Order = coord::TaskOrder<model::Platform>;

/// What a worker does, step by step; tests change one.
struct Right {
  static std::uint32_t task(std::uint32_t worker, std::uint32_t turn) {
    return worker + turn * kWorkers;
  }
  static bool has_ended(const Order& order, std::uint32_t task) {
    return order.seems_ended(task) && order.has_ended(task);
  }
  static constexpr bool kEndsBeforeItRan = false;
};

template <typename Worker>
model::Result explore_diamonds() {
  struct Shared {
    std::array<Order::Word, kTasks> ended;
    std::array<std::uint32_t, kTasks> ran{};  // in which run last
    std::string wrong;

    void run_task(std::uint32_t task, std::uint32_t run) {
      for (std::uint32_t k = kOffsets[task]; k < kOffsets[task + 1]; ++k) {
        if (ran[kBefore[k]] != run) wrong = "a task ran before one that it waits for";
      }
      if (ran[task] != run - 1) wrong = "a task ran twice, or not at all";
      ran[task] = run;
    }
  };
  // One run after the other, as launches of one stream.
  std::string failure;
  model::Result result;
  for (std::uint32_t run = 1; run <= kRuns && result.failure.empty(); ++run) {
    result = model::explore([run] {
      const auto shared = std::make_shared<Shared>();
      for (std::uint32_t task = 0; task < kTasks; ++task) {
        shared->ended[task].store(run - 1);
        shared->ran[task] = run - 1;
      }
      model::Program program;
      for (std::uint32_t worker = 0; worker < kWorkers; ++worker) {
        program.threads.push_back([shared, worker, run] {
          const Order order{kOffsets.data(), kBefore.data(), shared->ended.data(), kTasks, run};
          for (std::uint32_t turn = 0;; ++turn) {
            const std::uint32_t task = Worker::task(worker, turn);
            if (task >= kTasks) break;
            for (std::uint32_t k = kOffsets[task]; k < kOffsets[task + 1]; ++k) {
              // Polling until it changes is equivalent to sleeping until then.
              auto& word = order.ended[kBefore[k]];
              while (!Worker::has_ended(order, kBefore[k])) model::Platform::wait(word, run - 1, 0);
            }
            if (!Worker::kEndsBeforeItRan) shared->run_task(task, run);
            order.end(task);
            model::Platform::wake(order.ended[task]);
            if (Worker::kEndsBeforeItRan) shared->run_task(task, run);
          }
        });
      }
      program.check = [shared, run]() -> std::string {
        for (const std::uint32_t one : shared->ran) {
          if (one != run) return "a task did not run";
        }
        return shared->wrong;
      };
      return program;
    });
  }
  return result;
}

TEST(EveryOrderOfATaskGraph, EachTaskRunsOnceAfterItsDependencies) {
  const model::Result result = explore_diamonds<Right>();
  EXPECT_EQ(result.failure, "");
  EXPECT_GT(result.orders, 3u);
}

struct EndsBeforeItRan : Right {
  static constexpr bool kEndsBeforeItRan = true;
};

TEST(EveryOrderOfATaskGraph, FindsAnEndThatIsReportedTooEarly) {
  EXPECT_NE(explore_diamonds<EndsBeforeItRan>().failure, "");
}

/// Does not check in which run the task ended.
struct TakesTheLastRunForThisOne : Right {
  static bool has_ended(const Order& order, std::uint32_t task) {
    return order.ended[task].load() != 0;
  }
};

TEST(EveryOrderOfATaskGraph, FindsAnEndOfThePreviousRun) {
  EXPECT_NE(explore_diamonds<TakesTheLastRunForThisOne>().failure, "");
}

/// Has its tasks in reverse order.
struct TakesTheLastTaskFirst : Right {
  static std::uint32_t task(std::uint32_t worker, std::uint32_t turn) {
    const std::uint32_t own = (kTasks + kWorkers - 1 - worker) / kWorkers;
    return turn < own ? worker + (own - 1 - turn) * kWorkers : kTasks;
  }
};

TEST(EveryOrderOfATaskGraph, FindsWorkersThatWaitForEachOther) {
  EXPECT_NE(explore_diamonds<TakesTheLastTaskFirst>().failure, "");
}

}  // namespace
