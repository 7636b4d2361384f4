// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Assertions on the structure of a program: what a user requires of every run, as text.
//
//   may_overlap("*AllGather*", "gemm*")      work of both patterns may run at the same time
//   may_overlap_across("copy*", "gemm*")     the same, in two successive iterations
//   ordered("memcpy HtoD", "gemm*")          the first always ends before the second starts
//   no_sync_in("nvtx:step")                  the host does not block there
//   launches_per_iteration <= 120            also syncs_… and allocations_per_iteration
//   max_bound("host") <= 20 %                a share of the iteration
//
// All but max_bound are decided by the order of calls, streams, events and synchronizations, never
// by how long something took: the same program gets the same answer in every run. docs/ci.md
// defines each of them. assertion_parser.cpp reads the text, evaluate.h answers.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/iterations/time_share.h"

namespace streamscope::analysis {

enum class AssertionKind : uint8_t {
  kMayOverlap,
  kMayOverlapAcross,
  kOrdered,
  kNoSyncIn,
  kLaunches,
  kSyncs,
  kAllocations,
  kMaxBound,
};

enum class Comparison : uint8_t { kAtMost, kBelow, kEqual, kAtLeast, kAbove };

struct Assertion {
  AssertionKind kind = AssertionKind::kMayOverlap;
  /// The texts in parentheses: patterns, where, or the name of a bound.
  std::string first, second;
  Comparison comparison = Comparison::kAtMost;  ///< kinds with a limit
  double limit = 0;                             ///< a count, or a percentage for kMaxBound

  /// In the normal form: equal texts are equal assertions.
  std::string text() const;
  /// True if a count or a percentage is within the limit.
  bool allows(double value) const;

  bool operator==(const Assertion&) const = default;
};

/// Reads one assertion. Throws Error that names `subject` and the column of the mistake.
Assertion parse_assertion(std::string_view text, const std::string& subject);

/// The names that max_bound accepts, with the shares that each of them adds up.
struct Bound {
  std::string_view name;
  std::vector<TimeShare> shares;
};
std::span<const Bound> bounds();

/// True if a name matches a pattern: `*` is any text, `?` any character, everything else itself.
bool matches(std::string_view pattern, std::string_view name);

}  // namespace streamscope::analysis
