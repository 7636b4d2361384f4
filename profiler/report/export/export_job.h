// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Exports all ranks of a job into one file, on one clock, with one trace in memory at a time.
#pragma once

#include <string>

#include "export.h"
#include "job/common_clock.h"

namespace streamscope::report {

/// Perfetto's protobuf, piece by piece: a process named "rank 3 (node1)" for each rank, and its
/// collectives joined with those of the others. Borrows its arguments.
class PerfettoJob {
 public:
  PerfettoJob(const job::Job& job, const job::CommonClock& clock, const ExportOptions& options);

  /// What to append for one rank, each once.
  std::string rank(uint32_t row, const trace::Trace& trace);
  uint64_t events() const { return events_; }

 private:
  const job::Job& job_;
  const job::CommonClock& clock_;
  const ExportOptions& options_;
  trace::Ns shift_ns_ = 0;
  int32_t next_pid_ = 1, next_gpu_ = 0;  // numbers of several hosts would collide
  uint64_t events_ = 0;
};

}  // namespace streamscope::report
