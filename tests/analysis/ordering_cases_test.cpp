// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Tests every analysis that follows CUDA's ordering rules on the same table of cases.

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analysis/delay/replay.h"
#include "analysis/hang/wait_for.h"
#include "analysis/order/edges.h"
#include "analysis/order/happens_before.h"
#include "ordering_cases.h"

namespace streamscope::analysis {
namespace {

// ---- What an analysis reports.

using NamePair = std::pair<char, char>;
using NamePairs = std::set<NamePair>;

std::string to_string(const NamePairs& pairs) {
  std::string text;
  for (const auto& [from, to] : pairs) text += std::string() + from + '<' + to + ' ';
  return text;
}
NamePairs parse(std::string_view text) {
  NamePairs pairs;
  for (size_t i = 0; i + 2 < text.size(); i += 4) pairs.emplace(text[i], text[i + 2]);
  return pairs;
}
// With all pairs that follow.
NamePairs closed(NamePairs pairs) {
  for (size_t size = 0; size != pairs.size();) {
    size = pairs.size();
    const NamePairs before = pairs;
    for (const auto& [a, b] : before) {
      for (const auto& [c, d] : before) {
        if (b == c) pairs.emplace(a, d);
      }
    }
  }
  return pairs;
}
template <class Ordered>
NamePairs asked(const OrderingProgram& program, Ordered ordered) {
  NamePairs pairs;
  for (const auto& [from_name, from] : program.ops()) {
    for (const auto& [to_name, to] : program.ops()) {
      if (from != to && ordered(from, to)) pairs.emplace(from_name, to_name);
    }
  }
  return pairs;
}

NamePairs by_happens_before(const OrderingProgram& program, size_t clock_budget_bytes) {
  const Trace trace = program.trace();
  const HappensBefore before(IssueOrder(trace), {.clock_budget_bytes = clock_budget_bytes});
  return asked(program, [&](trace::Id from, trace::Id to) { return before.ordered(from, to); });
}

// Edges, and the order of streams, which they leave out.
NamePairs by_edges(const OrderingProgram& program) {
  const Trace trace = program.trace();
  const IssueOrder order(trace);
  const Edges edges(order);
  std::vector<size_t> place(trace.op.size());
  for (size_t i = 0; i < order.items().size(); ++i) {
    if (order.items()[i].kind() == Issued::kOp) place[order.items()[i].id()] = i;
  }
  return closed(asked(program, [&](trace::Id from, trace::Id to) {
    if (trace.op.stream_id[from] == trace.op.stream_id[to] &&
        trace.op.api_call_id[from] != trace.op.api_call_id[to]) {
      return place[from] < place[to];
    }
    for (const trace::Edge& edge : edges.incoming(to)) {
      if (edge.from_op_id == from) return true;
    }
    return false;
  }));
}

// What starts later if an op takes longer.
NamePairs by_replay(const OrderingProgram& program) {
  constexpr Ns kLonger = 1'000'000'000;
  const Trace trace = program.trace();
  const IssueOrder order(trace);
  const Replay replay(order);
  for (trace::Id op = 0; op < trace.op.size(); ++op)
    EXPECT_EQ(replay.predict({})[op].start_ns, trace.op.start_ns[op]) << "without a change";
  return asked(program, [&](trace::Id from, trace::Id to) {
    Change change;
    change.length_ns[from] = kLonger;
    const Ns start_ns = replay.predict(change)[to].start_ns;
    EXPECT_TRUE(start_ns == trace.op.start_ns[to] || start_ns > kLonger);
    return start_ns > kLonger;
  });
}

// What an op still waits for if only what the host knows has ended, which is left out.
NamePairs by_wait_for(const OrderingProgram& program, NamePairs& expected) {
  Trace trace = program.trace();
  std::fill(trace.op.start_ns.begin(), trace.op.start_ns.end(), kUnknownNs);
  std::fill(trace.op.end_ns.begin(), trace.op.end_ns.end(), kUnknownNs);
  trace.process.end_ns[0] = 100'000'000'000;
  trace.process.complete[0] = 0;
  // A thread that never returns, so that the graph is built.
  const auto now = static_cast<Ns>(50'000'000'000);
  test::TraceBuilder blocked;
  blocked.columns() = trace;
  blocked.add(trace::HostSync{.thread_id = blocked.add(trace::Thread{.process_id = 0}),
                              .kind = trace::kDeviceSynchronize,
                              .context_id = 0,
                              .start_ns = now});
  trace = blocked.trace();
  const IssueOrder order(trace);
  const HappensBefore before(order);
  const WaitFor graph(order, before);
  std::map<trace::Id, WaitFor::Index> node_of;
  for (WaitFor::Index node = 0; node < graph.size(); ++node) {
    if (graph.node(node).kind == WaitFor::Kind::kOp) node_of[graph.node(node).id] = node;
  }
  for (const auto& [name, op] : program.ops()) {
    const bool known = before.known_to_thread(op, 0, now) || before.known_to_thread(op, 1, now);
    EXPECT_EQ(node_of.contains(op), !known) << name;
    if (known)
      std::erase_if(expected,
                    [&](const NamePair& p) { return p.first == name || p.second == name; });
  }
  return asked(program, [&](trace::Id from, trace::Id to) {
    if (!node_of.contains(from) || !node_of.contains(to)) return false;
    std::vector<WaitFor::Index> next{node_of[to]};
    std::set<WaitFor::Index> seen;
    while (!next.empty()) {
      const WaitFor::Index node = next.back();
      next.pop_back();
      if (!seen.insert(node).second) continue;
      for (const WaitFor::Link& link : graph.links(node)) next.push_back(link.to);
    }
    return seen.contains(node_of[from]);
  });
}

NamePairs expected_of(const OrderingCase& one, Analysis analysis) {
  NamePairs expected = closed(parse(one.ordered));
  for (const OrderingDifference& difference : one.differences) {
    if (difference.analysis != analysis) continue;
    for (const NamePair& pair : parse(difference.missing)) EXPECT_EQ(expected.erase(pair), 1u);
    for (const NamePair& pair : parse(difference.extra)) EXPECT_TRUE(expected.insert(pair).second);
  }
  return expected;
}

TEST(OrderingCases, HappensBeforeFollowsTheRules) {
  for (const OrderingCase& one : kOrderingCases) {
    OrderingProgram program;
    one.build(program);
    const NamePairs expected = closed(parse(one.ordered));
    EXPECT_EQ(to_string(by_happens_before(program, 1 << 20)), to_string(expected)) << one.name;
    EXPECT_EQ(to_string(by_happens_before(program, 0)), to_string(expected)) << one.name;
  }
}

TEST(OrderingCases, EdgesFollowTheRules) {
  for (const OrderingCase& one : kOrderingCases) {
    OrderingProgram program;
    one.build(program);
    EXPECT_EQ(to_string(by_edges(program)), to_string(expected_of(one, Analysis::kEdges)))
        << one.name;
  }
}

TEST(OrderingCases, ReplayFollowsTheRules) {
  for (const OrderingCase& one : kOrderingCases) {
    SCOPED_TRACE(one.name);
    OrderingProgram program;
    one.build(program);
    EXPECT_EQ(to_string(by_replay(program)), to_string(expected_of(one, Analysis::kReplay)));
  }
}

TEST(OrderingCases, TheWaitForGraphFollowsTheRules) {
  for (const OrderingCase& one : kOrderingCases) {
    SCOPED_TRACE(one.name);
    OrderingProgram program;
    one.build(program);
    NamePairs expected = expected_of(one, Analysis::kWaitFor);
    const NamePairs found = by_wait_for(program, expected);
    EXPECT_EQ(to_string(found), to_string(expected));
  }
}

}  // namespace
}  // namespace streamscope::analysis
