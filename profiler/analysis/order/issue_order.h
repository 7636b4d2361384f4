// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// All items that occupy a position in a stream or make the host wait, in an order in which every
// item comes after its dependencies.
//
// That is the order in which the calls returned (measured to be the order in which streams run
// their work), except for memory waits whose write is issued later: what such a wait holds back
// comes after the write. ordering.h walks this list by CUDA's ordering rules.
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "analysis/stream_ops.h"

namespace streamscope::analysis {

/// One row of op, event_record, event_wait or host_sync, or of api_call if it allocates or releases
/// stream-ordered memory (kMemory). Four bytes, because traces have tens of millions of them.
class Issued {
 public:
  enum Kind : uint32_t { kOp = 0, kRecord, kWait, kSync, kMemory };
  Issued(Kind kind, Id id) : bits_(id << 3 | kind) {}
  Kind kind() const { return static_cast<Kind>(bits_ & 7); }
  Id id() const { return bits_ >> 3; }

 private:
  uint32_t bits_;
};

/// True if a memory wait for `awaited` may be released by the value `written`. The trace does not
/// contain the comparison of a wait: "greater or equal", "equal" and "and" are considered, "nor" is
/// not.
bool can_satisfy(trace::Int written, trace::Int awaited);

/// Immutable; keeps a reference to the trace. Omitted: calls that failed, were captured or never
/// returned, waits without a record (no-ops), and ops whose call is missing.
class IssueOrder {
 public:
  explicit IssueOrder(const Trace& trace);

  std::span<const Issued> items() const { return items_; }
  const Trace& trace() const { return trace_; }
  /// The streams that have items, by id. Context-wide records and waits name no stream.
  std::span<const Id> streams() const { return streams_; }

  /// The call that issued an op, including a synchronous copy's (a row of host_sync).
  Issue issue(Id op) const {
    return has_copy_syncs() && copy_sync(op) != kNoId ? issue_of_copy(op) : issue_of(trace_, op);
  }
  /// The stream that orders an op: for nodes of a graph the stream of the launch.
  Id stream(Id op) const {
    return trace_.op.graph_node[op] == trace::kNoInt ? trace_.op.stream_id[op]
                                                     : stream_of_launch(op);
  }
  bool has_copy_syncs() const { return !copy_syncs_.empty(); }
  /// The host_sync row of a synchronous copy; kNoId for every other op.
  Id copy_sync(Id op) const { return found(copy_syncs_, op); }
  bool has_writers() const { return !writers_.empty(); }
  /// All pairs of a memory wait and its writer_of().
  const std::unordered_map<Id, Id>& writers() const { return writers_; }
  /// The write that had to run before a memory wait could end: the first of all known writes that
  /// satisfy it, if those are in one stream. Host stores and kernels may also write, unrecorded:
  /// the order holds only if they did not. kNoId for every other op. O(1).
  Id writer_of(Id memory_wait) const { return found(writers_, memory_wait); }

 private:
  static Id found(const std::unordered_map<Id, Id>& map, Id key) {
    if (map.empty()) return kNoId;
    const auto at = map.find(key);
    return at == map.end() ? kNoId : at->second;
  }
  Issue issue_of_copy(Id op) const;
  Id stream_of_launch(Id node) const;

  const Trace& trace_;
  std::vector<Issued> items_;
  std::vector<Id> streams_;
  std::unordered_map<Id, Id> copy_syncs_;  // op -> host_sync
  std::unordered_map<Id, Id> writers_;     // memory wait -> memory write
};

}  // namespace streamscope::analysis
