// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What Device, Stream and Event share: the opened backend and the table of live streams and events.
//
// Entries of the table are reused but never freed while the device is open, so that a reference to
// a destroyed stream or event is recognised (its id no longer matches) instead of followed.
#pragma once

#include <atomic>
#include <deque>
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
#include "thread_number.h"

namespace coord {

struct DeviceState;

struct StreamState {
  std::atomic<std::uint64_t> id{StreamId::kNone};
  DeviceState* device = nullptr;
  NativeStream native = 0;
  int priority = 0;
  std::string name;
  /// For the Coordinator that used it last: which one, and where it keeps the stream.
  std::atomic<std::uint64_t> coordinator{0};
};

/// On a cache line of its own: threads that share a pool write the ids of neighbours.
struct alignas(64) EventState {
  std::atomic<std::uint64_t> id{EventId::kNone};
  DeviceState* device = nullptr;
  NativeEvent native = 0;
  EventClass event_class{};
  std::atomic<std::uint64_t> pool{0};  // number of the EventPool that owns it, 0 if none
  /// Id under which it was given back to its pool while `id` waits to be ended by its owner.
  std::atomic<std::uint64_t> returned{EventId::kNone};
  void* owner = nullptr;  // for the pool
};

struct DeviceState : std::enable_shared_from_this<DeviceState> {
  explicit DeviceState(std::unique_ptr<Backend> opened);

  /// An entry with a new id. Thread-safe.
  StreamState& add_stream(NativeStream native, int priority, std::string_view name);
  EventState& add_event(NativeEvent native, EventClass event_class);
  /// Ends the id; the entry may be used again. Thread-safe.
  void remove(StreamState& stream);
  void remove(EventState& event);
  /// The calling thread's entry.
  StreamState& per_thread_stream();

  DeviceId id;
  std::unique_ptr<Backend> backend;
  // Of its properties, for hot paths:
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

/// The device's number for a priority.
int priority_number(StreamPriority priority, const DeviceProperties& properties);

/// The first of `count` event ids that nobody else gets. Thread-safe.
std::uint64_t take_event_ids(std::uint64_t count) noexcept;

}  // namespace coord
