// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// One call on the simulated device, from its entry to what the observer is told at its exit.
#pragma once

#include <algorithm>
#include <chrono>
#include <string>

#include "sim/sim_backend.h"

namespace coord::sim {

/// Takes the device's lock, fixes the virtual time of entry, and on finish() that of exit. A call
/// that is left by an exception is told with the error's code.
class SimBackend::Call {
 public:
  Call(SimBackend& backend, const char* name);
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  /// The call's stream and event. The entry is not before the last call on them, of whatever
  /// thread: a driver would make the threads queue up.
  void on_stream(NativeStream handle);
  void on_event(NativeEvent handle);
  void says(std::uint64_t object, std::uint64_t value = 0) { object_ = object, value_ = value; }
  void says_stream(NativeStream handle) { stream_handle_ = handle; }

  /// Fixes the time of entry, after which the device may be looked at. Throws if the device has
  /// failed.
  void enter();
  /// Enqueues work on the call's stream, with this call's correlation id.
  OpRef submit(OpSpec spec, std::span<const OpRef> after = {});
  /// Blocks the host until all of `ops` have ended; throws kDeadlock or kDeviceFailure.
  void block_until(std::span<const OpRef> ops, std::int64_t idle_ns, std::int64_t wake_ns);
  /// The host was blocked until then.
  void blocked_until(std::int64_t time_ns) { end_ns_ = std::max(end_ns_, time_ns); }
  /// The call succeeds and has taken so long (in addition to what it blocked).
  void finish(std::int64_t cost_ns);
  /// The call ends with CUDA's "not ready", which is no error.
  void finish_not_ready(std::int64_t cost_ns);
  /// The call fails: throws.
  [[noreturn]] void fail(int code, const std::string& detail);

  std::uint32_t stream = 0;
  std::uint32_t event = 0;
  std::int64_t begin_ns = 0;

 private:
  void leave(std::int64_t end_ns, int result);

  SimBackend& backend_;
  const char* name_;
  std::unique_lock<std::mutex> lock_;
  std::int64_t& clock_ns_;
  std::uint32_t correlation_id_;
  bool has_stream_ = false, has_event_ = false, left_ = false;
  std::int64_t end_ns_ = 0;  // so far
  std::uint64_t stream_handle_ = 0, object_ = 0, value_ = 0;
};

/// True while the calling thread runs work of a simulated device, from where no call may be made.
bool inside_device() noexcept;

/// Marks the calling thread so while the engine moves.
class InsideDevice {
 public:
  InsideDevice() noexcept;
  ~InsideDevice();
  InsideDevice(const InsideDevice&) = delete;
  InsideDevice& operator=(const InsideDevice&) = delete;
};

}  // namespace coord::sim
