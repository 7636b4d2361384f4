// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The last readers and writer of memory, by address. Thread-compatible.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "coord/operation.h"
#include "operation_record.h"

namespace coord {

class MemoryAccesses {
 public:
  /// Called with an earlier conflicting operation that has not ended, and where it conflicts.
  using Conflict = std::function<void(OperationRecord& earlier, MemoryRange where)>;

  /// Finds conflicts of an access: the last write and, if it writes, the reads since then.
  void conflicts(const MemoryRange& range, bool writes, const Conflict& conflict) const;
  /// The same for all ranges of an operation, which are then stored as the last accesses.
  void add(OperationRecord& record, const Conflict& conflict);

 private:
  struct Segment {
    std::uintptr_t end = 0;
    OperationHandle writer;
    std::vector<OperationHandle> readers;  // since the write
  };

  void add(const MemoryRange& range, bool writes, OperationHandle operation);
  void split(std::uintptr_t at);

  std::map<std::uintptr_t, Segment> segments_;  // by their begin; they do not overlap
};

}  // namespace coord
