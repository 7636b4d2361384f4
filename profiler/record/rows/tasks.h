// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What libcoord reports about the task queues of one process: which worker ran which task, and
// when.
#pragma once

#include <cstdint>

#include "objects.h"
#include "operations.h"
#include "record/drain/flat_map.h"
#include "record/drain/run_state.h"
#include "record/recovery/earlier_rows.h"
#include "ring/record.h"

namespace streamscope::record {

/// Queues and runs may be described after records that refer to them. Thread-compatible.
class Tasks {
 public:
  Tasks(RunState& run, Objects& objects, Operations& operations, trace::Id process)
      : run_(run), objects_(objects), operations_(operations), process_(process) {}

  void describe(const ring::TaskQueueRecord& record);
  void describe(const ring::TaskRunRecord& record, uint32_t tid);
  void describe(const ring::TaskRecord& record, uint32_t tid);
  /// Takes over the rows of an earlier writer.
  void restore(EarlierRows& rows);

 private:
  using Run = Stored<trace::TaskRun>;
  trace::Id queue(uint32_t native);
  Run& known_run(uint32_t queue, uint32_t native);

  RunState& run_;
  Objects& objects_;
  Operations& operations_;
  trace::Id process_;
  FlatMap<uint32_t, trace::Id> queues_;  // by libcoord's number
  FlatMap<uint64_t, Run> runs_;          // by row of the queue and number
};

}  // namespace streamscope::record
