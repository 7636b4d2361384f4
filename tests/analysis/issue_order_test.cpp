// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/order/issue_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <tuple>

#include "memory_trace.h"

namespace streamscope::analysis {
namespace {

using testing::ElementsAre;
using Item = std::pair<Issued::Kind, Id>;

std::vector<Item> items_of(const Trace& trace) {
  const IssueOrder order(trace);
  std::vector<Item> result;
  for (const Issued item : order.items()) result.emplace_back(item.kind(), item.id());
  return result;
}

// By return, or by call of a synchronization, then by call number, then by start.
std::vector<Item> issues_by_comparing(const Trace& trace) {
  std::vector<std::tuple<Ns, trace::Int, Ns, Item>> keyed;
  for (Id op = 0; op < trace.op.size(); ++op) {
    const Id call = trace.op.api_call_id[op];
    keyed.emplace_back(trace.api_call.end_ns[call], trace.api_call.call_number[call],
                       trace.op.start_ns[op], Item{Issued::kOp, op});
  }
  for (Id row = 0; row < trace.event_record.size(); ++row) {
    keyed.emplace_back(trace.event_record.end_ns[row], trace.event_record.call_number[row], 0,
                       Item{Issued::kRecord, row});
  }
  for (Id row = 0; row < trace.event_wait.size(); ++row) {
    keyed.emplace_back(trace.event_wait.end_ns[row], trace.event_wait.call_number[row], 0,
                       Item{Issued::kWait, row});
  }
  for (Id row = 0; row < trace.host_sync.size(); ++row) {
    keyed.emplace_back(trace.host_sync.start_ns[row], trace.host_sync.call_number[row], 0,
                       Item{Issued::kSync, row});
  }
  std::sort(keyed.begin(), keyed.end());
  std::vector<Item> result;
  result.reserve(keyed.size());
  for (const auto& [at, call_number, start, item] : keyed) result.push_back(item);
  return result;
}

TEST(IssueOrder, MergesTheTablesByReturnWhateverTheOrderOfTheirRows) {
  std::mt19937 random(3);
  const auto at_random = [&] { return static_cast<Ns>(random() % 50); };  // many at one instant
  for (int program = 0; program < 200; ++program) {
    MemoryTrace t;
    const Id a = t.add_stream(), b = t.add_stream();
    const size_t calls = 1 + random() % 20;
    for (size_t i = 0; i < calls; ++i) t.call(0, at_random(), random() % 2 == 0 ? a : b);
    for (size_t i = 0; i < calls; ++i) {
      // Even programs: one op a call, in order of calls. Odd ones: several of some, and none of
      // others, as nodes of graphs are.
      const Id call = static_cast<Id>(program % 2 == 0 ? i : random() % calls);
      append(t.trace, trace::Op{.kind = trace::kKernel,
                                .stream_id = t.trace.api_call.stream_id[call],
                                .start_ns = at_random(),
                                .end_ns = 100,
                                .api_call_id = call});
    }
    for (size_t i = random() % 10; i > 0; --i) t.wait(at_random(), a, t.record(at_random(), b));
    for (size_t i = random() % 5; i > 0; --i) t.sync(trace::kDeviceSynchronize, at_random(), 60);
    EXPECT_EQ(items_of(t.trace), issues_by_comparing(t.trace)) << program;
  }
}

TEST(IssueOrder, PutsASynchronousCopyAtTheReturnOfItsCall) {
  MemoryTrace t;
  const Id a = t.add_stream();
  const Id late = t.op(30, a), early = t.op(10, a);
  const Id sync = t.sync(trace::kSynchronousCopy, 15, 20);
  const Id copy = append(
      t.trace, trace::Op{.kind = trace::kMemcpy, .stream_id = a, .call_number = t.call_number});
  EXPECT_THAT(items_of(t.trace), ElementsAre(Item{Issued::kOp, early}, Item{Issued::kOp, copy},
                                             Item{Issued::kOp, late}));
  const IssueOrder order(t.trace);
  EXPECT_EQ(order.copy_sync(copy), sync);
  EXPECT_EQ(order.copy_sync(late), kNoId);
  EXPECT_EQ(order.issue(copy).end_ns, 20);
}

}  // namespace
}  // namespace streamscope::analysis
