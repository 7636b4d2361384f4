// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Which ops access which memory: the rows of `access` matched with ops, in an order that
// memory_conflicts.h can walk.
//
// Copies and memsets, and what operations and simulated kernels declare, are certain. What a kernel
// does with a parameter that points into allocated memory is only possible: const in the kernel's
// name means that it does not write there, and the bytes it reads are unknown.
#pragma once

#include <span>
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
  bool possible = false;
  MemorySpace space = MemorySpace::kUnknown;

  bool by_host() const { return first_op == kNoId; }
  bool is_parameter() const { return end == 0; }
};

/// A 2D copy with more rows is treated as one piece, and only as a possible use.
inline constexpr trace::Int kMostRows = 4096;

/// Immutable; keeps a reference to the trace.
class MemoryUses {
 public:
  explicit MemoryUses(const IssueOrder& order);

  /// By ops, in order of their items.
  std::span<const MemoryUse> of_ops() const { return uses_; }
  /// By host code, in time order.
  std::span<const MemoryUse> of_host() const { return host_; }
  bool empty() const { return uses_.empty() && host_.empty(); }

  bool any_possible() const { return any_possible_; }
  /// Kernels whose accesses are not recorded.
  size_t unknown_kernels() const { return unknown_kernels_; }
  Id process(const MemoryUse& use) const { return trace_.access.process_id[use.access]; }

 private:
  const Trace& trace_;
  std::vector<MemoryUse> uses_, host_;
  size_t unknown_kernels_ = 0;
  bool any_possible_ = false;
};

/// True if a kernel's name, mangled or not, shows that this parameter points to const.
bool points_to_const(std::string_view name, trace::Small parameter);

}  // namespace streamscope::analysis
