// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What libcoord reports about one process: operations and their dependencies, pools, barriers,
// timelines.
#pragma once

#include <vector>

#include "objects.h"
#include "record/drain/flat_map.h"
#include "record/drain/run_state.h"
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
  /// Takes over a row of an earlier writer.
  void restore(trace::Id id, const trace::Operation& row);
  void restore(trace::Id id, const trace::OperationDependency& row);
  void restore(trace::Id id, const trace::Barrier& row, uint32_t operation);
  void restore(trace::Id id, const trace::BarrierStream& row);
  void restore(trace::Id id, const trace::Timeline& row);

 private:
  struct Operation {
    trace::Operation row;
    trace::Id id = trace::kNoId;
  };
  struct Barrier {
    trace::Barrier row;
    trace::Id id = trace::kNoId;
  };
  struct BarrierStream {
    trace::BarrierStream row;
    trace::Id id = trace::kNoId;
  };
  Operation& known(uint32_t native);
  trace::Id pool(uint32_t native);
  trace::Id timeline(uint32_t native);
  void change_state(uint32_t native, OperationState state, trace::Ns at);
  void arrive(Barrier& barrier, trace::Ns at);
  void release(Barrier& barrier, trace::Ns at);

  RunState& run_;
  Objects& objects_;
  trace::Id process_;
  SequenceMap<uint32_t> index_;  // native -> index
  std::vector<Operation> operations_;
  FlatMap<uint32_t, trace::Id> pools_, timelines_;
  FlatMap<uint32_t, uint32_t> barrier_of_;  // operation -> index
  std::vector<Barrier> barriers_;
  FlatMap<uint64_t, BarrierStream> members_;  // by barrier and stream
  /// By operation and dependency: reported at registration, and again once satisfied.
  FlatMap<uint64_t, trace::Id> dependencies_;
};

}  // namespace streamscope::record
