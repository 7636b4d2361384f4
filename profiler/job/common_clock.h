// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Times of the traces of a run on one clock.
#pragma once

#include "job.h"
#include "trace/ns_math.h"

namespace streamscope::job {

/// Borrows the job.
class CommonClock {
 public:
  explicit CommonClock(const Job& job);

  /// A time of a trace, on the clock of the first rank; where that of the rank is refused, on the
  /// clock of its host. 0 is when the first trace began.
  Ns of(uint32_t rank_row, Ns trace_ns) const;
  /// The inverse of what the job has done to times of a trace.
  Ns in_trace(uint32_t rank_row, Ns job_ns) const {
    return trace::difference_of(job_ns, job_.steps.ranks[rank_row].shift_ns);
  }

  /// Unix time of 0 by the clock of the first rank; kUnknownNs if its trace does not say.
  Ns started_ns() const;

 private:
  const Job& job_;
  Ns first_ns_ = 0;  // when the first trace began, on the clock of the first rank
};

}  // namespace streamscope::job
