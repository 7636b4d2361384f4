// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The one thread that polls whether the device has reached what clients wait for.
//
// Each client provides a function that polls once and returns what it found. While a thread sleeps
// until the device reaches a point, the poller polls without a pause, as a CUDA synchronization
// does. For other clients it polls without a pause for a short time, then with pauses: a few
// microseconds for kHurried clients; otherwise increasingly long ones, but always short relative to
// the wait so far. With no waiting client it sleeps and costs nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>

namespace coord {

struct PollResult {
  enum Found {
    kIdle,      // nothing to wait for: do not poll again before wake()
    kPatient,   // something to wait for, nothing new; some delay in noticing it is acceptable
    kHurried,   // the same, and the device may be idle until it is noticed
    kWaiting,   // the same, and a thread sleeps that must notice within 20 us
    kProgress,  // something was reached
  };
  Found found;
  /// CLOCK_MONOTONIC: poll again by then.
  std::int64_t again_ns = std::numeric_limits<std::int64_t>::max();
};

/// Thread-safe. The function runs on the poller's thread only; it must not throw.
class PollClient {
 public:
  explicit PollClient(std::function<PollResult()> poll);
  /// Returns once the function does not run and will not run again. Not to be called from it.
  ~PollClient();
  PollClient(const PollClient&) = delete;
  PollClient& operator=(const PollClient&) = delete;

  /// There is something new to poll for.
  void wake();

  struct State;

 private:
  std::shared_ptr<State> state_;
};

}  // namespace coord
