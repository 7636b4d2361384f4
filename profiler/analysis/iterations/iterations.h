// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The iterations of a program: the unit in which a report answers.
//
// They are found from NVTX ranges, or from the longest sequence of work that repeats, or from the
// launches of one graph. An iteration ends when its work and all work before it is done, and the
// next one begins there, so that they cover the time without gaps. What precedes the steady part is
// start-up: code loading, compilation, warm-up.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/analyses.h"
#include "vocabulary/iteration_source.h"

namespace streamscope::analysis {

using streamscope::IterationSource;

/// How to look for iterations: "auto", "none", "graph", "sequence" or "nvtx:NAME".
struct IterationRequest {
  IterationSource source = IterationSource::kNone;  ///< kNone: `off` or the first that is found
  bool off = false;
  std::string range;

  bool operator==(const IterationRequest&) const = default;
};
/// False if the text is none of these.
bool parse(std::string_view text, IterationRequest& request);

/// What repeats less often is no iteration.
inline constexpr size_t kFewestIterations = 4;
/// But ranges that name a step. One is enough if it is asked for, or if nothing else repeats and
/// its name has a number.
inline constexpr size_t kFewestMarked = 2;

/// An iteration that takes this many times the median is an outlier.
inline constexpr double kOutlierFactor = 1.5;

/// 1/20 of an iteration: a smaller part or difference does not tell what bounds it.
inline constexpr Ns kSmallPart = 20;

struct Iteration {
  Ns start_ns = kUnknownNs;   ///< the end of the one before; of the first: its issue
  Ns end_ns = kUnknownNs;     ///< when its work and all work before it was done
  Ns issued_ns = kUnknownNs;  ///< when the host began it: its range, or the call of its first op
  Id last_op = kNoId;         ///< the one that was done last
  uint64_t op_count = 0;

  Ns duration_ns() const { return end_ns - start_ns; }
};

/// Immutable.
struct Iterations {
  IterationSource source = IterationSource::kNone;
  std::string name;  ///< of the NVTX range; else ""
  Id process_id = kNoId;
  Id thread_id = kNoId;        ///< kRange: the thread with the ranges
  std::vector<Iteration> all;  ///< in order, without gaps
  size_t steady_from = 0;      ///< index of the first of the steady part
  size_t steady_to = 0;        ///< index after its last
  size_t known_to = 0;         ///< index after the last whose work has times
  // Over the steady part; `low` and `high` are its quartiles.
  Ns median_ns = 0, low_ns = 0, high_ns = 0;
  uint64_t op_count = 0;     ///< median
  size_t outlier_count = 0;  ///< that took 1.5 times the median or more
  double repeated = 0;       ///< kSequence: how well it explains all work of the process, 0 to 1
  size_t rounds = 1;         ///< kSequence: how many equal ones make up an iteration

  /// A profile of a single step.
  bool is_only_one() const { return all.size() == 1; }
  bool found() const { return source != IterationSource::kNone; }
  size_t steady_count() const { return steady_to - steady_from; }
  std::vector<Ns> steady_durations() const;
  /// Of a quantity that each of some iterations of the steady part has, what one of the median
  /// duration has: in proportion to theirs, by the interquartile means of both. 0 of none.
  Ns usual_ns(std::vector<Ns> of_each, std::vector<Ns> durations) const;
  Ns steady_start_ns() const { return all[steady_from].start_ns; }
  Ns steady_end_ns() const { return all[steady_to - 1].end_ns; }
  /// When the host began to issue an iteration; of `next` behind the last: when all was done.
  Ns issued_until_ns(size_t next) const {
    return next < all.size() ? all[next].issued_ns : all.back().end_ns;
  }
  /// When the host began to issue the steady part, and when it began to issue what follows.
  Ns issued_from_ns() const { return all[steady_from].issued_ns; }
  Ns issued_to_ns() const { return issued_until_ns(steady_to); }
};

/// None without device times, and if too few are found. O(n log n) in the ops.
Iterations find_iterations(Analyses& analyses, const IterationRequest& request = {});

/// Fills what is computed over the steady part, which has at least one iteration.
void measure_steady(Iterations& iterations);

/// "NVTX range 'step'", "430 ops that repeat, 99 % alike", "launches of one graph".
std::string how_found(const Iterations& iterations);

}  // namespace streamscope::analysis
