// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Decoding of single activity records, without a library behind it.
#include "collect/cupti/decode.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

namespace streamscope::collect {
namespace {

struct Collected final : DecodeSink {
  ring::TextHash text(std::string_view text) override {
    texts.emplace_back(text);
    return ring::hash_text(text);
  }
  void op(const ring::OpRecord& record) override { ops.push_back(record); }
  void shape(const ring::LaunchShapeRecord& record) override { shapes.push_back(record); }
  void witness(const ring::SyncWitnessRecord& record) override { witnesses.push_back(record); }
  void overhead(const ring::OverheadRecord& record) override { overheads.push_back(record); }
  void correlation(ring::CorrelationRecord record, uint32_t callback_id) override {
    correlations.emplace_back(record, callback_id);
  }
  void unknown(uint32_t kind) override { unknowns.push_back(kind); }
  std::vector<std::string> texts;
  std::vector<ring::OpRecord> ops;
  std::vector<ring::LaunchShapeRecord> shapes;
  std::vector<ring::SyncWitnessRecord> witnesses;
  std::vector<ring::OverheadRecord> overheads;
  std::vector<std::pair<ring::CorrelationRecord, uint32_t>> correlations;
  std::vector<uint32_t> unknowns;
};

TEST(Decode, ReadsNothingPastTheLayoutOfAnOlderVersion) {
  // The 12.4 layout of a synchronization record ends after 40 bytes; a guarded page would be hit
  // otherwise.
  SynchronizationActivity activity{};
  activity.kind = kActivitySynchronization;
  activity.type = 2;
  activity.sync_id = 0xdeadbeef;  // not part of that version
  Collected sink;
  decode(&activity, kCupti12_4, sink);
  EXPECT_TRUE(sink.witnesses.empty());
  decode(&activity, kCupti12_8, sink);
  ASSERT_EQ(sink.witnesses.size(), 1u);
  EXPECT_EQ(sink.witnesses[0].sync_id, 0xdeadbeefu);
}

TEST(Decode, DistinguishesWaitsFromSynchronizationsAndOmitsStreamSyncs) {
  SynchronizationActivity activity{};
  activity.kind = kActivitySynchronization;
  Collected sink;
  for (uint32_t type : {1u, 2u, 3u, 4u}) {
    activity.type = type;
    decode(&activity, kCupti13_0, sink);
  }
  ASSERT_EQ(sink.witnesses.size(), 2u);
  EXPECT_EQ(sink.witnesses[0].act, 3);
  EXPECT_EQ(sink.witnesses[1].act, 1);
}

TEST(Decode, ATimeThatIsMissingOnOneSideMakesTheOperationUnfinished) {
  KernelActivity activity{};
  activity.kind = kActivityConcurrentKernel;
  Collected sink;
  for (auto [start, end] : {std::pair{0, 0}, std::pair{5, 0}, std::pair{0, 5}, std::pair{5, 6}}) {
    activity.start = static_cast<uint64_t>(start);
    activity.end = static_cast<uint64_t>(end);
    decode(&activity, kCupti13_0, sink);
  }
  ASSERT_EQ(sink.ops.size(), 4u);
  for (int i = 0; i < 3; ++i) {
    EXPECT_NE(sink.ops[i].flags & ring::kUnfinished, 0);
    EXPECT_EQ(sink.ops[i].begin_ns, 0);
  }
  EXPECT_EQ(sink.ops[3].flags, 0);
}

TEST(Decode, ReadsWhoMadeACallOfTheDriver) {
  CallActivity activity{};
  activity.kind = kActivityDriver;
  activity.callback_id = 307;
  activity.start = 1000;
  activity.end = 3000;
  activity.thread = 42;
  activity.correlation_id = 7;
  Collected sink;
  decode(&activity, kCupti13_0, sink);
  ASSERT_EQ(sink.correlations.size(), 1u);
  const auto& [record, callback_id] = sink.correlations[0];
  EXPECT_EQ(callback_id, 307u);
  EXPECT_EQ(record.correlation_id, 7u);
  EXPECT_EQ(record.tid, 42u);
  EXPECT_EQ(record.begin_ns, 1000);
  EXPECT_EQ(record.end_ns, 3000);
}

TEST(Decode, GivesEqualShapesEqualNumbers) {
  KernelActivity activity{};
  activity.kind = kActivityConcurrentKernel;
  Collected sink;
  for (int grid : {1, 2, 1}) {
    activity.grid[0] = grid;
    decode(&activity, kCupti13_0, sink);
  }
  EXPECT_EQ(sink.shapes[0].shape, sink.shapes[2].shape);
  EXPECT_NE(sink.shapes[0].shape, sink.shapes[1].shape);
}

TEST(Decode, OmitsTheGraphNodeAndAnUnusualChannel) {
  MemcpyActivity activity{};
  activity.kind = kActivityMemcpy;
  activity.graph_node = uint64_t{6} << 32 | 2;
  activity.channel = 0xffffffff;
  Collected sink;
  decode(&activity, kCupti13_0, sink);
  EXPECT_EQ(sink.ops.at(0).graph_node, uint64_t{6} << 32 | 2);
  EXPECT_EQ(sink.ops.at(0).channel, 0xffff);
}

TEST(Decode, CountsWhatItDoesNotKnow) {
  uint32_t kind = 4711;
  Collected sink;
  decode(&kind, kCupti13_0, sink);
  EXPECT_EQ(sink.unknowns, std::vector<uint32_t>{4711});
}

}  // namespace
}  // namespace streamscope::collect
