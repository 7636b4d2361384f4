// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What libcoord reports about one process: operations and their dependencies, pools, barriers,
// timelines.
#pragma once

#include "objects.h"
#include "record/drain/flat_map.h"
#include "record/drain/run_state.h"
#include "record/recovery/earlier_rows.h"
#include "ring/record.h"
#include "ring/ring.h"

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
  void describe(const ring::OperationDependenciesRecord& record);
  void describe(const ring::OperationStateRecord& record);
  /// The submission end in the header of a ring; `seen`: time of the one that was reported last.
  void describe(const ring::Submission& end, uint64_t* seen);
  void describe(const ring::OperationsCompletedRecord& record);
  void describe(const ring::PoolRecord& record);
  void describe(const ring::PoolSampleRecord& record);
  void describe(const ring::BarrierRecord& record);
  /// For the barrier that was described last with this operation, in the same ring.
  void describe(const ring::BarrierStreamRecord& record, uint32_t tid);
  void describe(const ring::BarrierArrivalRecord& record, uint32_t tid);
  void describe(const ring::TimelineRecord& record);
  void describe(const ring::TimelinePointRecord& record, uint32_t tid);
  /// Takes over the rows of an earlier writer.
  void restore(EarlierRows& rows);

 private:
  using Operation = Stored<trace::Operation>;
  using Barrier = Stored<trace::Barrier>;
  using BarrierStream = Stored<trace::BarrierStream>;
  Operation& known(uint32_t native);
  trace::Id pool(uint32_t native);
  trace::Id timeline(uint32_t native);
  void change_state(uint32_t native, OperationState state, trace::Ns at);
  void arrive(Barrier& barrier, trace::Ns at);

  RunState& run_;
  Objects& objects_;
  trace::Id process_;
  SequenceMap<Operation> operations_;  // by native
  FlatMap<uint32_t, trace::Id> pools_, timelines_;
  FlatMap<uint32_t, Barrier> barriers_;       // by operation, the newest
  FlatMap<uint64_t, BarrierStream> members_;  // by barrier and stream
  /// By operation and dependency: reported at registration, and again once satisfied.
  FlatMap<uint64_t, trace::Id> dependencies_;
};

}  // namespace streamscope::record
