// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The functions in which the host was while it held the iterations up: what a flame graph draws.
#pragma once

#include <string>
#include <vector>

#include "host_samples.h"

namespace streamscope::analysis {

/// A function that was called by another, and what it calls.
struct HostFunction {
  std::string name;                 ///< as frame_function(); of the root: ""
  Ns each_ns = 0;                   ///< of an iteration, with what it calls
  std::vector<HostFunction> calls;  ///< longest first
};

/// Of the samples on the critical path that have a stack; the root is empty without any. What takes
/// less than `least` of the whole is left out.
HostFunction host_functions(Analyses& analyses, const IterationModel& model, double least);

}  // namespace streamscope::analysis
