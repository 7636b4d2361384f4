// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Times of leases, measured by the device's clock, and tuning.

#include <algorithm>
#include <cstdio>

#include "coord/error.h"
#include "stream_pool_impl.h"

namespace coord {

namespace {

/// Minimum leases for a decision.
constexpr std::uint64_t kEnoughLeases = 32;
/// Adds streams if a larger share of the leases finds none idle.
constexpr double kBusyShare = 0.1;
/// Kinds of work differ if their averages differ by more than this factor.
constexpr double kDiffer = 4;

}  // namespace

// Expected times

void StreamPool::Impl::expect(std::uint32_t index, Workload workload) noexcept {
  StreamSlot& slot = slots_[index];
  slot.last.store(workload, std::memory_order_relaxed);
  const WorkloadTime time = time_of(workload);
  // Unmeasured work counts as 1 ns, so that the number of leases decides.
  const std::int64_t ns = std::max<std::int64_t>(time.average.count(), 1);
  const std::uint64_t number = leases_of(index);
  const std::int64_t until = slot.expected_ns.fetch_add(ns, std::memory_order_relaxed) + ns;
  slot.expected_until[number % kExpectedKept].store(until, std::memory_order_relaxed);
}

std::int64_t StreamPool::Impl::expected_left(std::uint32_t index) const noexcept {
  const StreamSlot& slot = slots_[index];
  const std::uint64_t load = load_of(index);
  if (load == 0) return 0;
  const std::int64_t all = slot.expected_ns.load(std::memory_order_relaxed);
  if (load >= kExpectedKept) return all;  // more than any other stream
  return all - slot.expected_until[done(index) % kExpectedKept].load(std::memory_order_relaxed);
}

// Measured times

bool StreamPool::Impl::begin_timing(std::uint32_t index, Workload workload) {
  StreamSlot& slot = slots_[index];
  const std::lock_guard lock(slot.timing_mutex);
  collect_time(slot, index);
  if (slot.timed.has_value() || slot.stream.capture_status() != CaptureStatus::kNone) return false;
  StreamSlot::Timed timed;
  try {
    timed.start = events_.lease(EventClass::kTiming);
    slot.stream.record(timed.start);
  } catch (const Error&) {
    return false;  // the lease's own work will report the error
  }
  timed.workload = workload;
  slot.timed = std::move(timed);
  return true;
}

// Adds the time of a lease that has ended. No query is needed to know that it has.
void StreamPool::Impl::collect_time(StreamSlot& slot, std::uint32_t index) noexcept {
  if (!slot.timed.has_value() || slot.timed->number == 0 || done(index) < slot.timed->number)
    return;
  const StreamSlot::Timed& timed = *slot.timed;
  try {
    const Nanoseconds took = timed.end.elapsed_since(timed.start);
    const auto kind = static_cast<std::size_t>(timed.workload);
    times_sum_ns_[kind].fetch_add(took.count(), std::memory_order_relaxed);
    times_measured_[kind].fetch_add(1, std::memory_order_release);
  } catch (const Error&) {
    // The device has failed.
  }
  slot.timed.reset();
}

WorkloadTime StreamPool::Impl::time_of(Workload workload) const {
  const auto kind = static_cast<std::size_t>(workload);
  WorkloadTime result;
  result.measured = times_measured_[kind].load(std::memory_order_acquire);
  if (result.measured > 0)
    result.average = Nanoseconds(times_sum_ns_[kind].load(std::memory_order_relaxed) /
                                 static_cast<std::int64_t>(result.measured));
  return result;
}

StreamPoolMetrics StreamPool::Impl::metrics() const {
  notify();
  StreamPoolMetrics result;
  const Lock lock(mutex_);
  for (const StreamSlot& slot : slots_) {
    result.busy += slot.busy.load(std::memory_order_relaxed);
    result.reserved += slot.reserved ? 1 : 0;
  }
  for (std::uint32_t slot = 0; slot < count_.load(std::memory_order_acquire); ++slot)
    result.leases += leases_of(slot);
  result.size = size_now();
  result.high_water = high_water_.load(std::memory_order_relaxed);
  result.waited = Nanoseconds(waited_ns_.load(std::memory_order_relaxed));
  for (std::size_t kind = 0; kind < kWorkloads; ++kind)
    result.times[kind] = time_of(static_cast<Workload>(kind));
  return result;
}

// Tuning

PoolTuning StreamPool::Impl::tune() {
  for (std::uint32_t i = 0; i < count_.load(std::memory_order_acquire); ++i) {
    const std::lock_guard lock(slots_[i].timing_mutex);
    collect_time(slots_[i], i);
  }
  const StreamPoolMetrics now = metrics();
  const std::uint64_t leases = now.leases - tuned_leases_, busy = now.busy - tuned_busy_;
  PoolTuning result{strategy.load(), now.size, false, {}};
  char text[160];
  if (leases < kEnoughLeases) {
    std::snprintf(text, sizeof text, "%llu leases since the last call are too few for a decision",
                  static_cast<unsigned long long>(leases));
    result.why = text;
    return result;
  }
  tuned_leases_ = now.leases;
  tuned_busy_ = now.busy;
  const std::size_t needed = highest_.exchange(0) + std::size_t{1};
  const double share = static_cast<double>(busy) / static_cast<double>(leases);
  std::snprintf(text, sizeof text, "%.0f %% of %llu leases found no idle stream", 100 * share,
                static_cast<unsigned long long>(leases));
  result.why = text;

  const std::size_t most = max_size_ - now.reserved;
  if (share > kBusyShare && now.size < most) {
    const auto more = static_cast<std::size_t>(share * static_cast<double>(now.size));
    result.size = std::min(most, now.size + std::max<std::size_t>(more, 1));
  } else if (busy == 0 && result.strategy != PoolStrategy::kRoundRobin && needed < now.size) {
    // All strategies but round robin take the first idle stream: none beyond the highest taken was
    // needed.
    result.size = needed;
    result.why += "; " + std::to_string(needed) + " streams were enough";
  }

  double least = 0, greatest = 0;
  for (const WorkloadTime& time : now.times) {
    if (time.measured == 0) continue;
    const auto ns = static_cast<double>(time.average.count());
    least = least == 0 ? ns : std::min(least, ns);
    greatest = std::max(greatest, ns);
  }
  const bool tunable = result.strategy != PoolStrategy::kPriority;
  if (tunable && busy > 0 && greatest >= kDiffer * least && least > 0) {
    result.strategy = PoolStrategy::kWorkload;
    std::snprintf(text, sizeof text, "; kinds of work take from %.1f to %.1f us on average",
                  least / 1e3, greatest / 1e3);
    result.why += text;
  } else if (result.strategy == PoolStrategy::kRoundRobin && busy > 0) {
    result.strategy = PoolStrategy::kLoadBalanced;
  }
  result.changed = result.size != now.size || result.strategy != strategy.load();
  strategy.store(result.strategy);
  if (result.size != now.size) resize(result.size);
  return result;
}

}  // namespace coord
