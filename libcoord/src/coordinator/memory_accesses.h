// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The last readers and writer of memory, by address. Thread-compatible.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "coord/operation.h"

namespace coord {

class MemoryAccesses {
 public:
  /// Called with an earlier conflicting access and its range.
  using Conflict = std::function<void(OperationHandle earlier, MemoryRange where)>;
  /// True for operations that need no longer be kept.
  using Forget = std::function<bool(OperationHandle)>;

  /// Finds conflicts of an access: the last write and, if it writes, the reads since then.
  void conflicts(const MemoryRange& range, bool writes, const Conflict& conflict) const;
  /// Stores an access.
  void add(const MemoryRange& range, bool writes, OperationHandle operation, const Forget& forget);

 private:
  struct Segment {
    std::uintptr_t end = 0;
    OperationHandle writer;
    std::vector<OperationHandle> readers;  // since the write
  };

  void split(std::uintptr_t at);

  std::map<std::uintptr_t, Segment> segments_;  // by their begin; they do not overlap
};

}  // namespace coord
