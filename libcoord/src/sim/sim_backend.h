// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The simulated device as a Backend: calls, what they cost their thread, CUDA's rules for streams
// and events, and what the observer is told. The engine below it decides when work runs.
#pragma once

#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "coord/backend.h"
#include "coord/event.h"
#include "coord/sim.h"
#include "sim/engine.h"

namespace coord::sim {

/// Throws kInvalidArgument for a Config that makes no device.
std::unique_ptr<Backend> open_simulated(const Config& config);

class SimBackend final : public Backend {
 public:
  explicit SimBackend(const Config& config);
  ~SimBackend() override;
  SimBackend(const SimBackend&) = delete;
  SimBackend& operator=(const SimBackend&) = delete;

  [[nodiscard]] const DeviceProperties& properties() const noexcept override { return properties_; }
  [[nodiscard]] TimeNs now() override;
  void host_work(Nanoseconds duration);

  NativeStream create_stream(int priority, bool non_blocking, std::string_view name) override;
  void destroy_stream(NativeStream stream) noexcept override;
  bool query_stream(NativeStream stream) override;
  void synchronize_stream(NativeStream stream) override;
  void synchronize_device() override;

  NativeEvent create_event(EventClass event_class, std::string_view name) override;
  void destroy_event(NativeEvent event) noexcept override;
  void record(NativeStream stream, NativeEvent event) override;
  void wait(NativeStream stream, NativeEvent event) override;
  bool query_event(NativeEvent event) override;
  void synchronize_event(NativeEvent event) override;
  Nanoseconds elapsed(NativeEvent start, NativeEvent end) override;

  void* allocate(std::size_t bytes, bool on_host) override;
  void release(void* address, bool on_host) noexcept override;

  void copy(NativeStream stream, void* to, const void* from, std::size_t bytes,
            CopyDirection direction) override;
  void memset(NativeStream stream, void* to, std::uint8_t value, std::size_t bytes) override;
  void launch(NativeStream stream, const KernelSpec& kernel) override;
  void host_function(NativeStream stream, std::function<void()> function) override;
  void wait_value(NativeStream stream, const std::uint64_t* address, std::uint64_t value) override;
  void write_value(NativeStream stream, std::uint64_t* address, std::uint64_t value) override;

  void* allocate_async(NativeStream stream, std::size_t bytes) override;
  void free_async(NativeStream stream, void* address) override;
  [[nodiscard]] bool can_reach(const Backend& other) const noexcept override;
  void copy_peer(NativeStream stream, void* to, Backend& to_device, const void* from,
                 Backend& from_device, std::size_t bytes) override;
  void begin_capture(NativeStream stream, CaptureMode mode) override;
  NativeGraph end_capture(NativeStream stream) override;
  CaptureStatus capture_status(NativeStream stream) override;
  CaptureMode exchange_capture_mode(CaptureMode mode) override;
  GraphShape graph_shape(NativeGraph graph) override;
  void destroy_graph(NativeGraph graph) noexcept override;
  NativeExecutable instantiate(NativeGraph graph) override;
  void launch_graph(NativeExecutable executable, NativeStream stream) override;
  void destroy_executable(NativeExecutable executable) noexcept override;

 private:
  enum class StreamKind : std::uint32_t {
    kLegacy,
    kPerThread,
    kBlocking,
    kNonBlocking
  };  // as the observer's
  struct StreamEntry {
    NativeStream handle = 0;
    StreamKind kind = StreamKind::kNonBlocking;
    std::int64_t last_call_ns = 0;  // end of the latest call on it, of any thread
    bool destroyed = false;
  };
  struct EventEntry {
    NativeEvent handle = 0;
    EventClass event_class{};
    std::uint64_t version = 0;      // records so far
    OpRef record;                   // the newest
    std::int64_t recorded_ns = -1;  // device time of the newest record, < 0 while pending
    std::int64_t last_call_ns = 0;
    bool destroyed = true;
  };
  struct Range {
    void* address = nullptr;
    std::size_t bytes = 0;
    bool on_host = false;
    std::uint64_t trace_address = 0;  // what traces show: the same in every run
  };
  class Call;

  [[nodiscard]] std::uint32_t add_stream(NativeStream handle, StreamKind kind, int priority,
                                         std::string_view name, std::int64_t time_ns);
  void tell_stream(std::uint32_t stream, int priority, bool destroyed, std::int64_t time_ns);
  [[nodiscard]] std::uint32_t find_stream(NativeStream handle, const char* call);
  [[nodiscard]] std::uint32_t find_event(NativeEvent handle, const char* call);
  [[nodiscard]] std::map<std::uintptr_t, Range>::const_iterator find_range(
      const void* address) const;
  [[nodiscard]] bool in_range(const void* address, std::size_t bytes, bool on_host) const;
  [[nodiscard]] std::uint64_t trace_address(const void* address) const;
  /// Operations that a call on `stream` has to follow besides the stream's own.
  [[nodiscard]] std::vector<OpRef> barrier_before(std::uint32_t stream);
  /// Last operations of the streams that a query or synchronize of `stream` looks at.
  [[nodiscard]] std::vector<OpRef> tails(std::uint32_t stream);
  /// If anything waits for a value in memory, lets it look as long as the host has not changed the
  /// value yet: what the host stores after `time_ns` must not release a wait before.
  void see_memory_until(std::int64_t time_ns);
  void on_ended(const Op& op);
  void tell_op(const Op& op, bool ended);

  const Config config_;
  DeviceProperties properties_;
  std::mutex mutex_;
  std::condition_variable submitted_;  // wakes host waits that nothing can satisfy yet
  Engine engine_;

  std::deque<StreamEntry> streams_;  // by engine stream; never reused
  std::unordered_map<NativeStream, std::uint32_t> stream_of_handle_;
  std::unordered_map<std::uint64_t, std::uint32_t> per_thread_streams_;  // by thread number
  std::vector<NativeStream> free_stream_handles_;
  NativeStream next_stream_handle_;
  std::vector<std::uint32_t> blocking_streams_;
  std::deque<EventEntry> events_;
  std::unordered_map<NativeEvent, std::uint32_t> event_of_handle_;
  std::vector<std::uint32_t> free_events_;
  std::map<std::uintptr_t, Range> memory_;
  std::vector<void*> abandoned_memory_;  // released while the device was stuck
  std::uint64_t device_bytes_in_use_ = 0;
  std::uint64_t next_trace_address_;
  std::unordered_map<std::uint64_t, std::int64_t> host_clocks_;  // by thread number
};

}  // namespace coord::sim
