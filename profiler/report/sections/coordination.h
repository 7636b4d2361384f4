// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What libcoord told of waits that were not needed, of timelines and of task queues.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "analysis/usage/task_usage.h"
#include "trace/model.h"

namespace streamscope::report {

struct TimelineFact {
  std::string name;
  trace::Int signaled = 0, reached = 0;  ///< the largest values; the initial one if there are none
  uint64_t waits = 0;                    ///< that began
  uint64_t given_up = 0;                 ///< of them, without the value being reached
};

struct Coordination {
  uint64_t dependencies = 0;
  uint64_t waited = 0;
  /// By operation_dependency.elided_because; 0: not told.
  std::array<uint64_t, 5> elided{};
  std::vector<TimelineFact> timelines;
  std::vector<analysis::TaskUsage> queues;
};

/// Name of an operation_dependency.elided_because in JSON.
const char* elision_name(size_t because);

Coordination coordination_of(const trace::Trace& trace);
/// "3 of 9 dependencies made a stream wait; not needed: 4 (the stream's own order), ...".
std::string dependencies_sentence(const Coordination& coordination);
/// For `info`: a line for each thing worth a word; "" if libcoord told nothing of the kind.
std::string coordination_text(const Coordination& coordination);

}  // namespace streamscope::report
