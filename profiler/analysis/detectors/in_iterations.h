// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Helpers of the detectors that look at the steady part of a run (SS301 to SS310).
#pragma once

#include "analysis/iterations/iteration_model.h"
#include "analysis/iterations/steady_calls.h"
#include "steps.h"

namespace streamscope::analysis {

/// Sets what a change saves; false if that is less than 1 % of an iteration.
/// `at_least_ns`: an iteration cannot become shorter than this.
bool set_iteration_gain(const IterationModel& model, const Change& change, Ns at_least_ns,
                        Finding& finding);

/// "75", "0.5": a count for each iteration.
std::string format_each(size_t count, const Iterations& iterations);

/// The same as "once" or "75 times".
std::string times_each(size_t count, const Iterations& iterations);

/// The part of an iteration that a share takes.
double part_of(const IterationModel& model, TimeShare share);

}  // namespace streamscope::analysis
