// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "matched_work.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "analysis/detectors/steps.h"
#include "analysis/labels.h"
#include "analysis/units.h"
#include "assertion.h"
#include "vocabulary/copy_kind.h"

namespace streamscope::analysis {
namespace {

constexpr uint32_t kEngines = 3;  // none, to the device, from the device

uint32_t engine_of(const Trace& trace, Id op) {
  if (trace.op.kind[op] != trace::kMemcpy) return 0;
  const trace::Small direction = trace.op.detail[op];
  return direction == CopyKind::kHostToDevice ? 1 : direction == CopyKind::kDeviceToHost ? 2 : 0;
}

// Which ops match a pattern: every name is compared once.
class Matcher {
 public:
  Matcher(const Trace& trace, const std::string& pattern) : trace_(trace), pattern_(pattern) {}

  bool operator()(Id op) {
    const trace::Small kind = trace_.op.kind[op], detail = trace_.op.detail[op];
    // Pages of managed memory move without a call.
    const bool is_copy = kind == trace::kMemcpy && !is_migration(detail);
    if (!is_copy && kind != trace::kKernel && kind != trace::kMemset && kind != trace::kGraphLaunch)
      return false;
    const uint64_t key = static_cast<uint64_t>(trace_.op.name_id[op]) << 32 |
                         static_cast<uint64_t>(static_cast<uint32_t>(kind) & 0xFF) << 24 |
                         (static_cast<uint32_t>(detail) & 0xFFFFFF);
    const auto [known, is_new] = known_.try_emplace(key, false);
    if (is_new) known->second = matches(pattern_, op_label(trace_, op));
    return known->second;
  }

 private:
  const Trace& trace_;
  const std::string& pattern_;
  std::unordered_map<uint64_t, bool> known_;
};

std::string no_match(const std::string& pattern) {
  return fmt::format(
      "no kernel or copy matches \"{}\"; streamscope report --by kernel lists their names",
      printable(pattern));
}

}  // namespace

MatchedWork::MatchedWork(Analyses& analyses, const JudgedIterations& iterations,
                         const std::string& first, const std::string& second) {
  const Trace& trace = analyses.trace();
  const IssueOrder& order = analyses.order();
  const HappensBefore& before = analyses.before();
  Matcher matches_first(trace, first), matches_second(trace, second);
  size_t unplaced = 0;
  bool any_first = false, any_second = false;
  for (Id op = 0; op < trace.op.size(); ++op) {
    const bool is_first = matches_first(op), is_second = matches_second(op);
    if (!is_first && !is_second) continue;
    any_first |= is_first;
    any_second |= is_second;
    const Point point = before.point_of_op(op);
    if (!point.placed()) {
      ++unplaced;
      continue;
    }
    const Id stream = order.stream(op), process = trace.process_of_stream(stream);
    MatchedOp matched{.scope = process,
                      .device = trace.device_of_stream(stream),
                      .lane = point.chain * kEngines + engine_of(trace, op),
                      .position = point.position,
                      .op = op};
    if (iterations.found()) {
      const auto iteration = iterations.at(order.issue(op).start_ns);
      if (process != iterations.process() || !iteration) continue;
      matched.scope = static_cast<uint32_t>(*iteration);
    }
    if (is_first) first_.push_back(matched);
    if (is_second) second_.push_back(matched);
  }
  std::ranges::sort(first_);
  std::ranges::sort(second_);
  for (size_t a = 0, b = 0; a < first_.size() && b < second_.size();) {
    const auto end_of = [](const std::vector<MatchedOp>& ops, size_t from) {
      size_t to = from;
      while (to < ops.size() && ops[to].scope == ops[from].scope) ++to;
      return to;
    };
    const size_t a_end = end_of(first_, a), b_end = end_of(second_, b);
    const uint32_t scope_a = first_[a].scope, scope_b = second_[b].scope;
    if (scope_a == scope_b) {
      scopes_.push_back({scope_a, std::span(first_).subspan(a, a_end - a),
                         std::span(second_).subspan(b, b_end - b)});
    }
    if (scope_a <= scope_b) a = a_end;
    if (scope_b <= scope_a) b = b_end;
  }
  if (!any_first || !any_second) {
    why_not_ = no_match(any_first ? second : first);
  } else if (unplaced > 0) {
    why_not_ = fmt::format("the calls of {} that match are not in the trace",
                           format_count(unplaced, "op"));
  }
}

std::vector<std::array<Scope, 2>> MatchedWork::neighbors() const {
  const auto of_scope = [](const std::vector<MatchedOp>& ops, uint32_t scope) {
    return Lane(std::ranges::lower_bound(ops, scope, {}, &MatchedOp::scope),
                std::ranges::upper_bound(ops, scope, {}, &MatchedOp::scope));
  };
  std::vector<std::array<Scope, 2>> result;
  for (auto at = first_.begin(); at != first_.end();) {
    const uint32_t scope = at->scope;
    const auto add = [&](uint32_t here) {
      const std::array<Scope, 2> both = {
          Scope{here, of_scope(first_, here), of_scope(second_, here + 1)},
          Scope{here, of_scope(first_, here + 1), of_scope(second_, here)}};
      const bool any = std::ranges::any_of(
          both, [](const Scope& each) { return !each.first.empty() && !each.second.empty(); });
      if (any && (result.empty() || result.back()[0].id < here)) result.push_back(both);
    };
    if (scope > 0) add(scope - 1);
    add(scope);
    at = std::ranges::upper_bound(at, first_.end(), scope, {}, &MatchedOp::scope);
  }
  return result;
}

std::vector<Lane> lanes_of(std::span<const MatchedOp> ops) {
  std::vector<Lane> lanes;
  for (size_t from = 0, to = 0; from < ops.size(); from = to) {
    while (to < ops.size() && ops[to].device == ops[from].device && ops[to].lane == ops[from].lane)
      ++to;
    lanes.push_back(ops.subspan(from, to - from));
  }
  return lanes;
}

std::vector<Scope> devices_of(const Scope& scope) {
  std::vector<Scope> devices;
  const auto of_device = [](std::span<const MatchedOp> ops, uint32_t device) {
    return Lane(std::ranges::lower_bound(ops, device, {}, &MatchedOp::device),
                std::ranges::upper_bound(ops, device, {}, &MatchedOp::device));
  };
  for (size_t at = 0; at < scope.first.size();) {
    const uint32_t device = scope.first[at].device;
    const auto first = of_device(scope.first, device), second = of_device(scope.second, device);
    if (!second.empty()) devices.push_back({scope.id, first, second});
    at += first.size();
  }
  return devices;
}

bool share_copy_engine(const Lane& a, const Lane& b) {
  const uint32_t engine = a.front().lane % kEngines;
  return engine != 0 && engine == b.front().lane % kEngines && a.front().device == b.front().device;
}

std::vector<bool> LaunchOrders::reached(Id from, bool backward) const {
  std::vector<bool> seen(trace_.graph_node.size());
  std::vector<Id> stack{from};
  while (!stack.empty()) {
    const Id at = stack.back();
    stack.pop_back();
    for (const Id next : backward ? nodes_.before(at) : nodes_.after(at)) {
      if (seen[next]) continue;
      seen[next] = true;
      stack.push_back(next);
    }
  }
  return seen;
}

LaunchOrder LaunchOrders::of(Lane first, Lane second) {
  const auto node_of = [&](Id op) {
    const trace::Int native = trace_.op.graph_node[op];
    return native == trace::kNoInt
               ? kNoId
               : nodes_.node(trace_.process_of_stream(order_.stream(op)), native);
  };
  const Id any = node_of(first.front().op);
  const Key key{any == kNoId ? kNoId : trace_.graph_node.graph_id[any], first.front().lane,
                second.front().lane};
  const auto [entry, is_new] = known_.try_emplace(key);
  LaunchOrder& result = entry->second;
  if (!is_new && any != kNoId) return result;
  result = {};
  for (const MatchedOp& a : first) {
    const Id node = node_of(a.op);
    const bool known = node != kNoId;
    const auto after = known ? reached(node, false) : std::vector<bool>();
    const auto before = known ? reached(node, true) : std::vector<bool>();
    for (const MatchedOp& b : second) {
      if (a.op == b.op) continue;
      const Id other = node_of(b.op);
      const bool forward = known && other != kNoId && after[other];
      const bool backward = known && other != kNoId && before[other];
      (forward ? result.forward : backward ? result.backward : result.unordered) = {a.op, b.op};
    }
  }
  return result;
}

Location place_of_work(Analyses& analyses, Id op) {
  const Id copy = analyses.order().copy_sync(op);
  return copy == kNoId ? analyses.places().of_op(op) : analyses.places().of_sync(copy);
}

Location place_of_order(Analyses& analyses, Id from, Id to) {
  const Places& places = analyses.places();
  Location best = place_of_work(analyses, to);
  for (const Hop& hop : analyses.before().path(from, to)) {
    Location place;
    if (hop.event_wait != kNoId) {
      place = places.of_wait(hop.event_wait);
    } else if (hop.host_sync != kNoId) {
      place = places.of_sync(hop.host_sync);
    } else if (hop.op != kNoId) {
      place = place_of_work(analyses, hop.op);
    }
    if (!place.call_site.empty()) best = place;
  }
  return best;
}

std::string order_in_words(Analyses& analyses, Id from, Id to) {
  const Trace& trace = analyses.trace();
  const std::string how = describe(trace, analyses.before().path(from, to));
  const bool one_stream = analyses.order().stream(from) == analyses.order().stream(to);
  const bool in_launch =
      analyses.before().point_of_op(from).position == analyses.before().point_of_op(to).position;
  return fmt::format("{} comes before {}, {}", op_on_stream(trace, from), op_on_stream(trace, to),
                     in_launch      ? "by the edges of their graph"
                     : !how.empty() ? "through " + how
                     : one_stream   ? "in the same stream"
                                    : "by stream order");
}

std::string from_where(const Location& place) {
  const std::string sentence = place.sentence();
  return sentence.empty() ? "" : ", " + sentence;
}

}  // namespace streamscope::analysis
