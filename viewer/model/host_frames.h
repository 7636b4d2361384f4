// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What sampled threads did over time: for each thread a row that says whether it ran, and below it
// the functions that it was in, one row for each depth of the stack.
//
// A sample stands for the time around it, up to half way to its neighbors. Neighboring samples that
// agree are one run; where there are no samples, there is none.
#pragma once

#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analysis/iterations/sample_states.h"
#include "timeline/timeline_layout.h"
#include "trace/read/reader.h"

namespace streamscope::viewer {

using trace::Id;
using trace::kNoId;

/// Rows of functions of a thread, at most.
inline constexpr size_t kMostFrameRows = 24;

/// Immutable, thread-safe; keeps a reference to the trace.
class HostFrames {
 public:
  /// A thread has as many rows of functions as nearly all of its stacks in `usual` need. Of a
  /// deeper stack, the last row has the innermost function, and those between are left out.
  HostFrames(const trace::Trace& trace, TimeRange usual);

  /// Runs [begin, end) in order of time.
  struct RunRow {
    Id thread = kNoId;
    bool is_state = false;  ///< the thread's state; otherwise functions
    uint32_t begin = 0, end = 0;
  };
  /// Of all threads that were sampled: the row of the state, then those of functions, outermost
  /// first.
  const std::vector<RunRow>& rows() const { return rows_; }
  /// Those of a thread.
  std::span<const RunRow> rows_of(Id thread) const;
  /// Number of runs of all rows, which are numbered from 0.
  size_t size() const { return start_ns_.size(); }

  Id thread_of(Id run) const { return row_of(run).thread; }
  TimeRange time(Id run) const { return {start_ns_[run], end_ns_[run]}; }
  /// Rows of host_sample, in order of time.
  std::span<const Id> samples(Id run) const;
  /// The row of stack_frame of its first sample; kNoId for a state.
  Id frame(Id run) const { return frame_[run]; }
  /// Of a run in the row of states.
  analysis::SampleState state(Id run) const { return states_.of(samples(run).front()); }
  /// The function, or the state in words.
  std::string label(Id run) const;

  /// Where in the function its samples were, the most frequent first: "train.py:41", "train.py:43".
  /// Of a run of more than a thousand samples, those of the first thousand.
  std::vector<std::string> lines(Id run) const;
  /// What the thread did, with the number of samples: "runs", "waits for input (poll)". Ordered and
  /// limited in the same way.
  std::vector<std::pair<std::string, size_t>> states(Id run) const;
  /// Of the samples of its thread in the usual range: how many there are, and how many have its
  /// function anywhere in their stack.
  struct Share {
    size_t of = 0, samples = 0;
  };
  Share share(Id run) const;

 private:
  class Builder;
  const RunRow& row_of(Id run) const;
  std::span<const Id> some_samples(Id run) const;
  /// Frames of the stack of a sample, outermost first.
  std::span<const Id> chain(Id sample) const;

  const trace::Trace& trace_;
  analysis::SampleStates states_;
  std::vector<RunRow> rows_;
  Packed<Ns> start_ns_, end_ns_;  // by run
  Packed<Id> frame_;
  Packed<uint32_t> first_, count_;           // of its samples, in samples_
  std::vector<Id> samples_;                  // by thread, in order of time
  std::vector<std::vector<Id>> chains_;      // by stack
  std::vector<uint32_t> function_of_frame_;  // by row of stack_frame
  std::vector<std::string> functions_;
  std::map<Id, size_t> usual_samples_;                            // by thread
  std::map<std::pair<Id, uint32_t>, size_t> usual_samples_with_;  // by thread and function
};

}  // namespace streamscope::viewer
