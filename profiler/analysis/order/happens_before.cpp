// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "happens_before.h"

#include <algorithm>

#include "happens_before_impl.h"

namespace streamscope::analysis {

// How many joins are visible at a position.
Version HappensBefore::Impl::version_before(ChainId chain, Position at) const {
  const auto& joins = chains[chain].joins;
  return static_cast<Version>(std::ranges::upper_bound(joins, at, {}, &Join::at) - joins.begin());
}

// Walks the joins backwards, breadth first. Joins older than the target cannot contain it.
bool HappensBefore::Impl::reaches(ChainId chain, Version version, ChainId from, Position at,
                                  std::vector<Hop>* path) const {
  struct Step {
    ChainId chain;
    Version version;
    size_t parent;
    const Join* join;  // through which the parent learned from this chain
  };
  std::vector<Step> steps{{chain, version, 0, nullptr}};
  std::vector<Version> looked_at(chains.size(), 0);
  const auto hop = [&](const Join& join, ChainId to) {
    Hop result;
    result.kind = static_cast<trace::EdgeKind>(join.kind);
    if (join.from < stream_chains) result.from_stream = stream_of_chain[join.from];
    if (to < stream_chains) result.to_stream = stream_of_chain[to];
    if (join.kind == trace::kEventEdge) result.event_wait = join.cause;
    if (join.kind == trace::kMemoryEdge || join.copy) result.op = join.cause;
    if (join.kind == trace::kHostEdge && !join.copy) result.host_sync = join.cause;
    return result;
  };
  for (size_t i = 0; i < steps.size(); ++i) {
    const Step step = steps[i];
    const auto& joins = chains[step.chain].joins;
    const Version begin = looked_at[step.chain];
    looked_at[step.chain] = std::max(begin, step.version);
    for (Version v = step.version; v-- > begin;) {
      const Join& join = joins[v];
      if (join.at < at) break;
      if (join.from == from && join.from_position >= at) {
        if (!path) return true;
        path->push_back(hop(join, step.chain));
        for (size_t s = i; steps[s].join; s = steps[s].parent)
          path->push_back(hop(*steps[s].join, steps[steps[s].parent].chain));
        return true;
      }
      if (join.from_version > looked_at[join.from])
        steps.push_back({join.from, join.from_version, i, &join});
    }
  }
  return false;
}

bool HappensBefore::Impl::known(ChainId thread, const std::vector<Return>& of, Version version,
                                const Point& point) const {
  if (version == 0 || !point.placed()) return false;
  const auto found = std::ranges::lower_bound(of, version, {}, &Return::version);
  if (found != of.end() && found->version == version && found->clock != ClockPool::kNone)
    return clocks->entry(found->clock, point.chain) >= point.position;
  return reaches(thread, version, point.chain, point.position, nullptr);
}

HappensBefore::HappensBefore(const IssueOrder& order, Options options)
    : impl_(std::make_unique<Impl>(order, options)) {}
HappensBefore::HappensBefore(HappensBefore&&) noexcept = default;
HappensBefore::~HappensBefore() = default;

bool HappensBefore::placed(Id op) const { return impl_->ops[op].chain != kNoId; }

Point HappensBefore::point_of_op(Id op) const {
  const Standing& at = impl_->ops[op];
  return {at.chain, at.position, at.clock, op};
}

Point HappensBefore::point_of_call(Id api_call) const {
  const auto found = impl_->memory_points.find(api_call);
  return found == impl_->memory_points.end() ? Point{} : found->second;
}

bool HappensBefore::ordered(const Point& from, const Point& to) const {
  const Impl& m = *impl_;
  if (!from.placed() || !to.placed()) return false;
  if (from.chain == to.chain) {
    if (from.position != to.position) return from.position < to.position;
    return from.op != to.op && !m.op_node.empty() && m.op_node[from.op] != kNoId &&
           m.op_node[to.op] != kNoId && m.graph_nodes.ordered(m.op_node[from.op], m.op_node[to.op]);
  }
  if (to.clock != ClockPool::kNone) return m.clocks->entry(to.clock, from.chain) >= from.position;
  return m.reaches(to.chain, m.version_before(to.chain, to.position), from.chain, from.position,
                   nullptr);
}

std::vector<Hop> HappensBefore::path(Id from, Id to) const {
  const Impl& m = *impl_;
  const Standing &source = m.ops[from], &target = m.ops[to];
  std::vector<Hop> result;
  if (source.chain == kNoId || target.chain == kNoId || source.chain == target.chain) return result;
  m.reaches(target.chain, m.version_before(target.chain, target.position), source.chain,
            source.position, &result);
  return result;
}

bool HappensBefore::known_at_return(Id op, Id host_sync) const {
  const Impl& m = *impl_;
  const Id thread = m.sync_thread[host_sync];
  if (thread >= m.returns.size()) return false;
  return m.known(m.first_thread + thread, m.returns[thread], m.sync_version[host_sync],
                 point_of_op(op));
}

bool HappensBefore::known_to_thread(const Point& point, Id thread, Ns at_ns) const {
  const Impl& m = *impl_;
  const auto known = [&](ChainId chain, const std::vector<Impl::Return>& returns) {
    const auto next = std::ranges::upper_bound(returns, at_ns, {}, &Impl::Return::at_ns);
    return next != returns.begin() && m.known(chain, returns, std::prev(next)->version, point);
  };
  return (thread < m.returns.size() && known(m.first_thread + thread, m.returns[thread])) ||
         known(m.host, m.host_returns);
}

bool HappensBefore::is_redundant_wait(Id event_wait) const {
  return impl_->redundant_wait[event_wait];
}
bool HappensBefore::is_redundant_sync(Id host_sync) const {
  return impl_->redundant_sync[host_sync];
}
bool HappensBefore::keeps_all_clocks() const { return impl_->all_kept; }

}  // namespace streamscope::analysis
