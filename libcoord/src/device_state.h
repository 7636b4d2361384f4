// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What Device, Stream and Event share: the opened backend and the table of live streams and events.
//
// Entries of the table are reused but never freed while the device is open, so that a reference to
// a destroyed stream or event is detected (its id no longer matches) instead of dereferenced.
#pragma once

#include <array>
#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "coord/backend.h"
#include "coord/event.h"
#include "coord/observer.h"
#include "coord/stream.h"
#include "coord/types.h"
#include "host/thread_number.h"
#include "host/ticks.h"

namespace coord {

struct DeviceState;

/// One piece of work that a libcoord call enqueues on a stream.
struct Work {
  WorkKind kind{};
  std::size_t bytes = 0;
  const void* host = nullptr;  // the host side of a copy
};

/// Times the work of a watched stream.
class StreamMeter {
 public:
  StreamMeter() = default;
  virtual ~StreamMeter() = default;
  StreamMeter(const StreamMeter&) = delete;
  StreamMeter& operator=(const StreamMeter&) = delete;
  /// Makes the call that enqueues the work, and throws what that throws.
  virtual void measure(const Work& work, const std::function<void()>& call) = 0;
};

/// The counters behind StreamMetrics. Calls on one stream are in order, so only the memory
/// counters, which any stream may change, are updated concurrently.
struct StreamCounts {
  using Count = std::atomic<std::uint64_t>;
  std::array<Count, kWorkKinds> work{}, bytes{};
  Count operations{0}, records{0}, waits{0};
  std::atomic<std::size_t> memory{0}, peak_memory{0};

  static void add(Count& count, std::uint64_t more = 1) noexcept {
    count.store(count.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
  }
  void add(const Work& one) noexcept {
    add(work[static_cast<std::size_t>(one.kind)]);
    if (one.bytes > 0) add(bytes[static_cast<std::size_t>(one.kind)], one.bytes);
  }
  void add_memory(std::size_t more) noexcept;
  void reset() noexcept;
};

struct StreamState {
  std::atomic<std::uint64_t> id{StreamId::kNone};
  DeviceState* device = nullptr;
  NativeStream native = 0;
  int priority = 0;
  std::string name;
  /// The Coordinator that used it last, and its index for the stream.
  std::atomic<std::uint64_t> coordinator{0};
  std::atomic<StreamMeter*> meter{nullptr};  // null unless it is watched
  StreamCounts counts;

  /// Enqueues a piece of work with `call()`.
  template <typename Call>
  void give(const Work& work, Call call) {
    if (StreamMeter* const watching = meter.load(std::memory_order_relaxed); watching != nullptr)
        [[unlikely]] {
      watching->measure(work, call);
    } else {
      call();
    }
    counts.add(work);
  }
};

/// Stream-ordered memory, by the stream that allocated it.
struct OwnedMemory {
  StreamState* stream = nullptr;
  std::uint64_t id = StreamId::kNone;  // of the stream, whose entry may have been reused
  std::size_t bytes = 0;
  [[nodiscard]] StreamCounts* counts() const noexcept {
    return stream != nullptr && stream->id.load() == id ? &stream->counts : nullptr;
  }
};

/// On its own cache line, because threads that share a pool write the ids of neighbors.
struct alignas(64) EventState {
  std::atomic<std::uint64_t> id{EventId::kNone};
  DeviceState* device = nullptr;
  NativeEvent native = 0;
  EventClass event_class{};
  std::atomic<std::uint64_t> pool{0};  // number of the EventPool that owns it, 0 if none
  /// Id with which it was released to its pool, until its owner ends `id`.
  std::atomic<std::uint64_t> returned{EventId::kNone};
  void* owner = nullptr;  // for the pool
};

struct DeviceState : std::enable_shared_from_this<DeviceState> {
  explicit DeviceState(std::unique_ptr<Backend> opened);

  /// An entry with a new id. Thread-safe.
  StreamState& add_stream(NativeStream native, int priority, std::string_view name);
  EventState& add_event(NativeEvent native, EventClass event_class);
  /// Ends the id; the entry may be reused. Thread-safe.
  void remove(StreamState& stream);
  void remove(EventState& event);
  /// The calling thread's entry.
  StreamState& per_thread_stream();
  /// Assigns stream-ordered memory to a stream, for its counters. Thread-safe.
  void own_memory(void* address, const OwnedMemory& owned);
  OwnedMemory disown_memory(void* address);

  /// The current time on `clock`.
  [[nodiscard]] std::uint64_t stamp() const {
    if (clock == COORD_CLOCK_COUNTER) [[likely]]
      return counter();
    return static_cast<std::uint64_t>(simulated ? backend->now().value : monotonic_ns());
  }
  /// The current time for a hook: virtual; 0 if the observer takes the time.
  [[nodiscard]] std::int64_t observer_time_ns() const {
    return simulated ? backend->now().value : 0;
  }

  DeviceId id;
  std::unique_ptr<Backend> backend;
  // Copies of properties, for hot paths:
  const bool simulated;
  const coord_clock clock;  // of stamps
  const std::uint32_t max_connections;
  StreamState* legacy = nullptr;

 private:
  std::mutex mutex_;
  std::deque<StreamState> streams_;
  std::deque<EventState> events_;
  std::vector<StreamState*> free_streams_;
  std::vector<EventState*> free_events_;
  std::unordered_map<std::uint64_t, StreamState*> per_thread_;
  std::unordered_map<void*, OwnedMemory> owned_memory_;
};

inline StreamState& StreamRef::checked(const char* call) const {
  if (state_ == nullptr || state_->id.load(std::memory_order_acquire) != id_.value) [[unlikely]]
    refuse(call);
  return *state_;
}

inline EventState& EventRef::checked(const char* call) const {
  if (state_ == nullptr || state_->id.load(std::memory_order_acquire) != id_.value ||
      state_->returned.load(std::memory_order_relaxed) == id_.value) [[unlikely]]
    refuse(call);
  return *state_;
}

/// The device's value for a priority.
int priority_number(StreamPriority priority, const DeviceProperties& properties);

/// Reserves `count` event ids and returns the first. Thread-safe.
std::uint64_t take_event_ids(std::uint64_t count) noexcept;

}  // namespace coord
