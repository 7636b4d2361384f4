// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What a backend must do, and the list of those built in.
//
// A backend is one opened device behind raw handles. It checks nothing about their lifetime:
// Device, Stream and Event do. Users of libcoord need only DeviceProperties from here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "coord/export.h"
#include "coord/kernel.h"
#include "coord/types.h"

namespace coord {

enum class EventClass;

struct DeviceProperties {
  std::string name;
  std::string uuid;
  bool simulated = false;
  std::uint32_t ordinal = 0;
  std::uint32_t context = 0;             // number of its context in traces
  std::uint32_t compute_capability = 0;  // 10 * major + minor
  std::uint32_t sm_count = 0;
  std::uint32_t copy_engines = 0;
  std::uint32_t max_connections = 0;  // hardware queues that streams share
  std::uint64_t memory_bytes = 0;
  int least_priority = 0;  // numbers as CUDA's: lower is more urgent
  int greatest_priority = 0;
};

enum class CopyDirection { kHostToDevice, kDeviceToHost, kDeviceToDevice };

using NativeStream = std::uint64_t;
using NativeEvent = std::uint64_t;

inline constexpr NativeStream kLegacyStream = 0;
inline constexpr NativeStream kPerThreadStream = 2;

/// One opened device. All functions are thread-safe for different streams, throw coord::Error
/// unless noexcept, and block only where their names say synchronize, or where CUDA's do (free,
/// copies of pageable memory).
class Backend {
 public:
  virtual ~Backend() = default;

  [[nodiscard]] virtual const DeviceProperties& properties() const noexcept = 0;
  [[nodiscard]] virtual TimeNs now() = 0;

  /// `stream` is the id that traces of a simulated device use.
  [[nodiscard]] virtual NativeStream create_stream(int priority, bool non_blocking,
                                                   std::string_view name) = 0;
  virtual void destroy_stream(NativeStream stream) noexcept = 0;
  [[nodiscard]] virtual bool query_stream(NativeStream stream) = 0;
  virtual void synchronize_stream(NativeStream stream) = 0;
  virtual void synchronize_device() = 0;

  [[nodiscard]] virtual NativeEvent create_event(EventClass event_class, std::string_view name) = 0;
  virtual void destroy_event(NativeEvent event) noexcept = 0;
  virtual void record(NativeStream stream, NativeEvent event) = 0;
  virtual void wait(NativeStream stream, NativeEvent event) = 0;
  [[nodiscard]] virtual bool query_event(NativeEvent event) = 0;
  virtual void synchronize_event(NativeEvent event) = 0;
  [[nodiscard]] virtual Nanoseconds elapsed(NativeEvent start, NativeEvent end) = 0;

  [[nodiscard]] virtual void* allocate(std::size_t bytes, bool on_host) = 0;
  virtual void release(void* address, bool on_host) noexcept = 0;

  virtual void copy(NativeStream stream, void* to, const void* from, std::size_t bytes,
                    CopyDirection direction) = 0;
  virtual void memset(NativeStream stream, void* to, std::uint8_t value, std::size_t bytes) = 0;
  virtual void launch(NativeStream stream, const KernelSpec& kernel) = 0;
  virtual void host_function(NativeStream stream, std::function<void()> function) = 0;
  virtual void wait_value(NativeStream stream, const std::uint64_t* address,
                          std::uint64_t value) = 0;
  virtual void write_value(NativeStream stream, std::uint64_t* address, std::uint64_t value) = 0;
};

/// A kind of device that libcoord can open.
struct BackendFactory {
  std::string_view name;
  /// How many devices there are; 0 with the reason in `why_none`.
  int (*device_count)(std::string& why_none);
  std::unique_ptr<Backend> (*open)(int ordinal);
};

/// The backends of this build, those that Device::open prefers first. Thread-safe.
[[nodiscard]] COORD_EXPORT const std::vector<BackendFactory>& backends();

}  // namespace coord
