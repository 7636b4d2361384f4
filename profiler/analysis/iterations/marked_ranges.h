// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// NVTX ranges of one name, which may each be one iteration.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "issued_work.h"

namespace streamscope::analysis {

/// Begin and end of ranges of one thread.
using RangeSpans = std::vector<std::pair<Ns, Ns>>;

/// Those that begin in no other, by start: a range inside one of the same name is part of it.
RangeSpans outermost(RangeSpans spans);

enum class Unended { kLeftOut, kEndless };  ///< the latter: they end at the greatest Ns

/// The outermost ranges that is_named() `name` (vocabulary/range_name.h), by thread.
std::map<Id, RangeSpans> ranges_named(const Trace& trace, std::string_view name, Unended unended);

/// The outermost ranges of one name.
struct MarkedRanges {
  Id thread_id = kNoId;     ///< that has most of them
  RangeSpans spans;         ///< of that thread
  std::vector<Ns> done_ns;  ///< when each range and the work issued since its start had ended
  Ns device_ns = 0;         ///< device time of ops issued between the first start and the last end
  Ns inside_ns = 0;         ///< of these, issued while one of the ranges was open
  bool numbered = false;    ///< their names have numbers: each is one of several

  /// From one to the next.
  std::vector<Ns> times() const;
};

/// True for the domain of ranges that PyTorch's profiler made of operators and functions of Python:
/// their category in its profile.
bool is_operator(std::string_view domain);

/// "ProfilerStep#12" of the PyTorch profiler is "ProfilerStep" number 12.
std::string_view without_number(std::string_view name);

/// Names that a program gives to its iterations; "epoch" is not one.
bool names_a_step(std::string_view name);

/// By name, without the number behind '#'. Ranges that name a step are of one name if their names
/// differ by the numbers at the end, unless these are few that recur, such as "step 1" and "step 2"
/// of an algorithm.
using MarkedByName = std::map<std::string, MarkedRanges, std::less<>>;
using NamedMarks = MarkedByName::value_type;

/// Only those that is_named() `wanted`, unless that is "".
MarkedByName marked_ranges(const IssuedWork& work, const std::string& wanted);

/// Which device time is compared with that of ranges.
enum class HeldOf {
  kRun,           ///< without the data before the first range and the results after the last
  kAfterStartUp,  ///< from the first range on, if that is at least a quarter of the run's
};

/// True if the ranges hold at least half of the device time and of the time, and most of the device
/// time between them: operators of a framework recur, but other work is issued between them.
bool is_steady(const IssuedWork& work, const MarkedRanges& ranges, HeldOf held_of);

}  // namespace streamscope::analysis
