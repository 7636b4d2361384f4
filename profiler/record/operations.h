// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What libcoord says about one process: operations and what they depend on, pools, barriers.
#pragma once

#include <vector>

#include "flat_map.h"
#include "objects.h"
#include "ring/record.h"
#include "run_state.h"

namespace streamscope::record {

/// Thread-compatible.
class Operations {
 public:
  Operations(RunState& run, Objects& objects, trace::Id process)
      : run_(run), objects_(objects), process_(process) {}

  /// Row of an operation; kNoId for kNone32. It may be described later.
  trace::Id id(uint32_t native) {
    return native == ring::kNone32 ? trace::kNoId : known(native).id;
  }

  void describe(const ring::OperationRecord& record, uint32_t tid);
  void describe(const ring::OperationDependencyRecord& record);
  void describe(const ring::OperationStateRecord& record);
  void describe(const ring::PoolRecord& record);
  void describe(const ring::PoolSampleRecord& record);
  void describe(const ring::BarrierRecord& record);
  /// Of the barrier that was described last with this operation, in the same ring.
  void describe(const ring::BarrierStreamRecord& record, uint32_t tid);
  /// Takes over a row of an earlier writer.
  void restore(trace::Id id, const trace::Operation& row);

 private:
  struct Operation {
    trace::Operation row;
    trace::Id id = trace::kNoId;
  };
  Operation& known(uint32_t native);
  trace::Id pool(uint32_t native);

  RunState& run_;
  Objects& objects_;
  trace::Id process_;
  FlatMap<uint32_t, uint32_t, Spread::kDense> index_;  // native -> index
  std::vector<Operation> operations_;
  FlatMap<uint32_t, trace::Id> pools_, barriers_;  // by pool; by operation
  /// (operation, what it depends on) -> row: told at registration, and again once satisfied.
  FlatMap<uint64_t, trace::Id> dependencies_;
};

}  // namespace streamscope::record
