// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A device whose calls do nothing, at once: measurements on it are the cost of libcoord itself.
#pragma once

#include <coord/backend.h>

#include <atomic>
#include <chrono>
#include <cstdlib>

namespace streamscope::bench {

/// Every event is reached when it is first polled, every value is written at once. Memory is the
/// host's; there are no copies, kernels and graphs.
class FreeBackend : public coord::Backend {
 public:
  FreeBackend() {
    properties_.name = "calls that cost nothing";
    properties_.max_connections = 32;
  }

  const coord::DeviceProperties& properties() const noexcept override { return properties_; }
  coord::TimeNs now() override {
    return {std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count()};
  }

  coord::NativeStream create_stream(int, bool, std::string_view) override { return ++last_; }
  void destroy_stream(coord::NativeStream) noexcept override {}
  bool query_stream(coord::NativeStream) override { return true; }
  void synchronize_stream(coord::NativeStream) override {}
  void synchronize_device() override {}

  coord::NativeEvent create_event(coord::EventClass, std::string_view) override { return ++last_; }
  void destroy_event(coord::NativeEvent) noexcept override {}
  void record(coord::NativeStream, coord::NativeEvent) override {}
  void wait(coord::NativeStream, coord::NativeEvent) override {}
  bool query_event(coord::NativeEvent) override { return true; }
  void synchronize_event(coord::NativeEvent) override {}
  coord::Nanoseconds elapsed(coord::NativeEvent, coord::NativeEvent) override { return {}; }

  void* allocate(std::size_t bytes, bool) override { return std::calloc(1, bytes); }
  void release(void* address, bool) noexcept override { std::free(address); }
  void copy(coord::NativeStream, void*, const void*, std::size_t, coord::CopyDirection) override {}
  void memset(coord::NativeStream, void*, std::uint8_t, std::size_t) override {}
  void launch(coord::NativeStream, const coord::KernelSpec&) override {}
  void host_function(coord::NativeStream, std::function<void()>) override {}
  void wait_value(coord::NativeStream, const std::uint64_t*, std::uint64_t) override {}
  void write_value(coord::NativeStream, std::uint64_t* address, std::uint64_t value) override {
    std::atomic_ref(*address).store(value, std::memory_order_release);
  }
  void* allocate_async(coord::NativeStream, std::size_t) override { return nullptr; }
  void free_async(coord::NativeStream, void*) override {}
  bool can_reach(const coord::Backend& other) const noexcept override { return &other == this; }
  void copy_peer(coord::NativeStream, void*, coord::Backend&, const void*, coord::Backend&,
                 std::size_t) override {}

  void begin_capture(coord::NativeStream, coord::CaptureMode) override {}
  coord::NativeGraph end_capture(coord::NativeStream) override { return 0; }
  coord::CaptureStatus capture_status(coord::NativeStream) override {
    return coord::CaptureStatus::kNone;
  }
  coord::CaptureMode exchange_capture_mode(coord::CaptureMode mode) override { return mode; }
  coord::GraphShape graph_shape(coord::NativeGraph) override { return {}; }
  void destroy_graph(coord::NativeGraph) noexcept override {}
  coord::NativeExecutable instantiate(coord::NativeGraph) override { return 0; }
  void launch_graph(coord::NativeExecutable, coord::NativeStream) override {}
  void destroy_executable(coord::NativeExecutable) noexcept override {}

 private:
  coord::DeviceProperties properties_;
  std::uint64_t last_ = 2;
};

}  // namespace streamscope::bench
