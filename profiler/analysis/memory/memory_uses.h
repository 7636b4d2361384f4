// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Which ops access which memory: the rows of `access` matched with ops, in an order that
// memory_conflicts.h can walk.
//
// Copies and memsets, what operations and simulated kernels declare, and what was observed are
// certain. What a kernel that was not observed does with a parameter that points into allocated
// memory is only possible: const in the kernel's name means that it does not write there, and the
// bytes it reads are unknown. So is what it may copy by a tensor map.
#pragma once

#include <string_view>
#include <vector>

#include "analysis/order/issue_order.h"
#include "memory_lives.h"

namespace streamscope::analysis {

/// A piece of memory that one op, the ops of one operation, or host code accesses.
struct MemoryUse {
  Id access = kNoId;                     ///< row of access, which refers to further rows
  uint32_t item = 0;                     ///< of last_op, in issue order
  Id first_op = kNoId, last_op = kNoId;  ///< in issue order; kNoId: host code
  uint64_t begin = 0, end = 0;           ///< of the first row; end 0: a kernel's parameter
  bool write = false;
  bool atomic = false;  ///< a write by atomic operations only
  bool possible = false;
  MemorySpace space = MemorySpace::kUnknown;

  bool by_host() const { return first_op == kNoId; }
  bool is_parameter() const { return end == 0; }
};

/// A 2D copy with more rows is treated as one piece, and only as a possible use.
inline constexpr trace::Int kMostRows = 4096;

struct MemoryUses {
  std::vector<MemoryUse> of_ops;   ///< in order of their items
  std::vector<MemoryUse> of_host;  ///< in time order
  size_t unknown_kernels = 0;      ///< kernels whose accesses are not all recorded
  bool observed = false;           ///< accesses of kernels were observed
  bool any_possible = false;
};
MemoryUses memory_uses(const IssueOrder& order);

/// True if a kernel's name, mangled or not, shows that this parameter points to const.
bool points_to_const(std::string_view name, trace::Small parameter);

}  // namespace streamscope::analysis
