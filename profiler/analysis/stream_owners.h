// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Which process each op belongs to, for loops over all ops: Trace::process_of_stream() looks into
// two more tables for each.
#pragma once

#include <algorithm>
#include <functional>
#include <vector>

#include "trace/model.h"

namespace streamscope::analysis {

/// Keeps a reference to the trace. Immutable, thread-safe. Built in O(streams).
class StreamOwners {
 public:
  explicit StreamOwners(const trace::Trace& trace) : trace_(trace) {
    for (trace::Id stream = 0; stream < trace.stream.size(); ++stream)
      processes_.push_back(trace.process_of_stream(stream));
  }
  /// The process of its stream; kNoId if that is not known.
  trace::Id of_op(trace::Id op) const {
    const trace::Id stream = trace_.op.stream_id[op];
    return stream < processes_.size() ? processes_[stream] : trace::kNoId;
  }
  /// The process that owns all streams; kNoId if there are several, or no streams.
  trace::Id only_one() const {
    const bool differ =
        std::ranges::adjacent_find(processes_, std::ranges::not_equal_to{}) != processes_.end();
    return differ || processes_.empty() ? trace::kNoId : processes_.front();
  }

 private:
  const trace::Trace& trace_;
  std::vector<trace::Id> processes_;  // by stream
};

}  // namespace streamscope::analysis
