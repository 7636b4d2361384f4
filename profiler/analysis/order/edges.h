// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Ordering edges between ops of different streams: which op had to end before another could start,
// and why.
//
// A consumer of OrderingWalk (ordering.h). Every stream carries a frontier: the ops that the next
// item must wait for. An op turns the frontier of its stream into edges and becomes the frontier; a
// record keeps a copy of it, a wait bound to that record adds the copy to its own stream, and a
// host sync passes the frontier to the thread that waited. So edges run through any chain of
// records and waits that has no op of its own (a barrier's hub, for example).
//
// Edges between ops of one stream are implied (FIFO) and never listed; those between nodes of one
// graph launch are listed. What a thread learned becomes an edge once, to the next op that it
// issues to another stream: such edges are correct, but not everything that the host guarantees.
// happens_before.h answers what is ordered; edges explain it.
#pragma once

#include <span>
#include <vector>

#include "issue_order.h"

namespace streamscope::analysis {

/// A frontier keeps at most this many ops, those that ended last: the cost stays linear, and the 16
/// ops that delayed it longest explain a join of more streams well enough.
inline constexpr size_t kMaxFrontier = 16;

/// Immutable; keeps no references. Rows are sorted by `to_op_id`.
class Edges {
 public:
  explicit Edges(const IssueOrder& order);
  explicit Edges(const Trace& trace) : Edges(IssueOrder(trace)) {}

  size_t size() const { return rows_.size(); }
  const trace::Edge& operator[](size_t index) const { return rows_[index]; }
  std::span<const trace::Edge> rows() const { return rows_; }
  /// Edges that end at an op; the index of the first is `first_incoming(op)`.
  std::span<const trace::Edge> incoming(Id op) const {
    return {rows_.data() + first_[op], first_[op + 1] - first_[op]};
  }
  size_t first_incoming(Id op) const { return first_[op]; }
  /// Ops that a synchronization waited for and that its thread did not yet know to have ended; at
  /// most the 16 that ended last.
  std::span<const Id> sync_sources(Id host_sync) const {
    const Slice& slice = sync_slices_[host_sync];
    return {sync_ops_.data() + slice.first, slice.count};
  }
  /// How often a frontier was full, so that edges may be missing.
  size_t truncated_count() const { return truncated_count_; }

 private:
  friend class EdgeWalk;
  struct Slice {
    uint32_t first = 0, count = 0;
  };
  std::vector<trace::Edge> rows_;
  std::vector<uint32_t> first_;  // per op: index into rows_; one more at the end
  std::vector<Slice> sync_slices_;
  std::vector<Id> sync_ops_;
  size_t truncated_count_ = 0;
};

}  // namespace streamscope::analysis
