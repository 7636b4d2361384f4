// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Thread-side operations of an event pool: each thread caches some events.

#include <pthread.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "codes.h"
#include "coord/error.h"
#include "event_pool_impl.h"
#include "observer.h"

namespace coord {

namespace {

/// Event ids that a thread reserves at a time.
constexpr std::uint64_t kIdBlock = 1024;
/// The store is trimmed each time threads have returned this many half magazines.
constexpr std::uint32_t kTrimEvery = 64;

/// Most recently used pool of this thread, and the thread's cache for it.
struct Hot {
  std::uint64_t pool = 0;
  ThreadCache* cache = nullptr;
};
// At a fixed offset, like this_thread_number_value.
[[gnu::tls_model("initial-exec")]] constinit thread_local Hot hot;

/// Clears the hot cache in the child of a fork(), so that its calls reach the check that rejects
/// them.
void watch_forks_for_caches() {
  watch_forks();
  static const int registered = pthread_atfork(nullptr, nullptr, [] { hot = {}; });
  (void)registered;
}

/// Live pools, so that an ending thread finds those whose events it still holds.
struct Registry {
  std::mutex mutex;
  std::unordered_map<std::uint64_t, std::function<void(std::uint64_t thread)>> pools;
};
Registry& registry() {
  static auto* const kept = new Registry;  // threads may end after static destructors have run
  return *kept;
}

/// The pools whose events this thread holds.
struct PoolsOfThread {
  std::uint64_t thread = this_thread_number();
  std::vector<std::uint64_t> pools;
  ~PoolsOfThread() {
    hot = {};
    const std::lock_guard lock(registry().mutex);
    for (std::uint64_t pool : pools) {
      if (const auto found = registry().pools.find(pool); found != registry().pools.end())
        found->second(thread);
    }
  }
};

}  // namespace

// Never true for a bounded pool.
inline bool EventPool::Impl::at_hand() const noexcept { return hot.pool == number; }

ThreadCache& EventPool::Impl::cache() { return at_hand() ? *hot.cache : find_cache(); }

EventPool::Impl::Impl(const Device& device, const EventPoolOptions& options)
    : device_(device.state()),
      options_(options),
      name_(options.name),
      bounded_(options.capacity > 0),
      process_((watch_forks_for_caches(), process_generation())) {
  if (bounded_ && options.initial > options.capacity)
    throw make_error(kCodeInvalidValue, "EventPool", "more initial events than the capacity");
  notify_pool(number, COORD_POOL_EVENTS, options.capacity, name_.c_str());
  Lock lock(mutex_);
  make(lock, EventClass::kNoTiming, options.initial, stores_[index_of(EventClass::kNoTiming)].free);
  totals_.misses = 0;
  lock.unlock();
  const std::lock_guard registry_lock(registry().mutex);
  registry().pools[number] = [this](std::uint64_t thread) {
    ThreadCache* cache = nullptr;
    {
      const std::lock_guard pool_lock(mutex_);
      const auto found = cache_of_thread_.find(thread);
      if (found == cache_of_thread_.end()) return;
      cache = found->second;
      cache_of_thread_.erase(found);
    }
    retire(*cache);
  };
}

EventPool::Impl::~Impl() = default;

// Not part of the destructor: it needs the driver, which does not work in the child of a fork().
void EventPool::Impl::close() {
  {
    const std::lock_guard registry_lock(registry().mutex);
    registry().pools.erase(number);
  }
  if (process_ != process_generation()) return;
  destroy({all_.begin(), all_.end()});
}

void EventPool::Impl::refuse_fork(const char* call) {
  throw make_error(kCodeNotPermitted, call,
                   "the pool was created before fork(); CUDA does not work in the child");
}

ThreadCache& EventPool::Impl::find_cache() {
  thread_local PoolsOfThread known;
  const Lock lock(mutex_);
  ThreadCache*& found = cache_of_thread_[known.thread];
  if (found == nullptr) {
    if (free_caches_.empty()) {
      caches_.push_back(std::make_unique<ThreadCache>());
      free_caches_.push_back(caches_.back().get());
    }
    found = free_caches_.back();
    free_caches_.pop_back();
    found->retired = false;
    known.pools.push_back(number);
  }
  hot = {number, found};
  return *found;
}

void EventPool::Impl::retire(ThreadCache& cache) {
  const Lock lock(mutex_);
  for (std::size_t c = 0; c < kClasses; ++c) {
    Magazine& magazine = cache.magazines[c];
    magazine.move_to(stores_[c].free, magazine.count());
  }
  empty_inbox(cache);
  cache.retired = true;
  free_caches_.push_back(&cache);  // its ids stay: they are summed over all caches
}

inline EventRef EventPool::Impl::acquire(EventClass event_class) {
  if (at_hand()) [[likely]] {
    std::uint64_t id = 0;
    if (EventState* const event = hot.cache->magazines[index_of(event_class)].take(id)) [[likely]]
      return {event, EventId{id}};
  }
  return acquire_slowly(event_class);
}

EventRef EventPool::Impl::acquire_slowly(EventClass event_class) {
  check_process("EventPool::acquire");
  std::uint64_t id = 0;
  EventState* event = nullptr;
  if (bounded_) {
    event = acquire_bounded(event_class);
    event->owner = nullptr;
    id = take_event_ids(1);
    event->id.store(id, std::memory_order_release);
  } else {
    ThreadCache& mine = cache();
    Magazine& magazine = mine.magazines[index_of(event_class)];
    while ((event = magazine.take(id)) == nullptr) refill(mine, event_class);
  }
  return {event, EventId{id}};
}

// Refills a magazine with ids and events.
void EventPool::Impl::refill(ThreadCache& cache, EventClass event_class) {
  Lock lock(mutex_);
  Store& store = stores_[index_of(event_class)];
  Magazine& magazine = cache.magazines[index_of(event_class)];
  if (!magazine.has_ids()) magazine.take_ids(take_event_ids(kIdBlock), kIdBlock);
  if (magazine.count() > 0) return;
  note_use(in_use_now() + 1);
  empty_inbox(cache);
  std::vector<EventState*> made;
  if (store.free.empty()) {
    // The next batch is larger if this one was needed soon, smaller if the last one lasted long.
    const std::uint64_t acquired = magazine.acquired();
    const std::uint64_t served = acquired - std::min(acquired, store.acquired_at_growth);
    if (served < 16ull * store.batch) {
      store.batch = std::min(2 * store.batch, kMove);
    } else if (served > 1024ull * store.batch) {
      store.batch = std::max(store.batch / 2, 1u);
    }
    store.acquired_at_growth = acquired;
    make(lock, event_class, store.batch, made);
  }
  // Others may have released or acquired some while the lock was released.
  std::vector<EventState*>& from = made.empty() ? store.free : made;
  while (!from.empty() && magazine.count() < kMove) {
    from.back()->owner = &cache;
    magazine.give_back(from.back());
    from.pop_back();
  }
  sample();
}

// Throws unless the event belongs to the pool and `id` is its current id.
inline void EventPool::Impl::check_event(const EventState* event, std::uint64_t id,
                                         const char* call) const {
  if (event == nullptr) throw make_error(kCodeInvalidHandle, call, "the event is null");
  if (event->pool.load(std::memory_order_relaxed) != number)
    throw make_error(kCodeInvalidHandle, call, "the event belongs to another pool or none");
  if (event->id.load(std::memory_order_acquire) != id ||
      event->returned.load(std::memory_order_relaxed) == id)
    throw make_error(kCodeInvalidHandle, call, "the event was already released");
}

// Releases an event that was acquired by another thread, or by one that has ended. Under the lock.
void EventPool::Impl::give_back_foreign(EventState* event, std::uint64_t id) {
  check_event(event, id, "EventPool::release");  // again, under the lock
  const std::size_t which = index_of(event->event_class);
  auto* owner = static_cast<ThreadCache*>(event->owner);
  if (owner != nullptr && !owner->retired) {
    ++stores_[which].in_inboxes;
    event->returned.store(id, std::memory_order_relaxed);
    owner->inbox.push_back(event);
  } else {
    event->id.store(EventId::kNone, std::memory_order_release);
    stores_[which].free.push_back(event);
  }
}

// Moves events that others released for the owner of `cache`, which calls this, to the store.
void EventPool::Impl::empty_inbox(ThreadCache& cache) {
  for (EventState* event : cache.inbox) {
    Store& store = stores_[index_of(event->event_class)];
    --store.in_inboxes;
    // Released by its owner at the same time: then it is already free or acquired again.
    if (event->id.load(std::memory_order_relaxed) !=
        event->returned.load(std::memory_order_relaxed))
      continue;
    event->id.store(EventId::kNone, std::memory_order_release);
    store.free.push_back(event);
  }
  cache.inbox.clear();
}

inline void EventPool::Impl::release(EventRef event) {
  EventState* const state = event.state_;
  const std::uint64_t id = event.id_.value;
  // Check the id first: while it matches, no other thread changes the owner.
  if (at_hand() && state != nullptr && state->id.load(std::memory_order_acquire) == id &&
      state->returned.load(std::memory_order_relaxed) != id && state->owner == hot.cache &&
      hot.cache->magazines[index_of(state->event_class)].give_back(state)) [[likely]]
    return;
  release_slowly(state, id);
}

void EventPool::Impl::release_slowly(EventState* event, std::uint64_t id) {
  check_process("EventPool::release");
  check_event(event, id, "EventPool::release");
  ThreadCache* const owner = bounded_ ? nullptr : &cache();
  if (owner != nullptr && event->owner == owner) {
    const std::size_t which = index_of(event->event_class);
    Magazine& magazine = owner->magazines[which];
    if (magazine.count() == kMagazine) make_room(magazine, which);
    magazine.give_back(event);
    return;
  }
  {
    const Lock lock(mutex_);
    give_back_foreign(event, id);
    if (bounded_) sample();
  }
  if (bounded_) returned_.notify_one();
}

void EventPool::Impl::make_room(Magazine& magazine, std::size_t which) {
  std::vector<EventState*> unneeded;
  {
    const Lock lock(mutex_);
    magazine.move_to(stores_[which].free, kMove);
    note_use(in_use_now());
    if (++moves_ >= kTrimEvery) unneeded = surplus();
    sample();
  }
  destroy(unneeded);
}

void EventPool::Impl::discard(EventState* event, std::uint64_t id) {
  check_process("EventPool::discard");
  check_event(event, id, "EventPool::discard");
  {
    const Lock lock(mutex_);
    check_event(event, id, "EventPool::discard");
    event->id.store(EventId::kNone, std::memory_order_release);
    forget(stores_[index_of(event->event_class)], event);
  }
  returned_.notify_one();
  destroy({event});
}

EventPool::EventPool(const Device& device, const EventPoolOptions& options)
    : impl_(std::make_unique<Impl>(device, options)) {}

EventPool::~EventPool() { impl_->close(); }

EventRef EventPool::acquire(EventClass event_class) { return impl_->acquire(event_class); }

void EventPool::acquire(EventClass event_class, std::span<EventRef> events) {
  std::size_t taken = 0;
  try {
    for (; taken < events.size(); ++taken) events[taken] = acquire(event_class);
  } catch (...) {
    release(events.first(taken));
    std::fill_n(events.begin(), taken, EventRef());
    throw;
  }
}

PooledEvent EventPool::lease(EventClass event_class) { return {*this, acquire(event_class)}; }

void EventPool::release(EventRef event) { impl_->release(event); }

void EventPool::release(std::span<const EventRef> events) {
  for (EventRef event : events) release(event);
}

void EventPool::discard(EventRef event) { impl_->discard(event.state_, event.id_.value); }

void EventPool::trim(std::size_t keep) { impl_->trim(keep); }

std::atomic<std::size_t>& EventPool::spare_count() noexcept { return impl_->spare_count; }

PoolUtilization EventPool::utilization() const { return impl_->utilization(); }

EventPoolMetrics EventPool::metrics() const { return impl_->metrics(); }

PooledEvent::~PooledEvent() {
  if (pool_ == nullptr) return;
  try {
    pool_->release(*this);
  } catch (const Error&) {
    // Released manually, or in the child of a fork(): nothing is owned anymore.
  }
}

PooledEvent::PooledEvent(PooledEvent&& other) noexcept
    : EventRef(other), pool_(std::exchange(other.pool_, nullptr)) {
  static_cast<EventRef&>(other) = EventRef();
}

PooledEvent& PooledEvent::operator=(PooledEvent&& other) noexcept {
  if (this == &other) return *this;
  PooledEvent ended(std::move(*this));
  static_cast<EventRef&>(*this) = other;
  static_cast<EventRef&>(other) = EventRef();
  pool_ = std::exchange(other.pool_, nullptr);
  return *this;
}

}  // namespace coord
