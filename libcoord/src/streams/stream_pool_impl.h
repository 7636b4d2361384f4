// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The implementation of a StreamPool: stream_pool.cpp has leases, stream_pool_size.cpp the set of
// open streams, stream_pool_times.cpp measured times and tuning.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "coord/event_pool.h"
#include "coord/stream_pool.h"
#include "device_state.h"
#include "observer.h"

namespace coord {

inline constexpr std::size_t kMostStreams = 64;
/// Number of a stream's leases whose expected time is kept individually; further ones share the
/// last entry.
inline constexpr std::size_t kExpectedKept = 64;

/// A pool's data for one stream. The words that every lease reads are elsewhere.
struct alignas(64) StreamSlot {
  std::atomic<std::uint64_t> busy{0};  // its leases taken while no stream was idle
  std::atomic<Workload> last{Workload::kMixed};
  int priority = 0;
  Stream stream;
  // Expected time of its leases: in total, and up to each of the last ones.
  std::atomic<std::int64_t> expected_ns{0};
  std::array<std::atomic<std::int64_t>, kExpectedKept> expected_until{};

  std::mutex mutex;         // held during the write behind a lease, to keep the writes in order
  std::uint64_t ended = 0;  // leases whose end was enqueued

  std::mutex timing_mutex;
  struct Timed {
    PooledEvent start, end;
    std::uint64_t number = 0;  // passed when the stream has ended this many leases; 0: still held
    Workload workload{};
  };
  std::optional<Timed> timed;

  // Under the pool's lock:
  bool open = false, reserved = false;
};

class StreamPool::Impl {
 public:
  Impl(const Device& device, const StreamPoolOptions& options);
  ~Impl();
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  // stream_pool.cpp
  StreamLease lease(Workload workload, StreamPriority priority);
  /// `alone`: the lease found its stream idle.
  void end(std::uint32_t slot, bool timed, bool alone);
  void drop(std::uint32_t slot, bool timed, bool alone) noexcept;
  std::size_t ready_count() const noexcept;
  bool wait_any_ready(Nanoseconds timeout);
  std::uint64_t load(StreamRef stream) const;

  // stream_pool_size.cpp
  ReservedStream reserve();
  void give_back(std::uint32_t slot) noexcept;
  void resize(std::size_t size);

  // stream_pool_times.cpp
  WorkloadTime time_of(Workload workload) const;
  PoolTuning tune();
  StreamPoolMetrics metrics() const;

  std::atomic<PoolStrategy> strategy;

 private:
  friend class StreamPool;
  using Lock = std::unique_lock<std::mutex>;
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  /// Flag in a stream's word of leases: closed to leases.
  static constexpr std::uint64_t kClosed = std::uint64_t{1} << 63;

  /// Leases that the device has ended.
  [[nodiscard]] std::uint64_t done(std::uint32_t slot) const noexcept {
    return std::atomic_ref(done_[slot]).load(std::memory_order_acquire);
  }
  /// The same, plus dropped leases.
  [[nodiscard]] std::uint64_t over(std::uint32_t slot) const noexcept {
    return done(slot) + dropped_[slot].load(std::memory_order_acquire);
  }
  [[nodiscard]] bool idle(std::uint32_t slot) const noexcept {
    return taken_[slot].load(std::memory_order_acquire) == over(slot);  // never true if closed
  }
  [[nodiscard]] std::uint64_t load_of(std::uint32_t slot) const noexcept {
    // Read the ended count first: leases that end in between make the load too large, never
    // negative.
    const std::uint64_t ended = over(slot);
    return (taken_[slot].load(std::memory_order_acquire) & ~kClosed) - ended;
  }
  /// Leases that were not dropped.
  [[nodiscard]] std::uint64_t leases_of(std::uint32_t slot) const noexcept {
    const std::uint64_t dropped = dropped_[slot].load(std::memory_order_relaxed);
    return (taken_[slot].load(std::memory_order_relaxed) & ~kClosed) - dropped;
  }
  /// Takes a stream if it is idle; fails if another thread takes it at the same time.
  bool take_idle(std::uint32_t slot, std::uint64_t bits = 1) noexcept {
    std::uint64_t taken = taken_[slot].load(std::memory_order_acquire);
    return taken == over(slot) &&
           taken_[slot].compare_exchange_strong(taken, taken + bits, std::memory_order_acq_rel);
  }
  bool take_busy(std::uint32_t slot) noexcept;
  template <typename Suits>
  std::uint32_t find_idle(std::uint32_t from, Suits suits) noexcept;
  template <typename Cost>
  std::uint32_t least(Cost cost) const noexcept;
  std::uint32_t pick_idle(PoolStrategy how, Workload workload, int priority) noexcept;
  std::uint32_t pick_busy(PoolStrategy how, int priority) noexcept;
  std::int64_t expected_left(std::uint32_t slot) const noexcept;
  void expect(std::uint32_t slot, Workload workload) noexcept;
  bool begin_timing(std::uint32_t slot, Workload workload);
  void collect_time(StreamSlot& slot, std::uint32_t index) noexcept;
  void notify() const;

  // With the lock held:
  std::uint32_t add_slot();
  void set_open(std::uint32_t slot, bool open) noexcept;
  [[nodiscard]] std::size_t size_now() const noexcept;

  const Device device_;
  const StreamPoolOptions options_;
  const std::string name_;
  const std::size_t max_size_;
  const std::uint64_t number_ = next_pool_number();
  std::array<int, 3> priorities_{};  // the device's priority values, by StreamPriority

  // By stream, adjacent: the number of leases taken, of dropped leases that had found it idle, and
  // of leases the device has ended. At most one lease that found a stream idle is held at a time,
  // so the second has a single writer; dropping any other lease decrements the first.
  std::array<std::atomic<std::uint64_t>, kMostStreams> taken_{}, dropped_{};
  HostBuffer<std::uint64_t> words_;
  std::uint64_t* const done_;
  std::atomic<std::uint32_t> count_{0};  // of streams created
  std::atomic<std::uint32_t> next_{0};   // next stream for round robin
  EventPool events_;
  std::vector<StreamSlot> slots_;  // never moved

  std::array<std::atomic<std::uint64_t>, kWorkloads> times_measured_{};
  std::array<std::atomic<std::int64_t>, kWorkloads> times_sum_ns_{};
  std::atomic<std::int64_t> waited_ns_{0};
  mutable std::atomic<std::int64_t> reported_waited_ns_{0};
  mutable std::atomic<std::size_t> high_water_{0};
  std::atomic<std::uint32_t> highest_{0};  // highest stream number picked since the last tune()

  mutable std::mutex mutex_;
  std::uint64_t tuned_leases_ = 0, tuned_busy_ = 0;  // at the last call of tune()
};

}  // namespace coord
