// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Helpers of the detectors that look at the steady part of a run (SS301 to SS306).
#pragma once

#include "analysis/iterations/iteration_model.h"
#include "steps.h"
#include "vocabulary/call_kind.h"

namespace streamscope::analysis {

/// Sets what a change saves; false if that is less than 1 % of an iteration.
/// `at_least_ns`: an iteration cannot become shorter than this.
bool set_iteration_gain(const IterationModel& model, const Change& change, Ns at_least_ns,
                        Finding& finding);

/// Threads of the process that issued work in the steady part, ascending.
std::vector<Id> issuing_threads(Analyses& analyses, const Iterations& iterations);

/// Calls `visit(call)` for the api_call rows of the steady part.
template <class Visit>
void each_steady_call(const Trace& trace, const Iterations& iterations, Visit visit) {
  const Ns from = iterations.issued_from_ns(), to = iterations.issued_to_ns();
  for (Id call = 0; call < trace.api_call.size(); ++call) {
    const Ns start = trace.api_call.start_ns[call];
    if (start >= from && start < to &&
        trace.process_of_thread(trace.api_call.thread_id[call]) == iterations.process_id)
      visit(call);
  }
}

/// "75", "0.5": a count for each iteration.
std::string format_each(size_t count, const Iterations& iterations);

/// The same as "once" or "75 times".
std::string times_each(size_t count, const Iterations& iterations);

/// The part of an iteration that a share takes.
double part_of(const IterationModel& model, Share share);

}  // namespace streamscope::analysis
