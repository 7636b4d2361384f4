// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A device, real or simulated: makes streams, events and memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>

#include "coord/backend.h"
#include "coord/event.h"
#include "coord/export.h"
#include "coord/memory.h"
#include "coord/stream.h"
#include "coord/types.h"

struct CUctx_st;

namespace coord {

namespace sim {
struct Config;
}

/// A handle to an opened device: copies share it, and it stays open while a copy, stream, event or
/// buffer of it lives. Thread-safe.
class COORD_EXPORT Device {
 public:
  /// "auto": the first GPU if there is a usable one, else a simulated device; "cuda" or "cuda:N":
  /// that GPU; "sim": a new simulated device. Throws kNoDevice (the text says why) or
  /// kInvalidArgument.
  [[nodiscard]] static Device open(std::string_view which = "auto");
  /// A new simulated device with its own virtual clock.
  [[nodiscard]] static Device open(const sim::Config& config);

  /// A GPU through the program's own CUDA context, which must outlive the Device and everything
  /// created from it. Throws kNoDevice without CUDA, or the driver's error for the context.
  [[nodiscard]] static Device of_context(CUctx_st* context);
  /// A device of a backend that is not built in, such as a test's own. Throws kInvalidArgument if
  /// it is null.
  [[nodiscard]] static Device of_backend(std::unique_ptr<Backend> backend);

  [[nodiscard]] DeviceId id() const noexcept;
  [[nodiscard]] const DeviceProperties& properties() const noexcept;
  [[nodiscard]] bool simulated() const noexcept { return properties().simulated; }

  [[nodiscard]] Stream create_stream(const StreamOptions& options = {}) const;
  [[nodiscard]] Event create_event(const EventOptions& options = {}) const;
  /// CUDA's legacy default stream, which synchronizes with all blocking streams.
  [[nodiscard]] StreamRef legacy_stream() const;
  /// The calling thread's own default stream. The reference is for this thread only.
  [[nodiscard]] StreamRef per_thread_stream() const;

  template <typename T>
  [[nodiscard]] DeviceBuffer<T> allocate(std::size_t count) const {
    return DeviceBuffer<T>(allocate_bytes(byte_count(count, sizeof(T)), false));
  }
  template <typename T>
  [[nodiscard]] HostBuffer<T> allocate_host(std::size_t count) const {
    return HostBuffer<T>(allocate_bytes(byte_count(count, sizeof(T)), true));
  }
  /// Throws kNotSupported if the device has no managed memory.
  template <typename T>
  [[nodiscard]] ManagedBuffer<T> allocate_managed(std::size_t count) const {
    return ManagedBuffer<T>(allocate_managed_bytes(byte_count(count, sizeof(T))));
  }
  /// Queries the driver. Memory unknown to libcoord and CUDA is kPageable.
  [[nodiscard]] MemoryKind memory_kind(const void* address) const;

  /// Blocks until all work of the device's context has ended. Throws as StreamRef::synchronize
  /// does.
  void synchronize() const;

  /// Declares that the calling thread now reads or writes memory that the device also uses: to a
  /// profiler and, while orders are explored, to the simulated device for race detection.
  void host_access(const MemoryRange& range, Access access) const;

  /// Sets which captures of other threads restrict the calling thread (see CaptureMode), so that a
  /// polling thread can use kRelaxed; returns the previous mode. Allowed at any time.
  CaptureMode exchange_capture_mode(CaptureMode mode) const;

  /// The host's clock as this device sees it: CLOCK_MONOTONIC, or the calling thread's virtual
  /// clock.
  [[nodiscard]] TimeNs now() const;

  friend bool operator==(const Device& a, const Device& b) noexcept { return a.state_ == b.state_; }

  /// For internal use by libcoord.
  explicit Device(std::shared_ptr<DeviceState> state) : state_(std::move(state)) {}
  [[nodiscard]] const std::shared_ptr<DeviceState>& state() const noexcept { return state_; }

 private:
  static std::size_t byte_count(std::size_t count, std::size_t element_bytes);
  [[nodiscard]] Allocation allocate_bytes(std::size_t bytes, bool on_host) const;
  [[nodiscard]] Allocation allocate_managed_bytes(std::size_t bytes) const;

  std::shared_ptr<DeviceState> state_;
};

/// While it lives, the device's CUDA context is current on the calling thread: for the program's
/// own CUDA calls, also on libcoord's threads, which start without a context. No effect on a
/// simulated device. Objects nest; each belongs to the thread that created it. Throws the driver's
/// error.
class COORD_EXPORT CurrentDevice {
 public:
  explicit CurrentDevice(const Device& device);
  ~CurrentDevice();
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;

 private:
  std::shared_ptr<DeviceState> state_;
};

}  // namespace coord
