// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The NVTX ranges and marks of one process.
#pragma once

#include <unordered_map>
#include <vector>

#include "objects.h"
#include "operations.h"
#include "record/drain/run_state.h"
#include "record/recovery/earlier_rows.h"
#include "ring/record.h"

namespace streamscope::record {

/// A range is stored when it opens, so that a killed program shows its open ranges.
/// Thread-compatible.
class Annotations {
 public:
  Annotations(RunState& run, Objects& objects, Operations& operations)
      : run_(run), objects_(objects), operations_(operations) {}

  /// `tid` is used if the record does not name the acting thread.
  void describe(const ring::RangeRecord& record, uint32_t tid);
  /// The calls in it that follow say how many ranks it has.
  void describe(const ring::CommunicatorRecord& record);
  /// Takes over the open ranges of an earlier writer.
  void restore(EarlierRows& rows, trace::Id process);

 private:
  struct Open : Stored<trace::Range> {
    Stored<trace::CollectiveCall> call;  // if the range is one
  };
  /// The columns of ranges and marks.
  template <class Row>
  Row row_of(const ring::RangeRecord& record, trace::Id thread);
  Open open(const ring::RangeRecord& record, trace::Id thread, trace::RangeKind kind,
            trace::Small depth);
  void close(Open& range, const ring::RangeRecord& record);

  struct Communicator {
    trace::Small rank_count = trace::kNoSmall, rank = trace::kNoSmall;
  };

  RunState& run_;
  Objects& objects_;
  Operations& operations_;
  std::unordered_map<trace::Id, Communicator> communicators_;  // by name
  std::unordered_map<uint64_t, std::vector<Open>> pushed_;     // by thread and domain
  std::unordered_map<uint64_t, Open> started_;                 // by NVTX id
  std::unordered_map<uint64_t, ring::RangeRecord>
      ended_early_;  // ends that were read before their starts
};

}  // namespace streamscope::record
