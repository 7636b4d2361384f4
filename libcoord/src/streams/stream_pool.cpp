// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Leases: which stream each gets, and the device write at its end.

#include "coord/stream_pool.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "capture_mode.h"
#include "codes.h"
#include "coord/error.h"
#include "stream_pool_impl.h"

namespace coord {

const char* to_string(PoolStrategy strategy) noexcept {
  constexpr const char* kNames[] = {"RoundRobin", "LoadBalanced", "Priority", "Workload"};
  return kNames[static_cast<std::size_t>(strategy)];
}

const char* to_string(Workload workload) noexcept {
  constexpr const char* kNames[] = {"Compute", "Memory", "Mixed", "Coordination"};
  return kNames[static_cast<std::size_t>(workload)];
}

// Finding a stream

bool StreamPool::Impl::take_busy(std::uint32_t slot) noexcept {
  std::uint64_t taken = taken_[slot].load(std::memory_order_relaxed);
  while ((taken & kClosed) == 0) {
    if (taken_[slot].compare_exchange_weak(taken, taken + 1, std::memory_order_acq_rel))
      return true;
  }
  return false;
}

/// Takes the first suitable idle stream, starting at a given one.
template <typename Suits>
inline std::uint32_t StreamPool::Impl::find_idle(std::uint32_t from, Suits suits) noexcept {
  const std::uint32_t count = count_.load(std::memory_order_acquire);
  if (from >= count) from = 0;
  for (std::uint32_t slot = from; slot < count; ++slot) {
    if (suits(slot) && take_idle(slot)) return slot;
  }
  for (std::uint32_t slot = 0; slot < from; ++slot) {
    if (suits(slot) && take_idle(slot)) return slot;
  }
  return kNone;
}

/// The open stream of the least cost.
template <typename Cost>
std::uint32_t StreamPool::Impl::least(Cost cost) const noexcept {
  const std::uint32_t count = count_.load(std::memory_order_acquire);
  std::uint32_t best = kNone;
  decltype(cost(0u)) best_cost{};
  for (std::uint32_t slot = 0; slot < count; ++slot) {
    if ((taken_[slot].load(std::memory_order_relaxed) & kClosed) != 0) continue;
    const auto slot_cost = cost(slot);
    if (best != kNone && slot_cost >= best_cost) continue;
    best = slot;
    best_cost = slot_cost;
  }
  return best;
}

inline std::uint32_t StreamPool::Impl::pick_idle(PoolStrategy how, Workload workload,
                                                 int priority) noexcept {
  const auto any = [](std::uint32_t) { return true; };
  std::uint32_t slot = kNone;
  switch (how) {
    case PoolStrategy::kRoundRobin:
      slot = find_idle(next_.load(std::memory_order_relaxed), any);
      if (slot != kNone) next_.store(slot + 1, std::memory_order_relaxed);
      return slot;
    case PoolStrategy::kLoadBalanced:
      break;
    case PoolStrategy::kPriority:
      slot = find_idle(0, [&](std::uint32_t s) { return slots_[s].priority == priority; });
      break;
    case PoolStrategy::kWorkload:
      slot = find_idle(0, [&](std::uint32_t s) {
        return slots_[s].last.load(std::memory_order_relaxed) == workload;
      });
      break;
  }
  return slot != kNone ? slot : find_idle(0, any);
}

std::uint32_t StreamPool::Impl::pick_busy(PoolStrategy how, int priority) noexcept {
  for (;;) {
    std::uint32_t slot = kNone;
    const std::uint32_t count = count_.load(std::memory_order_acquire);
    switch (how) {
      case PoolStrategy::kRoundRobin: {
        const std::uint32_t turn = next_.fetch_add(1, std::memory_order_relaxed);
        slot = least([&](std::uint32_t s) { return (s + count - turn % count) % count; });
        break;
      }
      case PoolStrategy::kLoadBalanced:
        slot = least([&](std::uint32_t s) { return load_of(s); });
        break;
      case PoolStrategy::kPriority:
        slot = least(
            [&](std::uint32_t s) { return std::pair(slots_[s].priority != priority, load_of(s)); });
        break;
      case PoolStrategy::kWorkload:
        slot = least([&](std::uint32_t s) { return expected_left(s); });
        break;
    }
    if (slot == kNone) return kNone;
    if (take_busy(slot)) return slot;  // otherwise it was just closed
  }
}

StreamLease StreamPool::Impl::lease(Workload workload, StreamPriority priority) {
  const PoolStrategy how = strategy.load(std::memory_order_relaxed);
  const int number = priorities_[static_cast<std::size_t>(priority)];
  std::uint32_t index = pick_idle(how, workload, number);
  const bool idle = index != kNone;
  if (!idle) [[unlikely]] {
    index = pick_busy(how, number);
    if (index == kNone)
      throw make_error(ErrorKind::kExhausted, kCodeOutOfMemory, "StreamPool::lease",
                       "all streams of \"" + name_ + "\" are reserved");
    slots_[index].busy.fetch_add(1, std::memory_order_relaxed);
  }
  StreamSlot& slot = slots_[index];
  if (index > highest_.load(std::memory_order_relaxed)) [[unlikely]]
    highest_.store(index, std::memory_order_relaxed);
  if (how == PoolStrategy::kWorkload) expect(index, workload);
  StreamLease result(*this, index, slot.stream, idle);
  if (idle && options_.time_one_in > 0) {
    if (leases_of(index) % options_.time_one_in == 0) [[unlikely]]
      result.timed_ = begin_timing(index, workload);
  }
  if (observer().pool_sample != nullptr) notify();
  return result;
}

// The lease's number is written behind its work. A word must not decrease, so numbers are assigned
// in the order in which their writes are enqueued.
void StreamPool::Impl::end(std::uint32_t index, bool timed, bool alone) {
  StreamSlot& slot = slots_[index];
  if (slot.stream.capture_status() != CaptureStatus::kNone) {  // the work is in a graph
    drop(index, timed, alone);
    return;
  }
  try {
    const std::lock_guard lock(slot.mutex);
    const std::lock_guard timing_lock(slot.timing_mutex);
    StreamSlot::Timed* const time = timed && slot.timed.has_value() ? &*slot.timed : nullptr;
    if (time != nullptr) {
      time->end = events_.lease(EventClass::kTiming);
      slot.stream.record(time->end);
    }
    slot.stream.write_value(done_ + index, slot.ended + 1);
    ++slot.ended;
    if (time != nullptr) time->number = slot.ended;
  } catch (...) {
    drop(index, timed, alone);
    throw;
  }
  if (observer().pool_sample != nullptr) notify();
}

void StreamPool::Impl::drop(std::uint32_t index, bool timed, bool alone) noexcept {
  StreamSlot& slot = slots_[index];
  if (timed) {
    const std::lock_guard lock(slot.timing_mutex);
    slot.timed.reset();
  }
  if (!alone) {
    taken_[index].fetch_sub(1, std::memory_order_acq_rel);
    return;
  }
  std::atomic<std::uint64_t>& dropped = dropped_[index];
  dropped.store(dropped.load(std::memory_order_relaxed) + 1, std::memory_order_release);
}

// Pending work of streams

std::size_t StreamPool::Impl::ready_count() const noexcept {
  const std::uint32_t count = count_.load(std::memory_order_acquire);
  std::size_t ready = 0;
  for (std::uint32_t slot = 0; slot < count; ++slot) ready += idle(slot) ? 1 : 0;
  return ready;
}

bool StreamPool::Impl::wait_any_ready(Nanoseconds timeout) {
  constexpr int kSpins = 200;
  constexpr std::chrono::microseconds kNap{20};
  if (ready_count() > 0) return true;
  const TimeNs begin = device_.now();
  bool ready = false;
  for (std::uint32_t poll = 0;; ++poll) {
    {
      // Detects a device failure, and lets a simulated device proceed.
      const AllowedDuringCapture allowed(*device_.state()->backend);
      (void)slots_[poll % count_.load(std::memory_order_acquire)].stream.query();
    }
    ready = ready_count() > 0;
    if (ready || device_.now() - begin >= timeout) break;
    if (poll < kSpins) {
      std::this_thread::yield();
    } else if (!device_.simulated()) {
      std::this_thread::sleep_for(kNap);
    }
  }
  waited_ns_.fetch_add((device_.now() - begin).count(), std::memory_order_relaxed);
  if (observer().pool_sample != nullptr) notify();
  return ready;
}

std::uint64_t StreamPool::Impl::load(StreamRef stream) const {
  const std::uint32_t count = count_.load(std::memory_order_acquire);
  for (std::uint32_t slot = 0; slot < count; ++slot) {
    if (slots_[slot].stream.id() == stream.id()) return load_of(slot);
  }
  throw make_error(kCodeInvalidHandle, "StreamPool::load", "the stream is not in this pool");
}

void StreamPool::Impl::notify() const {
  const std::uint32_t count = count_.load(std::memory_order_acquire);
  std::size_t ready = 0, in_use = 0;
  for (std::uint32_t slot = 0; slot < count; ++slot) {
    if (idle(slot)) {
      ++ready;
    } else if (load_of(slot) > 0) {
      ++in_use;
    }
  }
  std::size_t most = high_water_.load(std::memory_order_relaxed);
  while (most < in_use && !high_water_.compare_exchange_weak(most, in_use)) {
  }
  if (observer().pool_sample == nullptr) return;
  const std::int64_t waited_ns = waited_ns_.load(std::memory_order_relaxed);
  const coord_pool_sample_facts facts{
      .pool = static_cast<std::uint32_t>(number_),
      .available = ready,
      .in_use = in_use,
      .high_water = std::max(most, in_use),
      .waited_ns = static_cast<std::uint64_t>(waited_ns - reported_waited_ns_.exchange(waited_ns)),
      .time_ns = device_.state()->observer_time_ns()};
  observer().pool_sample(&facts);
}

// The public classes

StreamPool::StreamPool(const Device& device, const StreamPoolOptions& options)
    : impl_(std::make_unique<Impl>(device, options)) {}

StreamPool::~StreamPool() = default;

StreamLease StreamPool::lease(Workload workload, StreamPriority priority) {
  return impl_->lease(workload, priority);
}

ReservedStream StreamPool::reserve() { return impl_->reserve(); }

bool StreamPool::has_ready() const noexcept { return impl_->ready_count() > 0; }

std::size_t StreamPool::ready_count() const noexcept { return impl_->ready_count(); }

bool StreamPool::wait_any_ready(Nanoseconds timeout) { return impl_->wait_any_ready(timeout); }

std::uint64_t StreamPool::load(StreamRef stream) const { return impl_->load(stream); }

void StreamPool::set_strategy(PoolStrategy strategy) noexcept { impl_->strategy.store(strategy); }

PoolStrategy StreamPool::strategy() const noexcept { return impl_->strategy.load(); }

void StreamPool::resize(std::size_t size) { impl_->resize(size); }

PoolTuning StreamPool::tune() { return impl_->tune(); }

StreamPoolMetrics StreamPool::metrics() const { return impl_->metrics(); }

WorkloadTime StreamPool::time_of(Workload workload) const { return impl_->time_of(workload); }

void StreamLease::end() {
  if (StreamPool::Impl* pool = std::exchange(pool_, nullptr); pool != nullptr)
    pool->end(slot_, timed_, alone_);
}

void StreamLease::drop() noexcept {
  if (StreamPool::Impl* pool = std::exchange(pool_, nullptr); pool != nullptr)
    pool->drop(slot_, timed_, alone_);
}

void StreamLease::end_quietly() noexcept {
  try {
    end();
  } catch (const Error&) {
    // Its work may have failed with the device; a later query reports that.
  }
}

StreamLease::StreamLease(StreamLease&& other) noexcept
    : StreamRef(other),
      pool_(std::exchange(other.pool_, nullptr)),
      slot_(other.slot_),
      timed_(other.timed_),
      alone_(other.alone_) {
  static_cast<StreamRef&>(other) = StreamRef();
}

StreamLease& StreamLease::operator=(StreamLease&& other) noexcept {
  StreamLease moved(std::move(other));
  std::swap(static_cast<StreamRef&>(*this), static_cast<StreamRef&>(moved));
  std::swap(pool_, moved.pool_);
  std::swap(slot_, moved.slot_);
  std::swap(timed_, moved.timed_);
  std::swap(alone_, moved.alone_);
  return *this;
}

ReservedStream::~ReservedStream() {
  if (pool_ != nullptr) pool_->give_back(slot_);
}

ReservedStream::ReservedStream(ReservedStream&& other) noexcept
    : StreamRef(other), pool_(std::exchange(other.pool_, nullptr)), slot_(other.slot_) {
  static_cast<StreamRef&>(other) = StreamRef();
}

ReservedStream& ReservedStream::operator=(ReservedStream&& other) noexcept {
  ReservedStream moved(std::move(other));
  std::swap(static_cast<StreamRef&>(*this), static_cast<StreamRef&>(moved));
  std::swap(pool_, moved.pool_);
  std::swap(slot_, moved.slot_);
  return *this;
}

}  // namespace coord
