// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What the collector requests from libcoord; libcoord reports everything else on its own
// (coord/observer.h). Also the helpers shared by hooks in other source files.
#pragma once

#include <coord/observer.h>

#include <cstdint>
#include <string_view>

#include "collect/process/session.h"
#include "collect/process/thread_state.h"

namespace streamscope::collect {

/// Makes libcoord report who waits for whom in it, if the program uses it. May block forever if a
/// stuck thread holds one of libcoord's locks: call it only on an expendable thread.
void ask_coord();

/// For a hook that reports nothing while nothing is recorded.
inline ThreadState* recording_thread() {
  return running() && collecting() ? this_thread() : nullptr;
}
/// Identities are reported also while paused.
inline ThreadState* running_thread() { return running() ? this_thread() : nullptr; }

/// The coord_clock of the recording's own stamps.
inline uint32_t recording_clock() {
  return session.clock == ring::ClockKind::kTimeStampCounter ? COORD_CLOCK_COUNTER
                                                             : COORD_CLOCK_MONOTONIC;
}

/// When something was reported.
struct Stamp {
  uint64_t begin;
  uint8_t flags;  // ring::RecordFlags
  /// Simulated devices supply their virtual time; for real ones the stamp is taken here.
  explicit Stamp(int64_t time_ns);
  /// A stamp of libcoord's, if both read the same clock.
  Stamp(uint32_t clock, uint64_t stamp) : begin(stamp), flags(0) {
    if (clock == COORD_CLOCK_VIRTUAL) {
      flags = ring::kVirtualTime;
    } else if (clock != recording_clock()) [[unlikely]] {
      begin = ticks();
    }
  }
};

/// A text that may be null.
inline std::string_view view(const char* text) { return text != nullptr ? text : ""; }

/// True if the process has simulated devices; then it has no real ones.
bool coord_is_simulated();
/// The end of the calling thread's latest simulated call, in virtual ns: threads have virtual
/// clocks of their own.
uint64_t coord_virtual_now();
/// The latest of these ends, of any thread, and the number of that call.
uint64_t coord_latest_virtual();
uint32_t coord_latest_call();

}  // namespace streamscope::collect
