// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What can be missing from a recording: the values of LossRecord::loss.
//
// The collector reports losses by number; the writer stores them by name. Severities, meanings and
// advice are in trace/loss.cpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace streamscope::ring {

/// Stored in ring files: append only.
enum class Loss : uint16_t {
  kNone = 0,
  kRingFull,           // records of one thread dropped; count
  kCuptiDropped,       // activity records that CUPTI reported as dropped; count
  kActivityBuffers,    // activity buffers discarded because the cap on their memory was reached;
                       // count = buffers
  kActivityRing,       // decoded activities dropped because the writer did not keep up; count
  kTimesNotDelivered,  // operations whose times never arrived, as far as the collector can tell;
                       // count
  kUnknownActivity,    // activity records of a kind or layout this build cannot read; count
  kOtherSubscriber,    // another tool uses CUPTI: no CUDA calls, no times; detail names it
  kProfilerConflict,   // another profiler took the activity buffers from `first` to `last`
  kNoCupti,            // libcupti was not found or refused to start; detail says why
  kCuptiFatal,         // CUPTI stopped with a fatal error; detail is its message
  kLateAttach,       // CUDA was in use before recording began: earlier objects and work are unknown
  kGraphTimes,       // no times of graph launches: graphs could exist when recording began
  kNoThreadRing,     // a thread could not get a ring; all its calls are missing; detail says why
  kBadObserverFact,  // libcoord reported data that this build cannot store; count; detail gives an
                     // example
  kStacks,           // call stacks could not be taken; count
  kProfilerRefused,  // CUPTI refused another profiler between `first` and `last`; detail names it
  kKernelParameters,  // kernels of which only some parameters were scanned; count
  kCallsMissing,  // a stream was used that no recorded call created: wrappers do not see all calls
  kNotObserved,   // the accesses of kernels could not be observed; detail says why
};

/// By number. Kebab-case, never renamed; trace/loss.h has their meanings and what to do about them.
inline constexpr std::array<std::string_view, 20> kLossNames = {
    "",
    "ring-full",
    "cupti-dropped",
    "activity-buffers",
    "activity-ring-full",
    "times-not-delivered",
    "unknown-activity",
    "other-subscriber",
    "profiler-conflict",
    "no-cupti",
    "cupti-fatal",
    "late-attach",
    "graph-times",
    "no-thread-ring",
    "bad-observer-fact",
    "no-stacks",
    "profiler-refused",
    "kernel-parameters",
    "calls-missing",
    "accesses-not-observed",
};

/// "" for a number that this build does not know.
constexpr std::string_view loss_name(Loss loss) {
  const auto number = static_cast<size_t>(loss);
  return number < kLossNames.size() ? kLossNames[number] : std::string_view();
}

}  // namespace streamscope::ring
