// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Long pauses of the host between two CUDA calls of each iteration, for the detectors that tell
// what it does in them (SS305, SS307).
#pragma once

#include "../iterations/host_samples.h"
#include "in_iterations.h"

namespace streamscope::analysis {

struct PausesInIteration {
  Change change;              ///< without them
  size_t count = 0;           ///< in the steady part
  Ns each_ns = 0;             ///< of an iteration (median)
  HostActivities activities;  ///< what the host does in them; empty without samples
  Id before_op = kNoId;       ///< the work that most of their time precedes
  double before = 0;          ///< part of the time that does
  Ns start_ns = kUnknownNs, end_ns = kUnknownNs;  ///< the longest of those
};

/// Nothing if they are no part of most iterations.
std::optional<PausesInIteration> pauses_in_iterations(Analyses& analyses);

/// The same if the host loads batches in them, or waits for batches.
std::optional<PausesInIteration> input_pauses(Analyses& analyses);

/// Sets what removing them saves, their number, place and time; false if an iteration would save
/// less than a twentieth.
bool set_pauses(const IterationModel& model, const PausesInIteration& pauses, Finding& finding);

}  // namespace streamscope::analysis
