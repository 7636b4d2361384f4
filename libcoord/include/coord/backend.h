// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The backend interface, and the list of built-in backends.
//
// A backend is one opened device with raw handles. It does not check their lifetime; Device, Stream
// and Event do. Users of libcoord need only DeviceProperties and CaptureMode from this file.
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
  int least_priority = 0;  // as in CUDA: lower is more urgent
  int greatest_priority = 0;
};

enum class CopyDirection { kHostToDevice, kDeviceToHost, kDeviceToDevice };

enum class MemoryKind;

using NativeStream = std::uint64_t;
using NativeEvent = std::uint64_t;

inline constexpr NativeStream kLegacyStream = 0;
inline constexpr NativeStream kPerThreadStream = 2;

/// Which threads a stream capture forbids unsafe calls to, as in CUDA: calls that might interfere
/// with it (queries, synchronization, allocation) are forbidden to every thread, to the capturing
/// thread, or to none.
enum class CaptureMode { kGlobal, kThreadLocal, kRelaxed };
enum class CaptureStatus {
  kNone,
  kActive,
  kInvalidated,  // a forbidden call was made; only end_capture is left
};

using NativeGraph = std::uint64_t;
using NativeExecutable = std::uint64_t;

struct GraphShape {
  std::size_t nodes = 0;
  std::size_t edges = 0;
};

/// One opened device. All functions are thread-safe for different streams, throw coord::Error
/// unless noexcept, and block only if their names say synchronize, or if CUDA's do (free, copies of
/// pageable memory, a stream with about a thousand queued operations).
///
/// While a stream is being captured, calls on it (and on streams that wait for its events) become
/// nodes and edges of a graph and nothing runs. Calls that CUDA forbids meanwhile (see CaptureMode)
/// throw kCapture and invalidate the capture. The functions marked capture-safe are always allowed.
class COORD_EXPORT Backend {
 public:
  virtual ~Backend() = default;

  [[nodiscard]] virtual const DeviceProperties& properties() const noexcept = 0;
  [[nodiscard]] virtual TimeNs now() = 0;

  /// `name` is the stream's name in traces; empty: none.
  [[nodiscard]] virtual NativeStream create_stream(int priority, bool non_blocking,
                                                   std::string_view name) = 0;
  virtual void destroy_stream(NativeStream stream) noexcept = 0;
  [[nodiscard]] virtual bool query_stream(NativeStream stream) = 0;
  virtual void synchronize_stream(NativeStream stream) = 0;
  virtual void synchronize_device() = 0;

  [[nodiscard]] virtual NativeEvent create_event(EventClass event_class, std::string_view name) = 0;
  virtual void destroy_event(NativeEvent event) noexcept = 0;
  virtual void record(NativeStream stream, NativeEvent event) = 0;
  /// The event may be of another device if can_reach() says so.
  virtual void wait(NativeStream stream, NativeEvent event) = 0;
  [[nodiscard]] virtual bool query_event(NativeEvent event) = 0;
  virtual void synchronize_event(NativeEvent event) = 0;
  [[nodiscard]] virtual Nanoseconds elapsed(NativeEvent start, NativeEvent end) = 0;

  [[nodiscard]] virtual void* allocate(std::size_t bytes, bool on_host) = 0;
  /// Memory that host and device share; freed like device memory.
  [[nodiscard]] virtual void* allocate_managed(std::size_t bytes);
  virtual void release(void* address, bool on_host) noexcept = 0;
  /// Capture-safe.
  [[nodiscard]] virtual MemoryKind memory_kind(const void* address);

  virtual void copy(NativeStream stream, void* to, const void* from, std::size_t bytes,
                    CopyDirection direction) = 0;
  virtual void memset(NativeStream stream, void* to, std::uint8_t value, std::size_t bytes) = 0;
  /// Moves managed memory to the host or the device, before it is accessed there.
  virtual void prefetch(NativeStream stream, void* address, std::size_t bytes, bool to_host);
  virtual void launch(NativeStream stream, const KernelSpec& kernel) = 0;
  virtual void host_function(NativeStream stream, std::function<void()> function) = 0;
  virtual void wait_value(NativeStream stream, const std::uint64_t* address,
                          std::uint64_t value) = 0;
  virtual void write_value(NativeStream stream, std::uint64_t* address, std::uint64_t value) = 0;

  /// Memory that is valid for work ordered after this call in `stream`, until free_async in any
  /// stream. Device memory from the device's pool; freed memory is reused.
  [[nodiscard]] virtual void* allocate_async(NativeStream stream, std::size_t bytes) = 0;
  virtual void free_async(NativeStream stream, void* address) = 0;

  /// Whether streams of this device can wait for events of `other` and copy to and from it.
  /// Capture-safe.
  [[nodiscard]] virtual bool can_reach(const Backend& other) const noexcept = 0;
  /// Copies between two devices that can_reach() each other; `stream` belongs to this device.
  virtual void copy_peer(NativeStream stream, void* to, Backend& to_device, const void* from,
                         Backend& from_device, std::size_t bytes) = 0;

  virtual void begin_capture(NativeStream stream, CaptureMode mode) = 0;
  /// The graph captured since begin_capture on `stream`. Throws kCapture if the capture is invalid
  /// (it has then ended), or if streams that joined it were not joined back.
  [[nodiscard]] virtual NativeGraph end_capture(NativeStream stream) = 0;
  /// Capture-safe.
  [[nodiscard]] virtual CaptureStatus capture_status(NativeStream stream) = 0;
  /// Sets the calling thread's own mode, which allows it calls that captures of other threads would
  /// forbid; returns the previous mode. Capture-safe.
  virtual CaptureMode exchange_capture_mode(CaptureMode mode) = 0;
  [[nodiscard]] virtual GraphShape graph_shape(NativeGraph graph) = 0;
  virtual void destroy_graph(NativeGraph graph) noexcept = 0;
  /// Copies the graph into a form that can be launched many times, one launch after the other.
  [[nodiscard]] virtual NativeExecutable instantiate(NativeGraph graph) = 0;
  virtual void launch_graph(NativeExecutable executable, NativeStream stream) = 0;
  virtual void destroy_executable(NativeExecutable executable) noexcept = 0;

  /// Makes the device current for the calling thread's own driver calls, until leave(). Calls nest.
  /// Capture-safe.
  virtual void enter() {}
  virtual void leave() noexcept {}

  /// Notifies the observer that the calling thread now reads or writes memory that the device also
  /// uses. The simulated device uses this to detect races while orders are explored. Capture-safe.
  virtual void host_access(const void* address, std::size_t bytes, bool writes);
  /// Notifies the observer what the work of an operation reads or writes. Capture-safe.
  virtual void declare_access(std::uint32_t operation, const void* address, std::size_t bytes,
                              bool writes);
};

/// A kind of device that libcoord can open.
struct BackendFactory {
  std::string_view name;
  /// Number of devices; if 0, `why_none` is the reason.
  int (*device_count)(std::string& why_none);
  std::unique_ptr<Backend> (*open)(int ordinal);
};

/// The backends of this build, in the order Device::open prefers them. Thread-safe.
[[nodiscard]] COORD_EXPORT const std::vector<BackendFactory>& backends();

}  // namespace coord
