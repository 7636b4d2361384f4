// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// One call on the simulated device, from its entry to its report to the observer at its exit.
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "sim/sim_backend.h"

namespace coord::sim {

/// How a stream capture treats a call, as in CUDA.
enum class CaptureRule {
  kSafe,         // always allowed
  kCaptures,     // begins or ends one
  kEnqueues,     // on a captured stream it becomes part of the graph
  kLooks,        // queries a stream or event: never a captured one
  kUnsafe,       // might interfere: depends on the modes of captures and threads
  kWholeDevice,  // never during a capture on the device
};

/// Takes the machine's lock, fixes the virtual time of entry, and on finish() that of exit. A call
/// that ends with an exception is reported with the error's code.
class SimBackend::Call {
 public:
  Call(SimBackend& backend, const char* name);
  /// One without a stream or event, and one on a stream, at its entry.
  Call(SimBackend& backend, const char* name, CaptureRule rule);
  Call(SimBackend& backend, const char* name, NativeStream handle,
       CaptureRule rule = CaptureRule::kEnqueues);
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  /// The call's stream and event. The entry is not before the end of the last call on them, from
  /// any thread: a driver would serialize the threads.
  void on_stream(NativeStream handle);
  void on_event(NativeEvent handle, bool changes_it = false);
  void says(std::uint64_t object, std::uint64_t value = 0) { object_ = object, value_ = value; }
  void says_stream(NativeStream handle) { stream_handle_ = handle; }
  /// The call's result depends on whether these have ended.
  void touches(const std::vector<OpRef>& ops);
  void cannot_throw() { may_throw_ = false; }

  /// Fixes the time of entry, after which the device may be inspected. Throws if the device has
  /// failed, if an injection applies, or if a capture forbids the call.
  void enter(CaptureRule rule);
  /// The entry is not before `ns`: the call uses what another thread gave back then.
  void enters_after(std::int64_t ns) { begin_ns = end_ns_ = std::max(begin_ns, ns); }
  /// Whether the call's stream is being captured, so that it submits nodes of a graph.
  [[nodiscard]] bool captured() const;
  /// Enqueues work on the call's stream, with this call's correlation id. Blocks while the stream
  /// is full. OpRef{} if captured.
  OpRef submit(OpSpec spec, std::span<const OpRef> after = {});
  /// Blocks the host until all of `ops` have ended; throws kDeadlock or kDeviceFailure.
  void block_until(std::span<const OpRef> ops, std::int64_t idle_ns, std::int64_t wake_ns);
  /// Whether all of them have ended by now.
  [[nodiscard]] bool poll(std::span<const OpRef> ops);
  /// Waits for all work of all devices. False if some of it can never end. Throws nothing.
  bool drain();
  /// The call took `cost_ns`, in addition to the time it blocked. It succeeds, or a query ends with
  /// CUDA's "not ready", which is not an error.
  void finish(std::int64_t cost_ns, bool ready = true);
  /// The call fails: throws.
  [[noreturn]] void fail(int code, const std::string& detail);
  /// The call invalidates that capture: throws.
  [[noreturn]] void break_capture(Capture& capture, int code, const std::string& detail);

  std::uint32_t stream = 0;
  std::uint32_t event = 0;
  std::int64_t begin_ns = 0;

 private:
  [[nodiscard]] std::vector<Touch> touches_of(std::span<const OpRef> ops) const;
  void check_captures(CaptureRule rule);
  void block(const std::function<bool()>& ready, std::vector<Touch> needs);
  void leave(std::int64_t end_ns, int result);

  SimBackend& backend_;
  Machine& machine_;
  const char* name_;
  std::unique_lock<std::mutex> lock_;
  std::int64_t& clock_ns_;
  std::uint32_t correlation_id_;
  bool has_stream_ = false, has_event_ = false, may_throw_ = true, left_ = false;
  bool was_captured_ = false;
  std::int64_t end_ns_ = 0;  // so far
  std::uint64_t stream_handle_ = 0, object_ = 0, value_ = 0;
  std::vector<Touch> touches_;
};

}  // namespace coord::sim
