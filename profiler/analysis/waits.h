// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Why ops started late: the gap before an op on its stream, split into parts that sum to the gap.
//
// The gap runs from the end of the stream's work so far to the start of the op (for the first op of
// a stream: from the entry of its call). In it conditions become true one after another: the host
// returns from a synchronization, the call that issues the op is made, the ops it depends on end.
// Each stretch of the gap is charged to the condition that became true at its end: that is how much
// longer the op waited because of that condition than without it. Once nothing orders the op any
// more, it may still wait for something to run on: a copy engine, room on the device, its hardware
// queue, the thread that runs host functions. What follows the last of all these is charged to it
// too as far as a hand-over takes; the rest is unknown.
#pragma once

#include <vector>

#include "edges.h"
#include "graph_nodes.h"
#include "rivals.h"

namespace streamscope::analysis {

/// With the numbers of `wait_cause.cause`.
enum class WaitCause : trace::Small {
  kLaunch = trace::kLaunchLate,               ///< the host issued the op late, doing something else
  kEvent = trace::kEventWaitCause,            ///< an event that the stream waited for
  kFifo = trace::kFifoCause,                  ///< hand-over from the op before it on the stream
  kLegacyStream = trace::kLegacyStreamCause,  ///< the implicit barrier of the legacy default stream
  kMemoryWait = trace::kMemoryWaitCause,      ///< a memory wait on the stream
  kHostFunction = trace::kHostFunctionCause,  ///< host functions, which run one after another
  kCopyEngine = trace::kCopyEngineBusy,       ///< another copy of the same direction was running
  kSmFull = trace::kSmFull,                   ///< other kernels filled the device
  kQueueAliasing = trace::kQueueAliasing,     ///< the hardware queue held an unrelated op before it
  kProfiler = trace::kProfilerCause,          ///< the profiler held the issuing thread up
  kUnknown = trace::kUnknownCause,
  kHostSync = trace::kHostSyncCause,  ///< the issuing thread sat in a synchronization
  kGraph = trace::kGraphCause,        ///< another node of the graph
};

/// For people: "launch", "event", "same-stream", ...
std::string_view to_string(WaitCause cause);

struct WaitPart {
  Id op = kNoId;
  WaitCause cause = WaitCause::kUnknown;
  Ns duration_ns = 0;
  Id edge = kNoEdge;      ///< index into Edges, if an edge is responsible
  Id because_op = kNoId;  ///< the op that had to end (kQueueAliasing: start) first
  Id host_sync = kNoId;   ///< kHostSync: the last synchronization in the stretch

  static constexpr Id kNoEdge = kNoId;
};

/// A launch reaches the device at most so long after its call, an op follows the one it waited for
/// at most so long after that ended. About twice what an H200 needs, profiler on; what exceeds it
/// has a cause not known here.
inline constexpr Ns kHandOverNs = 10'000;
/// The same for a launch on a device that runs nothing: it has to wake up. 140 to 430 µs were seen
/// on an H200.
inline constexpr Ns kWakeUpNs = 500'000;
/// The same around host functions, whose thread has to wake up: 15 to 50 µs on an H200.
inline constexpr Ns kHostFunctionHandOverNs = 60'000;

/// Explains single ops. Keeps references to all it is made from. Not thread-safe.
class WaitExplainer {
 public:
  WaitExplainer(const IssueOrder& order, const Timeline& timeline, const Edges& edges,
                const Rivals& rivals);
  ~WaitExplainer();

  /// What an op had to wait for, and when that was no longer so.
  struct Condition {
    Ns met_ns = kUnknownNs;
    WaitCause cause = WaitCause::kUnknown;
    Id edge = WaitPart::kNoEdge;
    Id because_op = kNoId;
  };

  /// Everything known that held the op back, in order of time; its place in the stream and its
  /// launch included. Valid until the next question.
  const std::vector<Condition>& conditions(Id op);
  /// Appends the parts of the gap before an op, in order of time.
  void explain(Id op, std::vector<WaitPart>& parts);

 private:
  struct Hold;
  Ns gap_from(Id op, const Issue& issue) const;
  bool woke_device(Id op, Ns ready_ns) const;
  bool behind_host_node(Id op) const;
  void charge(Id op, const Condition& condition, const Issue& issue, Ns from, Ns to,
              std::vector<WaitPart>& parts);

  const Trace& trace_;
  const IssueOrder& order_;
  const Timeline& timeline_;
  const Edges& edges_;
  const Rivals& rivals_;
  const GraphNodes graph_nodes_;
  std::unique_ptr<Hold> hold_;
  std::vector<Id> predecessor_;  // at work on the op's stream: a memory wait is none
  std::vector<Condition> conditions_;
};

/// Parts of all timed ops that started after a gap, in order of op id; parts of one op in order of
/// time.
std::vector<WaitPart> explain_waits(WaitExplainer& explainer, const Trace& trace);
/// The same with everything it needs made for the purpose.
std::vector<WaitPart> explain_waits(const Trace& trace, const Timeline& timeline,
                                    const Edges& edges);

}  // namespace streamscope::analysis
