// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Finds the repeating part of two runs of a program, so that one repetition of the base can be
// compared with one of the new run: start-up, code loading and compilation are outside.
//
// A repetition is, in order of preference:
//   1. the time from the end of one NVTX range and of the work issued in it to the end of the next
//      of its name on its thread, if the two runs share a name whose ranges contain most of the
//      device time of both;
//   2. the time from one op to the same op one period later, if the sequence of ops that one
//      process issues has a period that contains most of its device time.
// Two periods are considered the same step of the program if they contain the same work or occur
// about equally often. Medians are compared, so that a few slow repetitions do not matter.
#pragma once

#include <optional>
#include <string>

#include "analysis/analyses.h"

namespace streamscope::analysis {

/// The repetitions of one run.
struct Repetitions {
  uint64_t count = 0;
  Ns median_ns = 0;       ///< from one to the next
  uint64_t op_count = 0;  ///< ops of one repetition; median
  /// Issue times of the newest repetitions, the same number in both runs.
  Ns from_ns = 0, to_ns = 0;
};

struct SteadyPart {
  std::string range;       ///< name of the NVTX range; "" for a sequence of ops
  bool same_work = false;  ///< one repetition issues the same ops in both runs
  uint64_t compared = 0;   ///< repetitions between from_ns and to_ns, the same number in both
  Repetitions base, now;
};

/// Empty if no such part is found. With `range`, repetitions are only the ranges of that name. If
/// the analysis of the base was asked for a sequence, repetitions are only those of a sequence; if
/// for none, there are none.
std::optional<SteadyPart> steady_part(Analyses& base, Analyses& now, const std::string& range = "");

}  // namespace streamscope::analysis
