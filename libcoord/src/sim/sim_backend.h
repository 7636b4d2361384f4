// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The simulated device as a Backend: calls, their cost to the thread, CUDA's rules for streams and
// events, and reports to the observer. Devices with one clock share a Machine; its engine decides
// when work runs.
#pragma once

#include <memory>
#include <vector>

#include "coord/backend.h"
#include "coord/sim.h"
#include "sim/machine.h"

namespace coord::sim {

/// Throws kInvalidArgument for an invalid Config.
std::unique_ptr<Backend> open_simulated(const Config& config);

/// The same for several that share a clock. A scheduler, if given, decides what happens next.
std::vector<std::unique_ptr<Backend>> open_simulated(const Config& config, std::uint32_t count,
                                                     Scheduler* scheduler);

class SimBackend final : public Backend {
 public:
  SimBackend(std::shared_ptr<Machine> machine, std::uint32_t device);
  SimBackend(const SimBackend&) = delete;
  SimBackend& operator=(const SimBackend&) = delete;

  [[nodiscard]] const DeviceProperties& properties() const noexcept override { return properties_; }
  [[nodiscard]] TimeNs now() override;
  void host_work(Nanoseconds duration);
  void inject(const Injection& injection);
  [[nodiscard]] Machine& machine() { return machine_; }

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
  void* allocate_managed(std::size_t bytes) override;
  void release(void* address, bool on_host) noexcept override;
  MemoryKind memory_kind(const void* address) override;

  void copy(NativeStream stream, void* to, const void* from, std::size_t bytes,
            CopyDirection direction) override;
  void memset(NativeStream stream, void* to, std::uint8_t value, std::size_t bytes) override;
  void prefetch(NativeStream stream, void* address, std::size_t bytes, bool to_host) override;
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
  void host_access(const void* address, std::size_t bytes, bool writes) override;
  void declare_access(std::uint32_t operation, const void* address, std::size_t bytes,
                      bool writes) override;

 private:
  class Call;

  void* allocate(Call& call, std::size_t bytes, bool on_host);
  /// Declares what the operation accesses: for race detection, and for the operation itself, so
  /// that it faults on stream-ordered memory outside its lifetime.
  void touches(OpSpec& spec, const void* address, std::size_t bytes, bool writes);
  /// A wait that is captured or that makes the call's stream join the event's capture.
  void join_capture(Call& call, const EventEntry& event);

  const std::shared_ptr<Machine> shared_;
  Machine& machine_;
  const std::uint32_t device_;
  const Calibration& costs_;
  DeviceProperties properties_;
};

}  // namespace coord::sim
