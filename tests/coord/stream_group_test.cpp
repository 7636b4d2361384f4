// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Groups of streams: the order between the work of their streams, whoever submits it and whenever.

#include <coord/coord.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <mutex>
#include <random>
#include <set>
#include <stdexcept>
#include <thread>

#include "coord/thrown.h"

namespace {

using namespace std::chrono_literals;
using coord::Coordinator;
using coord::Device;
using coord::ErrorKind;
using coord::OperationHandle;
using coord::OperationState;
using coord::Outcome;
using coord::Stream;
using coord::StreamGroup;
using coord::StreamRef;
using testing::ElementsAre;
using testing::HasSubstr;

/// A group of streams called a, b, c, ... and what its kernels have done, in order.
class Workbench {
 public:
  explicit Workbench(std::size_t count, const coord::StreamGroupOptions& options = {})
      : coordinator(device, {.polled = true}) {
    for (std::size_t i = 0; i < count; ++i) streams.push_back(device.create_stream());
    const std::vector<StreamRef> refs(streams.begin(), streams.end());
    group.emplace(coordinator, refs, options);
  }

  /// A kernel that records `name` when it ends.
  auto kernel(std::string name, coord::Nanoseconds duration = 10us) {
    return [this, name = std::move(name), duration](StreamRef stream) {
      stream.launch({.duration = duration});
      stream.launch({.function = [this, name] { done.push_back(name); }});
    };
  }
  OperationHandle give(std::size_t stream, const std::string& name,
                       coord::Nanoseconds duration = 10us) {
    return group->submit({.stream = (*group)[stream], .description = name}, kernel(name, duration));
  }
  OperationHandle promise(std::size_t stream, const std::string& name) {
    return group->register_operation({.stream = (*group)[stream], .description = name});
  }
  /// The next piece of `stream` comes after what `other` has received so far.
  void put_after(std::size_t stream, std::size_t other) {
    group->add_dependency((*group)[stream], (*group)[other]);
  }

  const Device device = Device::open("sim");
  std::vector<Stream> streams;
  Coordinator coordinator;
  std::optional<StreamGroup> group;
  std::vector<std::string> done;
};

// Order

TEST(StreamGroup, AStreamFollowsWhatAnotherHasReceivedSoFar) {
  Workbench bench(2);
  bench.give(0, "a1", 100us);
  bench.put_after(1, 0);
  bench.give(0, "a2", 500us);
  bench.give(1, "b1");
  bench.group->wait();
  EXPECT_THAT(bench.done, ElementsAre("a1", "b1", "a2"));
}

TEST(StreamGroup, AThenBAndLaterBThenAIsNotACycle) {
  Workbench bench(2);
  for (int round = 0; round < 50; ++round) {
    bench.give(0, "a", 20us);
    bench.put_after(1, 0);
    bench.give(1, "b", 5us);
    bench.put_after(0, 1);
  }
  bench.group->wait();
  for (std::size_t i = 0; i < bench.done.size(); ++i)
    EXPECT_EQ(bench.done[i], i % 2 == 0 ? "a" : "b") << i;
  EXPECT_EQ(bench.done.size(), 100u);
}

TEST(StreamGroup, ACycleOfPendingWorkIsRefusedAndNamed) {
  Workbench bench(3);
  const OperationHandle a = bench.promise(0, "first"), b = bench.promise(1, "second"),
                        c = bench.promise(2, "third");
  bench.coordinator.add_dependency(b, a);
  bench.coordinator.add_dependency(c, b);
  std::string text;
  EXPECT_EQ(kind_thrown([&] { bench.coordinator.add_dependency(a, c); }, &text), ErrorKind::kCycle);
  EXPECT_THAT(text, HasSubstr("first"));
  EXPECT_THAT(text, HasSubstr("second"));
  EXPECT_THAT(text, HasSubstr("third"));
  // A refusal leaves nothing behind: neither these nor others are now called a cycle.
  EXPECT_EQ(kind_thrown([&] { bench.coordinator.add_dependency(a, b); }), ErrorKind::kCycle);
  const OperationHandle d = bench.promise(0, "fourth");
  bench.coordinator.add_dependency(d, c);
  bench.coordinator.submit(d, bench.kernel("fourth"));
  bench.coordinator.submit(c, bench.kernel("third"));
  bench.coordinator.submit(b, bench.kernel("second"));
  bench.coordinator.submit(a, bench.kernel("first"));
  bench.group->wait();
  EXPECT_THAT(bench.done, ElementsAre("first", "second", "third", "fourth"));
}

TEST(StreamGroup, TheOrderOfAStreamClosesCyclesToo) {
  Workbench bench(2);
  const OperationHandle first = bench.promise(0, "first"), other = bench.promise(1, "other");
  const OperationHandle second = bench.promise(0, "second");  // after the first, in its stream
  bench.coordinator.add_dependency(other, second);
  EXPECT_EQ(kind_thrown([&] { bench.coordinator.add_dependency(first, other); }),
            ErrorKind::kCycle);
}

TEST(StreamGroup, AStreamKeepsItsOrderWhileItWaitsForWorkToBeSubmitted) {
  Workbench bench(2);
  const OperationHandle later = bench.promise(0, "a1");
  bench.give(0, "a2");
  bench.put_after(1, 0);
  bench.give(1, "b1");
  bench.give(1, "b2");
  EXPECT_EQ(bench.coordinator.metrics().submitted, 0u);
  EXPECT_EQ(bench.coordinator.state(later), OperationState::kRegistered);
  bench.coordinator.submit(later, bench.kernel("a1", 50us));
  EXPECT_EQ(bench.coordinator.metrics().submitted, 4u);
  bench.group->wait();
  EXPECT_THAT(bench.done, ElementsAre("a1", "a2", "b1", "b2"));
}

TEST(StreamGroup, DependenciesDoNotAccumulate) {
  Workbench bench(2);
  for (int i = 0; i < 100; ++i) {
    bench.give(0, "a", 1us);
    bench.put_after(1, 0);
  }
  const OperationHandle once = bench.give(1, "b"), after = bench.give(1, "b");
  EXPECT_EQ(bench.coordinator.info(once)->dependencies.size(), 1u)
      << "the newest brings the others";
  EXPECT_TRUE(bench.coordinator.info(after)->dependencies.empty()) << "it was taken";
  EXPECT_LE(bench.coordinator.metrics().waits_placed, 1u);
  bench.group->wait();
}

// Barriers

TEST(StreamGroup, ABarrierWaitsForEveryStreamAndNotForTheLastOnly) {
  for (std::size_t slow = 0; slow < 4; ++slow) {
    Workbench bench(4);
    for (std::size_t i = 0; i < 4; ++i) bench.give(i, "before", i == slow ? 500us : 5us);
    const auto before = bench.coordinator.metrics();
    bench.group->barrier();
    const auto after = bench.coordinator.metrics();
    EXPECT_LE(after.records - before.records + after.waits_placed - before.waits_placed, 7u);
    for (std::size_t i = 0; i < 4; ++i) bench.give(i, "after");
    bench.group->wait();
    for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(bench.done[i], i < 4 ? "before" : "after");
  }
}

TEST(StreamGroup, ABarrierCoversWorkNotYetSubmitted) {
  Workbench bench(3);
  const OperationHandle promised = bench.promise(1, "before");
  bench.give(0, "before");
  const OperationHandle passed = bench.group->barrier();
  for (std::size_t i = 0; i < 3; ++i) bench.give(i, "after");
  EXPECT_EQ(bench.coordinator.state(passed), OperationState::kRegistered);
  bench.coordinator.submit(promised, bench.kernel("before", 200us));
  bench.group->wait();
  EXPECT_THAT(bench.done, ElementsAre("before", "before", "after", "after", "after"));
}

// Random programs against their definition: pieces, promises, dependencies, barriers.
TEST(StreamGroup, KeepsEveryOrderOfRandomPrograms) {
  std::mt19937 random(11);
  const auto pick = [&](std::size_t count) { return static_cast<std::size_t>(random() % count); };
  std::uint64_t deferred = 0;
  for (int program = 0; program < 300; ++program) {
    const std::size_t streams = 2 + pick(4);
    Workbench bench(streams);
    StreamGroup& group = *bench.group;
    std::vector<std::set<std::size_t>> after;           // of each piece
    std::vector<std::vector<std::size_t>> of(streams);  // pieces of each stream
    std::vector<std::set<std::size_t>> next(streams);   // what its next piece comes after
    std::vector<std::pair<std::size_t, OperationHandle>> promised;
    for (int step = 0; step < 30; ++step) {
      const std::size_t stream = pick(streams), on = pick(streams);
      switch (pick(6)) {
        case 0:
          bench.put_after(stream, on);
          if (stream != on) next[stream].insert(of[on].begin(), of[on].end());
          break;
        case 1:
          if (pick(4) > 0) break;
          group.barrier();
          for (auto& one : next)
            for (const auto& pieces : of) one.insert(pieces.begin(), pieces.end());
          break;
        case 2:
          if (promised.empty()) break;
          bench.coordinator.submit(promised.back().second,
                                   bench.kernel(std::to_string(promised.back().first)));
          promised.pop_back();
          break;
        default: {
          const std::size_t piece = after.size();
          after.push_back(next[stream]);
          after.back().insert(of[stream].begin(), of[stream].end());
          of[stream].push_back(piece);
          if (pick(4) == 0) {
            promised.emplace_back(piece, bench.promise(stream, std::to_string(piece)));
          } else {
            bench.give(stream, std::to_string(piece), coord::Nanoseconds(random() % 50'000));
          }
        }
      }
    }
    for (const auto& [piece, handle] : promised)
      bench.coordinator.submit(handle, bench.kernel(std::to_string(piece)));
    group.wait();
    deferred += bench.coordinator.metrics().deferred;
    ASSERT_EQ(bench.done.size(), after.size());
    std::set<std::size_t> ended;
    for (const std::string& name : bench.done) {
      const std::size_t piece = std::stoul(name);
      EXPECT_TRUE(
          std::includes(ended.begin(), ended.end(), after[piece].begin(), after[piece].end()))
          << "piece " << piece << " of program " << program;
      ended.insert(piece);
    }
  }
  EXPECT_GT(deferred, 300u);
}

// Failures

TEST(StreamGroup, AFailedPieceDoesNotBlockLaterOnes) {
  Workbench bench(2);
  StreamGroup& group = *bench.group;
  bench.give(0, "before");
  const auto fails = [](StreamRef) { throw std::runtime_error("no"); };
  EXPECT_THROW((void)group.submit({.stream = group[0]}, fails), std::runtime_error);
  bench.put_after(1, 0);
  bench.give(1, "b");
  bench.give(0, "after");
  EXPECT_NO_THROW(group.wait());
  EXPECT_EQ(bench.done.size(), 3u);
  EXPECT_EQ(bench.done.front(), "before");
}

TEST(StreamGroup, DependentsOfACancelledPieceAreCancelled) {
  Workbench bench(2);
  StreamGroup& group = *bench.group;
  const OperationHandle promised = bench.promise(0, "never");
  const OperationHandle behind = bench.give(0, "behind it");
  std::vector<Outcome> outcomes;
  group.on_complete([&](const Outcome& outcome) { outcomes.push_back(outcome); });
  EXPECT_TRUE(bench.coordinator.cancel(promised));
  EXPECT_EQ(bench.coordinator.state(behind), OperationState::kCancelled);
  bench.give(0, "later");
  group.wait();
  bench.coordinator.poll();
  EXPECT_THAT(bench.done, ElementsAre("later"));
  ASSERT_EQ(outcomes.size(), 1u);
  EXPECT_EQ(outcomes[0].state, OperationState::kCancelled);
}

TEST(StreamGroup, APieceThatWaitsForOneBehindItIsADeadlockWithBothNames) {
  Workbench bench(2);
  const OperationHandle first = bench.promise(0, "the first");
  bench.put_after(1, 0);
  const OperationHandle behind = bench.give(1, "the one behind");
  std::string text;
  EXPECT_EQ(kind_thrown(
                [&] {
                  bench.coordinator.submit(first,
                                           [&](StreamRef) { bench.coordinator.wait(behind); });
                },
                &text),
            ErrorKind::kDeadlock);
  EXPECT_THAT(text, HasSubstr("the first"));
  EXPECT_THAT(text, HasSubstr("the one behind"));
}

TEST(StreamGroup, RefusesInvalidUse) {
  Workbench bench(2);
  const Stream foreign = bench.device.create_stream();
  StreamGroup& group = *bench.group;
  EXPECT_EQ(kind_thrown([&] { (void)group.submit({.stream = foreign}, [](StreamRef) {}); }),
            ErrorKind::kInvalidHandle);
  EXPECT_EQ(kind_thrown([&] { group.add_dependency(group[0], foreign); }),
            ErrorKind::kInvalidHandle);
  const StreamRef twice[] = {foreign, foreign};
  EXPECT_EQ(kind_thrown([&] { StreamGroup(bench.coordinator, twice); }),
            ErrorKind::kInvalidArgument);
  EXPECT_EQ(kind_thrown([&] { StreamGroup(bench.coordinator, {}); }), ErrorKind::kInvalidArgument);
  EXPECT_EQ(kind_thrown([&] { group.on_complete(nullptr); }), ErrorKind::kInvalidArgument);
  const OperationHandle done = bench.give(0, "done");
  EXPECT_EQ(kind_thrown([&] { bench.coordinator.submit(done, [](StreamRef) {}); }),
            ErrorKind::kNotPermitted);
  const OperationHandle promised = bench.promise(0, "twice");
  bench.coordinator.add_dependency(promised, bench.promise(1, "open"));
  bench.coordinator.submit(promised, [](StreamRef) {});
  EXPECT_EQ(kind_thrown([&] { bench.coordinator.submit(promised, [](StreamRef) {}); }),
            ErrorKind::kNotPermitted)
      << "it has its function";
}

// Several threads

TEST(StreamGroup, ParallelExecutionKeepsItsThreadsAndRunsNothingOnItsCaller) {
  Workbench bench(4, {.threads = 2});
  std::mutex mutex;
  std::set<std::thread::id> threads;
  std::vector<std::function<void(StreamRef)>> pieces(8, [&](StreamRef stream) {
    {
      const std::lock_guard lock(mutex);
      threads.insert(std::this_thread::get_id());
    }
    stream.launch({.duration = 1us});
  });
  for (int round = 0; round < 20; ++round) {
    const std::vector<OperationHandle> handles = bench.group->execute_parallel(pieces, "piece");
    ASSERT_EQ(handles.size(), pieces.size());
    for (std::size_t i = 0; i < handles.size(); ++i) {
      EXPECT_EQ(bench.coordinator.info(handles[i])->stream, (*bench.group)[i % 4].id());
      EXPECT_EQ(bench.coordinator.state(handles[i]), OperationState::kSubmitted);
    }
    bench.group->wait();
  }
  EXPECT_LE(threads.size(), 2u) << "no thread is made for a call";
  EXPECT_FALSE(threads.contains(std::this_thread::get_id()));
}

TEST(StreamGroup, ParallelExecutionReportsTheFirstErrorAfterAllPieces) {
  Workbench bench(3, {.threads = 3});
  std::atomic<int> ran{0};
  std::vector<std::function<void(StreamRef)>> pieces(7, [&](StreamRef) { ++ran; });
  pieces[1] = [&](StreamRef) {
    ++ran;
    throw std::runtime_error("the first");
  };
  pieces[5] = [&](StreamRef) { throw std::logic_error("another"); };
  try {
    (void)bench.group->execute_parallel(pieces);
    ADD_FAILURE() << "nothing was thrown";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "the first");
  }
  EXPECT_EQ(ran, 6);
  bench.group->wait();
  EXPECT_TRUE(bench.group->execute_parallel({}).empty());
}

TEST(StreamGroup, ThreadsMaySubmitToEachStreamConcurrently) {
  Workbench bench(4);
  StreamGroup& group = *bench.group;
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      for (int round = 0; round < 200; ++round) {
        if (round % 8 == 0) bench.put_after(i, (i + 1) % 4);
        (void)group.submit({.stream = group[i]}, [](StreamRef stream) { stream.launch({}); });
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  group.wait();
  EXPECT_EQ(bench.coordinator.metrics().completed, 800u);
}

// Callbacks

TEST(StreamGroup, CallsBackOnceAllHasEndedWithoutSynchronization) {
  const Device device = Device::open("sim");
  Coordinator coordinator(device);
  const Stream a = device.create_stream(), b = device.create_stream();
  const StreamRef streams[] = {a, b};
  StreamGroup group(coordinator, streams);
  const coord::HostBuffer<std::uint64_t> gate = device.allocate_host<std::uint64_t>(1);
  (void)group.submit({.stream = a}, [](StreamRef stream) { stream.launch({.duration = 1us}); });
  (void)group.submit({.stream = b}, [&](StreamRef stream) { stream.wait_value(gate.data(), 1); });
  std::promise<Outcome> called;
  group.on_complete([&](const Outcome& outcome) { called.set_value(outcome); });
  std::future<Outcome> outcome = called.get_future();
  EXPECT_EQ(outcome.wait_for(20ms), std::future_status::timeout) << "one stream is held";
  std::atomic_ref<std::uint64_t>(gate[0]).store(1);
  ASSERT_EQ(outcome.wait_for(10s), std::future_status::ready);
  EXPECT_EQ(outcome.get().state, OperationState::kCompleted);

  std::promise<void> idle;
  group.wait();
  group.on_complete([&](const Outcome&) { idle.set_value(); });
  EXPECT_EQ(idle.get_future().wait_for(10s), std::future_status::ready) << "with nothing to do";
}

}  // namespace
