// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The shared part of a pool: its free events, their creation and destruction, the counters.

#include <algorithm>
#include <chrono>
#include <utility>

#include "codes.h"
#include "coord/error.h"
#include "event_pool_impl.h"
#include "observer.h"

namespace coord {

EventState* EventPool::Impl::acquire_bounded(EventClass event_class) {
  Lock lock(mutex_);
  Store& store = stores_[index_of(event_class)];
  if (store.free.empty() && store.total >= options_.capacity &&
      options_.at_capacity != AtCapacity::kGrow) {
    const auto exhausted = [&](const char* why) {
      ++totals_.refused;
      return make_error(ErrorKind::kExhausted, kCodeOutOfMemory, "EventPool::acquire",
                        "all " + std::to_string(options_.capacity) + " events of \"" + name_ +
                            "\" are in use" + why);
    };
    if (options_.at_capacity == AtCapacity::kFail) throw exhausted("");
    ++totals_.blocked;
    const auto begin = std::chrono::system_clock::now();
    const auto has_one = [&] { return !store.free.empty() || store.total < options_.capacity; };
    bool in_time = true;
    if (options_.patience == Nanoseconds::max()) {
      returned_.wait(lock, has_one);
    } else {
      in_time = returned_.wait_until(
          lock,
          begin +
              std::chrono::duration_cast<std::chrono::system_clock::duration>(options_.patience),
          has_one);
    }
    const auto waited =
        std::chrono::duration_cast<Nanoseconds>(std::chrono::system_clock::now() - begin);
    totals_.blocked_time += waited;
    if (!in_time) throw exhausted(", and none was released in time");
  }
  if (store.free.empty()) {
    if (store.total >= options_.capacity) ++totals_.over_capacity;
    make(lock, event_class, 1, store.free);
  }
  EventState* event = store.free.back();
  store.free.pop_back();
  ++store.acquired;
  note_use(in_use_now());
  sample();
  return event;
}

// Creates at least one of `count` events, or throws. Releases the lock meanwhile.
void EventPool::Impl::make(Lock& lock, EventClass event_class, std::size_t count,
                           std::vector<EventState*>& made) {
  if (count == 0) return;
  Store& store = stores_[index_of(event_class)];
  store.total += count;  // now, so that others see the future total
  store.being_made += count;
  std::vector<EventState*> fresh;
  lock.unlock();
  std::exception_ptr error;
  try {
    for (std::size_t i = 0; i < count; ++i) {
      EventState& event =
          device_->add_event(device_->backend->create_event(event_class, {}), event_class);
      event.pool.store(number, std::memory_order_relaxed);
      event.id.store(EventId::kNone, std::memory_order_release);
      fresh.push_back(&event);
    }
  } catch (const Error&) {
    error = std::current_exception();
  }
  lock.lock();
  store.total -= count - fresh.size();
  store.being_made -= count;
  totals_.created += fresh.size();
  all_.insert(fresh.begin(), fresh.end());
  if (fresh.empty()) {
    returned_.notify_one();
    std::rethrow_exception(error);
  }
  ++totals_.misses;
  made.insert(made.end(), fresh.begin(), fresh.end());
}

void EventPool::Impl::destroy(const std::vector<EventState*>& events) noexcept {
  for (EventState* event : events) {
    const NativeEvent native = event->native;
    device_->remove(*event);
    device_->backend->destroy_event(native);
  }
}

// Removes an event from the counts; it is destroyed once the lock is released.
void EventPool::Impl::forget(Store& store, EventState* event) {
  --store.total;
  all_.erase(event);
  ++totals_.destroyed;
}

// Removes the newest `count` free events, to destroy them.
void EventPool::Impl::take_free(Store& store, std::size_t count, std::vector<EventState*>& taken) {
  for (; count > 0; --count) {
    taken.push_back(store.free.back());
    store.free.pop_back();
    forget(store, taken.back());
  }
}

// Acquired and not released. Each thread's count is read at a different instant, so the result is
// approximate while threads acquire and release.
std::size_t EventPool::Impl::outstanding(std::size_t which) const {
  const Store& store = stores_[which];
  std::size_t idle = store.being_made + store.free.size() + store.in_inboxes;
  for (const auto& cache : caches_) idle += cache->magazines[which].count();
  return store.total > idle ? store.total - idle : 0;
}

std::size_t EventPool::Impl::in_use_now(std::size_t which) const {
  const std::size_t given = outstanding(which);
  if (which != index_of(EventClass::kNoTiming)) return given;
  return given - std::min(given, spare_count.load(std::memory_order_relaxed));
}

std::size_t EventPool::Impl::in_use_now() const {
  std::size_t in_use = 0;
  for (std::size_t c = 0; c < kClasses; ++c) in_use += in_use_now(c);
  return in_use;
}

// Reports to the observer, where the lock is held anyway.
void EventPool::Impl::sample() const {
  if (observer().pool_sample == nullptr) return;
  const PoolUtilization now = utilization_now();
  const coord_pool_sample_facts facts{
      .pool = static_cast<std::uint32_t>(number),
      .available = now.available,
      .in_use = now.in_use,
      .high_water = std::max(totals_.high_water, now.in_use),
      .waited_ns = static_cast<std::uint64_t>((totals_.blocked_time - sampled_wait_).count()),
      .time_ns = device_->observer_time_ns()};
  sampled_wait_ = totals_.blocked_time;
  observer().pool_sample(&facts);
}

void EventPool::Impl::note_use(std::size_t in_use) {
  totals_.high_water = std::max(totals_.high_water, in_use);
  recent_ = std::max(recent_, in_use);
}

// Events that the shared store does not need, based on the recent peak use.
std::vector<EventState*> EventPool::Impl::surplus() {
  const std::size_t peak = std::max(recent_, before_);
  before_ = std::exchange(recent_, in_use_now());
  moves_ = 0;
  std::vector<EventState*> unneeded;
  for (std::size_t c = 0; c < kClasses; ++c) {
    Store& store = stores_[c];
    std::size_t keep = peak + peak / 4 + caches_.size() * kMagazine;
    if (c == index_of(EventClass::kNoTiming)) keep = std::max(keep, options_.initial);
    const std::size_t beyond = store.total > keep ? store.total - keep : 0;
    take_free(store, std::min(beyond, store.free.size()), unneeded);
  }
  return unneeded;
}

void EventPool::Impl::trim(std::size_t keep) {
  check_process("EventPool::trim");
  std::vector<EventState*> unneeded;
  {
    const Lock lock(mutex_);
    for (Store& store : stores_)
      take_free(store, store.free.size() - std::min(store.free.size(), keep), unneeded);
  }
  returned_.notify_all();
  destroy(unneeded);
}

PoolUtilization EventPool::Impl::utilization_now() const {
  PoolUtilization result;
  for (std::size_t c = 0; c < kClasses; ++c) {
    const std::size_t in_use = std::min(in_use_now(c), stores_[c].total);
    result.in_use += in_use;
    result.available += stores_[c].total - in_use;
    if (c == index_of(EventClass::kTiming)) result.timing = stores_[c].total - in_use;
  }
  return result;
}

PoolUtilization EventPool::Impl::utilization() const {
  check_process("EventPool::utilization");
  const Lock lock(mutex_);
  return utilization_now();
}

EventPoolMetrics EventPool::Impl::metrics() const {
  check_process("EventPool::metrics");
  const Lock lock(mutex_);
  totals_.high_water = std::max(totals_.high_water, in_use_now());
  sample();
  EventPoolMetrics result = totals_;
  for (std::size_t c = 0; c < kClasses; ++c) {
    const std::size_t given = outstanding(c);
    std::uint64_t acquired = stores_[c].acquired;
    for (const auto& cache : caches_) acquired += cache->magazines[c].acquired();
    result.acquired += acquired;
    result.released += acquired - std::min<std::uint64_t>(acquired, given);
  }
  return result;
}

}  // namespace coord
