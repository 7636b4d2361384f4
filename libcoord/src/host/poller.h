// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The one thread that looks whether the device has reached what somebody waits for.
//
// Clients give it a function that looks once and says what it found. While a thread sleeps until
// the device has got somewhere, this one looks without pause, as a synchronization of CUDA's own
// does. For all others it looks without pause for a short time, then with pauses: of some
// microseconds for those in a hurry; else longer and longer, but never long beside what was waited
// already. While nobody waits it sleeps and costs nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>

namespace coord {

struct PollResult {
  enum Found {
    kIdle,      // nothing to wait for: do not ask again before wake()
    kPatient,   // something to wait for, and nothing new; it may be noticed somewhat late
    kHurried,   // the same, and the device may be idle until it is noticed
    kWaiting,   // the same, and a thread sleeps that must not be more than 20 us behind
    kProgress,  // something was reached
  };
  Found found;
  /// CLOCK_MONOTONIC: look again by then.
  std::int64_t again_ns = std::numeric_limits<std::int64_t>::max();
};

/// Thread-safe. The function runs on the poller's thread only; it must not throw.
class PollClient {
 public:
  explicit PollClient(std::function<PollResult()> poll);
  /// Returns once the function does not run and will not run again. Not to be called by it.
  ~PollClient();
  PollClient(const PollClient&) = delete;
  PollClient& operator=(const PollClient&) = delete;

  /// There is something new to look for.
  void wake();

  struct State;

 private:
  std::shared_ptr<State> state_;
};

}  // namespace coord
