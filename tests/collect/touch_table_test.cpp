// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The table of touched memory, filled and read on the host.

#include <gmock/gmock.h>

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

namespace streamscope::collect {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class HostTable {
 public:
  explicit HostTable(uint64_t slots)
      : slots_(slots), memory_(std::aligned_alloc(kTableAlignment, kTableAlignment)) {
    std::memset(memory_, 0, kTableAlignment);
    table() = {.slots = slots_.data(),
               .capacity = slots,
               .nearly_full = &nearly_full_,
               .most_of_counter = static_cast<uint32_t>(slots / 16 / 64 / 2),
               .places = places_of(slots)};
  }
  HostTable(const HostTable&) = delete;
  HostTable& operator=(const HostTable&) = delete;
  ~HostTable() { std::free(memory_); }

  TouchTable& table() { return *static_cast<TouchTable*>(memory_); }
  TouchLaunch* launch(uint32_t index) {
    return reinterpret_cast<TouchLaunch*>(static_cast<char*>(memory_) + kLaunchesOffset) + index;
  }
  bool is_nearly_full() const { return nearly_full_ != 0; }

  std::vector<TouchedRange> ranges() {
    std::vector<TouchRun> runs(slots_.size());
    std::vector<TouchSlot> granules(slots_.size());
    std::vector<TouchLaunch> launches(8);
    TouchReport report = {.runs = runs.data(),
                          .granules = granules.data(),
                          .launches = launches.data(),
                          .most_runs = static_cast<uint32_t>(runs.size()),
                          .most_granules = static_cast<uint32_t>(granules.size())};
    for (const TouchSlot& slot : slots_) report_slot(table(), slot, report);
    runs.resize(report.run_count);
    granules.resize(report.granule_count);
    runs_ = runs.size();
    return touched_ranges(runs, granules);
  }
  size_t runs() const { return runs_; }

 private:
  std::vector<TouchSlot> slots_;
  uint32_t nearly_full_ = 0;
  void* memory_;
  size_t runs_ = 0;
};

void touch_each(TouchLaunch* launch, uint64_t begin, uint64_t end, uint32_t bytes, Touch how,
                uint64_t step = 0) {
  for (uint64_t at = begin; at < end; at += step == 0 ? bytes : step) touch(launch, at, bytes, how);
}

using Shape = std::tuple<uint32_t, Touch, uint64_t, uint64_t, uint32_t, uint32_t>;
std::vector<Shape> shapes(const std::vector<TouchedRange>& ranges) {
  std::vector<Shape> result;
  for (const TouchedRange& range : ranges)
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

// Several threads fill a table with what they touch at random, some of it together.
TEST(TouchTable, RandomTouchesAreExact) {
  for (uint32_t seed = 0; seed < 30; ++seed) {
    HostTable table(1 << 14);
    constexpr uint32_t kLaunches = 3, kThreads = 4;
    using Bytes = std::map<std::tuple<uint32_t, Touch>, std::set<uint64_t>>;
    std::vector<Bytes> expected(kThreads);
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
            expected[number][{launch, how}].insert(at + byte);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    Bytes all, found;
    for (Bytes& bytes : expected)
      for (auto& [key, set] : bytes) all[key].merge(set);
    for (const TouchedRange& range : table.ranges()) {
      for (uint32_t row = 0; row < range.rows; ++row) {
        for (uint64_t byte = 0; byte < range.bytes; ++byte) {
          const bool is_new = found[std::tuple(range.launch, range.how)]
                                  .insert(range.address + uint64_t{row} * range.pitch + byte)
                                  .second;
          EXPECT_TRUE(is_new);
        }
      }
    }
    ASSERT_EQ(found, all) << "seed " << seed;
  }
}

TEST(TouchTable, NothingTouchedIsNoRange) {
  HostTable table(kMostSteps);
  EXPECT_THAT(table.ranges(), IsEmpty());
}

}  // namespace
}  // namespace streamscope::collect
