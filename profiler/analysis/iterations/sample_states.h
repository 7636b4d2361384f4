// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Whether a sampled thread ran, waited in the kernel, or waited for the lock of Python's
// interpreter. Samples of a profile of PyTorch do not tell.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/stream_ops.h"

namespace streamscope::analysis {

enum class SampleState : uint8_t { kRuns, kWaits, kWaitsForLock, kNotKnown };

/// Immutable, thread-safe; keeps a reference to the trace.
class SampleStates {
 public:
  explicit SampleStates(const trace::Trace& trace);

  SampleState of(trace::Id sample) const;
  /// "runs", "waits for Python's lock", "waits for input (poll)", "runs or waits".
  std::string text(trace::Id sample) const;

 private:
  enum class Stack : uint8_t { kNothing, kCondition, kLock, kOther };

  void look_at(trace::Id frame);

  const trace::Trace& trace_;
  std::vector<Stack> stacks_;  // what they wait for
};

}  // namespace streamscope::analysis
