// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The memory that the work of one process accesses, as far as calls, operations and host code
// declare it.
#pragma once

#include "objects.h"
#include "operations.h"
#include "record/drain/run_state.h"
#include "ring/record.h"

namespace streamscope::record {

/// Thread-compatible.
class Accesses {
 public:
  Accesses(RunState& run, Objects& objects, Operations& operations, trace::Id process)
      : run_(run), objects_(objects), operations_(operations), process_(process) {}

  void describe(const ring::AccessRecord& record, uint32_t tid);
  void describe(const ring::KernelArgumentsRecord& record, uint32_t tid);

 private:
  RunState& run_;
  Objects& objects_;
  Operations& operations_;
  trace::Id process_;
};

}  // namespace streamscope::record
