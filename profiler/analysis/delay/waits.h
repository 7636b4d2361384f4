// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Explains why ops started late: splits the gap before an op on its stream into parts that sum to
// the gap.
//
// The gap runs from the end of the stream's work so far to the start of the op (for the first op of
// a stream: from the entry of its call). At every instant of it the stream is in one state. Either
// an issued item is blocked: the first wait in stream order, or finally the op itself. Or nothing
// is issued, and the time is the host's, split by what the issuing thread did. A condition is
// charged only while it is in the stream: an event from the entry of the wait's call until the
// awaited work has ended, the legacy stream and other nodes of a graph from the entry of the op's
// call, and contention (copy engine, hardware queue, device capacity) from its exit. What would
// have delayed the op if it had been issued earlier is not a cause; replay.h answers that.
//
// What the host did while recording was off to measure its cost is unknown.
//
// The time after the last of these is the device's latency to start an op, up to a limit; the rest
// is unknown.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/order/edges.h"
#include "analysis/order/graph_nodes.h"
#include "analysis/usage/cost_windows.h"
#include "contention.h"
#include "host_time.h"
#include "vocabulary/wait_cause.h"

namespace streamscope::analysis {

/// True if nothing was issued to the stream: the host's part of a gap.
bool is_host(WaitCause cause);

/// What the host did instead of issuing, for is_host() causes: "host blocked in cudaMemcpy", "host
/// outside CUDA". `call` names the call; it may be empty.
std::string host_label(WaitCause cause, std::string_view call);

/// 24 bytes: a trace has several per op.
struct WaitPart {
  Ns duration_ns = 0;
  Id op = kNoId;
  WaitCause cause = WaitCause::kUnknown;
  Id edge = kNoEdge;   ///< index into Edges, if an edge is responsible
  Id because = kNoId;  ///< meaning: see the functions below

  /// The op that had to end (kQueueAliasing: start) first.
  Id because_op() const { return is_host(cause) ? kNoId : because; }
  /// kHostSync: the last synchronization in the part.
  Id host_sync() const { return cause == WaitCause::kHostSync ? because : kNoId; }
  /// String id. kHostCall: a long call, if the part has one; kCodeLoading: what loads; kHostLock:
  /// the call of the other thread.
  Id call_name() const {
    return cause == WaitCause::kHostCall || cause == WaitCause::kCodeLoading ||
                   cause == WaitCause::kHostLock
               ? because
               : kNoId;
  }

  static constexpr Id kNoEdge = kNoId;
};

/// An op starts at most this long after its last condition is met. About twice what an H200 needs
/// with the profiler on; a longer delay has an unknown cause.
inline constexpr Ns kStartLatencyNs = 10'000;
/// The same on an idle device, or for a kernel on a device that runs no kernel: it has to wake up.
/// Measured on an H200: 140 to 430 µs after a launch, 280 µs after an event.
inline constexpr Ns kWakeUpNs = 500'000;
/// The same for a copy and for the op after a copy on its stream. Measured on an H200: 5 to 29 µs.
inline constexpr Ns kCopyStartNs = 30'000;
/// The same around host functions, whose thread has to wake up: 15 to 50 µs on an H200.
inline constexpr Ns kHostFunctionStartNs = 60'000;

/// Explains single ops. Keeps references to its arguments. Not thread-safe; copies are cheap, as
/// they share what was computed of the trace, and may be used at once.
class WaitExplainer {
 public:
  WaitExplainer(const IssueOrder& order, const StreamOps& stream_ops, const Edges& edges,
                const Contention& contention);

  /// What an op had to wait for: since when it was in the stream, and when it was met. It may have
  /// been met before it was in the stream.
  struct Condition {
    Ns since_ns = kUnknownNs;
    Ns met_ns = kUnknownNs;
    WaitCause cause = WaitCause::kUnknown;
    Id edge = WaitPart::kNoEdge;
    Id because_op = kNoId;
    bool open = false;      // its end is unknown: it is charged what nothing else explains
    bool resource = false;  // contention: another op used what this op needed; they are unordered
  };

  const HostTime& host_time() const { return facts_->host_time; }
  /// All known conditions of the op, including stream order and its launch, ordered by `met_ns`.
  /// Valid until the next call.
  const std::vector<Condition>& conditions(Id op);
  /// HostTime::split(), near where the last one was.
  void split_host(Id thread, Ns from, Ns to, std::vector<HostPart>& parts) {
    facts_->host_time.split(thread, from, to, parts, nearby_);
  }
  /// Appends the parts of the gap before an op, in time order.
  void explain(Id op, std::vector<WaitPart>& parts);

 private:
  Ns gap_from(Id op, const Issue& issue) const;
  bool woke_device(Id op, Ns ready_ns) const;
  bool behind_host_node(Id op) const;
  void add_own_stream(Id op);
  void add_edges(Id op, const Issue& issue);
  void add_contender(Id op, const Issue& issue);
  /// Like charge_host(), for a part in which the host's calls are recorded.
  void charge_recorded_host(Id op, const Issue& issue, Ns from, Ns to,
                            std::vector<WaitPart>& parts);
  void charge(Id op, const Condition& condition, Ns from, Ns to, std::vector<WaitPart>& parts);
  void charge_host(Id op, const Issue& issue, Ns from, Ns to, std::vector<WaitPart>& parts);

  const Trace& trace_;
  const IssueOrder& order_;
  const StreamOps& stream_ops_;
  const Edges& edges_;
  const Contention& contention_;
  struct Facts {
    GraphNodes graph_nodes;
    HostTime host_time;
    std::vector<std::vector<OffWindow>> off_windows;  // by process, in order of time
    std::vector<Id> predecessor;  // the previous work on the op's stream, without memory waits

    Facts(const Trace& trace, const StreamOps& stream_ops);
  };
  const std::shared_ptr<const Facts> facts_;
  HostTime::Nearby nearby_;
  std::vector<Condition> conditions_;
  std::vector<Condition> queue_;  // the same in stream order
  std::vector<HostPart> host_parts_;
};

/// Parts of all timed ops that started after a gap, by op id; parts of one op in time order. On all
/// processors.
std::vector<WaitPart> explain_waits(const WaitExplainer& explainer, const Trace& trace);

}  // namespace streamscope::analysis
