// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The implementation of an EventPool: event_pool.cpp has the thread caches; event_pool_store.cpp
// the shared store, which creates, destroys and counts events.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "coord/event_pool.h"
#include "device_state.h"
#include "host/process.h"
#include "observer.h"

namespace coord {

/// Free events that a thread caches, per class; half of them move to or from the shared store at a
/// time, so that a thread whose use varies by a few events does not need the store.
inline constexpr std::uint32_t kMagazine = 64;
inline constexpr std::uint32_t kMove = kMagazine / 2;
inline constexpr std::size_t kClasses = 3;

/// A thread's free events of one class, and the ids that they get.
///
/// Only its thread takes and returns events, without an atomic read-modify-write, which would cost
/// more than everything else; others only read `count` and acquired(), under the pool's lock.
class Magazine {
 public:
  /// An event with a new id, or null if events or ids have run out.
  EventState* take(std::uint64_t& id) noexcept {
    const std::uint32_t left = count();
    id = next_id_.load(std::memory_order_relaxed);
    if (left == 0 || id == end_id_) [[unlikely]]
      return nullptr;
    EventState* const event = events_[left - 1];
    count_.store(left - 1, std::memory_order_relaxed);
    next_id_.store(id + 1, std::memory_order_relaxed);
    event->id.store(id, std::memory_order_release);
    return event;
  }
  /// Returns an event and ends its id. False if the magazine is full.
  bool give_back(EventState* event) noexcept {
    const std::uint32_t before = count();
    if (before == kMagazine) [[unlikely]]
      return false;
    event->id.store(EventId::kNone, std::memory_order_release);
    events_[before] = event;
    count_.store(before + 1, std::memory_order_relaxed);
    return true;
  }

  // Under the pool's lock:
  /// Moves the newest events to `to`.
  void move_to(std::vector<EventState*>& to, std::uint32_t many) {
    const std::uint32_t left = count() - many;
    to.insert(to.end(), events_.begin() + left, events_.begin() + left + many);
    count_.store(left, std::memory_order_relaxed);
  }
  [[nodiscard]] bool has_ids() const noexcept {
    return next_id_.load(std::memory_order_relaxed) != end_id_;
  }
  void take_ids(std::uint64_t first, std::uint64_t many) noexcept {
    first_id_ = first - acquired();
    next_id_.store(first, std::memory_order_relaxed);
    end_id_ = first + many;
  }
  [[nodiscard]] std::uint32_t count() const noexcept {
    return count_.load(std::memory_order_relaxed);
  }
  /// Events taken since creation: each used one id.
  [[nodiscard]] std::uint64_t acquired() const noexcept {
    return next_id_.load(std::memory_order_relaxed) - first_id_;
  }

 private:
  std::atomic<std::uint64_t> next_id_{0};
  std::uint64_t end_id_ = 0;
  std::uint64_t first_id_ = 0;  // as if all ids so far were consecutive
  std::atomic<std::uint32_t> count_{0};
  std::array<EventState*, kMagazine> events_;
};

/// A thread's cache of one pool.
///
/// A thread owns an event from its magazine until the event moves elsewhere: only this thread
/// begins and ends the event's ids. Other threads release the event into the owner's inbox, under
/// the pool's lock. A cache whose thread has ended is owned by the holder of the lock. The
/// processor fetches cache lines in pairs: no two threads write to the same pair.
struct alignas(128) ThreadCache {
  std::array<Magazine, kClasses> magazines;
  // Under the pool's lock:
  bool retired = false;
  std::vector<EventState*> inbox;
};

inline std::size_t index_of(EventClass event_class) {
  return static_cast<std::size_t>(event_class);
}

class EventPool::Impl {
 public:
  Impl(const Device& device, const EventPoolOptions& options);
  ~Impl();

  EventRef acquire(EventClass event_class);
  void release(EventRef event);
  void discard(EventState* event, std::uint64_t id);
  void trim(std::size_t keep);
  PoolUtilization utilization() const;
  EventPoolMetrics metrics() const;
  /// The thread that owned `cache` has ended.
  void retire(ThreadCache& cache);
  void close();

  std::atomic<std::size_t> spare_count{0};  // see EventPool::spare_count()
  const std::uint64_t number = next_pool_number();

 private:
  using Lock = std::unique_lock<std::mutex>;
  struct Store {
    std::vector<EventState*> free;
    std::size_t total = 0;       // free, in magazines and inboxes, in use
    std::size_t being_made = 0;  // counted in total already
    std::size_t in_inboxes = 0;
    std::uint32_t batch = 1;  // events to create at the next miss
    std::uint64_t acquired_at_growth = 0;
    std::uint64_t acquired = 0;  // of a bounded pool
  };

  [[nodiscard]] bool at_hand() const noexcept;
  ThreadCache& cache();
  ThreadCache& find_cache();
  EventRef acquire_slowly(EventClass event_class);
  void release_slowly(EventState* event, std::uint64_t id);
  void check_process(const char* call) const {
    if (process_ != process_generation()) [[unlikely]]
      refuse_fork(call);
  }
  [[noreturn]] static void refuse_fork(const char* call);
  void check_event(const EventState* event, std::uint64_t id, const char* call) const;
  void give_back_foreign(EventState* event, std::uint64_t id);
  void empty_inbox(ThreadCache& cache);
  EventState* acquire_bounded(EventClass event_class);
  void refill(ThreadCache& cache, EventClass event_class);
  void make_room(Magazine& magazine, std::size_t which);
  void make(Lock& lock, EventClass event_class, std::size_t count, std::vector<EventState*>& made);
  void destroy(const std::vector<EventState*>& events) noexcept;
  void forget(Store& store, EventState* event);
  void take_free(Store& store, std::size_t count, std::vector<EventState*>& taken);
  std::size_t outstanding(std::size_t which) const;
  std::size_t in_use_now() const;
  std::size_t in_use_now(std::size_t which) const;
  PoolUtilization utilization_now() const;
  void sample() const;
  void note_use(std::size_t in_use);
  std::vector<EventState*> surplus();

  const std::shared_ptr<DeviceState> device_;
  const EventPoolOptions options_;
  const std::string name_;
  const bool bounded_;
  const std::uint32_t process_;

  mutable std::mutex mutex_;  // never held during a call of the backend
  std::condition_variable returned_;
  std::array<Store, kClasses> stores_;
  std::vector<std::unique_ptr<ThreadCache>> caches_;
  std::vector<ThreadCache*> free_caches_;
  std::unordered_map<std::uint64_t, ThreadCache*> cache_of_thread_;
  mutable EventPoolMetrics totals_;  // counters updated under the lock
  std::unordered_set<EventState*> all_;
  mutable Nanoseconds sampled_wait_{0};
  std::size_t recent_ = 0, before_ = 0;  // peak use since the last trim, and before that
  std::uint32_t moves_ = 0;              // half magazines returned since the last trim
};

}  // namespace coord
