// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Device work of calls that have numbers of the collector.
#include <unistd.h>

#include <gmock/gmock.h>

#include <algorithm>
#include <random>

#include "drain_fixture.h"

namespace streamscope::record {
namespace {

using test::FakeThread;
using testing::ElementsAre;
using trace::Trace;

constexpr uint32_t kFirstTid = 100;

class DrainNumbersTest : public DrainTest {
 protected:
  FakeThread& calling_thread(uint32_t index) {
    FakeThread& made = thread(index, 1 << 13);
    made.flags = ring::kOwnNumber;
    return made;
  }
  FakeThread& activities() {
    if (activities_ == nullptr) {
      activities_ = &thread(9, 1 << 14);
      activities_->flags = ring::kOwnNumber;
    }
    return *activities_;
  }
  void report_call(uint32_t tid, uint32_t correlation_id, uint64_t begin, uint64_t end,
                   std::string_view name = "cuLaunchKernel") {
    auto record = activities().make<ring::CorrelationRecord>(ring::RecordKind::kCorrelation);
    record.call = ring::find_call(name).value();
    record.tid = tid;
    record.correlation_id = correlation_id;
    record.begin_ns = static_cast<int64_t>(begin);
    record.end_ns = static_cast<int64_t>(end);
    activities().ring.push(record);
  }
  void report_kernel(uint32_t correlation_id, uint64_t begin) {
    const auto at = static_cast<int64_t>(begin);
    activities().kernel(correlation_id, 13, at, at + 10);
  }
  void collect(FakeThread& of, bool on, uint64_t at) {
    auto record = of.make<ring::CollectingRecord>(ring::RecordKind::kCollecting);
    record.on = on ? 1 : 0;
    record.begin = at;
    of.ring.push(record);
  }

  FakeThread* activities_ = nullptr;
};

TEST_F(DrainNumbersTest, TheDriversCallLeadsFromWorkToItsCall) {
  FakeThread& a = calling_thread(0);
  a.context(1);
  const uint64_t at = a.now();
  a.call_at(at, at + 100, "cudaLaunchKernel", 0xaa, 0);
  a.call_at(at + 100, at + 200, "cudaLaunchKernel", 0xaa, 0);
  report_call(kFirstTid, 71, at + 20, at + 80);
  report_call(kFirstTid, 70, at + 120, at + 180);
  report_kernel(70, at + 300);
  report_kernel(71, at + 400);
  a.end();
  const Trace trace = finish();
  EXPECT_THAT(trace.op.correlation_id, ElementsAre(70, 71));
  EXPECT_THAT(trace.op.call_number, ElementsAre(2, 1));
  EXPECT_THAT(trace.op.api_call_id, ElementsAre(1, 0));
  EXPECT_THAT(trace.api_call.correlation_id, ElementsAre(trace::kNoInt, trace::kNoInt));
  EXPECT_EQ(losses(trace).size(), 0u);
}

// The stamps of the two clocks differ a little.
TEST_F(DrainNumbersTest, TheMiddleOfTheDriversCallDecides) {
  FakeThread& a = calling_thread(0);
  a.context(1);
  const uint64_t at = a.now();
  a.call_at(at, at + 1000, "cudaLaunchKernel", 0xaa, 0);
  a.call_at(at + 1005, at + 2000, "cudaLaunchKernel", 0xaa, 0);
  report_call(kFirstTid, 1, at - 30, at + 1010);
  report_call(kFirstTid, 2, at + 990, at + 1990);
  report_kernel(1, at + 3000);
  report_kernel(2, at + 3100);
  a.end();
  EXPECT_THAT(finish().op.call_number, ElementsAre(1, 2));
}

TEST_F(DrainNumbersTest, SeveralDriverCallsBelongToTheCallAroundThem) {
  FakeThread& a = calling_thread(0);
  a.context(1);
  const uint64_t at = a.now();
  a.call_at(at, at + 1000, "cudaMemcpyAsync", 0xaa, 1, 4096);
  for (uint32_t piece = 0; piece < 3; ++piece) {
    report_call(kFirstTid, 10 + piece, at + 100 * piece, at + 100 * piece + 50,
                "cuMemcpyHtoDAsync_v2");
    report_kernel(10 + piece, at + 2000 + 100 * piece);
  }
  a.end();
  const Trace trace = finish();
  EXPECT_THAT(trace.op.call_number, ElementsAre(1, 1, 1));
  EXPECT_THAT(trace.op.correlation_id, ElementsAre(10, 11, 12));
}

TEST_F(DrainNumbersTest, WorkOfACallThatWasNotRecordedIsALoss) {
  FakeThread& a = calling_thread(0);
  a.context(1);
  const uint64_t at = a.now();
  a.call_at(at, at + 100, "cudaLaunchKernel", 0xaa, 0);
  a.call_at(at + 5000, at + 5100, "cudaLaunchKernel", 0xaa, 0);
  report_call(kFirstTid, 1, at + 10, at + 90);
  report_call(kFirstTid, 2, at + 1000, at + 1100);
  report_call(kFirstTid, 3, at + 5010, at + 5090);
  for (uint32_t i = 1; i <= 3; ++i) report_kernel(i, at + 6000 + 100 * i);
  report_kernel(4, at + 7000);  // made by the driver itself: it reports no call
  a.end();
  const Trace trace = finish();
  EXPECT_EQ(losses(trace), (std::map<std::string, int64_t>{{"calls-missing", 1}}));
  std::map<int64_t, int64_t> number_of;
  for (size_t i = 0; i < trace.op.size(); ++i)
    number_of[trace.op.correlation_id[i]] = trace.op.call_number[i];
  EXPECT_EQ(number_of,
            (std::map<int64_t, int64_t>{{1, 1}, {2, trace::kNoInt}, {3, 2}, {4, trace::kNoInt}}));
}

TEST_F(DrainNumbersTest, WorkOfAPauseIsNeitherStoredNorLost) {
  FakeThread& a = calling_thread(0);
  a.context(1);
  const uint64_t at = a.now();
  a.call_at(at, at + 100, "cudaLaunchKernel", 0xaa, 0);
  collect(a, false, at + 10'000);
  collect(a, true, at + 20'000);
  collect(a, false, at + 9'000'000);
  collect(a, true, at + 10'000'000);
  report_call(kFirstTid, 1, at + 10, at + 90);
  report_call(kFirstTid, 2, at + 15'000, at + 15'100);
  report_call(kFirstTid, 3, at + 19'990, at + 20'090);        // in progress when the pause ends,
  report_call(kFirstTid, 4, at + 15'000, at + 7'000'000);     // for long,
  report_call(kFirstTid, 5, at + 5'000'000, at + 9'500'000);  // and when one begins
  for (uint32_t i = 1; i <= 5; ++i) report_kernel(i, at + 30'000 + 100 * i);
  a.end();
  const Trace trace = finish();
  EXPECT_THAT(trace.op.correlation_id, ElementsAre(1));
  EXPECT_EQ(losses(trace)["calls-missing"], 0);
}

// Longer than unmatched work is kept.
TEST_F(DrainNumbersTest, WorkOfALongPauseIsNotStored) {
  FakeThread& a = calling_thread(0);
  a.context(1);
  const uint64_t paused = a.now();
  collect(a, false, paused);
  usleep(20'000);
  report_call(kFirstTid, 1, paused + 10'000'000, paused + 10'000'100);
  report_kernel(1, paused + 10'001'000);
  drain().cycle();
  usleep(1'200'000);
  drain().cycle();
  const uint64_t resumed = a.now();
  collect(a, true, resumed);
  usleep(10'000);
  a.call_at(resumed + 5'000'000, resumed + 5'000'100, "cudaLaunchKernel", 0xaa, 0);
  report_call(kFirstTid, 2, resumed + 5'000'010, resumed + 5'000'090);
  report_kernel(2, resumed + 5'001'000);
  a.end();
  const Trace trace = finish();
  EXPECT_THAT(trace.op.correlation_id, ElementsAre(2));
  EXPECT_EQ(losses(trace)["calls-missing"], 0);
}

TEST_F(DrainNumbersTest, CallsOfAnOperationGetCuptisNumbers) {
  FakeThread& a = calling_thread(0);
  a.context(1);
  const uint64_t at = a.now();
  a.operation = 5;
  a.call_at(at, at + 100, "cudaLaunchKernel", 0xaa, 0);
  a.call_at(at + 100, at + 200, "cudaEventRecord", 0xaa, 0xe);
  a.operation = ring::kNone32;
  a.call_at(at + 200, at + 300, "cudaEventRecord", 0xaa, 0xe);
  report_call(kFirstTid, 31, at + 10, at + 90);
  report_call(kFirstTid, 32, at + 110, at + 190, "cuEventRecord");
  report_call(kFirstTid, 33, at + 210, at + 290, "cuEventRecord");
  report_kernel(31, at + 1000);
  a.end();
  const Trace trace = finish();
  EXPECT_THAT(trace.api_call.correlation_id, ElementsAre(31));
  EXPECT_THAT(trace.event_record.correlation_id, ElementsAre(32, trace::kNoInt));
  EXPECT_THAT(trace.operation_op.op_id, ElementsAre(0));
}

TEST_F(DrainNumbersTest, AnotherWriterKnowsTheNumbersOfTheKilledOne) {
  FakeThread& a = calling_thread(0);
  a.context(1);
  const uint64_t at = a.now();
  for (uint64_t i = 0; i < 4; ++i)
    a.call_at(at + 100 * i, at + 100 * i + 90, "cudaLaunchKernel", 0xaa, 0);
  for (uint32_t i = 0; i < 2; ++i)
    report_call(kFirstTid, 90 - i, at + 100 * i + 10, at + 100 * i + 80);
  settle();
  drain().cycle();
  drain().flush();
  drain_.reset();  // as if killed
  const Trace stored = trace::read(file_);
  drain_.emplace(rings_, trace::Writer::resume(file_), options_, stored);
  for (uint32_t i = 2; i < 4; ++i)
    report_call(kFirstTid, 90 - i, at + 100 * i + 10, at + 100 * i + 80);
  for (uint32_t i = 0; i < 4; ++i) report_kernel(90 - i, at + 1000 + 100 * i);
  a.end();
  const Trace trace = finish();
  EXPECT_THAT(trace.op.correlation_id, ElementsAre(90, 89, 88, 87));
  EXPECT_THAT(trace.op.call_number, ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(losses(trace)["calls-missing"], 0);
  EXPECT_FALSE(trace.meta.contains("call_numbers"));
}

// Calls of several threads overlap; reports come in any order of threads, between any calls.
TEST_F(DrainNumbersTest, RandomCallsOfManyThreadsFindTheirWork) {
  constexpr uint32_t kThreads = 4, kCalls = 400;
  for (uint32_t seed = 0; seed < 20; ++seed) {
    if (seed > 0) {
      TearDown();
      activities_ = nullptr;
      threads_.clear();
      SetUp();
    }
    std::mt19937 random(seed);
    std::map<uint32_t, uint32_t> expected;  // call number by correlation id
    std::vector<FakeThread*> callers;
    for (uint32_t i = 0; i < kThreads; ++i) callers.push_back(&calling_thread(i));
    callers[0]->context(1);
    activities();
    std::vector<uint64_t> now(kThreads, callers[0]->now());
    std::vector<std::pair<uint32_t, uint64_t>> unreported;  // correlation id, end of its call
    uint32_t next_correlation = 1000;
    for (uint32_t i = 0; i < kCalls; ++i) {
      const uint32_t of = random() % kThreads;
      const uint64_t begin = now[of] + random() % 50, end = begin + 20 + random() % 500;
      now[of] = end + 1;
      const uint32_t correlation = next_correlation++;
      const bool is_reported_first = random() % 3 == 0;
      if (is_reported_first) report_call(kFirstTid + of, correlation, begin + 5, end - 5);
      callers[of]->flags =
          random() % 10 == 0 ? ring::kOwnNumber | ring::kCapturing : ring::kOwnNumber;
      const int32_t result = random() % 10 == 0 ? 1 : 0;
      const uint32_t number =
          callers[of]->call_at(begin, end, "cudaLaunchKernel", 0xaa, 0, 0, result);
      if (!is_reported_first) report_call(kFirstTid + of, correlation, begin + 5, end - 5);
      if (result == 0 && (callers[of]->flags & ring::kCapturing) == 0) {
        expected[correlation] = number;
        unreported.emplace_back(correlation, end);
      }
      if (random() % 4 == 0 && !unreported.empty()) {
        const size_t which = random() % unreported.size();
        report_kernel(unreported[which].first, unreported[which].second + 1000);
        unreported.erase(unreported.begin() + static_cast<ptrdiff_t>(which));
      }
      if (random() % 50 == 0) {
        settle();
        drain().cycle();
      }
    }
    std::ranges::shuffle(unreported, random);
    for (const auto& [correlation, end] : unreported) report_kernel(correlation, end + 1000);
    callers[0]->end();
    const Trace trace = finish();
    std::map<uint32_t, uint32_t> found;
    for (size_t i = 0; i < trace.op.size(); ++i) {
      const auto number = static_cast<uint32_t>(trace.op.call_number[i]);
      found[static_cast<uint32_t>(trace.op.correlation_id[i])] = number;
      EXPECT_EQ(trace.api_call.call_number[trace.op.api_call_id[i]], number);
    }
    ASSERT_EQ(found, expected) << "seed " << seed;
    EXPECT_EQ(losses(trace).size(), 0u) << "seed " << seed;
  }
}

}  // namespace
}  // namespace streamscope::record
