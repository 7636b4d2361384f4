// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A pool of events, so that none is created or destroyed on a hot path.
//
// A pool serves one device (one CUDA context) and all event classes. Each thread caches a few free
// events, so that acquiring and releasing touch nothing that other threads write; a shared store
// takes surplus events and refills empty caches. Every acquisition gives the event a new id: a
// released handle stays invalid, even after the event is acquired again.
//
// An issued wait stays bound to its record, so an event may be released as soon as all stream waits
// for it have been issued and it will not be queried, synchronized or timed again.
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

/// What acquire() does when the maximum number of events of the class is in use.
enum class AtCapacity {
  kGrow,   // creates another one anyway, and counts it
  kBlock,  // waits for a release
  kFail,   // throws kExhausted
};

struct EventPoolOptions {
  /// Maximum events of each class; 0: no limit.
  std::size_t capacity = 0;
  AtCapacity at_capacity = AtCapacity::kGrow;
  /// How long kBlock waits before it throws kExhausted.
  Nanoseconds patience = Nanoseconds::max();
  /// Events of class kNoTiming that are created at once, and kept even if unused.
  std::size_t initial = 0;
  /// Shown in traces.
  std::string_view name = "events";
};

/// What a pool holds now. Exact while no other thread uses the pool, otherwise approximate.
struct PoolUtilization {
  std::size_t available = 0;  // free events of all classes
  std::size_t timing = 0;     // of these, events of class kTiming
  std::size_t in_use = 0;

  [[nodiscard]] double used_fraction() const noexcept {
    const std::size_t total = available + in_use;
    return total == 0 ? 0.0 : static_cast<double>(in_use) / static_cast<double>(total);
  }
};

/// Counts since the pool was created, over all classes.
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
  /// Maximum events in use at a time, sampled in metrics() and whenever a thread uses the shared
  /// store: it misses at most 64 events per thread and class.
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

  /// An event with no other owner. It may have been recorded before: record it before waiting for
  /// it. Makes no driver call if an event is free; blocks only if AtCapacity says so. Throws
  /// kExhausted, or what creating an event throws.
  [[nodiscard]] EventRef acquire(EventClass event_class = EventClass::kNoTiming);
  /// Fills `events`, or throws and acquires none.
  void acquire(EventClass event_class, std::span<EventRef> events);
  /// The same as acquire(), released by the destructor of the returned object.
  [[nodiscard]] PooledEvent lease(EventClass event_class = EventClass::kNoTiming);

  /// Releases an event to the pool. Throws kInvalidHandle if it is null, of another pool, or
  /// already released; its current owner's event is not affected.
  void release(EventRef event);
  void release(std::span<const EventRef> events);
  /// Releases an event that must not be reused, such as one that was recorded while its stream was
  /// being captured: it is destroyed.
  void discard(EventRef event);

  /// Destroys the free events beyond `keep` of each class in the shared store. Releasing events
  /// also trims automatically, based on the recent peak of events in use.
  void trim(std::size_t keep = 0);

  [[nodiscard]] PoolUtilization utilization() const;
  [[nodiscard]] EventPoolMetrics metrics() const;

 private:
  friend class StreamTable;
  class Impl;

  /// How many acquired events a Coordinator only keeps as spares, so that they do not count as in
  /// use.
  std::atomic<std::size_t>& spare_count() noexcept;

  std::unique_ptr<Impl> impl_;
};

/// Owns an event of a pool; the destructor releases the event. Thread-compatible; must not outlive
/// the pool.
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
