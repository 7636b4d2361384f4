// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Submits operations and places exactly the waits that their dependencies need.
//
// A dependency on an operation of another stream becomes a wait of the stream on the device; the
// host never waits for it. A wait that is already implied (same stream, an earlier wait, through
// any chain of operations, or work that the host has seen completed) is not issued. A wait covers
// the operation it names and nothing submitted after it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <source_location>

#include "coord/device.h"
#include "coord/export.h"
#include "coord/operation.h"

namespace coord {

/// Counts since the Coordinator was made.
struct CoordinatorMetrics {
  std::uint64_t registered = 0;
  std::uint64_t submitted = 0;
  std::uint64_t completed = 0;  // proved so far
  std::uint64_t failed = 0;
  std::uint64_t records = 0;       // events recorded, one per submitted operation
  std::uint64_t waits_placed = 0;  // stream waits issued
  std::uint64_t waits_elided = 0;  // dependencies that needed none
  std::uint64_t host_waits = 0;    // event synchronizations by wait()
};

/// Thread-safe, but submissions to one stream need outside order. Keeps its device open; the
/// streams of its operations must live until those have been submitted.
class COORD_EXPORT Coordinator {
 public:
  explicit Coordinator(const Device& device);
  /// Waits for operations that have callbacks which did not run yet, and runs them.
  ~Coordinator();
  Coordinator(const Coordinator&) = delete;
  Coordinator& operator=(const Coordinator&) = delete;

  /// Places the waits for `options.after`, calls `function(options.stream)`, which enqueues the
  /// operation's work and nothing else on that stream, and marks the point. Returns without waiting
  /// for any of it. If `function` throws, the operation has failed and the exception passes
  /// through.
  ///
  /// Throws kInvalidHandle for a null or destroyed stream, or a dependency that is null or of
  /// another Coordinator.
  template <typename Function>
  OperationHandle submit(const OperationOptions& options, Function&& function,
                         std::source_location where = std::source_location::current()) {
    Submission submission(*this, options, where);
    std::forward<Function>(function)(options.stream);
    return submission.finish();
  }

  /// True once the device has proved that the operation's work has ended. Never blocks. Throws if
  /// it failed.
  [[nodiscard]] bool completed(OperationHandle operation);
  /// Blocks until the operation's work has ended, then runs callbacks that are due. Throws
  /// kDeviceFailure if it failed, kDeadlock if it can never end (simulated device).
  void wait(OperationHandle operation);

  /// Calls `callback` once the operation has completed or failed: from wait(), poll() or the
  /// destructor, on the thread that calls these, never on a thread of the driver. The callback may
  /// use the Coordinator; it must not throw.
  void on_complete(OperationHandle operation, std::function<void(Outcome)> callback);
  /// Looks which operations with callbacks have ended and runs the callbacks. Never blocks on the
  /// device. Returns how many ran.
  std::size_t poll();

  [[nodiscard]] CoordinatorMetrics metrics() const;

 private:
  /// One submission from its waits to its record; failed unless finished.
  class COORD_EXPORT Submission {
   public:
    Submission(Coordinator& coordinator, const OperationOptions& options,
               const std::source_location& where);
    ~Submission();
    Submission(const Submission&) = delete;
    Submission& operator=(const Submission&) = delete;
    OperationHandle finish();

   private:
    Coordinator& coordinator_;
    StreamRef stream_;
    OperationHandle handle_;
    bool finished_ = false;
  };

  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace coord
