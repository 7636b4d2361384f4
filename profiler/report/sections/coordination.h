// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What libcoord reported about elided waits, timelines and task queues.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "analysis/usage/task_usage.h"
#include "trace/model.h"
#include "vocabulary/operation.h"

namespace streamscope::report {

struct TimelineFact {
  std::string name;
  trace::Int signaled = 0, reached = 0;  ///< the largest values, or the initial one
  uint64_t waits = 0;                    ///< waits that began
  uint64_t given_up = 0;                 ///< of them, ended before the value was reached
};

struct Coordination {
  uint64_t dependencies = 0;
  uint64_t waited = 0;
  /// By operation_dependency.elided_because; 0: not reported.
  std::array<uint64_t, std::size(kElisions) + 1> elided{};
  std::vector<TimelineFact> timelines;
  std::vector<analysis::TaskUsage> queues;
};

/// For an index of Coordination::elided.
const Term& elision_of(size_t because);

Coordination coordination_of(const trace::Trace& trace);
/// "3 of 9 dependencies made a stream wait; not needed: 4 (the stream's own order), ...".
std::string dependencies_sentence(const Coordination& coordination);
/// For `info`: one line per fact; "" if libcoord reported none.
std::string coordination_text(const Coordination& coordination);

}  // namespace streamscope::report
