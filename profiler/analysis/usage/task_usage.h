// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Load balance of the workers of libcoord's task queues, and when GPU tasks ran on the trace clock.
#pragma once

#include <string>
#include <vector>

#include "analysis/stream_ops.h"
#include "trace/ns_math.h"

namespace streamscope::analysis {

struct TaskUsage {
  Id queue = kNoId;
  std::string name;
  bool on_device = false;  ///< workers are GPU warps
  uint64_t tasks = 0;
  uint64_t runs = 0;               ///< of a GPU queue
  uint64_t left_out = 0;           ///< tasks that ran and are not among `tasks`
  uint64_t sms = 0;                ///< multiprocessors that ran tasks
  std::vector<Ns> busy_ns;         ///< of each worker, including idle ones
  std::vector<uint64_t> tasks_of;  ///< tasks of each worker

  /// A GPU queue that was created without task recording, or never ran.
  bool records_nothing() const { return on_device && tasks == 0 && left_out == 0; }
  Ns total_ns() const;
  Ns longest_ns() const;
  /// Longest busy time divided by the mean; 1 is balanced, 0 if nothing ran.
  double imbalance() const;
};

/// Every queue, by id. Tasks of a worker that ran at the same time, in the lanes of one warp or
/// nested, count once. O(tasks log tasks).
std::vector<TaskUsage> task_usage(const Trace& trace);

/// The op of each run, by row of task_run: the kernel whose warps are the workers. kNoId if it is
/// missing. Linear in ops and runs.
std::vector<Id> task_run_ops(const Trace& trace);

/// Start of a task on the trace clock, from the op of its run; kUnknownNs if that has no time.
inline Ns task_start_ns(const Trace& trace, const std::vector<Id>& run_ops, Id task) {
  const trace::TaskColumns& tasks = trace.task;
  const trace::OpColumns& ops = trace.op;
  if (tasks.start_ns[task] != kUnknownNs) return tasks.start_ns[task];
  const Id run = tasks.task_run_id[task];
  const Id op = run < run_ops.size() ? run_ops[run] : kNoId;
  if (op >= ops.size() || ops.start_ns[op] == kUnknownNs || tasks.offset_ns[task] == trace::kNoInt)
    return kUnknownNs;
  return trace::sum_of(ops.start_ns[op], tasks.offset_ns[task]);
}

}  // namespace streamscope::analysis
