// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What can be missing from a recording, as LossRecord::loss names it.
//
// The collector reports losses by number; the writer stores the names, the grades and the advice of
// this list.
#pragma once

#include <cstdint>
#include <string_view>

namespace streamscope::ring {

/// Stored in ring files: append only.
enum class Loss : uint16_t {
  kNone = 0,
  kRingFull,           // records of one thread dropped; count
  kCuptiDropped,       // activity records that CUPTI says it dropped; count
  kActivityBuffers,    // activity buffers thrown away because the cap on their memory was reached;
                       // count = buffers
  kActivityRing,       // decoded activities dropped because the writer did not keep up; count
  kTimesNotDelivered,  // operations whose times never came, as far as the collector can tell; count
  kUnknownActivity,    // activity records of a kind or layout this build cannot read; count
  kOtherSubscriber,    // another tool holds CUPTI: no CUDA calls, no times; detail names it
  kProfilerConflict,   // another profiler took the activity buffers from `first` to `last`
  kNoCupti,            // libcupti was not found or refused; detail says why
  kCuptiFatal,         // CUPTI ended itself; detail is its message
  kLateAttach,       // CUDA was in use before recording began: earlier objects and work are unknown
  kGraphTimes,       // no times of graph launches: graphs could exist when recording began
  kNoThreadRing,     // a thread could not get a ring; all its calls are missing; detail says why
  kBadObserverFact,  // libcoord told something this build cannot store; count; detail gives an
                     // example
  kStacks,           // call stacks could not be taken; count
};

struct LossInfo {
  std::string_view name;    // kebab-case, never renamed
  int severity;             // trace::Severity: 0 info, 1 notice, 2 data loss, 3 error
  std::string_view advice;  // for the user, one sentence
};

constexpr LossInfo loss_info(Loss loss) {
  switch (loss) {
    case Loss::kRingFull:
      return {"ring-full", 2, "Record a shorter part of the program, or enlarge the rings."};
    case Loss::kCuptiDropped:
      return {"cupti-dropped", 2,
              "CUPTI ran out of buffers; record fewer kinds or a shorter part."};
    case Loss::kActivityBuffers:
      return {"activity-buffers", 2,
              "The writer did not keep up; record to a faster disk or a shorter part."};
    case Loss::kActivityRing:
      return {"activity-ring-full", 2,
              "The writer did not keep up; record to a faster disk or a shorter part."};
    case Loss::kTimesNotDelivered:
      return {"times-not-delivered", 2,
              "The program ended before the device reported these operations."};
    case Loss::kUnknownActivity:
      return {"unknown-activity", 1,
              "This libcupti is newer than this build knows; update StreamScope."};
    case Loss::kOtherSubscriber:
      return {"other-subscriber", 3, "Record without the other profiling tool."};
    case Loss::kProfilerConflict:
      return {"profiler-conflict", 2,
              "Do not run another CUDA profiler inside a recorded program."};
    case Loss::kNoCupti:
      return {"no-cupti", 3,
              "Install the CUDA toolkit's libcupti or name it in STREAMSCOPE_CUPTI."};
    case Loss::kCuptiFatal:
      return {"cupti-fatal", 3, "CUPTI stopped by itself; what follows in the program is missing."};
    case Loss::kLateAttach:
      return {"late-attach", 1, "Start the program under `streamscope record` to see all of it."};
    case Loss::kGraphTimes:
      return {"graph-times", 1,
              "Start the program under `streamscope record` to get times of graph launches."};
    case Loss::kNoThreadRing:
      return {"no-thread-ring", 2, "Free space in the folder of the trace."};
    case Loss::kBadObserverFact:
      return {"bad-observer-fact", 1,
              "libcoord and the collector are of different versions; use one version."};
    case Loss::kStacks:
      return {"no-stacks", 0, "Call stacks were not available here."};
    case Loss::kNone:
      break;
  }
  return {"unknown", 2, ""};
}

}  // namespace streamscope::ring
