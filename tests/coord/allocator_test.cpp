// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Stream-ordered memory: when it is reused, by whom, and what is refused.

#include <coord/coord.h>
#include <gtest/gtest.h>

#include <random>
#include <thread>

#include "coord/fake_observer.h"
#include "coord/thrown.h"
#include "support/units.h"

namespace {

using namespace std::chrono_literals;
using coord::Device;
using coord::OperationHandle;
using coord::StreamOrderedAllocator;
using coord::StreamRef;
using streamscope::test::kMiB;

/// A device with two streams and memory.
class Allocator : public testing::Test {
 protected:
  OperationHandle work(StreamRef stream, coord::Dependencies after = {},
                       coord::Nanoseconds duration = 50us) {
    return coordinator.submit({.stream = stream, .after = std::move(after)},
                              [&](StreamRef on) { on.launch({.duration = duration}); });
  }

  Device device = Device::open("sim");
  coord::Coordinator coordinator{device, {.polled = true}};
  coord::Stream a = device.create_stream({.name = "a"}), b = device.create_stream({.name = "b"});
  StreamOrderedAllocator memory{coordinator};
};

TEST_F(Allocator, AStreamReusesWhatItFreedWithoutAnyCall) {
  void* const first = memory.allocate(a, 1000);
  work(a);
  memory.free(a, first);
  EXPECT_EQ(memory.allocate(a, 1000), first) << "its own order is enough";
  EXPECT_EQ(memory.statistics().same_stream, 1u);
  EXPECT_EQ(memory.statistics().grown, 1u);
}

TEST_F(Allocator, ReuseNeedsNoRecordsQueriesOrWaits) {
  memory.free(a, memory.allocate(a, 1000));
  work(a);
  fake_observer::start();
  for (int i = 0; i < 100; ++i) memory.free(a, memory.allocate(a, 1000));
  EXPECT_TRUE(fake_observer::stop().calls.empty());
}

TEST_F(Allocator, AnotherStreamGetsItOnlyOnceItComesAfterTheLastUse) {
  void* const first = memory.allocate(a, 1000);
  const OperationHandle use = work(a);
  memory.free(a, first);
  void* const early = memory.allocate(b, 1000);
  EXPECT_NE(early, first) << "the stream that freed it may still be using it";
  work(b, {use});
  fake_observer::start();
  EXPECT_EQ(memory.allocate(b, 1000), first) << "the operation before has waited for it";
  EXPECT_TRUE(fake_observer::stop().calls.empty());
  EXPECT_EQ(memory.statistics().cross_stream, 1u);
}

TEST_F(Allocator, TheOrderMayComeThroughOtherStreams) {
  const coord::Stream c = device.create_stream();
  void* const first = memory.allocate(a, 5000);
  const OperationHandle use = work(a);
  memory.free(a, first);
  const OperationHandle between = work(c, {use});
  work(b, {between});
  EXPECT_EQ(memory.allocate(b, 5000), first);
}

TEST_F(Allocator, MemoryIsReusableByAllOnceTheHostObservedTheEnd) {
  void* const first = memory.allocate(a, 1000);
  const OperationHandle use = work(a);
  memory.free(a, first);
  coordinator.wait(use);
  EXPECT_EQ(memory.allocate(b, 1000), first);
}

TEST_F(Allocator, WorkAfterTheFreeDoesNotHoldItBack) {
  void* const first = memory.allocate(a, 1000);
  const OperationHandle use = work(a);
  memory.free(a, first);
  work(a, {}, 10ms);
  work(b, {use});
  EXPECT_EQ(memory.allocate(b, 1000), first);
}

TEST_F(Allocator, AFreeInsideAnOperationCoversThatOperation) {
  void* const first = memory.allocate(a, 1000);
  const OperationHandle before = work(a);
  const OperationHandle use = coordinator.submit({.stream = a}, [&](StreamRef on) {
    on.memset(first, 1, 1000);
    memory.free(a, first);
    on.launch({.duration = 50us});
  });
  work(b, {before});
  EXPECT_NE(memory.allocate(b, 1000), first);
  work(b, {use});
  EXPECT_EQ(memory.allocate(b, 1000), first);
}

TEST_F(Allocator, MergesAdjacentBlocksAndSplitsLargerOnes) {
  std::vector<void*> pieces;
  for (int i = 0; i < 8; ++i) pieces.push_back(memory.allocate(a, kMiB / 4));
  EXPECT_EQ(memory.statistics().bytes_reserved, 2 * kMiB);
  for (void* piece : pieces) memory.free(a, piece);
  void* const whole = memory.allocate(a, 2 * kMiB);
  EXPECT_EQ(whole, pieces.front());
  EXPECT_EQ(memory.statistics().bytes_reserved, 2 * kMiB);
  memory.free(a, whole);
  EXPECT_EQ(memory.allocate(a, 512), pieces.front());
  EXPECT_EQ(memory.statistics().bytes_reserved, 2 * kMiB);
}

TEST_F(Allocator, MergedMemoryWaitsForAllOfItsParts) {
  void* const left = memory.allocate(a, kMiB);
  void* const right = memory.allocate(b, kMiB);
  const OperationHandle use_a = work(a), use_b = work(b);
  memory.free(a, left);
  memory.free(b, right);
  const coord::Stream c = device.create_stream();
  work(c, {use_a});
  EXPECT_NE(memory.allocate(c, 2 * kMiB), left);
  work(c, {use_b});
  EXPECT_EQ(memory.allocate(c, 2 * kMiB), left);
}

TEST_F(Allocator, NeverSharesMemoryBetweenThoseWhoseOrderIsUnknown) {
  struct Held {
    char* address;
    std::size_t bytes;
    std::size_t stream;
  };
  std::mt19937 random(11);
  for (int program = 0; program < 60; ++program) {
    coord::Coordinator mine(device, {.polled = true});
    StreamOrderedAllocator pool(mine, {.arena_bytes = 4 * kMiB});  // one holds everything
    std::vector<coord::Stream> streams(3);
    for (coord::Stream& stream : streams) stream = device.create_stream();
    // after[s][t]: how many operations of t precede all later work of s, by brute force.
    std::size_t after[3][3] = {}, count[3] = {};
    std::vector<std::vector<std::array<std::size_t, 3>>> clock(3);
    std::vector<std::vector<OperationHandle>> operations(3);
    std::vector<Held> held;
    struct Piece {
      char *from, *to;
      std::size_t stream, number;  // freed after this many operations of the stream
    };
    std::vector<Piece> freed;
    for (int step = 0; step < 150; ++step) {
      const std::size_t s = random() % 3;
      switch (random() % 4) {
        case 0: {  // an operation, maybe after one of another stream
          const std::size_t t = random() % 3;
          coord::OperationOptions options{.stream = streams[s]};
          if (t != s && count[t] > 0) {
            const std::size_t which = random() % count[t];
            options.after.push_back(operations[t][which]);
            for (std::size_t u = 0; u < 3; ++u)
              after[s][u] = std::max(after[s][u], clock[t][which][u]);
          }
          operations[s].push_back(mine.submit(options, [](StreamRef) {}));
          after[s][s] = ++count[s];
          clock[s].push_back({after[s][0], after[s][1], after[s][2]});
          break;
        }
        case 1:
          if (!held.empty()) {
            const std::size_t which = random() % held.size();
            const Held block = held[which];
            held.erase(held.begin() + static_cast<std::ptrdiff_t>(which));
            pool.free(streams[block.stream], block.address);
            freed.push_back(
                {block.address, block.address + block.bytes, block.stream, count[block.stream]});
          }
          break;
        default: {
          const std::size_t bytes = 1 + random() % 20'000;
          char* const address = static_cast<char*>(pool.allocate(streams[s], bytes));
          for (const Held& other : held)
            ASSERT_TRUE(address + bytes <= other.address || other.address + other.bytes <= address);
          for (const Piece& piece : freed) {
            if (address + bytes <= piece.from || piece.to <= address) continue;
            ASSERT_GE(after[s][piece.stream], piece.number)
                << "program " << program << ": stream " << s << " gets memory of stream "
                << piece.stream << " too early";
          }
          held.push_back({address, bytes, s});
        }
      }
    }
  }
}

TEST_F(Allocator, ADependencyThatWasAddedHoldsItBackUntilItHasEnded) {
  void* const block = memory.allocate(a, 1000);
  const OperationHandle use = work(b);  // which the stream that frees it does not come after
  memory.add_dependency(block, use);
  EXPECT_FALSE(memory.satisfied(block));
  memory.free(a, block);
  void* const second = memory.allocate(a, 1000);
  EXPECT_NE(second, block);
  work(a, {use});
  EXPECT_EQ(memory.allocate(a, 1000), block);

  const OperationHandle other = work(b);
  memory.add_dependency(second, other);
  coordinator.wait(other);
  EXPECT_TRUE(memory.satisfied(second));
  memory.add_dependency(second, work(b, {}, 10ms));
  EXPECT_FALSE(memory.satisfied(second));
  memory.clear_dependencies(second);
  EXPECT_TRUE(memory.satisfied(second));
  memory.free(a, second);
  EXPECT_EQ(memory.allocate(a, 1000), second);
}

TEST_F(Allocator, AllOfAStreamIsFreedOnceItHasPassedAPoint) {
  void* const one = memory.allocate(a, 1000);
  void* const two = memory.allocate(a, 3000);
  void* const kept = memory.allocate(b, 1000);
  const OperationHandle last = work(a, {}, 1ms);
  EXPECT_GE(memory.free_all(a, last), 4000u);
  EXPECT_EQ(memory.statistics().bytes_in_use, 1024u);
  void* const early = memory.allocate(b, 1000);
  EXPECT_NE(early, one);
  EXPECT_NE(early, two);
  EXPECT_EQ(kind_thrown([&] { memory.free(a, one); }), coord::ErrorKind::kInvalidHandle);
  coordinator.wait(last);
  EXPECT_EQ(memory.allocate(b, 1000), one);
  memory.free(b, kept);
}

TEST_F(Allocator, FreeingTwiceIsAnErrorAndKeepsOneOwner) {
  void* const block = memory.allocate(a, 1000);
  memory.free(a, block);
  std::string text;
  EXPECT_EQ(kind_thrown([&] { memory.free(a, block); }, &text), coord::ErrorKind::kInvalidHandle);
  EXPECT_NE(text.find("already freed"), std::string::npos) << text;
  void* const one = memory.allocate(a, 1000);
  void* const two = memory.allocate(a, 1000);
  EXPECT_NE(one, two) << "two owners of one block";
  int local = 0;
  EXPECT_EQ(kind_thrown([&] { memory.free(a, &local); }), coord::ErrorKind::kInvalidHandle);
  EXPECT_EQ(memory.statistics().misuses, 2u);
}

TEST_F(Allocator, UseAcrossStreamsWithoutAnOrderIsFound) {
  work(a, {}, 1ms);
  void* const block = memory.allocate(a, 1000);
  EXPECT_EQ(kind_thrown([&] { memory.free(b, block); }), coord::ErrorKind::kNotPermitted);
  EXPECT_EQ(kind_thrown([&] { memory.check_use(b, block); }), coord::ErrorKind::kNotPermitted);
  const OperationHandle filled = work(a);
  work(b, {filled});
  memory.check_use(b, static_cast<char*>(block) + 999);
  memory.free(b, block);
  EXPECT_EQ(kind_thrown([&] { memory.check_use(b, block); }), coord::ErrorKind::kInvalidHandle);
  EXPECT_EQ(memory.statistics().misuses, 3u);
}

TEST_F(Allocator, ReturnsFreeArenas) {
  void* const large = memory.allocate(a, 10 * kMiB);
  void* const small = memory.allocate(a, 1000);
  memory.free(a, large);
  EXPECT_EQ(memory.trim(), 10 * kMiB);
  EXPECT_EQ(memory.statistics().bytes_reserved, 2 * kMiB);
  EXPECT_EQ(memory.trim(), 0u) << "the rest is in use";
  memory.free(a, small);
  EXPECT_EQ(memory.trim(2 * kMiB), 0u);
  EXPECT_EQ(memory.trim(), 2 * kMiB);
  EXPECT_EQ(memory.statistics().bytes_reserved, 0u);
  EXPECT_EQ(memory.statistics().peak_reserved, 12 * kMiB);
}

TEST_F(Allocator, ReturnsUnusedMemoryBeforeItExceedsItsPeak) {
  for (std::size_t size = 2; size <= 32; size += 2) memory.free(a, memory.allocate(a, size * kMiB));
  EXPECT_EQ(memory.statistics().peak_reserved, 32 * kMiB) << "not the sum of all";
}

TEST_F(Allocator, WaitsForOtherStreamsWhenTheDeviceIsOutOfMemory) {
  StreamOrderedAllocator small(coordinator, {.limit_bytes = 4 * kMiB});
  void* const block = small.allocate(a, 4 * kMiB);
  const OperationHandle use = work(a, {}, 1ms);
  small.free(a, block);
  const std::uint64_t waits = coordinator.metrics().waits_placed;
  EXPECT_EQ(small.allocate(b, 4 * kMiB), block);
  EXPECT_EQ(coordinator.metrics().waits_placed, waits + 1);
  EXPECT_EQ(small.statistics().waits, 1u);
  EXPECT_EQ(small.statistics().recoveries, 1u);
  const OperationHandle next = work(b);
  coordinator.wait(next);
  EXPECT_TRUE(coordinator.completed(use)) << "the stream has waited for it";
}

TEST_F(Allocator, ReportsOutOfMemoryWithFigures) {
  StreamOrderedAllocator small(coordinator, {.limit_bytes = 4 * kMiB, .name = "small"});
  (void)small.allocate(a, 3 * kMiB);
  std::string text;
  EXPECT_EQ(kind_thrown([&] { (void)small.allocate(a, 2 * kMiB); }, &text),
            coord::ErrorKind::kOutOfMemory);
  EXPECT_NE(text.find("\"small\""), std::string::npos) << text;
  EXPECT_NE(text.find("4194304"), std::string::npos) << text;
  EXPECT_EQ(kind_thrown([&] { (void)small.allocate(a, 0); }), coord::ErrorKind::kInvalidArgument);
  EXPECT_NE(small.allocate(a, kMiB / 2), nullptr) << "it continues";
}

TEST_F(Allocator, RecoversFromADeviceThatRefuses) {
  void* const cached = memory.allocate(a, 8 * kMiB);
  work(a);
  memory.free(a, cached);
  coord::sim::inject(device, {.call = "simMalloc", .nth = 1, .code = 2});
  EXPECT_NE(memory.allocate(b, 16 * kMiB), nullptr) << "what a freed was given back";
  EXPECT_EQ(memory.statistics().recoveries, 1u);
  EXPECT_EQ(memory.statistics().bytes_reserved, 16 * kMiB);
  coord::sim::inject(device, {.call = "simMalloc", .nth = 1, .code = 2});
  EXPECT_EQ(kind_thrown([&] { (void)memory.allocate(b, 16 * kMiB); }),
            coord::ErrorKind::kOutOfMemory);
  EXPECT_NE(memory.allocate(b, 16 * kMiB), nullptr);
}

TEST_F(Allocator, MemoryOfAGraphBelongsToItUntilItEnds) {
  void* const live = memory.allocate(b, 1000);
  work(b);
  memory.free(b, live);
  a.begin_capture();
  work(a);
  void* const inside = memory.allocate(a, 1000);
  EXPECT_NE(inside, live) << "its last use may run beside the graph";
  work(a);
  memory.free(a, inside);
  EXPECT_EQ(memory.allocate(a, 1000), inside) << "within the graph it is used again";
  memory.free(a, inside);
  const coord::Graph graph = a.end_capture();
  EXPECT_EQ(graph.shape().nodes, 2u);
  EXPECT_NE(memory.allocate(a, 1000), inside) << "the graph may be launched again";
  memory.end_captures();
  EXPECT_EQ(memory.allocate(a, 1000), inside);
}

TEST_F(Allocator, ReportsFragmentationOfFreeMemory) {
  std::vector<void*> pieces;
  for (int i = 0; i < 8; ++i) pieces.push_back(memory.allocate(a, kMiB / 4));
  EXPECT_EQ(memory.statistics().fragmentation(), 0.0) << "nothing is free";
  for (std::size_t i = 0; i < 8; i += 2) memory.free(a, pieces[i]);
  const coord::AllocatorStatistics broken = memory.statistics();
  EXPECT_EQ(broken.largest_free, kMiB / 4);
  EXPECT_EQ(broken.fragmentation(), 0.75);
  for (std::size_t i = 1; i < 8; i += 2) memory.free(a, pieces[i]);
  EXPECT_EQ(memory.statistics().fragmentation(), 0.0);
  EXPECT_EQ(memory.statistics().bytes_in_use, 0u);
  EXPECT_EQ(memory.statistics().peak_in_use, 2 * kMiB);
}

TEST_F(Allocator, IsReportedToAnObserver) {
  fake_observer::start();
  {
    StreamOrderedAllocator pool(coordinator, {.limit_bytes = 8 * kMiB, .name = "activations"});
    pool.free(a, pool.allocate(a, kMiB));
  }
  const auto observed = fake_observer::stop();
  ASSERT_EQ(observed.pools.front().kind, COORD_POOL_MEMORY);
  EXPECT_EQ(observed.pools.front().name, "activations");
  ASSERT_EQ(observed.pool_samples.size(), 2u);
  EXPECT_EQ(observed.pool_samples[0].in_use, kMiB);
  EXPECT_EQ(observed.pool_samples[0].available, kMiB);
  EXPECT_EQ(observed.pool_samples[1].in_use, 0u);
  EXPECT_EQ(observed.pool_samples[1].high_water, kMiB);
}

TEST_F(Allocator, ThreadsUseTheirOwnStreams) {
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      const coord::Stream mine = device.create_stream();
      for (std::size_t i = 0; i < 100; ++i) {
        void* const one = memory.allocate(mine, 1 + 997 * i);
        void* const two = memory.allocate(mine, 70'000);
        if (i % 10 == 0) work(mine, {}, 1us);
        memory.free(mine, one);
        memory.free(mine, two);
      }
    });
  }
  threads.clear();
  EXPECT_EQ(memory.statistics().bytes_in_use, 0u);
  EXPECT_EQ(memory.statistics().allocations, 800u);
}

}  // namespace
