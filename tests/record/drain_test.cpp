// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "record/drain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <fstream>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <thread>

#include "fake_program.h"
#include "trace/reader.h"

namespace streamscope::record {
namespace {

namespace fs = std::filesystem;
using ring::RecordKind;
using test::FakeThread;
using testing::ElementsAre;
using trace::kNoId;
using trace::Trace;

class DrainTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "streamscope-drain-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    directory_ = pattern;
    rings_ = directory_ / "rings";
    file_ = directory_ / "trace.sqlite";
    fs::create_directory(rings_);
    FakeThread::correlation = 0;
    options_.trace_start_ns = static_cast<int64_t>(ring::read_clock(ring::ClockKind::kMonotonic));
  }
  void TearDown() override {
    drain_.reset();
    fs::remove_all(directory_);
  }

  FakeThread& thread(uint32_t index, uint64_t capacity = 1024) {
    if (threads_.size() <= index) threads_.resize(index + 1);
    threads_[index] = std::make_unique<FakeThread>(rings_, index, capacity);
    threads_[index]->thread(100 + index);
    return *threads_[index];
  }
  Drain& drain() {
    if (!drain_)
      drain_.emplace(rings_, trace::Writer::create(file_), options_,
                     ring::read_anchor(ring::ClockKind::kMonotonic));
    return *drain_;
  }
  Trace finish() {
    complete_ = drain().finish();
    drain_.reset();
    return trace::read(file_);
  }
  int64_t ns(uint64_t stamp) const { return static_cast<int64_t>(stamp) - options_.trace_start_ns; }
  /// A drain sees only calls that ended a little before it looks.
  void settle() { usleep(200); }

  std::map<std::string, int64_t> losses(const Trace& trace) const {
    std::map<std::string, int64_t> result;
    for (size_t i = 0; i < trace.loss.size(); ++i)
      result[std::string(trace.text(trace.loss.name_id[i]))] += trace.loss.count[i];
    return result;
  }

  fs::path directory_, rings_, file_;
  Drain::Options options_;
  std::vector<std::unique_ptr<FakeThread>> threads_;
  std::optional<Drain> drain_;
  bool complete_ = false;
};

TEST_F(DrainTest, TurnsOneThreadsRecordsIntoRows) {
  FakeThread& a = thread(0);
  a.process("/bin/app");
  a.context(1);
  const uint64_t creation = a.now();
  a.stream(0xaa, 13);
  a.call_at(creation, a.now(), "cudaStreamCreateWithFlags", 0xaa, 0, 1);
  a.call("cudaEventCreate", 0, 0xe1, 2);
  const uint32_t launch = a.call("cudaLaunchKernel", 0xaa, 0);
  a.call("cudaEventRecord", 0xaa, 0xe1);
  a.call("cudaStreamWaitEvent", 0, 0xe1);
  a.call("cudaEventQuery", 0, 0xe1, 0, 600);
  a.call("cudaStreamSynchronize", 0xaa, 0);
  const auto at = static_cast<int64_t>(a.now());
  a.kernel(launch, 13, at, at + 500, "_Z4gemmPf");
  a.end();
  const Trace trace = finish();

  EXPECT_TRUE(complete_);
  EXPECT_TRUE(trace.complete());
  EXPECT_TRUE(losses(trace).empty());
  ASSERT_EQ(trace.process.size(), 1u);
  EXPECT_EQ(trace.process.os_pid[0], getpid());
  EXPECT_EQ(trace.text(trace.process.name_id[0]), "app");
  EXPECT_EQ(trace.process.complete[0], 1);
  EXPECT_NE(trace.process.end_ns[0], trace::kUnknownNs);
  ASSERT_EQ(trace.thread.size(), 1u);
  EXPECT_EQ(trace.thread.os_tid[0], 100);
  ASSERT_EQ(trace.device.size(), 1u);
  EXPECT_EQ(trace.text(trace.device.name_id[0]), "Test GPU");
  ASSERT_EQ(trace.stream.size(), 2u);
  EXPECT_EQ(trace.stream.handle[0], 0xaa);
  EXPECT_EQ(trace.stream.native_id[0], 13);
  EXPECT_EQ(trace.stream.kind[0], trace::kNonBlockingStream);
  EXPECT_EQ(trace.stream.kind[1], trace::kLegacyStream);
  EXPECT_EQ(trace.stream.native_id[1], 7);
  ASSERT_EQ(trace.event.size(), 1u);
  EXPECT_EQ(trace.event.flags[0], 2);

  ASSERT_EQ(trace.api_call.size(), 3u);
  EXPECT_EQ(trace.text(trace.api_call.name_id[2]), "cudaLaunchKernel");
  EXPECT_EQ(trace.api_call.stream_id[2], 0u);
  ASSERT_EQ(trace.event_record.size(), 1u);
  EXPECT_EQ(trace.event_record.version[0], 1);
  EXPECT_EQ(trace.event_record.stream_id[0], 0u);
  ASSERT_EQ(trace.event_wait.size(), 1u);
  EXPECT_EQ(trace.event_wait.stream_id[0], 1u);
  EXPECT_EQ(trace.event_wait.binding[0], trace::kBindingExact);
  EXPECT_EQ(trace.event_wait.record_id[0], 0u);
  ASSERT_EQ(trace.host_sync.size(), 2u);
  EXPECT_EQ(trace.host_sync.kind[0], trace::kEventQuery);
  EXPECT_EQ(trace.host_sync.binding[0], trace::kBindingExact);
  EXPECT_EQ(trace.host_sync.result[0], 600);
  EXPECT_EQ(trace.host_sync.kind[1], trace::kStreamSynchronize);
  ASSERT_EQ(trace.op.size(), 1u);
  EXPECT_EQ(trace.op.kind[0], trace::kKernel);
  EXPECT_EQ(trace.op.api_call_id[0], 2u);
  EXPECT_EQ(trace.op.stream_id[0], 0u);
  EXPECT_EQ(trace.text(trace.op.name_id[0]), "gemm(float*)");
  EXPECT_EQ(trace.op.start_ns[0], ns(static_cast<uint64_t>(at)));
  EXPECT_EQ(trace.op.end_ns[0], ns(static_cast<uint64_t>(at)) + 500);
}

TEST_F(DrainTest, BindsWaitsOfOneThreadToRecordsOfAnother) {
  FakeThread& a = thread(0);
  FakeThread& b = thread(1);
  a.call("cudaEventCreate", 0, 0xe1);
  b.call("cudaEventRecord", 0xaa, 0xe1);
  a.call("cudaStreamWaitEvent", 0xbb, 0xe1);
  b.call("cudaEventRecord", 0xaa, 0xe1);
  a.call("cudaStreamWaitEvent", 0xbb, 0xe1);
  a.end();
  const Trace trace = finish();
  EXPECT_THAT(trace.event_record.version, ElementsAre(1, 2));
  EXPECT_THAT(trace.event_wait.binding, ElementsAre(trace::kBindingExact, trace::kBindingExact));
  EXPECT_THAT(trace.event_wait.record_id, ElementsAre(0, 1));
}

TEST_F(DrainTest, NamesTheCandidatesWhereCallsOfTwoThreadsOverlap) {
  FakeThread& a = thread(0);
  FakeThread& b = thread(1);
  const uint64_t t = a.now();
  a.call_at(t + 1, t + 2, "cudaEventCreate", 0, 0xe1);
  a.call_at(t + 10, t + 20, "cudaEventRecord", 0xaa, 0xe1);
  b.call_at(t + 30, t + 60, "cudaEventRecord", 0xbb, 0xe1);
  a.call_at(t + 40, t + 50, "cudaStreamWaitEvent", 0xcc, 0xe1);
  a.end();
  usleep(1000);
  const Trace trace = finish();
  EXPECT_THAT(trace.event_wait.binding, ElementsAre(trace::kAmbiguous));
  EXPECT_EQ(trace.event_wait.record_id[0], kNoId);
  EXPECT_THAT(trace.event_wait_candidate.event_wait_id, ElementsAre(0, 0));
  EXPECT_THAT(trace.event_wait_candidate.event_record_id, testing::UnorderedElementsAre(0, 1));
  EXPECT_EQ(losses(trace)["ambiguous-binding"], 1);
}

TEST_F(DrainTest, LetsAWaitWaitForARecordThatIsUnderWayInAnotherThread) {
  FakeThread& a = thread(0);
  FakeThread& b = thread(1);
  a.call("cudaEventCreate", 0, 0xe1);
  a.call("cudaEventRecord", 0xaa, 0xe1);
  b.enter("cudaEventRecord", 0xbb, 0xe1);
  a.call("cudaStreamWaitEvent", 0xcc, 0xe1);
  settle();
  drain().cycle();
  drain().flush();
  EXPECT_EQ(trace::read(file_).event_wait.binding[0], trace::kUnknownHistory) << "not decided yet";
  b.leave("cudaEventRecord", 0xbb, 0xe1);
  settle();
  drain().cycle();
  a.end();
  const Trace trace = finish();
  EXPECT_THAT(trace.event_wait.binding, ElementsAre(trace::kAmbiguous));
  EXPECT_THAT(trace.event_wait_candidate.event_record_id, testing::UnorderedElementsAre(0, 1));
}

TEST_F(DrainTest, GoesOnWithoutARecordThatIsStuck) {
  FakeThread& a = thread(0);
  FakeThread& b = thread(1);
  a.call("cudaEventCreate", 0, 0xe1);
  a.call("cudaEventRecord", 0xaa, 0xe1);
  b.enter("cudaEventRecord", 0xbb, 0xe1);
  usleep(1'100'000);
  a.call("cudaStreamWaitEvent", 0xcc, 0xe1);
  settle();
  drain().cycle();
  drain().flush();
  Trace trace = trace::read(file_);
  ASSERT_EQ(trace.event_record.size(), 2u);
  EXPECT_EQ(trace.event_record.end_ns[1], trace::kUnknownNs);
  EXPECT_THAT(trace.event_wait.binding, ElementsAre(trace::kAmbiguous));
  b.leave("cudaEventRecord", 0xbb, 0xe1);
  a.end();
  settle();
  trace = finish();
  ASSERT_EQ(trace.event_record.size(), 2u);
  EXPECT_EQ(trace.event_record.version[1], 2);
  EXPECT_NE(trace.event_record.end_ns[1], trace::kUnknownNs);
}

// Threads race on a few events, as a driver would let them: each call takes effect at one instant
// between its entry and its exit, and notes what it did. Whatever the writer says afterwards must
// agree with the notes.
TEST_F(DrainTest, NeverContradictsWhatHappenedWhileThreadsRace) {
  constexpr int kThreads = 4, kCalls = 15'000, kEvents = 3;
  options_.clock = ring::best_clock();
  struct Note {
    uint32_t correlation_id;
    bool is_record;
    uint32_t newest;  // correlation id of the record that was made, or found newest; 0: none
  };
  struct Actor {
    std::unique_ptr<FakeThread> thread;
    std::vector<Note> notes;
  };
  std::vector<Actor> actors(kThreads);
  std::array<std::atomic<uint32_t>, kEvents> newest{};
  std::atomic<bool> stop_draining = false;
  for (int i = 0; i < kThreads; ++i) {
    actors[i].thread = std::make_unique<FakeThread>(rings_, i, 1 << 16, options_.clock);
    actors[i].thread->thread(100 + i);
  }
  for (int event = 0; event < kEvents; ++event)
    actors[0].thread->call("cudaEventCreate", 0, 0xe0 + event);
  drain_.emplace(rings_, trace::Writer::create(file_), options_, ring::read_anchor(options_.clock));
  usleep(2000);

  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      FakeThread& me = *actors[i].thread;
      std::minstd_rand random(i + 1);
      for (int n = 0; n < kCalls; ++n) {
        const uint32_t id = 1000 + n * kThreads + i;
        const int event = random() % kEvents;
        const bool is_record = random() % 3 == 0;
        const auto kind = is_record           ? test::kRecord
                          : random() % 4 == 0 ? test::kQuery
                                              : test::kWait;
        uint32_t found = 0;
        me.perform(kind, 0xaa + i, 0xe0 + event, id, [&] {
          // Locked operations both, as the driver's lock is one: nothing moves past them.
          if (is_record) {
            newest[event].exchange(id);
            found = id;
          } else {
            found = newest[event].fetch_add(0);
          }
          for (int pause = random() % 64; pause > 0; --pause)
            std::atomic_signal_fence(std::memory_order_seq_cst);
        });
        actors[i].notes.push_back({id, is_record, found});
        if (random() % 16 == 0) std::this_thread::yield();
      }
    });
  }
  std::thread drainer([&] {
    while (!stop_draining.load()) {
      drain_->cycle();
      usleep(200);
    }
  });
  for (auto& thread : threads) thread.join();
  stop_draining = true;
  drainer.join();
  usleep(100);
  actors[0].thread->end();
  const Trace trace = finish();
  EXPECT_EQ(losses(trace)["ring-full"], 0);

  std::map<uint32_t, uint32_t> truth;
  size_t records = 0;
  for (const Actor& actor : actors) {
    for (const Note& note : actor.notes) {
      truth[note.correlation_id] = note.newest;
      records += note.is_record;
    }
  }
  ASSERT_EQ(trace.event_record.size(), records);
  ASSERT_EQ(trace.event_wait.size() + trace.host_sync.size(), truth.size() - records);
  const auto made_by = [&](trace::Id record) {
    return static_cast<uint32_t>(trace.event_record.correlation_id[record]);
  };
  std::map<trace::Id, std::set<uint32_t>> candidates;
  for (size_t i = 0; i < trace.event_wait_candidate.size(); ++i)
    candidates[trace.event_wait_candidate.event_wait_id[i]].insert(
        made_by(trace.event_wait_candidate.event_record_id[i]));
  std::map<trace::Small, int> bindings;
  for (trace::Id wait = 0; wait < trace.event_wait.size(); ++wait) {
    const uint32_t found = truth.at(static_cast<uint32_t>(trace.event_wait.correlation_id[wait]));
    const trace::Small binding = trace.event_wait.binding[wait];
    ++bindings[binding];
    if (binding == trace::kBindingExact) {
      ASSERT_EQ(made_by(trace.event_wait.record_id[wait]), found);
    } else if (binding == trace::kNeverRecorded) {
      ASSERT_EQ(found, 0u);
    } else {
      ASSERT_EQ(binding, trace::kAmbiguous);
      ASSERT_TRUE(found == 0 || candidates[wait].contains(found));
    }
  }
  for (trace::Id sync = 0; sync < trace.host_sync.size(); ++sync) {
    if (trace.host_sync.binding[sync] != trace::kBindingExact) continue;
    ASSERT_EQ(made_by(trace.host_sync.record_id[sync]),
              truth.at(trace.host_sync.correlation_id[sync]));
  }
  EXPECT_GT(bindings[trace::kBindingExact], 1000);
  // Versions follow the ends of the records.
  std::map<trace::Id, std::vector<std::pair<trace::Ns, trace::Small>>> versions;
  for (trace::Id record = 0; record < trace.event_record.size(); ++record)
    versions[trace.event_record.event_id[record]].push_back(
        {trace.event_record.end_ns[record], trace.event_record.version[record]});
  for (auto& [event, list] : versions) {
    std::sort(list.begin(), list.end());
    trace::Small expected = 1;
    int swapped = 0;
    for (const auto& [end, version] : list) swapped += version != expected++;
    EXPECT_LE(swapped, 20) << "only ends of the same nanosecond may be told in either order";
  }
}

TEST_F(DrainTest, KeepsHandlesThatAreReusedApart) {
  FakeThread& a = thread(0);
  a.call("cudaEventCreate", 0, 0xe1);
  a.call("cudaEventRecord", 0xaa, 0xe1);
  a.call("cudaEventDestroy", 0, 0xe1);
  a.call("cudaEventCreate", 0, 0xe1);
  a.call("cudaStreamWaitEvent", 0xbb, 0xe1);
  a.call("cudaEventRecord", 0xaa, 0xe1);
  a.call("cudaStreamWaitEvent", 0xbb, 0xe1);
  a.end();
  const Trace trace = finish();
  EXPECT_THAT(trace.event.generation, ElementsAre(0, 1));
  EXPECT_NE(trace.event.destroyed_ns[0], trace::kUnknownNs);
  EXPECT_THAT(trace.event_record.event_id, ElementsAre(0, 1));
  EXPECT_THAT(trace.event_record.version, ElementsAre(1, 1));
  EXPECT_THAT(trace.event_wait.binding, ElementsAre(trace::kNeverRecorded, trace::kBindingExact));
}

TEST_F(DrainTest, BindsNothingToFailedCallsAndMarksCapturedOnes) {
  FakeThread& a = thread(0);
  a.call("cudaEventCreate", 0, 0xe1);
  a.call("cudaEventRecord", 0xaa, 0xe1, 0, 400);
  a.call("cudaStreamWaitEvent", 0xbb, 0xe1);
  a.call("cudaStreamWaitEvent", 0xbb, 0xe1, 0, 400);
  a.flags = ring::kCapturing;
  a.call("cudaEventRecord", 0xaa, 0xe1);
  a.call("cudaStreamWaitEvent", 0xbb, 0xe1);
  a.call("cudaLaunchKernel", 0xbb, 0);
  a.flags = 0;
  a.end();
  const Trace trace = finish();
  EXPECT_THAT(trace.event_record.version, ElementsAre(trace::kNoSmall, 1));
  EXPECT_THAT(trace.event_record.flags, ElementsAre(trace::kNoSmall, trace::kCapturedRecord));
  EXPECT_THAT(trace.event_wait.binding,
              ElementsAre(trace::kNeverRecorded, trace::kNoSmall, trace::kCaptured));
  EXPECT_EQ(trace.op.size(), 0u) << "a captured launch runs when its graph is launched";
}

TEST_F(DrainTest, KnowsNoHistoryOfWhatItNeverSawNorAcrossAPause) {
  FakeThread& a = thread(0);
  a.call("cudaStreamWaitEvent", 0xbb, 0xe1);
  a.call("cudaEventRecord", 0xaa, 0xe1);
  a.call("cudaStreamWaitEvent", 0xbb, 0xe1);
  auto off = a.make<ring::CollectingRecord>(RecordKind::kCollecting);
  off.begin = a.now();
  a.ring.push(off);
  auto on = off;
  on.on = 1;
  on.begin = a.now();
  a.ring.push(on);
  a.call("cudaStreamWaitEvent", 0xbb, 0xe1);
  a.call("cudaEventRecord", 0xaa, 0xe1);
  a.call("cudaStreamWaitEvent", 0xbb, 0xe1);
  a.end();
  const Trace trace = finish();
  EXPECT_THAT(trace.event_wait.binding, ElementsAre(trace::kUnknownHistory, trace::kBindingExact,
                                                    trace::kUnknownHistory, trace::kBindingExact));
  EXPECT_EQ(losses(trace)["unknown-history"], 2);
  EXPECT_EQ(losses(trace)["paused"], 1);
}

TEST_F(DrainTest, CountsDropsAndTrustsNoHistoryAcrossThem) {
  FakeThread& a = thread(0, 16);
  FakeThread& b = thread(1);
  b.call("cudaEventCreate", 0, 0xe1);
  b.call("cudaEventRecord", 0xaa, 0xe1);
  settle();
  drain().cycle();
  int pushed = 0;
  while (a.ring.header().dropped.load() < 5) pushed += 1, a.call("cudaLaunchKernel", 0xaa, 0);
  b.call("cudaStreamWaitEvent", 0xbb, 0xe1);
  settle();
  drain().cycle();
  drain().flush();
  b.call("cudaEventRecord", 0xaa, 0xe1);
  b.call("cudaStreamWaitEvent", 0xbb, 0xe1);
  a.call("cudaLaunchKernel", 0xaa, 0);
  b.end();
  const Trace trace = finish();
  EXPECT_EQ(losses(trace)["ring-full"], 5);
  EXPECT_EQ(trace.api_call.size(), 1u + pushed - 5 + 1);
  EXPECT_THAT(trace.event_wait.binding, ElementsAre(trace::kUnknownHistory, trace::kBindingExact));
}

TEST_F(DrainTest, CountsWorkOfWhichTheDeviceToldNoEnd) {
  FakeThread& a = thread(0);
  FakeThread& activities = thread(1);
  a.context(1);
  const auto at = static_cast<int64_t>(a.now());
  EXPECT_EQ(a.call("cudaLaunchKernel", 0xaa, 0), 1u);
  EXPECT_EQ(a.call("cudaLaunchKernel", 0xaa, 0), 2u);
  activities.kernel(1, 13, at + 10, at + 20, "ends");
  activities.kernel(2, 13, 0, 0, "fails");
  a.end();
  const Trace trace = finish();
  EXPECT_EQ(losses(trace)["work-not-ended"], 1);
  EXPECT_EQ(losses(trace)["times-not-delivered"], 0);
}

TEST_F(DrainTest, JoinsDeviceWorkWithItsCallInWhateverOrderTheyCome) {
  FakeThread& a = thread(0);
  FakeThread& activities = thread(1);
  const auto at = static_cast<int64_t>(a.now());
  activities.kernel(1, 13, at + 100, at + 200, "second");  // before its call is read
  activities.kernel(2, 13, at + 10, at + 20, "first");
  settle();
  drain().cycle();
  a.context(1);
  a.operation = 5;
  EXPECT_EQ(a.call("cudaLaunchKernel", 0xaa, 0), 1u);
  EXPECT_EQ(a.call("cudaLaunchKernel", 0xaa, 0), 2u);
  EXPECT_EQ(a.call("cudaLaunchKernel", 0xaa, 0), 3u);
  a.end();
  const Trace trace = finish();
  ASSERT_EQ(trace.op.size(), 3u);
  EXPECT_EQ(losses(trace)["times-not-delivered"], 1);
  // The one that was never reported is stored when its process is given up, the others in order of
  // their start.
  EXPECT_THAT(trace.op.api_call_id, testing::UnorderedElementsAre(2, 1, 0));
  EXPECT_THAT(trace.operation_op.op_id, testing::UnorderedElementsAre(0, 1, 2));
  const auto op_of = [&](trace::Id call) {
    return static_cast<size_t>(
        std::find(trace.op.api_call_id.begin(), trace.op.api_call_id.end(), call) -
        trace.op.api_call_id.begin());
  };
  EXPECT_EQ(trace.op.start_ns[op_of(2)], trace::kUnknownNs);
  EXPECT_EQ(trace.text(trace.op.name_id[op_of(1)]), "first");
  EXPECT_LT(op_of(1), op_of(0));
  EXPECT_EQ(trace.operation.size(), 1u);
  EXPECT_EQ(trace.operation.native_id[0], 5);
  EXPECT_EQ(trace.stream.native_id[trace.op.stream_id[0]], 13) << "learned from the activity";
}

TEST_F(DrainTest, MakesOpsFromCallsAloneInTierStructure) {
  options_.run.tier = ring::Tier::kStructure;
  FakeThread& a = thread(0);
  auto launch = a.make_call("cudaLaunchKernel", 0xaa, a.text("kernel_of_call"));
  launch.begin = a.now();
  launch.end = a.now();
  a.ring.push(launch);
  a.call("cudaMemcpyAsync", 0xaa, 1, 4096);
  a.call("cudaLaunchHostFunc", 0xaa, 0x1234);
  a.end();
  const Trace trace = finish();
  EXPECT_THAT(trace.op.kind, ElementsAre(trace::kKernel, trace::kMemcpy, trace::kHostFunction));
  EXPECT_EQ(trace.text(trace.op.name_id[0]), "kernel_of_call");
  EXPECT_EQ(trace.op.detail[1], 1);
  EXPECT_EQ(trace.op.bytes[1], 4096);
  EXPECT_EQ(trace.op.start_ns[0], trace::kUnknownNs);
  EXPECT_EQ(losses(trace), (std::map<std::string, int64_t>{{"no-device-times", 1}}));
}

TEST_F(DrainTest, KeepsEveryNodeOfAGraphLaunch) {
  FakeThread& a = thread(0);
  const uint32_t launch = a.call("cudaGraphLaunch", 0xaa, 0x66);
  const auto at = static_cast<int64_t>(a.now());
  for (int node = 1; node <= 3; ++node)
    a.kernel(launch, 13 + node, at + node, at + node + 1, "node", node);
  a.end();
  const Trace trace = finish();
  EXPECT_THAT(trace.op.graph_node, ElementsAre(1, 2, 3));
  EXPECT_THAT(trace.op.api_call_id, ElementsAre(0, 0, 0));
  EXPECT_TRUE(losses(trace).empty());
}

TEST_F(DrainTest, UsesVirtualTimesOfASimulatedDeviceAsTheyAre) {
  FakeThread& a = thread(0);
  a.flags = ring::kVirtualTime;
  a.context(1);
  a.call_at(0, 0, "simEventCreate", 0, 0xe1);
  const uint32_t launch = a.call_at(0, 10, "simLaunchKernel", 0xaa, 0);
  a.call_at(10, 10, "simEventRecord", 0xaa, 0xe1);
  a.call_at(10, 10, "simStreamWaitEvent", 0xbb, 0xe1);
  const uint32_t host = a.call_at(10, 12, "simLaunchHostFunc", 0xbb, 0x1);
  a.kernel(launch, 2, 5, 105);
  auto work = a.make<ring::OpRecord>(RecordKind::kDeviceWork);
  work.detail = trace::kHostFunction;
  work.correlation_id = host;
  work.context = 1;
  work.stream = 3;
  work.begin_ns = 105;
  work.end_ns = 110;
  a.ring.push(work);
  a.end();
  const Trace trace = finish();
  EXPECT_EQ(trace.process.clock[0], trace::kVirtualClock);
  EXPECT_EQ(trace.process.start_ns[0], 0);
  EXPECT_EQ(trace.process.end_ns[0], 110);
  EXPECT_THAT(trace.op.kind, ElementsAre(trace::kKernel, trace::kHostFunction));
  EXPECT_THAT(trace.op.start_ns, ElementsAre(5, 105));
  EXPECT_THAT(trace.event_wait.binding, ElementsAre(trace::kBindingExact));
  EXPECT_TRUE(losses(trace).empty());
}

TEST_F(DrainTest, NestsRangesAndLeavesOpenOnesOpen) {
  FakeThread& a = thread(0);
  FakeThread& b = thread(1);
  a.range(RecordKind::kRangePush, "outer");
  a.range(RecordKind::kRangePush, "inner");
  a.range(RecordKind::kRangePop, "");
  a.range(RecordKind::kMark, "mark");
  b.range(RecordKind::kRangeEnd, "", 9);  // ring order is not time order
  a.range(RecordKind::kRangeStart, "across", 9);
  a.end();
  const Trace trace = finish();
  ASSERT_EQ(trace.range.size(), 3u);
  EXPECT_THAT(trace.range.depth, ElementsAre(0, 1, trace::kNoSmall));
  EXPECT_EQ(trace.range.end_ns[0], trace::kUnknownNs);
  EXPECT_NE(trace.range.end_ns[1], trace::kUnknownNs);
  EXPECT_NE(trace.range.end_ns[2], trace::kUnknownNs);
  EXPECT_EQ(trace.mark.size(), 1u);
}

TEST_F(DrainTest, KeepsADependencyThatIsToldTwiceOnce) {
  FakeThread& a = thread(0);
  a.process("/bin/app");
  for (const uint16_t elided : {uint16_t{0}, uint16_t{3}}) {
    auto dependencies =
        a.make<ring::OperationDependenciesRecord>(ring::RecordKind::kOperationDependencies);
    dependencies.operation = 2;
    dependencies.count = 2;
    dependencies.dependencies[0] = {0, 0, elided};
    dependencies.dependencies[1] = {1, 1, 0};
    a.ring.push(dependencies);
  }
  const Trace trace = finish();
  EXPECT_THAT(trace.operation_dependency.elided, ElementsAre(1, 0));
  EXPECT_THAT(trace.operation_dependency.elided_because, ElementsAre(2, trace::kNoSmall));
  EXPECT_THAT(trace.operation_dependency.inferred, ElementsAre(0, 1));
}

TEST_F(DrainTest, KnowsWhenBarriersWereReachedAndPassed) {
  FakeThread& a = thread(0);
  a.flags = ring::kVirtualTime;
  a.process("/bin/app");
  a.thread(7);
  auto barrier = a.make<ring::BarrierRecord>(RecordKind::kBarrier);
  barrier.operation = 3;
  barrier.begin = 100;
  a.ring.push(barrier);
  for (const uint64_t stream : {0x11, 0x12}) {
    auto member = a.make<ring::BarrierStreamRecord>(RecordKind::kBarrierStream);
    member.operation = 3;
    member.begin = 100;
    member.stream = stream;
    member.context = 1;
    a.ring.push(member);
  }
  auto arrival = a.make<ring::BarrierArrivalRecord>(RecordKind::kBarrierArrival);
  arrival.operation = 3;
  arrival.arrival_ns = 40;
  arrival.stream = 0x12;
  arrival.context = 1;
  a.ring.push(arrival);
  auto state = a.make<ring::OperationStateRecord>(RecordKind::kOperationState);
  state.operation = 3;
  state.state = static_cast<uint8_t>(ring::OperationState::kCompleted);
  state.begin = 250;
  a.ring.push(state);
  const Trace trace = finish();
  EXPECT_THAT(trace.barrier.first_arrival_ns, ElementsAre(40));
  EXPECT_THAT(trace.barrier.release_ns, ElementsAre(250));
  EXPECT_THAT(trace.barrier_stream.arrival_ns, ElementsAre(100, 40));
}

TEST_F(DrainTest, KeepsTheActsOfTimelines) {
  FakeThread& a = thread(0);
  a.process("/bin/app");
  a.thread(7);
  auto point = a.make<ring::TimelinePointRecord>(RecordKind::kTimelinePoint);
  point.timeline = 5;  // described later
  point.begin = a.now();
  point.act = 1;
  point.value = 12;
  point.context = ring::kNone32;
  a.ring.push(point);
  point.act = 0;
  point.context = 1;
  point.stream = 0x11;
  a.ring.push(point);
  auto timeline = a.make<ring::TimelineRecord>(RecordKind::kTimeline);
  timeline.timeline = 5;
  timeline.initial = 3;
  timeline.name = a.text("steps");
  a.ring.push(timeline);
  const Trace trace = finish();
  ASSERT_EQ(trace.timeline.size(), 1u);
  EXPECT_EQ(trace.text(trace.timeline.name_id[0]), "steps");
  EXPECT_EQ(trace.timeline.initial[0], 3);
  EXPECT_THAT(trace.timeline_point.act, ElementsAre(1, 0));
  EXPECT_THAT(trace.timeline_point.value, ElementsAre(12, 12));
  EXPECT_EQ(trace.timeline_point.stream_id[0], trace::kNoId);
  EXPECT_NE(trace.timeline_point.stream_id[1], trace::kNoId);
  EXPECT_NE(trace.timeline_point.start_ns[0], trace::kUnknownNs);
}

TEST_F(DrainTest, StoresWhatMemoryIsTouched) {
  FakeThread& a = thread(0);
  a.process("/bin/app");
  const uint32_t call = a.call("cudaMemcpy2DAsync", 0, 1, 20);
  auto copy = a.make<ring::AccessRecord>(RecordKind::kAccess);
  copy.source = static_cast<uint8_t>(ring::AccessSource::kArgument);
  copy.writes = 2;
  copy.correlation_id = call;
  copy.begin = a.now();
  copy.ranges[0] = {0x1000, 10};
  copy.ranges[1] = {uint64_t{0xff} << 56, 10};
  copy.pitch[0] = 64;
  copy.pitch[1] = 10;
  copy.rows = 2;
  copy.operation = ring::kNone32;
  a.ring.push(copy);
  auto host = copy;
  host.source = static_cast<uint8_t>(ring::AccessSource::kHost);
  host.writes = 1;
  host.correlation_id = ring::kNone32;
  host.ranges[1] = {};
  host.rows = 1;
  a.ring.push(host);
  auto arguments = a.make<ring::KernelArgumentsRecord>(RecordKind::kKernelArguments);
  arguments.correlation_id = call;
  arguments.count = 2;
  arguments.values[0] = 0x7000;
  arguments.values[1] = 0x8000;
  arguments.parameters[1] = 3;
  a.ring.push(arguments);
  const trace::AccessColumns access = finish().access;
  using I = std::vector<trace::Int>;
  EXPECT_EQ(access.source, (std::vector<trace::Small>{0, 0, 2, 3, 3}));
  EXPECT_EQ(access.writes, (std::vector<trace::Small>{0, 1, 1, trace::kNoSmall, trace::kNoSmall}));
  EXPECT_EQ(access.address, (I{0x1000, -(trace::Int{1} << 56), 0x1000, 0x7000, 0x8000}));
  EXPECT_EQ(access.bytes, (I{10, 10, 10, trace::kNoInt, trace::kNoInt}));
  EXPECT_EQ(access.pitch_bytes, (I{64, 10, trace::kNoInt, trace::kNoInt, trace::kNoInt}));
  EXPECT_EQ(access.rows, (I{2, 2, trace::kNoInt, trace::kNoInt, trace::kNoInt}));
  EXPECT_EQ(access.correlation_id, (I{call, call, trace::kNoInt, call, call}));
  EXPECT_EQ(access.parameter,
            (std::vector<trace::Small>{trace::kNoSmall, trace::kNoSmall, trace::kNoSmall, 0, 3}));
  EXPECT_EQ(access.start_ns[2], ns(copy.begin));
  EXPECT_EQ(access.thread_id[4], 0u);
  EXPECT_EQ(access.operation_id[0], kNoId);
}

TEST_F(DrainTest, AcceptsTextsThatComeAfterTheirUseAndInParts) {
  FakeThread& a = thread(0, 64);
  const std::string name(150, 'n');
  auto mark = a.make<ring::RangeRecord>(RecordKind::kMark);
  mark.begin = a.now();
  mark.name = ring::hash_text(name);
  a.ring.push(mark);
  settle();
  drain().cycle();
  drain().flush();
  a.text(name);
  auto unknown = mark;
  unknown.name = ring::hash_text("never sent");
  a.ring.push(unknown);
  a.end();
  const Trace trace = finish();
  EXPECT_EQ(trace.text(trace.mark.name_id[0]), name);
  EXPECT_EQ(trace.text(trace.mark.name_id[1]), "?");
  EXPECT_EQ(losses(trace)["string-missing"], 1);
}

TEST_F(DrainTest, CountsRecordsThatMakeNoSense) {
  FakeThread& a = thread(0);
  ring::Record bad{};
  bad.head.kind = static_cast<RecordKind>(200);
  a.ring.push(bad);
  auto call = a.make_call("cudaMalloc", 0, 0);
  call.call = 60'000;
  a.ring.push(call);
  auto text = a.make<ring::TextRecord>(RecordKind::kText);
  text.total_bytes = 0xffffffff;
  text.chunk_bytes = 0xffff;
  a.ring.push(text);
  auto stack = a.make<ring::StackRecord>(RecordKind::kStack);
  stack.total_frames = 1;
  stack.frame_count = 200;
  a.ring.push(stack);
  auto waits = a.make<ring::WaitsRecord>(RecordKind::kWaits);
  waits.party_count = waits.link_count = 0xffffffff;
  a.ring.push(waits);
  auto links = a.make<ring::WaitLinksRecord>(RecordKind::kWaitLinks);
  links.count = 7;
  links.links[6] = {0xffffffff, 1};
  a.ring.push(links);
  auto party = a.make<ring::WaitPartyRecord>(RecordKind::kWaitParty);
  party.index = 0xffffffff;
  a.ring.push(party);
  a.end();
  const Trace trace = finish();
  EXPECT_GE(losses(trace)["record-invalid"], 6);
  EXPECT_TRUE(trace.complete());
}

// What libcoord tells: thread 100 waits at a barrier for what comes after operation 7.
void tell_waits(FakeThread& thread, bool given_up, uint32_t links_told = 2) {
  auto waits = thread.make<ring::WaitsRecord>(RecordKind::kWaits);
  waits.given_up = given_up ? 1 : 0;
  waits.party_count = 3;
  waits.link_count = 2;
  waits.begin = thread.now();
  const auto party = [&](uint32_t index, uint8_t kind, uint8_t state, uint64_t object,
                         std::string_view label) {
    auto record = thread.make<ring::WaitPartyRecord>(RecordKind::kWaitParty);
    record.index = index;
    record.party = kind;
    record.state = state;
    record.object = object;
    record.label = thread.text(label);
    thread.ring.push(record);
  };
  thread.ring.push(waits);
  party(0, 2, given_up ? 2 : 1, 0, "barrier \"exchange\"");
  party(1, 1, given_up ? 2 : 0, 100, "host thread 1");
  party(2, 0, 0, 7, "operation 7");
  auto links = thread.make<ring::WaitLinksRecord>(RecordKind::kWaitLinks);
  links.count = static_cast<uint16_t>(links_told);
  links.links[0] = {1, 0};
  links.links[1] = {0, 2};
  thread.ring.push(links);
}

TEST_F(DrainTest, StoresAWaitThatLibcoordGaveUpAsAHang) {
  FakeThread& a = thread(0);
  tell_waits(a, true);
  a.end();
  const Trace trace = finish();
  ASSERT_EQ(trace.hang.size(), 1u);
  EXPECT_EQ(trace.text(trace.hang.verdict_id[0]), "deadlock");
  EXPECT_THAT(std::string(trace.text(trace.hang.text_id[0])),
              testing::HasSubstr("barrier \"exchange\" and host thread 1 wait for each other"));
  EXPECT_THAT(trace.hang_node.kind,
              ElementsAre(trace::kHangOutside, trace::kHangThread, trace::kHangOperation));
  EXPECT_THAT(trace.hang_node.in_cycle, ElementsAre(1, 1, 0));
  ASSERT_LT(trace.hang_node.object_id[1], trace.thread.size());
  EXPECT_EQ(trace.thread.os_tid[trace.hang_node.object_id[1]], 100);
  ASSERT_LT(trace.hang_node.object_id[2], trace.operation.size());
  EXPECT_EQ(trace.operation.native_id[trace.hang_node.object_id[2]], 7);
  EXPECT_THAT(trace.hang_edge.from_node_id, ElementsAre(1, 0));
  EXPECT_THAT(trace.hang_edge.to_node_id, ElementsAre(0, 2));
}

TEST_F(DrainTest, KeepsWhatLibcoordAnswersForWhoeverAsked) {
  FakeThread& a = thread(0);
  tell_waits(a, false, 1);
  drain().cycle();
  ProcessDrain& process = *drain().live_processes().at(0);
  EXPECT_EQ(process.coord_waits(), nullptr) << "a link is missing";
  tell_waits(a, false);
  while (drain().cycle() > 0) {
  }
  ASSERT_NE(process.coord_waits(), nullptr);
  EXPECT_EQ(process.coord_waits()->verdict, "missing-participant");
  EXPECT_EQ(process.coord_waits()->headline, "barrier \"exchange\"");
  auto nobody = a.make<ring::WaitsRecord>(RecordKind::kWaits);
  a.ring.push(nobody);
  a.end();
  while (drain().cycle() > 0) {
  }
  EXPECT_EQ(process.coord_waits(), nullptr) << "it said that nobody waits any more";
  EXPECT_TRUE(finish().hang.empty());
}

TEST_F(DrainTest, SaysWhichRingFilesItCannotRead) {
  thread(0).end();
  std::ofstream(rings_ / "1-2-3.ring") << "torn";
  const Trace trace = finish();
  EXPECT_EQ(losses(trace)["ring-torn"], 1);
}

TEST_F(DrainTest, TakesARingWhoseMakingWasCutShortForEmpty) {
  thread(0).end();
  std::ofstream(rings_ / "1-2-3.ring") << std::string(5000, '\0');
  std::ofstream(rings_ / "1-2-4.ring");
  const Trace trace = finish();
  EXPECT_EQ(losses(trace)["ring-torn"], 0);
}

TEST_F(DrainTest, StoresCallStacksOnce) {
  FakeThread& a = thread(0);
  auto stack = a.make<ring::StackRecord>(RecordKind::kStack);
  stack.hash = 0x1111'2222'3333'4444;
  stack.total_frames = 7;
  for (uint32_t first : {0u, 5u}) {
    stack.first_frame = first;
    stack.frame_count = first == 0 ? 5 : 2;
    for (uint64_t i = 0; i < stack.frame_count; ++i) stack.frames[i] = 0x1000 + first + i;
    a.ring.push(stack);
  }
  auto sync = a.make_call("cudaDeviceSynchronize", 0, 0);
  sync.stack = 0x3333'4444;
  sync.begin = a.now();
  sync.end = a.now();
  a.ring.push(sync);
  a.end();
  const Trace trace = finish();
  ASSERT_EQ(trace.stack.size(), 1u);
  EXPECT_EQ(trace.stack.frame_count[0], 7);
  EXPECT_EQ(trace.host_sync.stack_id[0], 0u);
  EXPECT_THAT(trace.stack_frame.address,
              ElementsAre(0x1000, 0x1001, 0x1002, 0x1003, 0x1004, 0x1005, 0x1006));
  EXPECT_FALSE(trace.meta.contains("stack_count"));
}

TEST_F(DrainTest, StoresPythonFramesOfAStackByTheirTextsAndWhatStacksCost) {
  FakeThread& a = thread(0);
  auto stack = a.make<ring::StackRecord>(RecordKind::kStack);
  stack.hash = 0x55;
  stack.total_frames = 3;
  stack.frame_count = 3;
  stack.frames[0] = 0x1000;
  stack.frames[1] = a.text("train.py:41 step");
  stack.frames[2] = a.text("train.py:99 <module>");
  stack.texts = 0b110;
  a.ring.push(stack);
  const uint64_t begin = a.now();
  a.ring.header().stacks = 4;
  a.ring.header().stack_ticks = a.now() - begin;
  a.end();
  const Trace trace = finish();
  EXPECT_THAT(trace.stack_frame.kind,
              ElementsAre(trace::kNativeFrame, trace::kPythonFrame, trace::kPythonFrame));
  EXPECT_EQ(trace.text(trace.stack_frame.symbol_id[1]), "train.py:41 step");
  EXPECT_EQ(trace.text(trace.stack_frame.symbol_id[2]), "train.py:99 <module>");
  EXPECT_EQ(trace.stack_frame.address[1], trace::kNoInt);
  EXPECT_EQ(trace.meta.at("stack_count"), "4");
  EXPECT_GE(std::stoll(trace.meta.at("stack_ns")), 0);
}

}  // namespace
}  // namespace streamscope::record
