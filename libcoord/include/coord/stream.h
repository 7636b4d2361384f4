// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Queues of work on a device: work of one stream runs in order, different streams run concurrently.
//
// Stream owns, StreamRef borrows. Every function only enqueues and returns, unless it says
// otherwise. Calls on one stream need external synchronization; different streams are independent
// of each other.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>

#include "coord/backend.h"
#include "coord/event.h"
#include "coord/export.h"
#include "coord/graph.h"
#include "coord/kernel.h"
#include "coord/memory.h"
#include "coord/types.h"

struct CUstream_st;

namespace coord {

class Coordinator;
class Device;
struct StreamState;

/// A hint to the device: work of higher-priority streams starts first when both are ready; running
/// work is never preempted, and copies ignore it. Mapped to the device's range; many devices have
/// nothing below kNormal.
enum class StreamPriority { kLow, kNormal, kHigh };

/// Kinds of work in streams.
enum class WorkKind : std::uint8_t {
  kKernel,
  kGraph,  // a launch of one
  kCopyToDevice,
  kCopyToHost,
  kCopyInDevice,
  kCopyPeer,
  kPrefetch,
  kMemset,
  kHostFunction,
};
inline constexpr std::size_t kWorkKinds = 9;

[[nodiscard]] COORD_EXPORT const char* to_string(WorkKind kind) noexcept;

/// Work enqueued on a stream by libcoord calls, including captured ones, since it was created.
struct StreamMetrics {
  struct Work {
    std::uint64_t count = 0;
    std::uint64_t bytes = 0;  // moved or set
  };
  std::array<Work, kWorkKinds> work;  // by WorkKind
  std::uint64_t operations = 0;       // of Coordinators
  std::uint64_t records = 0;          // of events
  std::uint64_t waits = 0;            // for events
  // Allocated with StreamRef::allocate_async() in this stream, and not freed by any stream.
  std::size_t memory_bytes = 0, peak_memory_bytes = 0;

  [[nodiscard]] const Work& of(WorkKind kind) const noexcept {
    return work[static_cast<std::size_t>(kind)];
  }
  /// Kernels and graphs.
  [[nodiscard]] std::uint64_t launches() const noexcept {
    return of(WorkKind::kKernel).count + of(WorkKind::kGraph).count;
  }
  /// Copies in all directions, and prefetches.
  [[nodiscard]] Work transfers() const noexcept {
    Work sum;
    for (const WorkKind kind :
         {WorkKind::kCopyToDevice, WorkKind::kCopyToHost, WorkKind::kCopyInDevice,
          WorkKind::kCopyPeer, WorkKind::kPrefetch}) {
      sum.count += of(kind).count;
      sum.bytes += of(kind).bytes;
    }
    return sum;
  }
};

struct StreamOptions {
  StreamPriority priority = StreamPriority::kNormal;
  std::string_view name{};
  /// False: the stream and the legacy default stream wait for each other's work, as with
  /// cudaStreamCreate.
  bool non_blocking = true;
};

/// Borrows a stream. Cheap to copy; must not outlive the stream's Device. A call on a stream that
/// was destroyed throws kInvalidHandle. All functions throw coord::Error.
class COORD_EXPORT StreamRef {
 public:
  StreamRef() = default;
  StreamRef(std::nullptr_t) = delete;
  StreamRef(int) = delete;

  [[nodiscard]] StreamId id() const noexcept { return id_; }
  [[nodiscard]] Device device() const;
  /// The backend's handle, which a later stream may get again: identify by id().
  [[nodiscard]] std::uint64_t handle() const;
  /// The CUDA stream, for the program's own launches and library calls. Throws kNotSupported if
  /// simulated.
  [[nodiscard]] CUstream_st* native() const;
  [[nodiscard]] std::string_view name() const;
  /// The device's priority value: lower is more urgent.
  [[nodiscard]] int priority() const;

  /// Copies `bytes`. Page-locked host memory must stay untouched until the copy has run. Pageable
  /// memory may be reused on return; therefore copies to pageable memory and large copies from it
  /// block the host.
  void copy_to_device(void* to, const void* from, std::size_t bytes) const;
  void copy_to_host(void* to, const void* from, std::size_t bytes) const;
  /// Within the device.
  void copy(void* to, const void* from, std::size_t bytes) const;
  /// Between two devices; the stream belongs to one of them. Throws kNotSupported unless they can
  /// reach each other: GPUs of one driver, or simulated devices of one sim::open_devices() call.
  void copy_peer(const Device& to_device, void* to, const Device& from_device, const void* from,
                 std::size_t bytes) const;
  /// Moves managed memory to the stream's device, or to the host, before it is accessed there:
  /// migration on demand, page by page, is many times slower. Throws kInvalidArgument for other
  /// memory.
  void prefetch_to_device(const void* address, std::size_t bytes) const;
  void prefetch_to_host(const void* address, std::size_t bytes) const;
  /// Sets every byte of device memory to `value`.
  void memset(void* to, std::uint8_t value, std::size_t bytes) const;

  template <typename T>
  void copy_to_device(const DeviceBuffer<T>& to,
                      std::span<const std::type_identity_t<T>> from) const {
    copy_to_device(to.data(), from.data(), checked_bytes(from.size_bytes(), to.bytes()));
  }
  template <typename T>
  void copy_to_host(std::span<std::type_identity_t<T>> to, const DeviceBuffer<T>& from) const {
    copy_to_host(to.data(), from.data(), checked_bytes(to.size_bytes(), from.bytes()));
  }

  void launch(const KernelSpec& kernel) const;
  /// Runs `function` on a thread of the driver once earlier work of the stream has ended; later
  /// work waits for it. One such function runs at a time per device. It must not throw, call CUDA
  /// or libcoord, or wait.
  void host_function(std::function<void()> function) const;

  /// Later work waits until the 64-bit word at `address` has reached `value`: (int64)(*address -
  /// value) >= 0. CUDA does not see this order: a program that relies on it alone can hang.
  /// `address` is device memory or page-locked host memory; a plain store by the host releases the
  /// latter.
  void wait_value(const std::uint64_t* address, std::uint64_t value) const;
  /// Writes `value` once earlier work has ended.
  void write_value(std::uint64_t* address, std::uint64_t value) const;

  /// Device memory from the device's pool, valid for work ordered after this call, until
  /// free_async() in any stream. Use that is not ordered between the two is an error that a GPU
  /// does not detect; the simulated device fails with CUDA_ERROR_ILLEGAL_ADDRESS.
  [[nodiscard]] void* allocate_async(std::size_t bytes) const;
  void free_async(void* address) const;

  /// From here to end_capture(), calls on this stream, and on streams that wait for events recorded
  /// in it, become nodes and edges of a graph; nothing runs. Calls that CUDA forbids meanwhile
  /// throw kCapture and invalidate the capture: synchronizing, querying, waiting for events from
  /// outside.
  void begin_capture(CaptureMode mode = CaptureMode::kGlobal) const;
  /// Throws kCapture if the capture is invalid or streams that joined it were not joined back.
  [[nodiscard]] Graph end_capture() const;
  /// Allowed at any time.
  [[nodiscard]] CaptureStatus capture_status() const;

  /// Makes `event` capture all work now in the stream. The event must be of the same device.
  void record(EventRef event) const;
  /// Makes later work wait for the work that `event` recorded last. Never recorded: no effect, as
  /// in CUDA. The event may be of another device if the two can reach each other (see copy_peer).
  void wait(EventRef event) const;

  /// Work enqueued so far. Counting costs about 5 ns per call; for times, see StreamProfiler.
  [[nodiscard]] StreamMetrics metrics() const;

  /// Blocks until all work now in the stream has ended. Throws kDeviceFailure if work failed and,
  /// on the simulated device, kDeadlock if it can never end.
  void synchronize() const;
  /// True if all work of the stream has ended. Never blocks.
  [[nodiscard]] bool query() const;

  friend bool operator==(StreamRef a, StreamRef b) noexcept { return a.id_ == b.id_; }

 protected:
  friend class Device;
  friend class Coordinator;
  friend class ExecutableGraph;
  friend class StreamProfiler;
  friend class TimelineSignal;
  StreamRef(StreamState* state, StreamId id) : state_(state), id_(id) {}
  StreamState& checked(const char* call) const;
  [[noreturn]] void refuse(const char* call) const;
  void prefetch(const void* address, std::size_t bytes, bool to_host, const char* call) const;
  static std::size_t checked_bytes(std::size_t host_bytes, std::size_t device_bytes);

  StreamState* state_ = nullptr;
  StreamId id_;
};

/// Owns a stream; made by Device::create_stream. Destroying it does not wait: its work still runs.
class COORD_EXPORT Stream : public StreamRef {
 public:
  Stream() = default;
  ~Stream();
  Stream(Stream&& other) noexcept;
  Stream& operator=(Stream&& other) noexcept;

 private:
  friend class Device;
  Stream(std::shared_ptr<DeviceState> device, StreamState* state, StreamId id);

  std::shared_ptr<DeviceState> device_;
};

}  // namespace coord
