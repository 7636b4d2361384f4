// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Where in the program a call was made: thread, call site and the NVTX ranges around it.
#pragma once

#include <string>
#include <vector>

#include "stream_ops.h"

namespace streamscope::analysis {

/// Unknown parts are empty.
struct Location {
  std::string thread;     ///< "main", "4711", or "thread 4711 (python3)"
  std::string call_site;  ///< "train.py:41 step"
  std::string ranges;     ///< NVTX, outermost first: "step/forward"

  /// "on thread main, from train.py:41 step, in step/forward"; empty if nothing is known.
  std::string sentence() const;
};

/// Immutable; keeps a reference to the trace. Lookups are linear in the ranges of the trace.
class Places {
 public:
  explicit Places(const Trace& trace);

  Location of_op(Id op) const;
  Location of_record(Id event_record) const;
  Location of_wait(Id event_wait) const;
  Location of_sync(Id host_sync) const;
  Location of_call(Id api_call) const;
  /// Of a stack; "" if nothing is known.
  const std::string& call_site(Id stack) const { return call_sites_[stack]; }
  /// Where a tensor was allocated (kTensorAllocation): thread and call site.
  Location of_tensor(Id allocation) const;

 private:
  std::string thread_name(Id thread) const;
  template <class Calls>
  Location place(const Calls& calls, Id call) const;

  const Trace& trace_;
  std::vector<std::string> call_sites_;
};

}  // namespace streamscope::analysis
