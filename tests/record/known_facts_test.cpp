// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "record/drain/known_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

namespace streamscope::record {
namespace {

TEST(KnownFactsTest, KeepsTheNewestOfEachWithinItsLimit) {
  KnownFacts facts;
  for (uint64_t i = 0; i < 100'000; ++i) {
    ring::Record record{};
    auto& text = reinterpret_cast<ring::TextRecord&>(record);
    text.kind = ring::RecordKind::kText;
    text.hash = i + 1;
    facts.add({&record, 1});
  }
  EXPECT_EQ(facts.size(), size_t{1} << 16);
  const auto all = facts.all();
  EXPECT_EQ(reinterpret_cast<const ring::TextRecord&>(all.back()).hash, 100'000u);
}

TEST(KnownFactsTest, ForgetsStreamsThatEnded) {
  KnownFacts facts;
  for (const uint8_t destroyed : {0, 1}) {
    ring::Record record{};
    auto& stream = reinterpret_cast<ring::StreamRecord&>(record);
    stream.kind = ring::RecordKind::kStream;
    stream.handle = 0xa;
    stream.destroyed = destroyed;
    facts.add({&record, 1});
    EXPECT_EQ(facts.size(), destroyed == 0 ? 1u : 0u);
  }
}

// The records of a text of this many bytes.
std::vector<ring::Record> text_of(size_t bytes, ring::TextHash hash) {
  std::vector<ring::Record> records;
  for (size_t at = 0; at < bytes; at += sizeof ring::TextRecord::bytes) {
    auto& text = reinterpret_cast<ring::TextRecord&>(records.emplace_back());
    text.kind = ring::RecordKind::kText;
    text.hash = hash;
    text.total_bytes = static_cast<uint32_t>(bytes);
    text.offset = static_cast<uint32_t>(at);
  }
  return records;
}

TEST(KnownFactsTest, TakesATextOnceAllOfItHasArrived) {
  KnownFacts facts;
  const auto text = text_of(100, 7);
  ASSERT_EQ(text.size(), 3u);
  EXPECT_EQ(facts.add(std::span(text).first(2)), 0u);
  EXPECT_EQ(facts.size(), 0u);
  EXPECT_EQ(facts.add(text), 3u);
  EXPECT_EQ(facts.size(), 3u);
}

TEST(KnownFactsTest, PassesOverATextWhoseRestIsLost) {
  KnownFacts facts;
  auto records = text_of(100, 7);
  records.pop_back();
  const auto next = text_of(40, 8);
  records.insert(records.end(), next.begin(), next.end());
  EXPECT_EQ(facts.add(records), records.size());
  EXPECT_EQ(facts.size(), 1u);
}

TEST(KnownFactsTest, ForgetsAGraphWithItsNodesAndEdges) {
  KnownFacts facts;
  const auto add = [&]<class T>(ring::RecordKind kind, T record) {
    record.kind = kind;
    ring::Record raw;
    std::memcpy(&raw, &record, sizeof raw);
    facts.add({&raw, 1});
  };
  for (const uint32_t graph : {1, 2}) {
    for (const uint64_t node : {10, 11}) {
      ring::GraphNodeRecord record{};
      record.graph = graph;
      record.node = node;
      add(ring::RecordKind::kGraphNode, record);
    }
    ring::GraphEdgeRecord edge{};
    edge.graph = graph;
    edge.from_node = 10;
    edge.to_node = 11;
    add(ring::RecordKind::kGraphEdge, edge);
    ring::GraphRecord record{};
    record.graph = graph;
    add(ring::RecordKind::kGraph, record);
  }
  EXPECT_EQ(facts.size(), 8u);
  ring::GraphRecord end{};
  end.graph = 1;
  end.destroyed = 1;
  add(ring::RecordKind::kGraph, end);
  EXPECT_EQ(facts.size(), 4u);
  for (const ring::Record& left : facts.all()) EXPECT_EQ(as<ring::GraphNodeRecord>(left).graph, 2u);
}

}  // namespace
}  // namespace streamscope::record
