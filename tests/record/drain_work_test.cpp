// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Device work and the calls that issued it; the memory that it accesses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <time.h>

#include <algorithm>
#include <map>

#include "drain_fixture.h"

namespace streamscope::record {
namespace {

using ring::RecordKind;
using test::FakeThread;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using trace::kNoId;
using trace::Trace;

TEST_F(DrainTest, CountsWorkForWhichTheDeviceReportedNoEnd) {
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

TEST_F(DrainTest, JoinsDeviceWorkWithItsCallInAnyOrder) {
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

TEST_F(DrainTest, KeepsTheTimesOfWorkThatAKilledWriterHeldBack) {
  FakeThread& a = thread(0);
  FakeThread& activities = thread(1);
  a.context(1);
  const auto work = [&](int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      a.call("cudaLaunchKernel", 0xaa, 0);
      const auto at = static_cast<int64_t>(a.now());
      activities.kernel(test::FakeThread::correlation, 13, at + 10, at + 20, "held");
    }
    settle();
    drain().cycle();
    drain().flush();
  };
  work(4);
  work(3);
  for (const int kills : {1, 2}) {
    drain_.reset();  // as if killed
    const Trace stored = trace::read(file_);
    EXPECT_LT(stored.op.size(), 7u) << "nothing is held back";
    drain_.emplace(rings_, trace::Writer::resume(file_), options_, stored);
    if (kills == 1) drain_->flush();
  }
  a.end();
  const Trace trace = finish();
  ASSERT_EQ(trace.op.size(), 7u);
  for (size_t i = 0; i < trace.op.size(); ++i) {
    EXPECT_NE(trace.op.start_ns[i], trace::kUnknownNs);
    EXPECT_EQ(trace.text(trace.op.name_id[i]), "held");
    EXPECT_EQ(trace.op.api_call_id[i], i);
  }
  EXPECT_EQ(losses(trace)["times-not-delivered"], 0);
}

TEST_F(DrainTest, MakesOpsFromCallsAloneInTierStructure) {
  options_.run.tier = Tier::kStructure;
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

TEST_F(DrainTest, KindsOfMemoryComeWithTheCallInTierStructure) {
  options_.run.tier = Tier::kStructure;
  constexpr uint64_t kDefault = 4;  // cudaMemcpyKind
  FakeThread& a = thread(0);
  const auto call = [&](const char* name, uint64_t object, uint32_t memory) {
    a.call(name, 0xaa, ring::with_memory_kinds(object, memory), 4096);
  };
  call("cudaMemcpy", kDefault, 0x32);  // device to pinned
  call("cudaMemcpy", 2, 0x31);         // device to pageable
  call("cudaMemcpy", kDefault, 0x53);  // managed to device
  call("cudaMemset", 0x5000, 0x05);    // managed
  call("cudaMemset", 0x6000, 0);
  a.end();
  const Trace trace = finish();
  EXPECT_THAT(trace.op.detail, ElementsAre(2, 2, trace::kNoSmall, 5, trace::kNoSmall));
  EXPECT_THAT(trace.op.memory_kinds,
              ElementsAre(0x32, 0x31, 0x53, trace::kNoSmall, trace::kNoSmall));
  EXPECT_EQ(trace.api_call.object[0], 0x5000);
}

// CUPTI reports copies between host memories (driver 580, H200), so the tiers with times have them.
TEST_F(DrainTest, CopiesBetweenHostMemoriesAreOpsInTierStructureUnlessEmpty) {
  constexpr uint64_t kHostToHost = 0;  // cudaMemcpyKind
  constexpr trace::Small kHtoH = 9;    // op.detail
  options_.run.tier = Tier::kStructure;
  FakeThread& a = thread(0);
  a.call("cudaMemcpyAsync", 0xaa, kHostToHost, 4);
  a.call("cudaMemcpyAsync", 0xaa, kHostToHost, 0);
  a.call("cudaMemcpyAsync", 0xaa, 1, 0);
  a.end();
  const Trace trace = finish();
  EXPECT_THAT(trace.op.kind, ElementsAre(trace::kMemcpy));
  EXPECT_THAT(trace.op.detail, ElementsAre(kHtoH));
  EXPECT_THAT(trace.op.bytes, ElementsAre(4));
}

TEST_F(DrainTest, MemoryThatIsReusedDuringAnAllocationIsTwoAllocations) {
  options_.run.with = ring::kWithAlloc;
  FakeThread &a = thread(0), &b = thread(1);
  const uint64_t start = a.now();
  a.call_at(start + 20, start + 30, "cudaMalloc", 0, 0xf000, 64);
  a.call_at(start + 40, start + 50, "cudaFree", 0, 0xf000);
  b.call_at(start + 10, start + 60, "cudaMalloc", 0, 0xf000, 128);  // waits while `a` has it
  b.call_at(start + 70, start + 80, "cudaFree", 0, 0xf000);
  a.end();
  b.end();
  const Trace trace = finish();
  EXPECT_THAT(trace.allocation.bytes, ElementsAre(64, 128));
  for (trace::Id id = 0; id < trace.allocation.size(); ++id)
    EXPECT_GE(trace.allocation.freed_ns[id], trace.allocation.allocated_ns[id]) << id;
  EXPECT_FALSE(losses(trace).contains("damaged-values"));
}

TEST_F(DrainTest, MemoryThatAnotherThreadFreesIsOneAllocation) {
  options_.run.with = ring::kWithAlloc;
  FakeThread &a = thread(0), &b = thread(1);
  b.call("cudaMalloc", 0, 0xf000, 64);
  a.call("cudaFree", 0, 0xf000);  // whose ring is read first
  a.end();
  b.end();
  const Trace trace = finish();
  ASSERT_THAT(trace.allocation.bytes, ElementsAre(64));
  EXPECT_GE(trace.allocation.freed_ns[0], trace.allocation.allocated_ns[0]);
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

// CUPTI puts the executable graph where the report of a node has that node.
TEST_F(DrainTest, ALaunchThatIsReportedAsAWholeIsNoNode) {
  FakeThread& a = thread(0);
  a.context(1);
  const uint32_t launch = a.call("cudaGraphLaunch", 0xaa, 0x66);
  auto record = a.make<ring::OpRecord>(ring::RecordKind::kGraphLaunch);
  record.correlation_id = launch;
  record.context = 1;
  record.stream = 13;
  record.begin_ns = static_cast<int64_t>(a.now());
  record.end_ns = record.begin_ns + 10;
  record.shape = ring::kNone32;
  record.graph_node = uint64_t{2} << 32;
  a.ring.push(record);
  a.end();
  const Trace trace = finish();
  EXPECT_THAT(trace.op.kind, ElementsAre(trace::kGraphLaunch));
  EXPECT_THAT(trace.op.graph_node, ElementsAre(trace::kNoInt));
  EXPECT_THAT(trace.op.api_call_id, ElementsAre(0));
  EXPECT_NE(trace.stream.kind[trace.op.stream_id[0]], trace::kGraphStream);
}

TEST_F(DrainTest, MissesNoTimesOfAGraphWithoutTracedNodes) {
  constexpr int kKernelNode = 0, kEmptyNode = 5, kAllocationNode = 10, kFreeNode = 11;
  options_.run.with |= ring::kWithGraphNodes;
  FakeThread& a = thread(0);
  a.graph(1, 0x66, {kAllocationNode, kEmptyNode, kFreeNode});
  a.graph(2, 0x77, {kAllocationNode, kKernelNode});
  a.call("cudaGraphLaunch", 0xaa, 0x66);
  a.call("cudaGraphLaunch", 0xaa, 0x77);
  a.call("cudaGraphLaunch", 0xaa, 0x88);  // was created before recording began
  a.end();
  const Trace trace = finish();
  EXPECT_THAT(trace.op.kind, testing::Each(trace::kGraphLaunch));
  EXPECT_EQ(trace.op.size(), 3u);
  EXPECT_EQ(losses(trace)["times-not-delivered"], 2) << "of the second and the third";
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
  EXPECT_THAT(trace.op.call_number, ElementsAre(launch, host));
  EXPECT_THAT(trace.op.correlation_id, Each(trace::kNoInt));
  EXPECT_THAT(trace.api_call.call_number, Contains(launch));
  EXPECT_THAT(trace.api_call.correlation_id, Each(trace::kNoInt)) << "CUPTI saw no call";
  EXPECT_THAT(trace.event_wait.binding, ElementsAre(trace::kBindingExact));
  EXPECT_TRUE(losses(trace).empty());
}

TEST_F(DrainTest, StoresTheLivesOfTensors) {
  FakeThread& a = program_thread();
  FakeThread& b = thread(1);
  const auto block = [&](FakeThread& thread, uint64_t at, uint64_t bytes, bool taken_back) {
    auto record = thread.make<ring::TensorBlockRecord>(RecordKind::kTensorBlock);
    record.begin = at;
    record.address = 0x7000;
    record.bytes = bytes;
    record.taken_back = taken_back;
    thread.ring.push(record);
  };
  const uint64_t start = a.now();
  block(b, start + 2, 512, true);  // freed by another thread, whose ring is read at any time
  block(a, start + 1, 512, false);
  block(a, start + 3, 1024, false);
  const Trace trace = finish();
  const auto& rows = trace.allocation;
  EXPECT_THAT(rows.kind, ElementsAre(trace::kTensorAllocation, trace::kTensorAllocation));
  EXPECT_THAT(rows.bytes, ElementsAre(512, 1024));
  EXPECT_GE(rows.freed_ns[0], rows.allocated_ns[0]);
  EXPECT_EQ(rows.freed_ns[1], trace::kUnknownNs);
  EXPECT_THAT(rows.alloc_thread_id, Each(testing::Ne(kNoId)));
}

TEST_F(DrainTest, StoresWhichMemoryIsAccessed) {
  FakeThread& a = program_thread();
  const uint32_t call = a.call("cudaMemcpy2DAsync", 0, 1, 20);
  auto copy = a.make<ring::AccessRecord>(RecordKind::kAccess);
  copy.source = static_cast<uint8_t>(AccessSource::kArgument);
  copy.writes = 2;
  copy.call_number = call;
  copy.begin = a.now();
  copy.ranges[0] = {0x1000, 10};
  copy.ranges[1] = {uint64_t{0xff} << 56, 10};
  copy.pitch[0] = 64;
  copy.pitch[1] = 10;
  copy.rows = 2;
  copy.operation = ring::kNone32;
  a.ring.push(copy);
  auto host = copy;
  host.source = static_cast<uint8_t>(AccessSource::kHost);
  host.writes = 1;
  host.call_number = ring::kNone32;
  host.ranges[1] = {};
  host.rows = 1;
  a.ring.push(host);
  // A launch that updated some words, one that touched nothing, and one of which not all is known.
  for (const auto& [bytes, rows] : {std::pair{4u, 3u}, std::pair{0u, 0u}, std::pair{0u, 1u}}) {
    auto seen = copy;
    seen.source = static_cast<uint8_t>(AccessSource::kObserved);
    seen.writes = ring::kWritten | ring::kWrittenAtomically;
    seen.ranges[0] = {0x2000, bytes};
    seen.ranges[1] = {};
    seen.rows = rows;
    a.ring.push(seen);
  }
  auto arguments = a.make<ring::KernelArgumentsRecord>(RecordKind::kKernelArguments);
  arguments.call_number = call;
  arguments.count = 2;
  arguments.values[0] = 0x7000;
  arguments.values[1] = 0x8000;
  arguments.parameters[1] = 3;
  a.ring.push(arguments);
  const trace::AccessColumns access = finish().access;
  using I = std::vector<trace::Int>;
  EXPECT_EQ(access.source, (std::vector<trace::Small>{0, 0, 2, 4, 4, 4, 3, 3}));
  constexpr trace::Small kNone = trace::kNoSmall;
  constexpr trace::Int kNull = trace::kNoInt;
  EXPECT_EQ(access.writes, (std::vector<trace::Small>{0, 1, 1, 2, kNone, kNone, kNone, kNone}));
  EXPECT_EQ(access.address,
            (I{0x1000, -(trace::Int{1} << 56), 0x1000, 0x2000, kNull, kNull, 0x7000, 0x8000}));
  EXPECT_EQ(access.bytes, (I{10, 10, 10, 4, 0, kNull, kNull, kNull}));
  EXPECT_EQ(access.pitch_bytes, (I{64, 10, kNull, 64, kNull, kNull, kNull, kNull}));
  EXPECT_EQ(access.rows, (I{2, 2, kNull, 3, kNull, kNull, kNull, kNull}));
  EXPECT_EQ(access.call_number, (I{call, call, kNull, call, call, call, call, call}));
  EXPECT_EQ(access.parameter,
            (std::vector<trace::Small>{kNone, kNone, kNone, kNone, kNone, kNone, 0, 3}));
  EXPECT_EQ(access.start_ns[2], ns(copy.begin));
  EXPECT_EQ(access.thread_id[7], 0u);
  EXPECT_EQ(access.operation_id[0], kNoId);
}

// A program that only launches makes calls whose numbers have no gaps.
TEST_F(DrainTest, ReadsLaunchesThatRunFarAheadOfTheirReportsInLinearTime) {
  const auto seconds_of = [&](uint32_t launches) {
    FakeThread a(rings_, next_ring_++, launches + 64),
        activities(rings_, next_ring_++, 2 * launches + 64);  // each with its name
    a.thread(100);
    activities.thread(101);
    a.context(1);
    const auto at = static_cast<int64_t>(a.now());
    const uint32_t first = FakeThread::correlation + 1;
    for (uint32_t i = 0; i < launches; ++i) a.call("cudaLaunchKernel", 0xaa, 0);
    for (uint32_t i = 0; i < launches; ++i)
      activities.kernel(first + i, 13, at + 10 * i, at + 10 * i + 5);
    settle();
    timespec begin, end;
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    while (drain().cycle() > 0) {
    }
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
    return static_cast<double>(end.tv_sec - begin.tv_sec) +
           static_cast<double>(end.tv_nsec - begin.tv_nsec) * 1e-9;
  };
  seconds_of(1'000);
  const double few = seconds_of(8'000);
  EXPECT_LT(seconds_of(64'000), 24 * few);
  const Trace trace = finish();
  EXPECT_EQ(trace.op.size(), 73'000u);
  EXPECT_EQ(losses(trace)["times-not-delivered"], 0);
}

TEST_F(DrainTest, StoresReportsWithoutCallsAfterAWhile) {
  FakeThread& a = thread(0);
  FakeThread& activities = thread(1);
  a.context(1);
  const auto at = static_cast<int64_t>(a.now());
  for (uint32_t i = 0; i < 3; ++i) activities.kernel(100 + i, 13, at + 10 * i, at + 10 * i + 5);
  activities.kernel(101, 13, at + 40, at + 45);  // a second piece
  settle();
  drain().cycle();
  FakeThread::correlation = 100;
  EXPECT_EQ(a.call("cudaLaunchKernel", 0xaa, 0), 101u);
  a.end();
  const Trace trace = finish();
  EXPECT_EQ(trace.op.size(), 4u);
  EXPECT_EQ(std::count(trace.op.api_call_id.begin(), trace.op.api_call_id.end(), 0u), 2);
  EXPECT_EQ(std::count(trace.op.api_call_id.begin(), trace.op.api_call_id.end(), kNoId), 2);
}

// As if somebody had overwritten the ring.
TEST_F(DrainTest, CountsImpossibleValuesAsALoss) {
  FakeThread& a = program_thread();
  a.context(1);
  a.stream(0x10, 13);
  const uint32_t launch = a.call("cudaLaunchKernel", 0x10, 0);
  a.kernel(launch, 13, int64_t{1} << 62, (int64_t{1} << 62) + 5);
  const uint32_t next = a.call("cudaLaunchKernel", 0x10, 0);
  a.kernel(next, 13, static_cast<int64_t>(a.now()) + 500, static_cast<int64_t>(a.now()));
  auto access = a.make<ring::AccessRecord>(RecordKind::kAccess);
  access.source = 0;
  access.writes = 1;
  access.call_number = launch;
  access.begin = a.now();
  access.operation = ring::kNone32;
  access.ranges[0] = {~uint64_t{0}, 64};
  access.ranges[1] = {0x1000, uint64_t{1} << 60};
  a.ring.push(access);
  a.end();
  const Trace trace = finish();
  EXPECT_EQ(trace.op.start_ns, (std::vector<trace::Ns>{trace::kUnknownNs, trace::kUnknownNs}));
  EXPECT_EQ(trace.op.end_ns, (std::vector<trace::Ns>{trace::kUnknownNs, trace::kUnknownNs}));
  EXPECT_EQ(trace.access.bytes, (std::vector<trace::Int>{trace::kNoInt, trace::kNoInt}));
  EXPECT_EQ(losses(trace)["damaged-values"], 5);
}

}  // namespace
}  // namespace streamscope::record
