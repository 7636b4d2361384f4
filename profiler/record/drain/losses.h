// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Counts what is missing: one row of table `loss` per process, kind and detail; one for each pause.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "trace/write/writer.h"

namespace streamscope::record {

/// Thread-compatible.
class Losses {
 public:
  explicit Losses(trace::Writer& writer) : writer_(writer) {}

  /// `count` more of a loss of this kind (a name of trace/loss.h), in [first_ns, last_ns] if that
  /// is known. `process` is kNoId for the whole trace.
  void add(trace::Id process, std::string_view kind, int64_t count,
           trace::Ns first_ns = trace::kUnknownNs, trace::Ns last_ns = trace::kUnknownNs,
           trace::Id detail = trace::kNoId);
  /// The loss of a process is found to be of another kind.
  void rename(trace::Id process, std::string_view from, std::string_view to);
  /// One pause of a recording, in a row of its own: everything between two pauses is complete.
  void add_pause(trace::Id process, trace::Ns first_ns, trace::Ns last_ns = trace::kUnknownNs);
  /// Sum of the counts of a kind.
  int64_t count(std::string_view kind) const;
  /// Updates the rows; called before each flush of the writer.
  void store();

 private:
  struct Entry {
    trace::Loss row;
    trace::Id id;
    std::string kind;
    bool changed;
  };
  Entry& entry(trace::Id process, std::string_view kind, trace::Id detail);
  Entry& new_entry(trace::Id process, std::string_view kind, trace::Id detail);

  trace::Writer& writer_;
  std::vector<Entry> entries_;
};

}  // namespace streamscope::record
