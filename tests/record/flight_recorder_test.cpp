// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "record/flight/flight_recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "fake_program.h"
#include "racing_threads.h"
#include "record/drain/drain.h"
#include "trace/read/reader.h"

namespace streamscope::record {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using test::FakeThread;

class FlightRecording : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "streamscope-flight-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    fs::create_directories(folder_ / "rings");
    fs::create_directories(folder_ / "copy");
  }
  void TearDown() override { fs::remove_all(folder_); }

  // A thread whose ring drops its oldest records.
  FakeThread thread(uint32_t index = 0, uint64_t capacity = 64) {
    FakeThread made(folder_ / "rings", index, capacity, ring::best_clock());
    made.ring.header().overwrites = 1;
    made.thread(static_cast<uint32_t>(getpid()) + index);
    return made;
  }
  // More records without calls than a ring holds; the recorder reads before each `between` of them.
  static void mark(FakeThread& thread, FlightRecorder& recorder, int between) {
    for (int i = 0; i < 200; ++i) {
      if (i % between == 0) recorder.step();
      thread.range(ring::RecordKind::kMark, "m");
    }
  }
  trace::Trace dump(FlightRecorder& recorder) {
    recorder.copy_to(folder_ / "copy");
    Drain::Options options;
    options.clock = ring::best_clock();
    options.run.tier = Tier::kStructure;
    options.run.newest_only = true;
    const fs::path file = folder_ / "t.sqlite";
    Drain(folder_ / "copy", trace::Writer::create(file, {.overwrite = true}), options,
          trace::Trace{})
        .finish();
    return trace::read(file);
  }

  fs::path folder_;
};

TEST_F(FlightRecording, KeepsTheNewestCallsAndTheNamesOfOldTexts) {
  FakeThread thread = this->thread(0, 256);
  thread.process("/bin/flown");
  thread.context(1);
  thread.stream(0xa, 13);
  FlightRecorder recorder(folder_ / "rings");
  recorder.step();
  uint32_t last = 0;
  for (int i = 0; i < 5000; ++i) {
    last = thread.call("cudaLaunchKernel", 0xa, ring::hash_text("gemm"));
    if (i == 0) thread.text("gemm");
    if (i % 50 == 0) recorder.step();
  }
  recorder.step();
  const trace::Trace trace = dump(recorder);
  ASSERT_GT(trace.api_call.size(), 200u);
  EXPECT_LE(trace.api_call.size(), 256u);
  EXPECT_EQ(trace.api_call.call_number.back(), last) << "the newest is there";
  for (size_t i = 1; i < trace.api_call.size(); ++i)
    ASSERT_EQ(trace.api_call.call_number[i], trace.api_call.call_number[i - 1] + 1);
  EXPECT_EQ(trace.text(trace.op.name_id[0]), "gemm");
  EXPECT_EQ(trace.text(trace.process.name_id[0]), "flown");
  ASSERT_EQ(trace.stream.size(), 1u);
  EXPECT_EQ(trace.stream.native_id[0], 13);
  EXPECT_EQ(thread.ring.header().dropped.load(), 0u);
  bool reported = false;
  for (size_t i = 0; i < trace.loss.size(); ++i)
    reported |= trace.text(trace.loss.name_id[i]) == "flight-recorder";
  EXPECT_TRUE(reported);
}

TEST_F(FlightRecording, BindsNoWaitToARecordThatIsGone) {
  FakeThread thread = this->thread();
  thread.call("cudaEventCreate", 0, 0xe);
  thread.call("cudaEventRecord", 0xa, 0xe);
  for (int i = 0; i < 200; ++i) thread.call("cudaLaunchKernel", 0xa, 0);
  thread.call("cudaStreamWaitEvent", 0xb, 0xe);
  thread.call("cudaEventRecord", 0xa, 0xe);
  thread.call("cudaStreamWaitEvent", 0xb, 0xe);
  FlightRecorder recorder(folder_ / "rings");
  recorder.step();
  const trace::Trace trace = dump(recorder);
  ASSERT_EQ(trace.event_wait.size(), 2u);
  EXPECT_EQ(trace.event_wait.binding[0], trace::kUnknownHistory);
  EXPECT_EQ(trace.event_wait.binding[1], trace::kBindingExact);
}

// A ring may be full of records of other kinds: all its calls are overwritten, and none shows when
// they were.
class CallsBehindRanges : public FlightRecording, public testing::WithParamInterface<int> {};

TEST_P(CallsBehindRanges, AreMissingInTheHistoryOfEvents) {
  FakeThread recording = thread(0), waiting = thread(1);
  FlightRecorder recorder(folder_ / "rings");
  waiting.call("cudaEventCreate", 0, 0xe);
  waiting.call("cudaEventRecord", 0xa, 0xe);
  recording.call("cudaEventRecord", 0xb, 0xe);
  waiting.call("cudaStreamWaitEvent", 0xc, 0xe);
  mark(recording, recorder, GetParam());
  waiting.call("cudaEventRecord", 0xa, 0xe);
  waiting.call("cudaStreamWaitEvent", 0xc, 0xe);
  const trace::Trace trace = dump(recorder);
  ASSERT_EQ(trace.event_wait.size(), 2u);
  EXPECT_EQ(trace.event_wait.binding[0], trace::kUnknownHistory);
  // What was not seen in time may have happened at any time.
  EXPECT_EQ(trace.event_wait.binding[1],
            GetParam() < 60 ? trace::kBindingExact : trace::kUnknownHistory);
}
INSTANTIATE_TEST_SUITE_P(SeenInTimeOrNot, CallsBehindRanges, testing::Values(10, 1000));

TEST_F(FlightRecording, AThreadThatNeverMadeACallLosesNone) {
  FakeThread marking = thread(0), waiting = thread(1);
  FlightRecorder recorder(folder_ / "rings");
  waiting.call("cudaEventCreate", 0, 0xe);
  waiting.call("cudaEventRecord", 0xa, 0xe);
  waiting.call("cudaStreamWaitEvent", 0xc, 0xe);
  mark(marking, recorder, 10);
  recorder.step();
  EXPECT_THAT(dump(recorder).event_wait.binding, testing::ElementsAre(trace::kBindingExact));
}

TEST_F(FlightRecording, ARecordInProgressMayBeWhatAWaitWaitsFor) {
  FakeThread waiting = thread(0), recording = thread(1);
  waiting.call("cudaEventCreate", 0, 0xe);
  waiting.call("cudaEventRecord", 0xa, 0xe);
  waiting.call("cudaStreamWaitEvent", 0xb, 0xe);
  recording.enter("cudaEventRecord", 0xa, 0xe);
  waiting.call("cudaStreamWaitEvent", 0xb, 0xe);
  FlightRecorder recorder(folder_ / "rings");
  recorder.step();
  const trace::Trace trace = dump(recorder);
  EXPECT_THAT(trace.event_wait.binding,
              testing::ElementsAre(trace::kBindingExact, trace::kAmbiguous));
  EXPECT_EQ(trace.event_wait_candidate.size(), 2u);
}

// Whether a thread that waits had looked at the event before another recorded it again is unknown,
// unless that was much later.
class RecordsBehindAWait : public FlightRecording,
                           public testing::WithParamInterface<std::chrono::microseconds> {};

TEST_P(RecordsBehindAWait, MayBeWhatItWaitsForIfTheyFollowSoon) {
  FakeThread waiting = thread(0), recording = thread(1);
  waiting.call("cudaEventCreate", 0, 0xe);
  waiting.call("cudaEventRecord", 0xa, 0xe);
  waiting.enter("cudaEventSynchronize", 0, 0xe);
  std::this_thread::sleep_for(GetParam());
  recording.call("cudaEventRecord", 0xb, 0xe);
  FlightRecorder recorder(folder_ / "rings");
  recorder.step();
  const trace::Trace trace = dump(recorder);
  ASSERT_EQ(trace.host_sync.size(), 1u);
  EXPECT_EQ(trace.host_sync.end_ns[0], trace::kUnknownNs);
  EXPECT_EQ(trace.host_sync.binding[0],
            GetParam() > 10ms ? trace::kBindingExact : trace::kAmbiguous);
}
INSTANTIATE_TEST_SUITE_P(Distances, RecordsBehindAWait, testing::Values(100us, 20ms));

TEST_F(FlightRecording, NeverContradictsWhatThreadsDidWhileItWasDumped) {
  constexpr int kDumps = 8;
  test::RacingThreads threads(folder_ / "rings", ring::best_clock(), 1 << 12);
  for (size_t i = 0; i < test::RacingThreads::size(); ++i) threads[i].ring.header().overwrites = 1;
  FlightRecorder recorder(folder_ / "rings");
  threads.start(10'000'000);
  std::vector<trace::Trace> dumps;
  for (int i = 0; i < kDumps; ++i) {
    recorder.step();
    dumps.push_back(dump(recorder));
    fs::remove_all(folder_ / "copy");
    fs::create_directories(folder_ / "copy");
  }
  threads.stop();
  threads.join();
  int64_t exact = 0;
  for (const trace::Trace& trace : dumps) {
    threads.expect_agreement(trace);
    exact += std::ranges::count(trace.event_wait.binding, trace::kBindingExact);
  }
  EXPECT_GT(exact, 1000);
}

class WindowsOfAFlight : public FlightRecording, public testing::WithParamInterface<int> {};

// The thread that switches has a ring of its own, so no window is overwritten. The history of the
// other one begins in the last window, the end of which is not known, or before it.
TEST_P(WindowsOfAFlight, ThatMeasureItsCostAreKept) {
  FakeThread thread = this->thread(0), watching = this->thread(1);
  FlightRecorder recorder(folder_ / "rings");
  for (uint64_t i = 0; i < 6; ++i) {
    auto turn = watching.make<ring::CollectingRecord>(ring::RecordKind::kCollecting);
    turn.on = i % 2;
    turn.measuring = 1;
    turn.progress = 100 * i;
    turn.begin = watching.now();
    watching.ring.push(turn);
    const int calls = i < 4 ? 100 : GetParam();
    for (int call = 0; call < calls; ++call) thread.call("cudaLaunchKernel", 0xa, 0);
    recorder.step();
  }
  const trace::Trace trace = dump(recorder);
  using testing::ElementsAre;
  EXPECT_THAT(trace.cost_window.recorded, ElementsAre(0, 1, 0, 1, 0));
  EXPECT_THAT(trace.cost_window.progress, ElementsAre(100, 100, 100, 100, 100));
  for (trace::Id row = 0; row < trace.cost_window.size(); ++row)
    EXPECT_LT(trace.cost_window.start_ns[row], trace.cost_window.end_ns[row]);
}
INSTANTIATE_TEST_SUITE_P(CallsAtItsEnd, WindowsOfAFlight, testing::Values(100, 10));

}  // namespace
}  // namespace streamscope::record
