// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The table of touched memory, filled and read on the host.

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <thread>
#include <tuple>
#include <vector>

#include "collect/observed/touched_ranges.h"
#include "support/host_patches.h"
#include "support/sanitized.h"

namespace streamscope::collect {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class HostTable {
 public:
  explicit HostTable(uint64_t slots, uint64_t spill_slots = 0)
      : slots_(slots),
        spill_slots_(spill_slots),
        memory_(std::aligned_alloc(kTableAlignment, kTableAlignment)) {
    std::memset(memory_, 0, kTableAlignment);
    table() = {.slots = slots_.data(),
               .capacity = slots,
               .nearly_full = &nearly_full_,
               .most_of_counter = static_cast<uint32_t>(slots / 16 / 64 / 2),
               .places = places_of(slots)};
    if (spill_slots > 0) {
      table().spill = &spill();
      spill() = {.slots = spill_slots_.data(),
                 .capacity = spill_slots,
                 .nearly_full = &nearly_full_,
                 .places = places_of(spill_slots)};
    }
  }
  HostTable(const HostTable&) = delete;
  HostTable& operator=(const HostTable&) = delete;
  ~HostTable() { std::free(memory_); }

  TouchTable& table() { return *static_cast<TouchTable*>(memory_); }
  TouchTable& spill() {
    return *reinterpret_cast<TouchTable*>(static_cast<char*>(memory_) + kSpillOffset);
  }
  TouchLaunch* launch(uint32_t index) {
    return reinterpret_cast<TouchLaunch*>(static_cast<char*>(memory_) + kLaunchesOffset) + index;
  }
  bool is_nearly_full() const { return nearly_full_ != 0; }
  bool has_spilled() { return collect::has_spilled(table()); }

  struct Range : TouchedRange {
    uint32_t launch;
  };
  std::vector<Range> ranges() {
    const size_t all = slots_.size() + spill_slots_.size();
    std::vector<TouchRun> runs(all);
    std::vector<TouchSlot> granules(all);
    std::vector<TouchLaunch> launches(8);
    TouchReport report = {.runs = runs.data(),
                          .granules = granules.data(),
                          .launches = launches.data(),
                          .most_runs = static_cast<uint32_t>(runs.size()),
                          .most_granules = static_cast<uint32_t>(granules.size())};
    for (const TouchSlot& slot : slots_) report_slot(table(), slot, report);
    for (const TouchSlot& slot : spill_slots_) report_slot(spill(), slot, report);
    runs.resize(report.run_count);
    granules.resize(report.granule_count);
    runs_ = runs.size();
    const TouchedRanges ranges(runs, granules);
    std::vector<Range> found;
    for (uint32_t launch = 0; launch < launches.size(); ++launch) {
      ranges.of_launch(launch, [&](const TouchedRange& range) {
        found.push_back({range, launch});
        return true;
      });
    }
    return found;
  }
  size_t runs() const { return runs_; }
  size_t slots() const {
    const auto in_use = [](const TouchSlot& slot) { return slot.key != 0; };
    return static_cast<size_t>(std::ranges::count_if(slots_, in_use) +
                               std::ranges::count_if(spill_slots_, in_use));
  }

 private:
  std::vector<TouchSlot> slots_, spill_slots_;
  uint32_t nearly_full_ = 0;
  void* memory_;
  size_t runs_ = 0;
};

void touch_each(TouchLaunch* launch, uint64_t begin, uint64_t end, uint32_t bytes, Touch how,
                uint64_t step = 0) {
  for (uint64_t at = begin; at < end; at += step == 0 ? bytes : step) touch(launch, at, bytes, how);
}

using Shape = std::tuple<uint32_t, Touch, uint64_t, uint64_t, uint32_t, uint32_t>;
std::vector<Shape> shapes(const std::vector<HostTable::Range>& ranges) {
  std::vector<Shape> result;
  for (const HostTable::Range& range : ranges)
    result.emplace_back(range.launch, range.how, range.address, range.bytes, range.rows,
                        range.pitch);
  return result;
}

TEST(TouchTable, WhatIsTouchedAsAWholeIsOneRange) {
  HostTable table(1 << 14);
  touch_each(table.launch(0), 0x7f0000000104, 0x7f0000100000, 4, Touch::kRead);
  touch_each(table.launch(1), 0x7f0000000100, 0x7f0000000900, 16, Touch::kWrite);
  EXPECT_THAT(shapes(table.ranges()),
              ElementsAre(Shape{0, Touch::kRead, 0x7f0000000104, 0xffefc, 1, 0},
                          Shape{1, Touch::kWrite, 0x7f0000000100, 0x800, 1, 0}));
  EXPECT_LE(table.runs(), 64u);
}

TEST(TouchTable, WaysAreDistinct) {
  HostTable table(1 << 10);
  touch(table.launch(0), 0x1000, 4, Touch::kRead);
  touch(table.launch(0), 0x1000, 4, Touch::kWrite);
  touch(table.launch(0), 0x1004, 8, Touch::kAtomic);
  EXPECT_THAT(shapes(table.ranges()), ElementsAre(Shape{0, Touch::kRead, 0x1000, 4, 1, 0},
                                                  Shape{0, Touch::kWrite, 0x1000, 4, 1, 0},
                                                  Shape{0, Touch::kAtomic, 0x1004, 8, 1, 0}));
}

TEST(TouchTable, NeighborsInOneWordAreDistinct) {
  HostTable table(1 << 10);
  touch_each(table.launch(0), 0x2000, 0x200e, 2, Touch::kWrite);
  touch_each(table.launch(1), 0x200e, 0x2020, 2, Touch::kWrite);
  touch(table.launch(2), 0x2003, 1, Touch::kRead);
  EXPECT_THAT(shapes(table.ranges()), ElementsAre(Shape{0, Touch::kWrite, 0x2000, 14, 1, 0},
                                                  Shape{1, Touch::kWrite, 0x200e, 18, 1, 0},
                                                  Shape{2, Touch::kRead, 0x2003, 1, 1, 0}));
}

TEST(TouchTable, AColumnIsRows) {
  HostTable table(1 << 12);
  touch_each(table.launch(0), 0x10000, 0x10000 + 100 * 1024, 8, Touch::kRead, 1024);
  touch_each(table.launch(0), 0x80000, 0x80400, 4, Touch::kRead, 8);
  EXPECT_THAT(shapes(table.ranges()), ElementsAre(Shape{0, Touch::kRead, 0x10000, 8, 100, 1024},
                                                  Shape{0, Touch::kRead, 0x80000, 4, 128, 8}));
}

TEST(TouchTable, ABulkCopyTouchesExactlyItsBytes) {
  HostTable table(1 << 12);
  touch_bulk(table.launch(0), 0x10010, 0x4000, Touch::kRead);
  touch_bulk(table.launch(1), 0x20070, 16, Touch::kWrite);
  touch_bulk(table.launch(1), 0x20080, 16, Touch::kAtomic);
  touch_bulk(table.launch(2), 0x30000, 0, Touch::kWrite);
  EXPECT_THAT(shapes(table.ranges()), ElementsAre(Shape{0, Touch::kRead, 0x10010, 0x4000, 1, 0},
                                                  Shape{1, Touch::kWrite, 0x20070, 16, 1, 0},
                                                  Shape{1, Touch::kAtomic, 0x20080, 16, 1, 0}));
}

TEST(TouchTable, ALaunchThatFindsNoRoomSaysSo) {
  HostTable table(kMostSteps + 64);
  touch_each(table.launch(3), 0x10000, 0x10000 + 400 * 512, 4, Touch::kRead, 512);
  EXPECT_EQ(table.launch(3)->flags, uint32_t{kTableFull});
  EXPECT_TRUE(table.is_nearly_full());
}

TEST(TouchTable, WhatFindsNoRoomSpills) {
  HostTable table(kMostSteps + 64, 2 * kMostSteps);
  touch_each(table.launch(2), 0x10000, 0x10000 + 300 * 512, 4, Touch::kRead, 512);
  touch_each(table.launch(3), 0x10000, 0x10000 + 200 * 512, 4, Touch::kWrite, 512);
  EXPECT_THAT(shapes(table.ranges()), ElementsAre(Shape{2, Touch::kRead, 0x10000, 4, 300, 512},
                                                  Shape{3, Touch::kWrite, 0x10000, 4, 200, 512}));
  EXPECT_EQ(table.slots(), 500u);
  EXPECT_TRUE(table.has_spilled());
  for (uint32_t launch = 0; launch < 4; ++launch) EXPECT_EQ(table.launch(launch)->flags, 0u);
}

TEST(TouchTable, ALaunchWhoseSpillIsFullTooSaysSo) {
  HostTable table(kMostSteps, kMostSteps);
  touch_each(table.launch(0), 0x10000, 0x10000 + 400 * 512, 4, Touch::kRead, 512);
  touch_each(table.launch(1), 0x10000, 0x10000 + 400 * 512, 4, Touch::kRead, 512);
  EXPECT_EQ(table.launch(0)->flags, 0u);
  EXPECT_EQ(table.launch(1)->flags, uint32_t{kTableFull});
  EXPECT_EQ(table.slots(), 2 * kMostSteps);
}

TEST(TouchTable, TheSpillIsNotUsedWhileThereIsRoom) {
  HostTable table(1 << 12, kMostSteps);
  touch_each(table.launch(0), 0x10000, 0x10000 + 1000 * 512, 4, Touch::kRead, 512);
  EXPECT_FALSE(table.has_spilled());
}

// To 70 %, as the collector fills tables.
TEST(TouchTable, GranulesOfAnyPatternFindASlotNearby) {
  constexpr uint64_t kSlots = 1 << 17;
  for (const uint64_t distance : {512, 1024, 37 * 512, 16384, 1 << 21}) {
    for (const uint32_t launches : {1, 7, 100}) {
      HostTable table(kSlots);
      for (uint64_t i = 0; i < kSlots / 10 * 7; ++i) {
        touch(table.launch(static_cast<uint32_t>(i % launches)),
              0x7f0000000000 + i / launches * distance, 4, Touch::kRead);
      }
      for (uint32_t launch = 0; launch < launches; ++launch)
        ASSERT_EQ(table.launch(launch)->flags, 0u) << distance << " apart, of " << launches;
    }
  }
}

using Bytes = std::map<std::tuple<uint32_t, Touch>, std::set<uint64_t>>;

// Several threads fill a table with what they touch at random, some of it together.
Bytes touch_at_random(HostTable& table, uint32_t seed) {
  constexpr uint32_t kLaunches = 3, kThreads = 4;
  std::vector<Bytes> touched(kThreads);
  std::vector<std::thread> threads;
  for (uint32_t number = 0; number < kThreads; ++number) {
    threads.emplace_back([&, number] {
      std::mt19937 random(seed * kThreads + number);
      const uint64_t base = 0x7fff00000000 + seed * 0x1234500;
      for (int i = 0; i < 2000; ++i) {
        const uint32_t launch = random() % kLaunches;
        const auto how = static_cast<Touch>(random() % kTouches);
        const uint32_t bytes = 1u << random() % 5;
        const uint64_t at = base + random() % 0x3000 / bytes * bytes;
        touch(table.launch(launch), at, bytes, how);
        for (uint32_t byte = 0; byte < bytes; ++byte)
          touched[number][{launch, how}].insert(at + byte);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  Bytes all;
  for (Bytes& bytes : touched)
    for (auto& [key, set] : bytes) all[key].merge(set);
  return all;
}

Bytes bytes_of(const std::vector<HostTable::Range>& ranges) {
  Bytes bytes;
  for (const HostTable::Range& range : ranges) {
    for (uint32_t row = 0; row < range.rows; ++row) {
      for (uint64_t byte = 0; byte < range.bytes; ++byte) {
        const bool is_new = bytes[std::tuple(range.launch, range.how)]
                                .insert(range.address + uint64_t{row} * range.pitch + byte)
                                .second;
        EXPECT_TRUE(is_new);
      }
    }
  }
  return bytes;
}

TEST(TouchTable, RandomTouchesAreExact) {
  for (int seed = 0; seed < test::sample_of(30); ++seed) {
    HostTable table(1 << 14);
    const Bytes all = touch_at_random(table, seed);
    ASSERT_EQ(bytes_of(table.ranges()), all) << "seed " << seed;
  }
}

TEST(TouchTable, RandomTouchesAreExactBeyondTheTable) {
  for (int seed = 0; seed < test::sample_of(30); ++seed) {
    HostTable table(kMostSteps, 1 << 12);
    const Bytes all = touch_at_random(table, seed);
    ASSERT_EQ(bytes_of(table.ranges()), all) << "seed " << seed;
    EXPECT_TRUE(table.has_spilled());
  }
}

TEST(TouchedRanges, AreVisitedUntilThereAreEnough) {
  const TouchRun runs[] = {{granule_key(kFirstLaunch, false, 0x1000), 1, 1},
                           {granule_key(kFirstLaunch, false, 0x2000), 2, 3},
                           {granule_key(kFirstLaunch + 1, false, 0x2000), 1, 1}};
  const TouchedRanges ranges(runs, {});
  size_t visited = 0;
  ranges.of_launch(0, [&](const TouchedRange&) { return ++visited < 2; });
  EXPECT_EQ(visited, 2u);
  ranges.of_launch(0, [&](const TouchedRange&) { return ++visited < 100; });
  EXPECT_EQ(visited, 2u + 3);
  ranges.of_launch(2, [&](const TouchedRange&) { return ++visited < 100; });
  EXPECT_EQ(visited, 2u + 3);
}

// A run of words, of which some bytes are touched by themselves in another way, and again.
TEST(TouchedRanges, JoinWordsAndBytesOfTheSameMemory) {
  const TouchRun runs[] = {{granule_key(kFirstLaunch, false, 0x1000), 2, 1},
                           {granule_key(kFirstLaunch, true, 0x1400), 1, 1}};
  TouchSlot bytes = {.key = granule_key(kFirstLaunch, true, 0x1180)};
  bytes.touched[0].bits[3] = bytes.touched[1].bits[3] = 0xf0000000;
  TouchSlot behind = {.key = granule_key(kFirstLaunch, false, 0x1400)};
  behind.touched[0].bits[1] = 1;
  const TouchSlot granules[] = {behind, bytes};
  std::vector<std::tuple<Touch, uint64_t, uint64_t>> found;
  TouchedRanges(runs, granules).of_launch(0, [&](const TouchedRange& range) {
    found.emplace_back(range.how, range.address, range.bytes);
    return true;
  });
  EXPECT_THAT(found, ElementsAre(std::tuple(Touch::kRead, 0x1000, 0x484),
                                 std::tuple(Touch::kWrite, 0x11fc, 4)));
}

TEST(TouchTable, NothingTouchedIsNoRange) {
  HostTable table(kMostSteps);
  EXPECT_THAT(table.ranges(), IsEmpty());
}

}  // namespace
}  // namespace streamscope::collect
