// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Calls a function once a stream has passed a point; handles thousands of points at a time.
//
// One libcoord thread polls for all of them, one event of each stream at a time; the functions run
// on an executor, never on a thread of the driver; those of one stream begin in its order. A wait
// is bound to the record that when_reached() makes, so later records cannot change it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>

#include "coord/device.h"
#include "coord/executor.h"
#include "coord/export.h"
#include "coord/stream.h"
#include "coord/types.h"

namespace coord {

enum class WaitResult : std::uint8_t {
  kReached,
  kFailed,     // the device failed; see the error
  kTimedOut,   // not reached in time; the work still runs
  kCancelled,  // by cancel(), or because the waiter ended
};

struct WaitOutcome {
  WaitResult result = WaitResult::kReached;
  std::exception_ptr error;  // of kFailed
};

/// Names a wait of one AsyncWaiter; never reused for another one.
using WaitId = Id<struct WaitTag>;

struct AsyncWaiterOptions {
  /// Where the functions run; null: Executor::shared().
  std::shared_ptr<Executor> executor{};
};

/// Thread-safe, but calls on one stream need external synchronization. Keeps its device open.
class COORD_EXPORT AsyncWaiter {
 public:
  explicit AsyncWaiter(const Device& device, const AsyncWaiterOptions& options = {});
  /// Ends pending waits with kCancelled and returns when all functions have run. Not to be called
  /// by one of them.
  ~AsyncWaiter();
  AsyncWaiter(const AsyncWaiter&) = delete;
  AsyncWaiter& operator=(const AsyncWaiter&) = delete;

  /// Calls `function` exactly once: when all work now in `stream` has ended, the device has failed,
  /// `timeout` has expired, or the wait was cancelled, whichever comes first. Enqueues one record
  /// and returns. `function` must not throw and may use the waiter. Throws kCapture if the stream
  /// is being captured.
  WaitId when_reached(StreamRef stream, std::function<void(WaitOutcome)> function,
                      Nanoseconds timeout = Nanoseconds::max());
  /// Ends a wait; its function gets kCancelled. False if it has ended already. O(1).
  bool cancel(WaitId wait);

  [[nodiscard]] std::size_t pending() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace coord
