// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What if an edge, a synchronization or an op were not there, an op took another time, a stream or
// a copy engine were added: the run is replayed with the change and its new length told.
//
// The replay keeps what was measured: how long ops took, how long the host worked between calls,
// how long hand-overs took. It changes when ops start: when all that held them back is over. So a
// replay without changes gives exactly the run. It knows nothing of new contention but that for
// copy engines, and assumes that ops come in the order they came in.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyses.h"
#include "critical_path.h"

namespace streamscope::analysis {

struct Change {
  enum Kind {
    kDropEdge,       ///< `id` is a row of `edge`
    kDropSync,       ///< `id` is a row of host_sync: the host does not wait there
    kScaleOp,        ///< `id` is an op, which takes `factor` times as long
    kDropOp,         ///< `id` is an op, which takes no time
    kAddStream,      ///< `id` is a stream, whose work runs on it and on one more, in no order
    kAddCopyEngine,  ///< every device has one more
  };
  Kind kind = kDropEdge;
  Id id = kNoId;
  double factor = 1;
};

/// Reads "drop-edge:12", "drop-sync:3", "scale-op:7=0.5", "drop-op:7", "add-stream:4" or
/// "add-copy-engine"; nothing if it is none of these or names what the trace does not hold.
std::optional<Change> parse_change(std::string_view text, const Trace& trace, size_t edge_count);

/// Keeps a reference to the analyses. Not thread-safe.
class Replay {
 public:
  explicit Replay(Analyses& analyses);

  /// From the first launch to the end of the last op, as measured; 0 without timed ops.
  Ns measured_ns() const { return measured_ns_; }
  /// The same with changes. O(ops).
  Ns with(std::span<const Change> changes);
  /// How much shorter the run is with changes; never negative.
  Ns gain_ns(std::span<const Change> changes);

 private:
  Analyses& analyses_;
  const HostBounds& bounds_;
  std::vector<const HostBounds::Bound*> returns_;  // of all threads, by return
  Ns first_ns_ = 0;
  Ns measured_ns_ = 0;
};

}  // namespace streamscope::analysis
