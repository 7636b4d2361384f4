// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// NCCL's calls, and the ranges of programs with simulated devices.
#include "collect/nvtx/nccl_call.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "observed.h"

namespace streamscope::collect {
namespace {

using ring::RecordKind;
using testing::ElementsAre;
using testing::SizeIs;

NcclCall call(std::string_view name, std::initializer_list<uint64_t> words) {
  return nccl_call(name, {0, words.size() * sizeof(uint64_t), words.begin()});
}

TEST(NcclCall, HasTheCommunicatorWhereNcclTellsIt) {
  const NcclCall now = call("ncclAllReduce", {0x1f, 4096, 2});
  EXPECT_TRUE(now.is_collective);
  EXPECT_EQ(now.communicator, 0x1fu);
  EXPECT_EQ(now.bytes, 4096u);
  EXPECT_EQ(now.peer, ring::kNone32);
  const NcclCall before = call("ncclAllReduce", {4096, 2});
  EXPECT_EQ(before.communicator, 0u);
  EXPECT_EQ(before.bytes, 4096u);
}

TEST(NcclCall, OfAllGatherAndAllToAllHasNoNumberBehindTheSize) {
  for (const char* name : {"ncclAllGather", "ncclAlltoAll"}) {
    EXPECT_EQ(call(name, {0x1f, 4096}).communicator, 0x1fu);
    EXPECT_EQ(call(name, {0x1f, 4096}).bytes, 4096u);
    EXPECT_EQ(call(name, {4096}).communicator, 0u);
    EXPECT_EQ(call(name, {4096}).bytes, 4096u);
  }
}

TEST(NcclCall, HasThePeerOfSendsAndReceives) {
  EXPECT_EQ(call("ncclSend", {0x1f, 64, 3}).peer, 3u);
  EXPECT_EQ(call("ncclRecv", {64, 5}).peer, 5u);
  EXPECT_EQ(call("ncclBroadcast", {0x1f, 64, 3}).peer, ring::kNone32);
}

TEST(NcclCall, WithoutPayloadIsStillACollective) {
  EXPECT_TRUE(nccl_call("ncclAllReduce", {}).is_collective);
  EXPECT_EQ(call("ncclAllReduce", {1}).bytes, 0u);
  EXPECT_FALSE(call("ncclGroupEnd", {1, 2, 3}).is_collective);
}

TEST(Nccl, CallsAreRecordedWithTheirCommunicatorAndSize) {
  Observed run;
  ASSERT_EQ(run.run_child("nccl"), 0) << run.error_text();
  const auto pushes = run.all<ring::RangeRecord>(RecordKind::kRangePush);
  ASSERT_THAT(pushes, SizeIs(4));
  EXPECT_EQ(run.text(pushes[0].name), "ncclAllReduce");
  for (const size_t i : {0, 1}) {
    EXPECT_EQ(pushes[i].flags, ring::kCollective);
    EXPECT_EQ(pushes[i].payload, 0x1fu);
  }
  EXPECT_EQ(pushes[0].bytes, 4096u);
  EXPECT_EQ(pushes[0].id, ring::kNone32);
  EXPECT_EQ(pushes[1].bytes, 64u);
  EXPECT_EQ(pushes[1].id, 3u);
  for (const size_t i : {2, 3}) {  // no collective, and another domain
    EXPECT_EQ(pushes[i].flags, 0);
    EXPECT_EQ(pushes[i].bytes, 0u);
    EXPECT_EQ(pushes[i].id, 0u);
  }
}

TEST(NcclCommunicator, IsReadFromThePayloadsOfTheFunctionsThatMakeOne) {
  struct Fields {
    uint64_t hash;
    int32_t rank_count, rank, device;
  };
  const auto read = [](uint64_t schema, Fields fields, size_t size = sizeof(Fields)) {
    return nccl_communicator({(1 << 24) + schema, size, &fields});
  };
  for (const uint64_t schema : {0, 11, 12}) {
    const auto found = read(schema, {0x1f, 8, 3, 0});
    ASSERT_TRUE(found.has_value()) << schema;
    EXPECT_EQ(found->hash, 0x1fu);
    EXPECT_EQ(found->rank_count, 8u);
    EXPECT_EQ(found->rank, 3u);
  }
  const auto all = read(1, {0x1f, 8, 0, 0});  // one process with 8 devices
  ASSERT_TRUE(all.has_value());
  EXPECT_EQ(all->rank_count, 8u);
  EXPECT_EQ(all->rank, ring::kNone32);
  EXPECT_FALSE(read(2, {0x1f, 8, 3, 0}));   // destroys one
  EXPECT_FALSE(read(13, {0x1f, 8, 3, 0}));  // a split: of the parent
  EXPECT_FALSE(read(0, {0x1f, 0, 0, 0}));
  EXPECT_FALSE(read(0, {0, 8, 3, 0}));
  EXPECT_FALSE(read(0, {0x1f, 8, 3, 0}, 8));
  EXPECT_FALSE(nccl_communicator({1 << 24, 64, nullptr}));
  EXPECT_EQ(read(0, {0x1f, 8, 8, 0})->rank, ring::kNone32);
}

TEST(Nvtx, RangesThatBeginOrEndWithAPayloadAreRecordedAsOthers) {
  Observed run;
  ASSERT_EQ(run.run_child("nvtx-payloads"), 0) << run.error_text();
  std::vector<std::string> names;
  for (const auto& push : run.all<ring::RangeRecord>(RecordKind::kRangePush))
    names.push_back(run.text(push.name));
  EXPECT_THAT(names,
              ElementsAre("ncclCommInitRankConfig", "ncclCommSplit", "of another library", ""));
  EXPECT_THAT(run.all<ring::RangeRecord>(RecordKind::kRangePop), SizeIs(4));
  EXPECT_THAT(run.all<ring::RangeRecord>(RecordKind::kMark), SizeIs(1));
  EXPECT_THAT(run.all<ring::RangeRecord>(RecordKind::kRangeStart), SizeIs(1));
  EXPECT_THAT(run.all<ring::RangeRecord>(RecordKind::kRangeEnd), SizeIs(1));
  const auto joined = run.all<ring::CommunicatorRecord>(RecordKind::kCommunicator);
  ASSERT_THAT(joined, SizeIs(1));
  EXPECT_EQ(joined[0].communicator, 0x1fu);
  EXPECT_EQ(joined[0].rank_count, 8u);
  EXPECT_EQ(joined[0].rank, 3u);
}

TEST(Nvtx, RangesOfASimulatedProgramAreOnTheClockOfItsCalls) {
  Observed run;
  ASSERT_EQ(run.run_child("simulated-range"), 0) << run.error_text();
  std::vector<uint64_t> times;
  for (const RecordKind kind : {RecordKind::kRangePush, RecordKind::kRangePop}) {
    for (const auto& record : run.all<ring::RangeRecord>(kind)) {
      EXPECT_EQ(record.flags, ring::kVirtualTime);
      times.push_back(record.begin);
    }
  }
  EXPECT_THAT(times, ElementsAre(0, 9, 109, 109, 109, 109));
}

}  // namespace
}  // namespace streamscope::collect
