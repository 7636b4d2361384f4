// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The one thread that looks whether the device has reached what somebody waits for.
//
// Clients give it a function that looks once and says what it found. While anybody waits, the
// thread looks without pause for a short time and then about every 20 us; while nobody does, it
// sleeps and costs nothing.
#pragma once

#include <functional>
#include <memory>

namespace coord {

enum class Look {
  kIdle,      // nothing to wait for: do not ask again before wake()
  kWaiting,   // something to wait for, and nothing new
  kProgress,  // something was reached
};

/// Thread-safe. The function runs on the poller's thread only; it must not throw.
class PollClient {
 public:
  explicit PollClient(std::function<Look()> look);
  /// Returns once the function does not run and will not run again. Not to be called by it.
  ~PollClient();
  PollClient(const PollClient&) = delete;
  PollClient& operator=(const PollClient&) = delete;

  /// There is something to look for.
  void wake();

  struct State;

 private:
  std::shared_ptr<State> state_;
};

}  // namespace coord
