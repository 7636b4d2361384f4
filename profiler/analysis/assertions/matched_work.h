// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The ops that match two patterns, by iteration and stream, and how two such groups are ordered.
//
// Ops of one stream are a line: if an op comes before another one, so do all ops before it in its
// stream, and it also comes before all ops after the other one. So for each op `b` of one stream,
// the ops of another stream are in three parts: those before b, those not ordered with b, those
// after b. Both borders only move forward from one b to the next. Comparing two streams therefore
// takes as many steps as they have ops, instead of one for each pair: a whole trace takes
// O((ops of both patterns) * (streams with such ops)) comparisons, each of which is O(1) within the
// clock budget of HappensBefore.
//
// Nodes of one launch of a graph share a position of their stream and are ordered by the edges of
// the graph; every graph is compared once.
#pragma once

#include <array>
#include <compare>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "analysis/analyses.h"
#include "analysis/order/graph_nodes.h"
#include "judged_iterations.h"

namespace streamscope::analysis {

/// One matching op. Sorted by the first four members: lanes of a scope, each in stream order.
struct MatchedOp {
  uint32_t scope = 0;   ///< iteration, or process if there are no iterations
  uint32_t device = 0;  ///< kNoId: unknown
  uint32_t lane = 0;    ///< stream, and which copy engine it uses, if any
  int32_t position = 0;
  Id op = kNoId;

  auto operator<=>(const MatchedOp&) const = default;
};

/// Part of a lane's ops, in stream order.
using Lane = std::span<const MatchedOp>;

/// The ops of both patterns in one scope.
struct Scope {
  uint32_t id = 0;
  std::span<const MatchedOp> first, second;
};

/// Immutable; keeps a reference to the analyses and the iterations.
class MatchedWork {
 public:
  MatchedWork(Analyses& analyses, const JudgedIterations& iterations, const std::string& first,
              const std::string& second);

  /// Why order cannot be compared; "" if it can.
  const std::string& why_not() const { return why_not_; }
  /// Scopes with ops of both patterns, ascending.
  const std::vector<Scope>& scopes() const { return scopes_; }
  /// For each scope that has a next one: the first pattern here and the second one there, and the
  /// other way round. Without those in which a pattern is missing in both.
  std::vector<std::array<Scope, 2>> neighbors() const;

 private:
  std::string why_not_;
  std::vector<MatchedOp> first_, second_;
  std::vector<Scope> scopes_;
};

/// The lanes of ops of one scope.
std::vector<Lane> lanes_of(std::span<const MatchedOp> ops);
/// The parts of a scope on one device each, for devices with ops of both patterns.
std::vector<Scope> devices_of(const Scope& scope);

/// True if both lanes are copies of one direction on one device, which share an engine.
bool share_copy_engine(const Lane& a, const Lane& b);

/// A pair of ops; kNoId: none.
struct OpPair {
  Id first = kNoId;
  Id second = kNoId;

  bool found() const { return first != kNoId; }
};

/// How the matching nodes of one graph are ordered.
struct LaunchOrder {
  OpPair unordered;  ///< a pair of both patterns
  OpPair forward;    ///< first before second
  OpPair backward;   ///< second before first
};

/// Compares nodes of graphs, each graph once. For one thread at a time; keeps a reference.
class LaunchOrders {
 public:
  explicit LaunchOrders(const IssueOrder& order)
      : order_(order), trace_(order.trace()), nodes_(trace_) {}

  /// Ops of one launch each.
  LaunchOrder of(Lane first, Lane second);

 private:
  using Key = std::array<uint32_t, 3>;  // graph and both lanes
  std::vector<bool> reached(Id from, bool backward) const;

  const IssueOrder& order_;
  const Trace& trace_;
  GraphNodes nodes_;
  std::map<Key, LaunchOrder> known_;
};

/// Calls `visit(first, second)` for the ops of both lanes, on the same stream, that share a
/// position.
template <class Visit>
void each_shared_launch(Lane first, Lane second, Visit visit) {
  const auto end_of = [](Lane lane, size_t from) {
    size_t to = from;
    while (to < lane.size() && lane[to].position == lane[from].position) ++to;
    return to;
  };
  for (size_t a = 0, b = 0; a < first.size() && b < second.size();) {
    if (first[a].position < second[b].position) {
      ++a;
    } else if (second[b].position < first[a].position) {
      ++b;
    } else {
      const size_t a_end = end_of(first, a), b_end = end_of(second, b);
      visit(first.subspan(a, a_end - a), second.subspan(b, b_end - b));
      a = a_end;
      b = b_end;
    }
  }
}

/// "gemm on stream 7 comes before copy on stream 8: through a wait …". Ends without a stop.
std::string order_in_words(Analyses& analyses, Id from, Id to);
/// The call that puts one op after another: the last wait or synchronization on the path between
/// them that has a call site, else the call of `to`.
Location place_of_order(Analyses& analyses, Id from, Id to);
/// Where an op was issued, also by a synchronous copy.
Location place_of_work(Analyses& analyses, Id op);
/// The place as words to append: ", from train.py:41"; "" if unknown.
std::string from_where(const Location& place);

}  // namespace streamscope::analysis
