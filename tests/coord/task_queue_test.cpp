// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "coord/task_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "coord/device.h"
#include "coord/fake_observer.h"
#include "coord/task_reporter.h"
#include "coord/thrown.h"

namespace {

using namespace std::chrono_literals;
using coord::TaskHandle;
using coord::TaskPlace;
using coord::TaskPolicy;
using coord::TaskQueue;

class TaskQueues : public testing::TestWithParam<TaskPolicy> {};

TEST_P(TaskQueues, RunEverythingOnceAlsoWhatTasksSpawn) {
  TaskQueue queue({.workers = 4, .policy = GetParam()});
  std::atomic<int> ran{0};
  for (int i = 0; i < 100; ++i) {
    queue.submit([&](const TaskPlace&) {
      ++ran;
      for (int k = 0; k < 10; ++k) queue.submit([&](const TaskPlace&) { ++ran; });
    });
  }
  queue.wait();
  EXPECT_EQ(ran, 1100);
  EXPECT_EQ(queue.metrics().tasks, 1100u);
}

TEST_P(TaskQueues, RunATaskOnceItsDependenciesHaveEnded) {
  TaskQueue queue({.workers = 3, .policy = GetParam()});
  std::atomic<int> ended{0};
  int seen = -1;
  std::vector<TaskHandle> first;
  for (int i = 0; i < 20; ++i) {
    first.push_back(queue.submit([&](const TaskPlace&) {
      std::this_thread::sleep_for(100us);
      ++ended;
    }));
  }
  const TaskHandle last = queue.submit([&](const TaskPlace&) { seen = ended; }, {.after = first});
  EXPECT_TRUE(last.valid());
  queue.wait();
  EXPECT_EQ(seen, 20);
  EXPECT_TRUE(last.ended());
}

TEST_P(TaskQueues, RunTasksThatDoNotFitAtTheirSpawner) {
  TaskQueue queue({.workers = 2, .spawned = 2, .policy = GetParam()});
  std::atomic<int> leaves{0};
  std::function<void(int)> grow = [&](int depth) {
    if (depth == 0) {
      ++leaves;
      return;
    }
    for (int i = 0; i < 3; ++i) queue.submit([&, depth](const TaskPlace&) { grow(depth - 1); });
  };
  queue.submit([&](const TaskPlace&) { grow(6); });
  queue.wait();
  EXPECT_EQ(leaves, 729);
  EXPECT_GT(queue.metrics().run_in_line, 0u);
}

TEST_P(TaskQueues, AnErrorStopsOnlyDependentTasks) {
  TaskQueue queue({.workers = 2, .policy = GetParam()});
  std::atomic<int> ran{0};
  const auto count = [&](const TaskPlace&) { ++ran; };
  const TaskHandle fails =
      queue.submit([](const TaskPlace&) { throw std::runtime_error("no bread"); });
  const TaskHandle next = queue.submit(count, {.after = {&fails, 1}});
  const TaskHandle after_next = queue.submit(count, {.after = {&next, 1}});
  queue.submit(count);
  EXPECT_THROW(queue.wait(), std::runtime_error);
  EXPECT_EQ(ran, 1);
  EXPECT_TRUE(after_next.ended());
  const TaskHandle late = queue.submit(count, {.after = {&next, 1}});
  EXPECT_NO_THROW(queue.wait()) << "reported once";
  EXPECT_TRUE(late.ended());
  EXPECT_EQ(ran, 1);
}

/// Random dependencies, several threads that submit, tasks that spawn: nobody runs too early.
TEST_P(TaskQueues, KeepTheOrderUnderStress) {
  constexpr int kSubmitters = 4, kTasks = 400;
  TaskQueue queue({.workers = 12, .spawned = 8, .policy = GetParam()});
  std::atomic<int> ran{0}, too_early{0};
  std::vector<std::thread> submitters;
  for (int s = 0; s < kSubmitters; ++s) {
    submitters.emplace_back([&, s] {
      std::mt19937 random(static_cast<unsigned>(s));
      std::vector<TaskHandle> handles;
      const auto ended = std::make_shared<std::vector<std::atomic<bool>>>(kTasks);
      for (int i = 0; i < kTasks; ++i) {
        std::vector<TaskHandle> after;
        std::vector<std::size_t> before;
        for (unsigned k = random() % 4; i > 0 && k > 0; --k) {
          before.push_back(random() % static_cast<unsigned>(i));
          after.push_back(handles[before.back()]);
        }
        handles.push_back(queue.submit(
            [&, i, before, ended](const TaskPlace&) {
              for (const std::size_t one : before) too_early += (*ended)[one] ? 0 : 1;
              for (int k = 0; k < 3; ++k) queue.submit([&](const TaskPlace&) { ++ran; });
              (*ended)[static_cast<std::size_t>(i)] = true;
              ++ran;
            },
            {.after = after}));
      }
    });
  }
  for (std::thread& submitter : submitters) submitter.join();
  queue.wait();
  EXPECT_EQ(ran, 4 * kSubmitters * kTasks);
  EXPECT_EQ(too_early, 0);
}

TEST_P(TaskQueues, PinATypeOfWorkToAStreamOneTaskAtATime) {
  const coord::Device device = coord::Device::open("sim");
  const coord::Stream even = device.create_stream(), odd = device.create_stream();
  TaskQueue queue({.workers = 2, .policy = GetParam(), .streams = {even, odd}});
  std::array<std::atomic<int>, 2> inside{};
  std::atomic<int> wrong{0};
  std::vector<std::size_t> order;  // of type 1
  for (std::size_t i = 0; i < 100; ++i) {
    queue.submit(
        [&, i](const TaskPlace& place) {
          const std::size_t type = i % 2;
          if (++inside[type] != 1) ++wrong;
          if (place.stream.id() != (type == 0 ? even.id() : odd.id()) || place.worker != type)
            ++wrong;
          if (type == 1) order.push_back(i);
          --inside[type];
        },
        {.type = i % 2});
  }
  queue.wait();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(order.size(), 50u);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST_P(TaskQueues, RunEverythingBeforeTheyEnd) {
  std::atomic<int> ran{0};
  {
    TaskQueue queue({.workers = 2, .policy = GetParam()});
    for (int i = 0; i < 50; ++i) queue.submit([&](const TaskPlace&) { ++ran; });
  }
  EXPECT_EQ(ran, 50);
}

INSTANTIATE_TEST_SUITE_P(Policies, TaskQueues,
                         testing::Values(TaskPolicy::kStatic, TaskPolicy::kDynamic,
                                         TaskPolicy::kHybrid),
                         [](const auto& policy) -> std::string {
                           switch (policy.param) {
                             case TaskPolicy::kStatic:
                               return "Static";
                             case TaskPolicy::kDynamic:
                               return "Dynamic";
                             default:
                               return "Hybrid";
                           }
                         });

/// 40 tasks of 1 ms for two workers, `others` of them for worker 1; who ran how many. A busy
/// machine may let worker 1 wait: the second half of those of worker 0 last until it has run
/// `least`, for 10 s at most.
std::vector<int> spread(TaskQueue& queue, int others, int least = 0) {
  std::vector<int> by_worker(2);
  std::mutex mutex;
  const auto end = std::chrono::steady_clock::now() + 10s;
  const auto may_end = [&] {
    const std::lock_guard lock(mutex);
    return by_worker[0] < 20 || by_worker[1] >= least || std::chrono::steady_clock::now() > end;
  };
  const TaskHandle all_there = queue.submit([](const TaskPlace&) {}, {.worker = 0});
  for (int i = 0; i < 40; ++i) {
    queue.submit(
        [&](const TaskPlace& place) {
          do std::this_thread::sleep_for(1ms);
          while (place.worker == 0 && !may_end());
          const std::lock_guard lock(mutex);
          ++by_worker[place.worker];
        },
        {.after = {&all_there, 1}, .worker = i % 2 == 1 && i / 2 < others ? 1 : 0});
  }
  queue.wait();
  return by_worker;
}

TEST(TaskQueue, StaticTasksStayWithTheirWorker) {
  TaskQueue queue({.workers = 2, .policy = TaskPolicy::kStatic});
  EXPECT_EQ(spread(queue, 2), (std::vector{38, 2}));
  const coord::TaskQueueMetrics metrics = queue.metrics();
  EXPECT_EQ(metrics.stolen, 0u);
  EXPECT_GE(metrics.busy[0], 38ms);
  EXPECT_GE(metrics.busy[1], 2ms);
  EXPECT_DOUBLE_EQ(metrics.imbalance(),
                   2.0 * static_cast<double>(std::ranges::max(metrics.busy).count()) /
                       static_cast<double>((metrics.busy[0] + metrics.busy[1]).count()));
}

TEST(TaskQueue, DynamicTasksAreTakenByIdleWorkers) {
  TaskQueue queue({.workers = 2, .policy = TaskPolicy::kDynamic});
  const std::vector<int> by_worker = spread(queue, 0, 10);
  EXPECT_GE(by_worker[1], 10);
  EXPECT_GT(queue.metrics().steals, 0u);
}

TEST(TaskQueue, AHybridQueueStaysStaticWhileWorkIsEven) {
  TaskQueue queue({.workers = 2, .policy = TaskPolicy::kHybrid, .imbalance = 1.7});
  EXPECT_EQ(spread(queue, 20), (std::vector{20, 20}));
  EXPECT_FALSE(queue.metrics().dynamic);
}

TEST(TaskQueue, AHybridQueueTurnsDynamicOnceWorkIsUneven) {
  TaskQueue queue({.workers = 2, .policy = TaskPolicy::kHybrid, .imbalance = 1.7});
  const std::vector<int> by_worker = spread(queue, 0, 8);
  EXPECT_TRUE(queue.metrics().dynamic);
  EXPECT_GE(by_worker[1], 8);
}

TEST(TaskQueue, RefusesInvalidUse) {
  EXPECT_EQ(kind_thrown([] { TaskQueue queue({.workers = 1, .spawned = 3}); }),
            coord::ErrorKind::kInvalidArgument);
  TaskQueue queue({.workers = 1});
  const auto nothing = [](const TaskPlace&) {};
  EXPECT_EQ(kind_thrown([&] { queue.submit(nothing, {.worker = 1}); }),
            coord::ErrorKind::kInvalidArgument);
  EXPECT_EQ(kind_thrown([&] { queue.submit(nothing, {.type = 0}); }),
            coord::ErrorKind::kInvalidArgument);
  const TaskHandle none;
  EXPECT_EQ(kind_thrown([&] {
              queue.submit(nothing, {.after = {&none, 1}});
            }),
            coord::ErrorKind::kInvalidArgument);
  queue.submit([&](const TaskPlace&) { queue.wait(); });
  EXPECT_EQ(kind_thrown([&] { queue.wait(); }), coord::ErrorKind::kNotPermitted);
}

std::vector<coord_task> all_tasks(const fake_observer::Observed& observed) {
  std::vector<coord_task> all;
  for (const auto& batch : observed.tasks)
    all.insert(all.end(), batch.tasks.begin(), batch.tasks.end());
  return all;
}

TEST(TaskQueue, ReportsWhichWorkerRanEachTaskAndWhen) {
  const coord::Device device = coord::Device::open("sim");
  const coord::Stream stream = device.create_stream();
  std::size_t ran_it = COORD_NONE;  // worker 1, unless another one stole the task
  fake_observer::start();
  {
    TaskQueue queue({.workers = 2, .streams = {stream}, .name = "blocks"});
    queue.submit([&](const TaskPlace&) {});
    const TaskHandle throws = queue.submit(
        [&](const TaskPlace& place) {
          ran_it = place.worker;
          throw std::runtime_error("no");
        },
        {.worker = 1});
    queue.submit([&](const TaskPlace&) {}, {.type = 0});
    queue.submit([&](const TaskPlace&) { FAIL() << "what came before it failed"; },
                 {.after = {&throws, 1}});
    EXPECT_THROW(queue.wait(), std::runtime_error);
  }
  const fake_observer::Observed observed = fake_observer::stop();
  ASSERT_EQ(observed.task_queues.size(), 1u);
  EXPECT_EQ(observed.task_queues[0].name, "blocks");
  EXPECT_EQ(observed.task_queues[0].workers, 2u);
  EXPECT_FALSE(observed.task_queues[0].on_device);
  std::vector<coord_task> all = all_tasks(observed);
  std::ranges::sort(all, {}, &coord_task::task);
  ASSERT_EQ(all.size(), 3u);
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all[i].task, i);
    EXPECT_LT(all[i].begin, all[i].end);
    EXPECT_EQ(all[i].sm, COORD_NONE);
    EXPECT_EQ(all[i].type, i == 2 ? 0 : COORD_NONE);
  }
  EXPECT_EQ(all[1].worker, ran_it);
  for (const auto& batch : observed.tasks) {
    EXPECT_EQ(batch.facts.queue, observed.task_queues[0].queue);
    EXPECT_EQ(batch.facts.run, COORD_NONE);
  }
}

TEST(TaskReporter, ReportsTheTasksOfARunInPiecesAndHowManyAreMissing) {
  const coord::Device device = coord::Device::open("sim");  // finds the listener
  std::vector<coord::TaskReporter::Ran> ran;
  for (std::uint32_t i = 0; i < 1000; ++i) ran.push_back({i, i % 7, i % 3, 10 * i, 10 * i + 5});
  coord::TaskReporter reporter(coord::TaskReporter::Workers::kWarps, 7, "warps");
  fake_observer::start();
  fake_observer::take_tasks(100);
  const std::uint32_t run = reporter.begin_run();
  reporter.end_run(run, ran, 24);
  fake_observer::take_tasks(~0u);
  const fake_observer::Observed observed = fake_observer::stop();
  ASSERT_EQ(observed.task_queues.size(), 1u);
  EXPECT_TRUE(observed.task_queues[0].on_device);
  ASSERT_EQ(observed.task_runs.size(), 1u);
  EXPECT_EQ(observed.task_runs[0].second, run);
  const std::vector<coord_task> all = all_tasks(observed);
  ASSERT_EQ(all.size(), ran.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all[i].task, ran[i].task);
    EXPECT_EQ(all[i].end, 10 * i + 5);
    EXPECT_EQ(all[i].sm, i % 3);
  }
  EXPECT_EQ(observed.tasks.back().facts.last, 1u);
  EXPECT_EQ(observed.tasks.back().facts.left_out, 24u);
  for (std::size_t i = 0; i + 1 < observed.tasks.size(); ++i)
    EXPECT_EQ(observed.tasks[i].facts.last, 0u);
}

TEST(TaskReporter, GivesUpOnAListenerThatDoesNotRead) {
  const coord::Device device = coord::Device::open("sim");  // finds the listener
  const std::vector<coord::TaskReporter::Ran> ran(3);
  coord::TaskReporter reporter(coord::TaskReporter::Workers::kWarps, 1, "");
  fake_observer::start();
  fake_observer::take_tasks(0);
  reporter.end_run(reporter.begin_run(), ran, 1);
  fake_observer::take_tasks(~0u);
  const fake_observer::Observed observed = fake_observer::stop();
  EXPECT_TRUE(all_tasks(observed).empty());
  EXPECT_EQ(observed.tasks.back().facts.left_out, 4u);
}

}  // namespace
