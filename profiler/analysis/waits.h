// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Why ops started late: the gap before an op on its stream, split into parts that sum to the gap.
//
// The gap runs from the end of the stream's work so far to the start of the op (for the first op of
// a stream: from the entry of its call). In it conditions become true one after another: the host
// returns from a synchronization, the call that issues the op is made, the ops it depends on end.
// Each stretch of the gap is charged to the condition that became true at its end: that is how much
// longer the op waited because of that condition than without it. What follows the last condition
// is charged to it too as far as a hand-over takes on the device; the rest is unknown.
#pragma once

#include <vector>

#include "edges.h"

namespace streamscope::analysis {

/// With the numbers of `wait_cause.cause`.
enum class WaitCause : trace::Small {
  kLaunch = trace::kLaunchLate,               ///< the host issued the op late, doing something else
  kEvent = trace::kEventWaitCause,            ///< an event that the stream waited for
  kFifo = trace::kFifoCause,                  ///< hand-over from the op before it on the stream
  kLegacyStream = trace::kLegacyStreamCause,  ///< the implicit barrier of the legacy default stream
  kMemoryWait = trace::kMemoryWaitCause,  ///< a memory wait before it, whose own times are unknown
  kHostFunction =
      trace::kHostFunctionCause,  ///< a host function before it, whose own times are unknown
  kUnknown = trace::kUnknownCause,
  kHostSync = trace::kHostSyncCause,  ///< the issuing thread sat in a synchronization
};

/// For people: "launch", "event", "same-stream", ...
std::string_view to_string(WaitCause cause);

struct WaitPart {
  Id op = kNoId;
  WaitCause cause = WaitCause::kUnknown;
  Ns duration_ns = 0;
  size_t edge = kNoEdge;  ///< kEvent, kLegacyStream: index into Edges
  Id because_op = kNoId;  ///< the op that had to end first
  Id host_sync = kNoId;   ///< kHostSync: the last synchronization in the stretch

  static constexpr size_t kNoEdge = static_cast<size_t>(-1);
};

/// A launch reaches the device at most so long after its call, an op follows the one it waited for
/// at most so long after that ended. About twice what an H200 needs, profiler on; what exceeds it
/// has a cause not known here.
inline constexpr Ns kHandOverNs = 10'000;

/// Parts of all timed ops that started after a gap, in order of op id; parts of one op in order of
/// time.
std::vector<WaitPart> explain_waits(const Trace& trace, const Timeline& timeline,
                                    const Edges& edges);

}  // namespace streamscope::analysis
