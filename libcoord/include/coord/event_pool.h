// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Events to borrow and give back, so that none is created or destroyed on a hot path.
//
// A pool serves one device (one CUDA context) and all event classes. Each thread keeps a few free
// events of its own, so that acquiring and releasing touch nothing that other threads write; what
// it has too many or too few of goes to and comes from a shared store. Every acquisition gives the
// event a new id: a handle that was released is dead, whoever has the event next.
//
// A wait that was issued stays bound to its record, so an event may be released as soon as all
// stream waits on it have been issued and nobody will query, synchronize or time it any more.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "coord/device.h"
#include "coord/event.h"
#include "coord/export.h"
#include "coord/types.h"

namespace coord {

/// What acquire() does when as many events of the class as allowed are in use.
enum class AtCapacity {
  kGrow,   // makes another one all the same, and counts it
  kBlock,  // waits for a release
  kFail,   // throws kExhausted
};

struct EventPoolOptions {
  /// Most events of each class; 0: no limit.
  std::size_t capacity = 0;
  AtCapacity at_capacity = AtCapacity::kGrow;
  /// How long kBlock waits before it throws kExhausted.
  Nanoseconds patience = Nanoseconds::max();
  /// Events of class kNoTiming that are made at once, and kept however little is used.
  std::size_t initial = 0;
  /// Shown in traces.
  std::string_view name = "events";
};

/// What a pool holds now. Exact while no other thread uses the pool, else of about this moment.
struct PoolUtilization {
  std::size_t available = 0;  // free events of all classes
  std::size_t timing = 0;     // those of them that are of class kTiming
  std::size_t in_use = 0;

  [[nodiscard]] double used_fraction() const noexcept {
    const std::size_t total = available + in_use;
    return total == 0 ? 0.0 : static_cast<double>(in_use) / static_cast<double>(total);
  }
};

/// Counts since the pool was made, over all classes.
struct EventPoolMetrics {
  std::uint64_t acquired = 0;
  std::uint64_t released = 0;
  std::uint64_t created = 0;
  std::uint64_t destroyed = 0;      // trimmed or discarded
  std::uint64_t misses = 0;         // acquisitions that had to create an event
  std::uint64_t over_capacity = 0;  // events made beyond the capacity (kGrow)
  std::uint64_t blocked = 0;        // acquisitions that waited (kBlock)
  std::uint64_t refused = 0;        // acquisitions that threw kExhausted
  Nanoseconds blocked_time{0};
  /// Most events in use at a time, looked at whenever a thread turns to the shared store and in
  /// metrics(): what came and went unseen in between is at most 64 events for each thread and
  /// class.
  std::size_t high_water = 0;

  [[nodiscard]] std::uint64_t in_use() const noexcept { return acquired - released; }
  /// Share of acquisitions that found a free event; 1 before the first.
  [[nodiscard]] double hit_rate() const noexcept {
    return acquired == 0 ? 1.0 : 1.0 - static_cast<double>(misses) / static_cast<double>(acquired);
  }
};

class PooledEvent;

/// Thread-safe. Keeps its device open. Events still in use when the pool is destroyed are destroyed
/// with it, which is allowed while they are pending. In the child of a fork() every function but
/// the destructor throws kNotPermitted.
class COORD_EXPORT EventPool {
 public:
  explicit EventPool(const Device& device, const EventPoolOptions& options = {});
  ~EventPool();
  EventPool(const EventPool&) = delete;
  EventPool& operator=(const EventPool&) = delete;

  /// An event that nobody else has. It may have been recorded before: record it before anybody
  /// waits for it. Makes no call to the driver if a free event is at hand; blocks only as
  /// AtCapacity says. Throws kExhausted, or what creating an event throws.
  [[nodiscard]] EventRef acquire(EventClass event_class = EventClass::kNoTiming);
  /// Fills `events`, or throws and takes none.
  void acquire(EventClass event_class, std::span<EventRef> events);
  /// The same as acquire(), given back by the destructor of what it returns.
  [[nodiscard]] PooledEvent lease(EventClass event_class = EventClass::kNoTiming);

  /// Gives an event back. Throws kInvalidHandle if it is null, of another pool, or was given back
  /// before; the event of whoever has it now is not touched.
  void release(EventRef event);
  void release(std::span<const EventRef> events);
  /// Gives an event back that must not be used again, such as one that was recorded while its
  /// stream was being captured: it is destroyed.
  void discard(EventRef event);

  /// Destroys what is free beyond `keep` events of each class in the shared store. Happens by
  /// itself, after the most that was in use lately, while events are being released.
  void trim(std::size_t keep = 0);

  [[nodiscard]] PoolUtilization utilization() const;
  [[nodiscard]] EventPoolMetrics metrics() const;

 private:
  friend class Coordinator;
  class Impl;

  /// How many of the events in use a Coordinator only keeps at hand, so that they are not called in
  /// use.
  std::atomic<std::size_t>& spare_count() noexcept;

  std::unique_ptr<Impl> impl_;
};

/// Owns an event of a pool until it is destroyed, which gives the event back. Thread-compatible;
/// must not outlive the pool.
class COORD_EXPORT PooledEvent : public EventRef {
 public:
  PooledEvent() = default;
  ~PooledEvent();
  PooledEvent(PooledEvent&& other) noexcept;
  PooledEvent& operator=(PooledEvent&& other) noexcept;

 private:
  friend class EventPool;
  PooledEvent(EventPool& pool, EventRef event) : EventRef(event), pool_(&pool) {}

  EventPool* pool_ = nullptr;
};

}  // namespace coord
