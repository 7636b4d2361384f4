// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "coord/event_pool.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "codes.h"
#include "coord/error.h"
#include "device_state.h"
#include "observer.h"
#include "process.h"

namespace coord {

namespace {

/// Free events that a thread keeps for itself, for each class; half of them move to or from the
/// shared store at a time, so that a thread that swings by a few events leaves it alone.
constexpr std::uint32_t kMagazine = 64;
constexpr std::uint32_t kMove = kMagazine / 2;
/// Event ids that a thread takes at a time.
constexpr std::uint64_t kIdBlock = 1024;
/// The store is trimmed after so many times that a thread gave back half a magazine.
constexpr std::uint32_t kTrimEvery = 64;
constexpr std::size_t kClasses = 3;

using Count = std::atomic<std::uint64_t>;

/// One writer: no read-modify-write is needed.
void add(Count& count, std::uint64_t n) noexcept {
  count.store(count.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
}

/// What a thread keeps of one pool.
///
/// The thread that acquired an event owns it: it alone ends and begins the event's ids, so it needs
/// no atomic read-modify-write, which would cost more than all the rest. Other threads that give
/// the event back put it into the owner's inbox, under the pool's lock. A cache whose thread has
/// ended is owned by whoever holds the lock.
struct alignas(64) ThreadCache {
  struct Magazine {
    std::uint32_t count = 0;
    std::array<EventState*, kMagazine> events;
  };
  std::array<Magazine, kClasses> magazines;
  std::uint64_t next_id = 0, end_id = 0;
  std::array<Count, kClasses> acquired{}, released{};
  // Under the pool's lock:
  bool retired = false;
  std::vector<EventState*> inbox;
};

/// Most recently used pool of this thread and what the thread keeps of it.
struct Hot {
  std::uint64_t pool = 0;
  ThreadCache* cache = nullptr;
};
constinit thread_local Hot hot;

std::atomic<std::uint64_t> next_pool_number{1};

std::size_t index_of(EventClass event_class) { return static_cast<std::size_t>(event_class); }

}  // namespace

class EventPool::Impl {
 public:
  Impl(const Device& device, const EventPoolOptions& options);
  ~Impl();

  EventState* acquire(EventClass event_class, std::uint64_t& id);
  void release(EventState* event, std::uint64_t id);
  void discard(EventState* event, std::uint64_t id);
  void trim(std::size_t keep);
  PoolUtilization utilization() const;
  EventPoolMetrics metrics() const;
  /// The thread that owned `cache` has ended.
  void retire(ThreadCache& cache);
  void close();

  const std::uint64_t number = next_pool_number.fetch_add(1, std::memory_order_relaxed);

 private:
  using Lock = std::unique_lock<std::mutex>;
  struct Store {
    std::vector<EventState*> free;
    std::size_t total = 0;       // free, in magazines and in use
    std::size_t being_made = 0;  // counted in total already
    std::uint32_t batch = 1;     // events to make at the next miss
    std::uint64_t acquired_at_growth = 0;
    // Of bounded pools, and events that were discarded.
    std::uint64_t acquired = 0, released = 0;
  };

  ThreadCache& cache() { return hot.pool == number ? *hot.cache : find_cache(); }
  ThreadCache& find_cache();
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
  void make(Lock& lock, EventClass event_class, std::size_t count, std::vector<EventState*>& made);
  void destroy(const std::vector<EventState*>& events) noexcept;
  void forget(Store& store, EventState* event);
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
  mutable EventPoolMetrics totals_;  // of what is counted under the lock
  std::unordered_set<EventState*> all_;
  mutable Nanoseconds sampled_wait_{0};
  std::size_t lately_ = 0, before_ = 0;  // most in use since the last trim, and before that
  std::uint32_t moves_ = 0;              // half magazines given back since the last trim
};

namespace {

/// Live pools, so that a thread that ends finds those whose events it still keeps.
std::mutex& registry_mutex() {
  static auto* mutex = new std::mutex;  // threads may end after static destructors have run
  return *mutex;
}
std::unordered_map<std::uint64_t, std::function<void(std::uint64_t thread)>>& registry() {
  static auto* pools =
      new std::unordered_map<std::uint64_t, std::function<void(std::uint64_t thread)>>;
  return *pools;
}

/// The pools that this thread keeps events of.
struct PoolsOfThread {
  std::uint64_t thread = this_thread_number();
  std::vector<std::uint64_t> pools;
  ~PoolsOfThread() {
    hot = {};
    const std::lock_guard lock(registry_mutex());
    for (std::uint64_t pool : pools) {
      if (const auto found = registry().find(pool); found != registry().end())
        found->second(thread);
    }
  }
};

}  // namespace

EventPool::Impl::Impl(const Device& device, const EventPoolOptions& options)
    : device_(device.state()),
      options_(options),
      name_(options.name),
      bounded_(options.capacity > 0),
      process_((watch_forks(), process_generation())) {
  if (bounded_ && options.initial > options.capacity)
    throw make_error(kCodeInvalidValue, "EventPool", "more initial events than the capacity");
  if (observer().pool != nullptr) {
    coord_pool_facts facts{};
    facts.pool = static_cast<std::uint32_t>(number);
    facts.kind = COORD_POOL_EVENTS;
    facts.capacity = options.capacity;
    facts.name = name_.c_str();
    observer().pool(&facts);
  }
  Lock lock(mutex_);
  make(lock, EventClass::kNoTiming, options.initial, stores_[index_of(EventClass::kNoTiming)].free);
  totals_.misses = 0;
  lock.unlock();
  const std::lock_guard registry_lock(registry_mutex());
  registry()[number] = [this](std::uint64_t thread) {
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

// Not part of the destructor: it needs the driver, which the child of a fork() has not.
void EventPool::Impl::close() {
  {
    const std::lock_guard registry_lock(registry_mutex());
    registry().erase(number);
  }
  if (process_ != process_generation()) return;
  destroy({all_.begin(), all_.end()});
}

void EventPool::Impl::refuse_fork(const char* call) {
  throw make_error(kCodeNotPermitted, call,
                   "the pool was made before fork(); CUDA does not survive that");
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
    ThreadCache::Magazine& magazine = cache.magazines[c];
    stores_[c].free.insert(stores_[c].free.end(), magazine.events.begin(),
                           magazine.events.begin() + magazine.count);
    magazine.count = 0;
  }
  empty_inbox(cache);
  cache.retired = true;
  free_caches_.push_back(&cache);  // its counts stay: they are summed over all caches
}

inline EventState* EventPool::Impl::acquire(EventClass event_class, std::uint64_t& id) {
  check_process("EventPool::acquire");
  if (bounded_) {
    EventState* event = acquire_bounded(event_class);
    event->owner = nullptr;
    id = take_event_ids(1);
    event->id.store(id, std::memory_order_release);
    return event;
  }
  ThreadCache& mine = cache();
  ThreadCache::Magazine& magazine = mine.magazines[index_of(event_class)];
  if (magazine.count == 0) refill(mine, event_class);
  EventState* event = magazine.events[--magazine.count];
  if (mine.next_id == mine.end_id) {
    mine.next_id = take_event_ids(kIdBlock);
    mine.end_id = mine.next_id + kIdBlock;
  }
  id = mine.next_id++;
  event->owner = &mine;
  event->id.store(id, std::memory_order_release);
  add(mine.acquired[index_of(event_class)], 1);
  return event;
}

EventState* EventPool::Impl::acquire_bounded(EventClass event_class) {
  Lock lock(mutex_);
  Store& store = stores_[index_of(event_class)];
  if (store.free.empty() && store.total >= options_.capacity &&
      options_.at_capacity != AtCapacity::kGrow) {
    const auto exhausted = [&](const char* why) {
      ++totals_.refused;
      return Error(ErrorKind::kExhausted, kCodeOutOfMemory, name_of_code(kCodeOutOfMemory),
                   "EventPool::acquire",
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

void EventPool::Impl::refill(ThreadCache& cache, EventClass event_class) {
  Lock lock(mutex_);
  Store& store = stores_[index_of(event_class)];
  ThreadCache::Magazine& magazine = cache.magazines[index_of(event_class)];
  note_use(in_use_now() + 1);
  empty_inbox(cache);
  std::vector<EventState*> made;
  if (store.free.empty()) {
    // The next batch is larger if this one follows soon, smaller if the last one lasted.
    const std::uint64_t acquired =
        cache.acquired[index_of(event_class)].load(std::memory_order_relaxed);
    const std::uint64_t served = acquired - std::min(acquired, store.acquired_at_growth);
    if (served < 16ull * store.batch) {
      store.batch = std::min(2 * store.batch, kMove);
    } else if (served > 1024ull * store.batch) {
      store.batch = std::max(store.batch / 2, 1u);
    }
    store.acquired_at_growth = acquired;
    make(lock, event_class, store.batch, made);
  }
  // Others may have released or taken some while the lock was open.
  std::vector<EventState*>& from = made.empty() ? store.free : made;
  while (!from.empty() && magazine.count < kMove) {
    magazine.events[magazine.count++] = from.back();
    from.pop_back();
  }
  sample();
}

// Makes at least one of `count` events, or throws. The lock is open meanwhile.
void EventPool::Impl::make(Lock& lock, EventClass event_class, std::size_t count,
                           std::vector<EventState*>& made) {
  if (count == 0) return;
  Store& store = stores_[index_of(event_class)];
  store.total += count;  // now, so that others see what there will be
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
  totals_.created += fresh.size();
  all_.insert(fresh.begin(), fresh.end());
  if (fresh.empty()) {
    returned_.notify_one();
    std::rethrow_exception(error);
  }
  ++totals_.misses;
  made.insert(made.end(), fresh.begin(), fresh.end());
}

// Throws unless the event is the pool's and `id` its present one.
inline void EventPool::Impl::check_event(const EventState* event, std::uint64_t id,
                                         const char* call) const {
  if (event == nullptr) throw make_error(kCodeInvalidHandle, call, "the event is null");
  if (event->pool.load(std::memory_order_relaxed) != number)
    throw make_error(kCodeInvalidHandle, call, "the event is of another pool, or of none");
  if (event->id.load(std::memory_order_acquire) != id ||
      event->returned.load(std::memory_order_relaxed) == id)
    throw make_error(kCodeInvalidHandle, call, "the event was given back before");
}

// The event was acquired by another thread, or by one that has ended. Under the lock.
void EventPool::Impl::give_back_foreign(EventState* event, std::uint64_t id) {
  check_event(event, id, "EventPool::release");  // again: it may have changed before the lock
  const std::size_t which = index_of(event->event_class);
  auto* owner = static_cast<ThreadCache*>(event->owner);
  ++stores_[which].released;
  if (owner != nullptr && !owner->retired) {
    event->returned.store(id, std::memory_order_relaxed);
    owner->inbox.push_back(event);
  } else {
    event->id.store(EventId::kNone, std::memory_order_release);
    stores_[which].free.push_back(event);
  }
}

// What others gave back for the owner of `cache`, who calls this, comes into the store.
void EventPool::Impl::empty_inbox(ThreadCache& cache) {
  for (EventState* event : cache.inbox) {
    // Given back by its owner at the same moment: then it is free, or somebody's, already.
    if (event->id.load(std::memory_order_relaxed) !=
        event->returned.load(std::memory_order_relaxed)) {
      --stores_[index_of(event->event_class)].released;
      continue;
    }
    event->id.store(EventId::kNone, std::memory_order_release);
    stores_[index_of(event->event_class)].free.push_back(event);
  }
  cache.inbox.clear();
}

inline void EventPool::Impl::release(EventState* event, std::uint64_t id) {
  check_process("EventPool::release");
  check_event(event, id, "EventPool::release");
  const std::size_t which = index_of(event->event_class);
  ThreadCache* const owner = bounded_ ? nullptr : &cache();
  if (owner == nullptr || event->owner != owner) {
    {
      const Lock lock(mutex_);
      give_back_foreign(event, id);
      if (bounded_) sample();
    }
    if (bounded_) returned_.notify_one();
    return;
  }
  ThreadCache& mine = *owner;
  event->id.store(EventId::kNone, std::memory_order_release);
  ThreadCache::Magazine& magazine = mine.magazines[which];
  if (magazine.count == kMagazine) {
    std::vector<EventState*> unneeded;
    {
      Lock lock(mutex_);
      Store& store = stores_[which];
      magazine.count -= kMove;
      store.free.insert(store.free.end(), magazine.events.begin() + magazine.count,
                        magazine.events.begin() + magazine.count + kMove);
      note_use(in_use_now());
      if (++moves_ >= kTrimEvery) unneeded = surplus();
      sample();
    }
    destroy(unneeded);
  }
  magazine.events[magazine.count++] = event;
  add(mine.released[which], 1);
}

void EventPool::Impl::discard(EventState* event, std::uint64_t id) {
  check_process("EventPool::discard");
  check_event(event, id, "EventPool::discard");
  {
    const Lock lock(mutex_);
    check_event(event, id, "EventPool::discard");
    event->id.store(EventId::kNone, std::memory_order_release);
    Store& store = stores_[index_of(event->event_class)];
    ++store.released;
    forget(store, event);
  }
  returned_.notify_one();
  destroy({event});
}

void EventPool::Impl::destroy(const std::vector<EventState*>& events) noexcept {
  for (EventState* event : events) {
    const NativeEvent native = event->native;
    device_->remove(*event);
    device_->backend->destroy_event(native);
  }
}

// Takes an event out of the books; it is destroyed once the lock is open.
void EventPool::Impl::forget(Store& store, EventState* event) {
  --store.total;
  all_.erase(event);
  ++totals_.destroyed;
}

std::size_t EventPool::Impl::in_use_now(std::size_t which) const {
  // Released before acquired: what happens in between makes the result too large, never negative.
  std::uint64_t released = stores_[which].released, acquired = stores_[which].acquired;
  for (const auto& cache : caches_)
    released += cache->released[which].load(std::memory_order_acquire);
  for (const auto& cache : caches_)
    acquired += cache->acquired[which].load(std::memory_order_relaxed);
  return acquired > released ? acquired - released : 0;
}

std::size_t EventPool::Impl::in_use_now() const {
  std::size_t in_use = 0;
  for (std::size_t c = 0; c < kClasses; ++c) in_use += in_use_now(c);
  return in_use;
}

// Tells the observer, from wherever the lock is held anyway.
void EventPool::Impl::sample() const {
  if (observer().pool_sample == nullptr) return;
  const PoolUtilization now = utilization_now();
  coord_pool_sample_facts facts{};
  facts.pool = static_cast<std::uint32_t>(number);
  facts.available = now.available;
  facts.in_use = now.in_use;
  facts.high_water = std::max(totals_.high_water, now.in_use);
  facts.waited_ns = static_cast<std::uint64_t>((totals_.blocked_time - sampled_wait_).count());
  facts.time_ns = device_->simulated ? device_->backend->now().value : 0;
  sampled_wait_ = totals_.blocked_time;
  observer().pool_sample(&facts);
}

void EventPool::Impl::note_use(std::size_t in_use) {
  totals_.high_water = std::max(totals_.high_water, in_use);
  lately_ = std::max(lately_, in_use);
}

// What the shared store can do without, going by the most that was in use lately.
std::vector<EventState*> EventPool::Impl::surplus() {
  const std::size_t peak = std::max(lately_, before_);
  before_ = std::exchange(lately_, in_use_now());
  moves_ = 0;
  std::vector<EventState*> unneeded;
  for (std::size_t c = 0; c < kClasses; ++c) {
    Store& store = stores_[c];
    std::size_t keep = peak + peak / 4 + caches_.size() * kMagazine;
    if (c == index_of(EventClass::kNoTiming)) keep = std::max(keep, options_.initial);
    while (store.total > keep && !store.free.empty()) {
      unneeded.push_back(store.free.back());
      store.free.pop_back();
      forget(store, unneeded.back());
    }
  }
  return unneeded;
}

void EventPool::Impl::trim(std::size_t keep) {
  check_process("EventPool::trim");
  std::vector<EventState*> unneeded;
  {
    const Lock lock(mutex_);
    for (Store& store : stores_) {
      while (store.free.size() > keep) {
        unneeded.push_back(store.free.back());
        store.free.pop_back();
        forget(store, unneeded.back());
      }
    }
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
    result.released += stores_[c].released;
    result.acquired += stores_[c].acquired;
    for (const auto& cache : caches_) {
      result.released += cache->released[c].load(std::memory_order_relaxed);
      result.acquired += cache->acquired[c].load(std::memory_order_relaxed);
    }
  }
  return result;
}

EventPool::EventPool(const Device& device, const EventPoolOptions& options)
    : impl_(std::make_unique<Impl>(device, options)) {}

EventPool::~EventPool() { impl_->close(); }

EventRef EventPool::acquire(EventClass event_class) {
  std::uint64_t id = 0;
  EventState* event = impl_->acquire(event_class, id);
  return {event, EventId{id}};
}

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

void EventPool::release(EventRef event) { impl_->release(event.state_, event.id_.value); }

void EventPool::release(std::span<const EventRef> events) {
  for (EventRef event : events) release(event);
}

void EventPool::discard(EventRef event) { impl_->discard(event.state_, event.id_.value); }

void EventPool::trim(std::size_t keep) { impl_->trim(keep); }

PoolUtilization EventPool::utilization() const { return impl_->utilization(); }

EventPoolMetrics EventPool::metrics() const { return impl_->metrics(); }

PooledEvent::~PooledEvent() {
  if (pool_ == nullptr) return;
  try {
    pool_->release(*this);
  } catch (const Error&) {
    // Released by hand, or in the child of a fork(): nothing is owned any more.
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
