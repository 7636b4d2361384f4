// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The collector's observer from the launch to the record, on the GPU in miniature of stand_in.h.
#include "collect/observed/observer.h"

#include <gmock/gmock.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <set>
#include <thread>
#include <tuple>

#include "collect/observed/table.h"
#include "collect/process/session.h"
#include "stand_in.h"
#include "support/sanitized.h"

namespace streamscope::collect {
namespace {

using test::ThreadStream;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string cubin(const char* name) {
  std::ifstream in(std::filesystem::path(COLLECT_CUBINS) / name, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

constexpr uint64_t kBase = 0x7f0000000000;
constexpr char kPlain[] = "neither_plain";

// Touches whole words, as a thread that is alone in its warp.
Kernel touching(Touch how, uint64_t from, uint64_t bytes) {
  return [=](TouchLaunch* launch) {
    if (launch == nullptr) return;
    for (uint64_t at = from; at < from + bytes; at += 16) touch(launch, at, 16, how);
  };
}

using Bytes = std::map<Touch, std::set<uint64_t>>;
struct Seen {
  Bytes bytes;
  int unknown = 0;  // records that not all is known
  int nothing = 0;  // records that nothing was touched
};

// What is reported of each call.
std::map<uint32_t, Seen> seen() {
  std::map<uint32_t, Seen> calls;
  for (const ring::AccessRecord& record : Program::reported()) {
    Seen& call = calls[record.call_number];
    const auto [address, bytes] = record.ranges[0];
    if (bytes == 0) ++(record.rows == 0 ? call.nothing : call.unknown);
    const Touch how = (record.writes & ring::kWrittenAtomically) != 0 ? Touch::kAtomic
                      : (record.writes & ring::kWritten) != 0         ? Touch::kWrite
                                                                      : Touch::kRead;
    for (uint32_t row = 0; bytes != 0 && row < record.rows; ++row) {
      for (uint64_t byte = 0; byte < bytes; ++byte)
        EXPECT_TRUE(
            call.bytes[how].insert(address + uint64_t{row} * record.pitch[0] + byte).second);
    }
  }
  return calls;
}

std::set<uint64_t> range(uint64_t from, uint64_t bytes) {
  std::set<uint64_t> result;
  for (uint64_t at = from; at < from + bytes; ++at) result.insert(at);
  return result;
}

TEST(Observer, ReportsWhatEachLaunchTouched) {
  Program program(cubin("signals.sm_90"));
  ThreadStream one, two;
  const uint32_t writer = program.launch(one, kPlain, touching(Touch::kWrite, kBase, 4096));
  const uint32_t reader = program.launch(two, kPlain, touching(Touch::kRead, kBase + 1024, 64));
  const uint32_t adder = program.launch(one, kPlain, touching(Touch::kAtomic, kBase + 8192, 16));
  finish_observing();
  auto calls = seen();
  EXPECT_EQ(calls.size(), 3u);
  EXPECT_EQ(calls[writer].bytes, (Bytes{{Touch::kWrite, range(kBase, 4096)}}));
  EXPECT_EQ(calls[reader].bytes, (Bytes{{Touch::kRead, range(kBase + 1024, 64)}}));
  EXPECT_EQ(calls[adder].bytes, (Bytes{{Touch::kAtomic, range(kBase + 8192, 16)}}));
  for (const auto& [number, call] : calls) EXPECT_EQ(call.unknown, 0) << number;
}

TEST(Observer, SaysWhatIsNotKnown) {
  Program program(cubin("tensor_maps.sm_90"));
  ThreadStream stream;
  const uint32_t unseen =
      program.launch(stream, "map_reads_a_tile", touching(Touch::kWrite, kBase, 16));
  const uint32_t silent = program.launch(stream, kPlain, [](TouchLaunch*) {});
  const uint32_t graph = program.launch(stream, kPlain, {[](TouchLaunch*) {}, [](TouchLaunch*) {}});
  const uint32_t huge = program.launch(stream, kPlain, [](TouchLaunch* launch) {
    set_bits(&launch->flags, kTableFull);
    touch(launch, kBase, 4, Touch::kRead);
  });
  finish_observing();
  auto calls = seen();
  EXPECT_EQ(calls[unseen].unknown, 1);
  EXPECT_EQ(calls[unseen].bytes, (Bytes{{Touch::kWrite, range(kBase, 16)}}));
  EXPECT_EQ(calls[silent].unknown, 1) << "it may use something that is not patched";
  EXPECT_EQ(calls[graph].nothing, 2);
  EXPECT_EQ(calls[graph].unknown, 0);
  EXPECT_EQ(calls[huge].unknown, 1);
}

TEST(Observer, OfCodeThatCannotBeReadSaysThatNotAllIsKnown) {
  Program program("no cubin");
  ThreadStream stream;
  const uint32_t call = program.launch(stream, kPlain, touching(Touch::kWrite, kBase, 16));
  finish_observing();
  EXPECT_EQ(seen()[call].unknown, 1);
}

// More than all tables have room for: they are read while the program runs.
TEST(Observer, ReadsTablesInTurnWhileTheProgramRuns) {
  Program program(cubin("signals.sm_90"));
  ThreadStream streams[3];
  constexpr uint64_t kGranules = 2000, kLaunches = test::kSanitized ? 150 : 400;
  std::map<uint32_t, uint64_t> expected;
  for (uint64_t i = 0; i < kLaunches; ++i) {
    const uint64_t base = kBase + i * kGranules * 512;
    const Kernel kernel = [base](TouchLaunch* launch) {
      for (uint64_t granule = 0; granule < kGranules; ++granule)
        touch(launch, base + granule * 512, 4, Touch::kWrite);
    };
    expected[program.launch(streams[i % 3], kPlain, kernel)] = base;
  }
  finish_observing();
  const auto calls = seen();
  ASSERT_EQ(calls.size(), kLaunches);
  for (const auto& [number, call] : calls) {
    ASSERT_EQ(call.unknown, 0) << number;
    const std::set<uint64_t>& bytes = call.bytes.at(Touch::kWrite);
    EXPECT_EQ(bytes.size(), kGranules * 4);
    EXPECT_EQ(*bytes.begin(), expected.at(number));
  }
  EXPECT_THAT(Program::losses(), ElementsAre());
}

// A byte of each of more granules than a small table has room for, by a kernel of few threads.
constexpr uint64_t kManyGranules = kSmallSlots + 10'000;
Kernel touching_many(uint64_t granules = kManyGranules) {
  return [granules](TouchLaunch* launch) {
    constexpr uint64_t kPrime = 1'000'003;
    for (uint64_t i = 0; i < granules; ++i)
      touch(launch, kBase + i * kPrime % granules * 512, 1, Touch::kWrite);
  };
}

constexpr char kManyTakeAMinute[] = "the thread sanitizer takes a minute for so many granules";

TEST(Observer, KnowsALaunchThatTouchesMoreThanItsTableHasRoomFor) {
  if (test::kThreadSanitized) GTEST_SKIP() << kManyTakeAMinute;
  Program program(cubin("signals.sm_90"));
  Program::have_host_memory();
  ThreadStream stream;
  std::set<uint64_t> bytes;
  for (uint64_t i = 0; i < kManyGranules; ++i) bytes.insert(bytes.end(), kBase + i * 512);
  // Each for the first time, so in a small table; one is used again.
  for (const char* kernel : {"first", "second", "third"}) {
    const uint32_t call = program.launch(stream, kernel, touching_many());
    const uint32_t beside = program.launch(stream, kPlain, touching(Touch::kRead, kBase, 64));
    finish_observing();
    auto calls = seen();
    EXPECT_EQ(calls[call].unknown, 0) << kernel;
    EXPECT_TRUE(calls[call].bytes == (Bytes{{Touch::kWrite, bytes}})) << kernel;
    EXPECT_EQ(calls[beside].unknown, 0) << kernel;
    EXPECT_EQ(calls[beside].bytes, (Bytes{{Touch::kRead, range(kBase, 64)}})) << kernel;
  }
}

// More granules than are read at once, in a large table the second time, as the kernel is known
// then.
TEST(Observer, ReadsALargeTableInParts) {
  if (test::kThreadSanitized) GTEST_SKIP() << kManyTakeAMinute;
  constexpr uint64_t kGranules = 300'000;
  Program program(cubin("signals.sm_90"));
  Program::have_host_memory();
  ThreadStream stream;
  std::set<uint64_t> bytes;
  for (uint64_t i = 0; i < kGranules; ++i) bytes.insert(bytes.end(), kBase + i * 512);
  for (const char* table : {"small", "large"}) {
    const uint32_t call = program.launch(stream, kPlain, touching_many(kGranules));
    finish_observing();
    auto calls = seen();
    EXPECT_EQ(calls[call].unknown, 0) << table;
    EXPECT_TRUE(calls[call].bytes == (Bytes{{Touch::kWrite, bytes}})) << table;
  }
}

TEST(Observer, SaysWhatIsNotKnownWithoutMemoryForTheSpill) {
  Program program(cubin("signals.sm_90"));
  ThreadStream stream;
  const uint32_t call = program.launch(stream, kPlain, touching_many());
  finish_observing();
  EXPECT_EQ(seen()[call].unknown, 1);
}

// Two tables are in use when the first one cannot be read.
TEST(Observer, SaysOfEachLaunchThatItIsNotKnownIfTablesCannotBeRead) {
  Program program(cubin("signals.sm_90"));
  Program::refuse_kernels();
  ThreadStream one, two;
  std::atomic<bool> nearly_full = false, may_end = false;
  const uint32_t first = program.launch(one, kPlain, [&](TouchLaunch* launch) {
    for (uint64_t i = 0; i < kSmallSlots / 10 * 7; ++i)
      touch(launch, kBase + i * 512, 4, Touch::kWrite);
    nearly_full = true;
    while (!may_end) std::this_thread::yield();
  });
  while (!nearly_full) std::this_thread::yield();
  const Kernel other = touching(Touch::kRead, kBase, 64);
  const uint32_t graph = program.launch(two, "other", {other, other});
  may_end = true;
  finish_observing();
  auto calls = seen();
  EXPECT_EQ(calls[first].unknown, 1);
  EXPECT_EQ(calls[graph].unknown, 2);
  EXPECT_THAT(Program::losses(), ElementsAre("the driver refuses to read them"));
}

// Handles of streams are used again: what was launched in a stream is read when it is destroyed.
TEST(Observer, KnowsTheEndOfLaunchesInStreamsThatAreDestroyed) {
  Program program(cubin("signals.sm_90"));
  std::vector<uint32_t> numbers;
  for (int i = 0; i < 20; ++i) {
    auto stream = std::make_unique<ThreadStream>();
    numbers.push_back(program.launch(*stream, kPlain, touching(Touch::kWrite, kBase + i * 64, 64)));
    observe_stream_end(reinterpret_cast<uint64_t>(stream->handle()));
  }
  finish_observing();
  auto calls = seen();
  for (size_t i = 0; i < numbers.size(); ++i) {
    EXPECT_EQ(calls[numbers[i]].bytes, (Bytes{{Touch::kWrite, range(kBase + i * 64, 64)}}));
    EXPECT_EQ(calls[numbers[i]].unknown, 0);
  }
}

TEST(Observer, ReportsWhatThreadsLaunchBesideEachOther) {
  Program program(cubin("signals.sm_90"));
  constexpr int kThreads = 4;
  std::vector<std::map<uint32_t, Bytes>> expected(kThreads);
  std::vector<std::thread> threads;
  for (int number = 0; number < kThreads; ++number) {
    threads.emplace_back([&, number] {
      ThreadStream streams[2];
      std::mt19937 random(static_cast<unsigned>(number));
      for (int i = 0; i < 200; ++i) {
        const auto how = static_cast<Touch>(random() % kTouches);
        const uint64_t from = kBase + random() % 0x10000 / 16 * 16,
                       bytes = 16 * (1 + random() % 20);
        const uint32_t call =
            program.launch(streams[random() % 2], kPlain, touching(how, from, bytes));
        expected[static_cast<size_t>(number)][call][how] = range(from, bytes);
      }
      for (ThreadStream& stream : streams)
        observe_stream_end(reinterpret_cast<uint64_t>(stream.handle()));
    });
  }
  for (std::thread& thread : threads) thread.join();
  finish_observing();
  std::map<uint32_t, Bytes> all, found;
  for (auto& calls : expected) all.merge(calls);
  for (const auto& [number, call] : seen()) {
    found[number] = call.bytes;
    EXPECT_EQ(call.unknown, 0) << number;
  }
  EXPECT_EQ(found, all);
}

// Last, as it is for good.
TEST(ObserverEnd, LeavesTheProgramAlone) {
  Program program(cubin("signals.sm_90"));
  ThreadStream stream;
  const uint32_t before = program.launch(stream, kPlain, touching(Touch::kWrite, kBase, 16));
  EXPECT_GT(Program::patched(), 0u);
  Program::losses();
  observe_no_more("a reason");
  EXPECT_EQ(Program::patched(), 0u);
  EXPECT_THAT(Program::losses(), ElementsAre(HasSubstr("a reason")));
  bool was_observed = true;
  program.launch(stream, kPlain, [&](TouchLaunch* launch) { was_observed = launch != nullptr; });
  Program other(cubin("signals.sm_90"));
  EXPECT_EQ(Program::patched(), 0u);
  stream.synchronize();
  EXPECT_FALSE(was_observed);
  finish_observing();
  auto calls = seen();
  EXPECT_EQ(calls[before].bytes, (Bytes{{Touch::kWrite, range(kBase, 16)}}));
  observe_no_more("again");
  EXPECT_THAT(Program::losses(), ElementsAre());
}

}  // namespace
}  // namespace streamscope::collect
