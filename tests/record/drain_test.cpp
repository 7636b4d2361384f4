// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>

#include "drain_fixture.h"
#include "ring/losses.h"
#include "trace/checks.h"

namespace streamscope::record {
namespace {

using ring::RecordKind;
using test::FakeThread;
using testing::ElementsAre;
using trace::Trace;

TEST_F(DrainTest, TurnsOneThreadsRecordsIntoRows) {
  FakeThread& a = program_thread();
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

TEST_F(DrainTest, AStreamKeepsTheContextThatItsDestructionDoesNotName) {
  FakeThread& a = thread(0);
  a.context(1);
  a.stream(0xaa, 13);
  auto destroyed = a.make<ring::StreamRecord>(ring::RecordKind::kStream);
  destroyed.destroyed = 1;
  destroyed.context = ring::kNone32;
  destroyed.handle = 0xaa;
  destroyed.stream = ring::kNone32;
  destroyed.begin = a.now();
  a.ring.push(destroyed);
  a.end();
  const Trace trace = finish();
  const auto at = std::ranges::find(trace.stream.handle, 0xaa) - trace.stream.handle.begin();
  ASSERT_LT(static_cast<size_t>(at), trace.stream.size());
  EXPECT_EQ(trace.stream.context_id[static_cast<size_t>(at)], 0u);
  EXPECT_NE(trace.stream.destroyed_ns[static_cast<size_t>(at)], trace::kUnknownNs);
}

TEST_F(DrainTest, StoresEachCallInOneTable) {
  FakeThread& a = program_thread();
  a.context(1);
  a.call("cudaMemcpy", 0xaa, 1, 64);
  a.call("cudaMemcpyAsync", 0xaa, 1, 64);
  a.call("cudaEventRecord", 0xaa, 0xe1);
  a.call("cuCtxRecordEvent", 0, 0xe1);
  a.call("cudaStreamWaitEvent", 0xaa, 0xe1);
  a.call("cuCtxWaitEvent", 0, 0xe1);
  for (const char* sync : {"cudaEventQuery", "cudaEventSynchronize", "cudaStreamQuery",
                           "cudaStreamSynchronize", "cudaDeviceSynchronize"})
    a.call(sync, 0xaa, 0xe1);
  a.end();
  const Trace trace = finish();
  const auto names = [&](const trace::Column<trace::Id>& ids) {
    std::vector<std::string> result;
    for (const trace::Id id : ids) result.emplace_back(trace.text(id));
    return result;
  };
  EXPECT_THAT(names(trace.api_call.name_id), testing::ElementsAre("cudaMemcpyAsync"));
  EXPECT_THAT(names(trace.event_record.name_id),
              testing::ElementsAre("cudaEventRecord", "cuCtxRecordEvent"));
  EXPECT_THAT(names(trace.event_wait.name_id),
              testing::UnorderedElementsAre("cudaStreamWaitEvent", "cuCtxWaitEvent"));
  EXPECT_THAT(names(trace.host_sync.name_id),
              testing::UnorderedElementsAre("cudaMemcpy", "cudaEventQuery", "cudaEventSynchronize",
                                            "cudaStreamQuery", "cudaStreamSynchronize",
                                            "cudaDeviceSynchronize"));
}

// Polling loops filled the rings, 886,484 queries in a second.
TEST_F(DrainTest, MakesOneRowOfAPollingLoopBoundAsItsFirstQuery) {
  FakeThread& a = thread(0, 64);
  FakeThread& b = thread(1, 64);
  a.context(1);
  a.call("cudaEventCreate", 0, 0xe1);
  a.call("cudaEventRecord", 0xaa, 0xe1);
  const uint64_t start = a.now();
  const uint32_t first = FakeThread::correlation + 1;
  for (uint64_t i = 0; i < 1000; ++i)
    a.poll(start + 10 * i, start + 10 * i + 5, "cudaEventQuery", 0, 0xe1);
  b.call_at(start + 2001, start + 2004, "cudaEventRecord", 0xbb, 0xe1);  // in the middle
  a.call_at(start + 10'000, start + 10'005, "cudaEventQuery", 0, 0xe1);
  a.poll(start + 10'010, start + 10'015, "cudaStreamQuery", 0xaa, 0);
  a.end();
  b.end();
  const Trace trace = finish();
  ASSERT_EQ(trace.host_sync.size(), 3u);
  EXPECT_THAT(trace.host_sync.polls, ElementsAre(1000, trace::kNoSmall, trace::kNoSmall));
  EXPECT_THAT(trace.host_sync.result, ElementsAre(600, 0, 600));
  EXPECT_EQ(trace.host_sync.start_ns[0], ns(start));
  EXPECT_EQ(trace.host_sync.end_ns[0], ns(start + 9995));
  EXPECT_EQ(trace.host_sync.call_number[0], first);
  EXPECT_EQ(trace.host_sync.binding[0], trace::kBindingExact);
  EXPECT_EQ(trace.host_sync.record_id[0], 0u);
  EXPECT_EQ(trace.host_sync.record_id[1], 1u);
  EXPECT_EQ(trace::call_count(trace.host_sync, 0), 1000);
  EXPECT_EQ(trace::call_count(trace.host_sync, 1), 1);
  EXPECT_EQ(losses(trace)["ring-full"], 0);
  EXPECT_EQ(losses(trace)["ambiguous-binding"], 0);
}

// Rings overflowed while rows were stored.
TEST_F(DrainTest, LosesNothingWhileItIsDelayedBeyondTheCapacityOfRings) {
  FakeThread& a = thread(0, 4096);
  FakeThread& b = thread(1, 4096);
  a.context(1);
  drain().cycle();  // it knows the rings, and comes back when it has stored the rows
  constexpr int kRounds = 40, kCalls = 1000;
  for (int round = 0; round < kRounds; ++round) {
    for (int i = 0; i < kCalls; ++i) {
      a.call("cudaLaunchKernel", 0xaa, 0);
      if (i % 2 == 0) b.call("cudaEventRecord", 0xbb, 0xe1);
    }
    usleep(40'000);
  }
  a.end();
  b.end();
  const Trace trace = finish();
  EXPECT_EQ(losses(trace)["ring-full"], 0);
  EXPECT_EQ(trace.api_call.size(), size_t{kRounds} * kCalls);
  EXPECT_EQ(trace.event_record.size(), size_t{kRounds} * kCalls / 2);
  EXPECT_TRUE(std::is_sorted(trace.api_call.call_number.begin(), trace.api_call.call_number.end()));
  EXPECT_EQ(trace.event_record.version.back(), kRounds * kCalls / 2);
  for (const auto& entry : std::filesystem::directory_iterator(rings_))
    EXPECT_EQ(entry.path().filename(), "names");
}

// A program waits until what it has done is stored (streamscope_flush()).
TEST_F(DrainTest, AnswersOnceAllIsStoredThatWasThereWhenItWasAsked) {
  constexpr size_t kCalls = 60'000;  // more than a cycle reads
  FakeThread& a = program_thread();
  FakeThread& b = thread(1, 2 * kCalls);
  a.context(1);
  drain().cycle();
  for (size_t i = 0; i < kCalls; ++i) b.call("cudaLaunchKernel", 0xaa, 0);
  settle();
  ring::RingHeader& header = a.ring.header();
  header.store_asked.store(1);
  int cycles = 0;
  for (; header.stored.load() == 0 && cycles < 1000; ++cycles) drain().cycle();
  EXPECT_EQ(trace::read(file_).api_call.size(), kCalls);
  EXPECT_EQ(header.stored.load(), 1u);
  EXPECT_GT(cycles, 1);
  drain().cycle();
  EXPECT_EQ(header.stored.load(), 1u) << "nobody has asked again";
}

TEST_F(DrainTest, RecoversWhatAKilledWriterHadMovedOutOfTheRings) {
  FakeThread& a = thread(0, 4096);
  a.context(1);
  drain().cycle();
  for (int round = 0; round < 8; ++round) {
    for (int i = 0; i < 1000; ++i) a.call("cudaLaunchKernel", 0xaa, 0);
    usleep(60'000);
  }
  drain_.reset();  // as if killed
  for (int i = 0; i < 500; ++i) a.call("cudaLaunchKernel", 0xaa, 0);
  a.end();
  const Trace stored = trace::read(file_);
  Drain(rings_, trace::Writer::resume(file_), options_, stored).finish();
  const Trace trace = trace::read(file_);
  EXPECT_EQ(trace.api_call.size(), 8500u);
  EXPECT_EQ(losses(trace)["ring-full"], 0);
}

// exec() keeps pid and start time, but earlier handles refer to other things.
TEST_F(DrainTest, DistinguishesTheProgramsOfAProcessEvenIfAWriterIsKilledInBetween) {
  const auto work = [](FakeThread& thread) {
    thread.context(1);
    thread.call("cudaEventCreateWithFlags", 0, 0xe1);
    thread.call("cudaEventRecord", 0xaa, 0xe1);
    thread.call("cudaStreamWaitEvent", 0xbb, 0xe1);
  };
  work(thread(0));
  drain().cycle();
  drain().flush();
  work(thread(ring::kRingsPerImage));
  settle();
  drain().cycle();
  settle();
  drain().cycle();
  drain().flush();
  drain_.reset();  // as if killed
  FakeThread& third = thread(2 * ring::kRingsPerImage);
  work(third);
  third.end();
  const Trace stored = trace::read(file_);
  EXPECT_EQ(stored.process.size(), 2u);
  Drain(rings_, trace::Writer::resume(file_), options_, stored).finish();
  const Trace trace = trace::read(file_);
  EXPECT_EQ(trace.process.size(), 3u);
  EXPECT_THAT(trace.process.complete, ElementsAre(0, 0, 1));
  EXPECT_THAT(trace.event_wait.binding,
              ElementsAre(trace::kBindingExact, trace::kBindingExact, trace::kBindingExact));
  EXPECT_THAT(trace.event_wait.record_id, ElementsAre(0u, 1u, 2u));
  EXPECT_EQ(trace.event.size(), 3u);
  EXPECT_EQ(losses(trace)["exit-handlers-skipped"], 2);
  EXPECT_EQ(losses(trace)["process-ended-abruptly"], 0);
}

TEST_F(DrainTest, ShowsAPollInProgress) {
  FakeThread& a = thread(0, 64);
  a.context(1);
  const auto look = [&] {
    settle();
    drain().cycle();
    drain().flush();
    return trace::read(file_).host_sync.size();
  };
  const auto poll = [&] {
    const uint64_t now = a.now();
    a.poll(now, now + 1, "cudaStreamQuery", 0xaa, 0);
  };
  poll();
  EXPECT_EQ(look(), 0u);
  poll();
  EXPECT_EQ(look(), 0u);
  usleep(110'000);
  look();
  EXPECT_EQ(look(), 1u) << "after a while";
  poll();
  poll();
  const Trace trace = finish();
  EXPECT_THAT(trace.host_sync.polls, ElementsAre(2, 2))
      << "the program continues, its writer leaves";
}

TEST_F(DrainTest, DoesNotCountPollsAsProgress) {
  FakeThread& a = thread(0, 64);
  a.context(1);
  settle();
  drain().cycle();
  const uint64_t moved = drain().live_processes()[0]->progress().moved;
  for (int round = 0; round < 3; ++round) {
    const uint64_t now = a.now();
    a.poll(now, now + 1, "cudaStreamQuery", 0xaa, round % 2);
    settle();
    drain().cycle();
  }
  EXPECT_EQ(drain().live_processes()[0]->progress().moved, moved);
  a.call("cudaStreamQuery", 0xaa, 0);
  settle();
  drain().cycle();
  EXPECT_GT(drain().live_processes()[0]->progress().moved, moved);
}

TEST_F(DrainTest, NestsRangesAndLeavesOpenOnesOpen) {
  FakeThread& a = thread(0);
  FakeThread& b = thread(1);
  b.range(RecordKind::kRangeStart, "across", 9);
  a.range(RecordKind::kRangePush, "outer");
  a.range(RecordKind::kRangePush, "inner");
  a.range(RecordKind::kRangePop, "");
  a.range(RecordKind::kMark, "mark");
  a.range(RecordKind::kRangeEnd, "", 9);  // in the ring that is read first
  a.end();
  const Trace trace = finish();
  ASSERT_EQ(trace.range.size(), 3u);
  EXPECT_THAT(trace.range.depth, ElementsAre(0, 1, trace::kNoSmall));
  EXPECT_EQ(trace.range.end_ns[0], trace::kUnknownNs);
  EXPECT_NE(trace.range.end_ns[1], trace::kUnknownNs);
  EXPECT_NE(trace.range.end_ns[2], trace::kUnknownNs);
  EXPECT_EQ(trace.mark.size(), 1u);
}

TEST_F(DrainTest, StoresCollectivesWithTheirCommunicator) {
  FakeThread& a = thread(0);
  const auto push = [&](uint64_t communicator, uint64_t bytes, uint64_t peer) {
    auto record = a.make<ring::RangeRecord>(RecordKind::kRangePush);
    record.flags = ring::kCollective;
    record.begin = a.now();
    record.name = a.text("ncclSend");
    record.domain = a.text("NCCL");
    record.id = peer;
    record.operation = ring::kNone32;
    record.payload = communicator;
    record.bytes = bytes;
    a.ring.push(record);
  };
  push(0xfedcba9876543210, 64, 3);
  auto pop = a.make<ring::RangeRecord>(RecordKind::kRangePop);
  pop.begin = a.now();
  pop.domain = a.text("NCCL");
  a.ring.push(pop);
  push(0, 0, ring::kNone32);
  a.range(RecordKind::kRangePush, "no collective");
  a.end();
  const Trace trace = finish();
  ASSERT_EQ(trace.range.size(), 3u);
  const auto& calls = trace.collective_call;
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_EQ(trace.text(calls.name_id[0]), "ncclSend");
  EXPECT_EQ(trace.text(calls.communicator_id[0]), "0xfedcba9876543210");
  EXPECT_EQ(calls.bytes[0], 64);
  EXPECT_EQ(calls.peer[0], 3);
  EXPECT_EQ(calls.start_ns[0], trace.range.start_ns[0]);
  EXPECT_EQ(calls.end_ns[0], trace.range.end_ns[0]);
  EXPECT_EQ(calls.communicator_id[1], trace::kNoId);
  EXPECT_EQ(calls.bytes[1], trace::kNoInt);
  EXPECT_EQ(calls.peer[1], trace::kNoSmall);
  EXPECT_EQ(calls.end_ns[1], trace::kUnknownNs);
}

TEST_F(DrainTest, StoresTheRanksOfACommunicatorThatTheProcessHasJoined) {
  FakeThread& a = thread(0);
  const auto join = [&](uint64_t communicator, uint32_t rank_count, uint32_t rank) {
    auto record = a.make<ring::CommunicatorRecord>(RecordKind::kCommunicator);
    record.communicator = communicator;
    record.rank_count = rank_count;
    record.rank = rank;
    a.ring.push(record);
  };
  join(0x1f, 8, 3);
  join(0x2f, 4, ring::kNone32);
  for (const uint64_t communicator : {0x1f, 0x2f, 0x3f}) {
    auto record = a.make<ring::RangeRecord>(RecordKind::kRangePush);
    record.flags = ring::kCollective;
    record.begin = a.now();
    record.name = a.text("ncclAllReduce");
    record.id = record.operation = ring::kNone32;
    record.payload = communicator;
    a.ring.push(record);
  }
  a.end();
  const Trace trace = finish();
  EXPECT_THAT(trace.collective_call.rank_count, ElementsAre(8, 4, trace::kNoSmall));
  EXPECT_THAT(trace.collective_call.rank, ElementsAre(3, trace::kNoSmall, trace::kNoSmall));
}

TEST_F(DrainTest, AcceptsTextsThatArriveAfterTheirUseAndInParts) {
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

TEST_F(DrainTest, CountsInvalidRecords) {
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
  auto nameless = a.make<ring::StackRecord>(RecordKind::kStack);
  nameless.hash = uint64_t{1} << 32;  // its low half means "none"
  nameless.total_frames = nameless.frame_count = 1;
  a.ring.push(nameless);
  auto shape = a.make<ring::LaunchShapeRecord>(RecordKind::kLaunchShape);
  shape.shape = ring::kNone32;
  a.ring.push(shape);
  a.end();
  const Trace trace = finish();
  EXPECT_GE(losses(trace)["record-invalid"], 8);
  EXPECT_TRUE(trace.complete());
}

TEST_F(DrainTest, CountersSaturate) {
  FakeThread& a = thread(0);
  auto lost = a.make<ring::LossRecord>(RecordKind::kLoss);
  lost.loss = static_cast<uint16_t>(ring::Loss::kNoThreadRing);
  for (const uint64_t count : {uint64_t{3}, uint64_t{1} << 62, uint64_t{1} << 62, ~uint64_t{0}}) {
    lost.count = count;
    a.ring.push(lost);
  }
  a.end();
  const Trace trace = finish();
  EXPECT_EQ(losses(trace)[std::string(ring::loss_name(ring::Loss::kNoThreadRing))],
            trace::kMostBytes);
}

TEST_F(DrainTest, ReportsWhichRingFilesItCannotRead) {
  thread(0).end();
  std::ofstream(rings_ / "1-2-3.ring") << "torn";
  const Trace trace = finish();
  EXPECT_EQ(losses(trace)["ring-torn"], 1);
}

TEST_F(DrainTest, TreatsAPartlyCreatedRingAsEmpty) {
  thread(0).end();
  std::ofstream(rings_ / "1-2-3.ring") << std::string(5000, '\0');
  std::ofstream(rings_ / "1-2-4.ring") << "";
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
