// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Which streams are being captured into graphs, derived from the calls alone. Pure; used by
// callbacks.cpp.
//
// A capture begins on one stream. It spreads to every stream that waits for an event recorded in
// it, and ends, for all of them, with the call that ends it on its origin stream. An invalidated
// capture lasts until that call. The mode of a thread (cudaThreadExchangeStreamCaptureMode) defines
// what is allowed, not what is captured. The driver is never queried: at the exit of a call the
// stream may be gone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>

namespace streamscope::collect {

/// Thread-compatible.
class Captures {
 public:
  /// Names a stream in this process; 0 is the legacy stream, which is never captured.
  using Stream = uint64_t;
  /// `per_thread`: the call was the variant for per-thread default streams.
  static Stream stream(uint64_t handle, bool per_thread, uint32_t context, uint32_t tid);

  bool contains(Stream stream) const { return streams_.contains(stream); }
  /// Captures that have begun and not ended.
  size_t count() const { return captures_.size(); }

  // Calls that succeeded.
  void begin(Stream stream, uint32_t context);
  /// `event` was recorded in `stream`, and not as a node of its own (cudaEventRecordExternal).
  void record(Stream stream, uint64_t event);
  /// `stream` waits for `event`, and not by a node of its own (cudaEventWaitExternal).
  void wait(Stream stream, uint64_t event);

  /// A call to end the capture that began on `stream` returned `result`.
  void end(Stream stream, int32_t result);

  // Handles that no longer refer to anything captured.
  void end_stream(Stream stream);
  void end_event(uint64_t event) { events_.erase(event); }
  void end_context(uint32_t context);

 private:
  struct Capture {
    Stream origin;
    uint32_t context;
  };
  void drop(uint32_t capture);

  uint32_t next_ = 0;
  std::unordered_map<uint32_t, Capture> captures_;
  std::unordered_map<Stream, uint32_t> streams_;   // -> capture
  std::unordered_map<uint64_t, uint32_t> events_;  // whose newest record is in a capture -> capture
};

}  // namespace streamscope::collect
