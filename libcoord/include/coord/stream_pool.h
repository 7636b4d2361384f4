// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A pool of streams that knows how much work each stream still has, without querying the driver.
//
// A user leases a stream. The end of a lease enqueues a write of the lease's number into
// page-locked memory behind its work, so the remaining leases of a stream are the number leased
// minus the number the device has written: two loads. An idle stream is always preferred to a busy
// one.
//
// That write takes the device about 2 us: lease a stream for a step of work, not for each kernel.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "coord/device.h"
#include "coord/export.h"
#include "coord/stream.h"
#include "coord/types.h"

namespace coord {

/// Which stream a lease gets. Always an idle one, if there is one.
enum class PoolStrategy : std::uint8_t {
  kRoundRobin,    // the next in turn
  kLoadBalanced,  // the one with the fewest pending leases; the first idle one
  kPriority,      // one of the requested priority, if possible; then as kLoadBalanced
  kWorkload,  // the one with the least estimated time left, from measured leases; among idle ones,
              // one that last had the same kind of work
};

/// What a lease is for. The time of each kind is measured separately.
enum class Workload : std::uint8_t { kCompute, kMemory, kMixed, kCoordination };
inline constexpr std::size_t kWorkloads = 4;

[[nodiscard]] COORD_EXPORT const char* to_string(PoolStrategy strategy) noexcept;
[[nodiscard]] COORD_EXPORT const char* to_string(Workload workload) noexcept;

struct StreamPoolOptions {
  /// Initial number of streams; 0: the device's hardware queues less two, because with more blocked
  /// streams others may stall.
  std::size_t size = 0;
  /// Limit for resize() and tune(), at most 64; 0: the hardware queues, or `size` if that is more.
  std::size_t max_size = 0;
  PoolStrategy strategy = PoolStrategy::kLoadBalanced;
  /// One in this many leases of a stream is timed by the device; 0: none. A timed lease records two
  /// events of class kTiming, about 2 us each.
  std::uint32_t time_one_in = 16;
  /// Shown in traces; the streams are named after it, with a number.
  std::string_view name = "streams";
};

/// Device time of leases of one kind.
struct WorkloadTime {
  std::uint64_t measured = 0;
  Nanoseconds average{0};  // of all timed leases
};

/// Counts since the pool was created.
struct StreamPoolMetrics {
  std::uint64_t leases = 0;    // leases not dropped or captured, plus returned reservations
  std::uint64_t busy = 0;      // leases that got a busy stream because none was idle
  std::size_t size = 0;        // streams open to leases, without reserved ones
  std::size_t reserved = 0;    // now
  std::size_t high_water = 0;  // maximum busy streams at a time, as seen by leases and metrics()
  Nanoseconds waited{0};       // in wait_any_ready()
  std::array<WorkloadTime, kWorkloads> times;
};

/// Result of tune().
struct PoolTuning {
  PoolStrategy strategy{};  // from now on
  std::size_t size = 0;
  bool changed = false;
  std::string why;  // the reason, with figures
};

class StreamLease;
class ReservedStream;

/// Thread-safe. If no stream is idle, two leases may share one stream: their work runs in sequence.
/// Keeps its device open. All leases must end before the pool is destroyed; the work of its streams
/// need not.
class COORD_EXPORT StreamPool {
 public:
  /// Throws kInvalidArgument for inconsistent sizes.
  explicit StreamPool(const Device& device, const StreamPoolOptions& options = {});
  ~StreamPool();
  StreamPool(const StreamPool&) = delete;
  StreamPool& operator=(const StreamPool&) = delete;

  /// A stream to enqueue work on until the lease ends. Makes no driver call, except for timed
  /// leases; never blocks. `priority` applies only to kPriority. Throws kExhausted if all streams
  /// are reserved.
  [[nodiscard]] StreamLease lease(Workload workload = Workload::kMixed,
                                  StreamPriority priority = StreamPriority::kNormal);

  /// An idle stream for exclusive use, returned to the pool by the destructor of the returned
  /// object; a new stream, within max_size, if none is idle. Throws kExhausted.
  [[nodiscard]] ReservedStream reserve();

  /// True if a stream is idle. Makes no query.
  [[nodiscard]] bool has_ready() const noexcept;
  /// Streams that are idle, not counting reserved ones.
  [[nodiscard]] std::size_t ready_count() const noexcept;
  /// Blocks until a stream is idle, for at most `timeout` (0: checks once). False if none is idle
  /// by then. Throws the device's error if it failed.
  [[nodiscard]] bool wait_any_ready(Nanoseconds timeout);
  /// Leases of the stream whose work has not ended. Throws kInvalidHandle if it is not the pool's.
  [[nodiscard]] std::uint64_t load(StreamRef stream) const;

  void set_strategy(PoolStrategy strategy) noexcept;
  [[nodiscard]] PoolStrategy strategy() const noexcept;
  /// Sets the number of streams open to leases. Work of closed streams continues. Throws
  /// kInvalidArgument for 0 or more than max_size.
  void resize(std::size_t size);
  /// Changes size and strategy based on the leases since the last call: more streams while many
  /// leases find none idle, fewer if some were never needed; kLoadBalanced instead of kRoundRobin
  /// once streams are busy; kWorkload once measured times of the kinds of work differ much.
  /// kPriority is never changed: its purpose is not speed.
  PoolTuning tune();

  [[nodiscard]] StreamPoolMetrics metrics() const;
  /// Measured device time of leases of this kind, from the start to the end of a lease's work.
  [[nodiscard]] WorkloadTime time_of(Workload workload) const;

 private:
  friend class StreamLease;
  friend class ReservedStream;
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// Holds a stream of a pool: to the pool, all work enqueued until the end is one piece of work.
/// Thread-compatible.
class COORD_EXPORT StreamLease : public StreamRef {
 public:
  StreamLease() = default;
  /// As end(), but ignores errors; the lease is then no longer counted.
  ~StreamLease() {
    if (pool_ != nullptr) end_quietly();
  }
  StreamLease(StreamLease&& other) noexcept;
  StreamLease& operator=(StreamLease&& other) noexcept;

  /// Ends the lease. One driver call; none if the stream is being captured, in which case the lease
  /// does not count.
  void end();
  /// Ends a lease with no enqueued work, without a driver call.
  void drop() noexcept;

 private:
  friend class StreamPool;
  StreamLease(StreamPool::Impl& pool, std::uint32_t slot, StreamRef stream, bool alone)
      : StreamRef(stream), pool_(&pool), slot_(slot), alone_(alone) {}

  void end_quietly() noexcept;

  StreamPool::Impl* pool_ = nullptr;
  std::uint32_t slot_ = 0;
  bool timed_ = false;
  bool alone_ = false;  // its stream was idle
};

/// A stream reserved for exclusive use. Thread-compatible.
class COORD_EXPORT ReservedStream : public StreamRef {
 public:
  ReservedStream() = default;
  /// Returns it to the pool, which treats it as idle once its current work has ended.
  ~ReservedStream();
  ReservedStream(ReservedStream&& other) noexcept;
  ReservedStream& operator=(ReservedStream&& other) noexcept;

 private:
  friend class StreamPool;
  ReservedStream(StreamPool::Impl& pool, std::uint32_t slot, StreamRef stream)
      : StreamRef(stream), pool_(&pool), slot_(slot) {}

  StreamPool::Impl* pool_ = nullptr;
  std::uint32_t slot_ = 0;
};

/// Which streams delay unrelated streams.
struct ConnectionProbe {
  /// Number of blocked streams, each with work behind the block, that stalls all others: the
  /// hardware queues. 0 if no tried number does.
  std::size_t connections = 0;
  /// The most blocked streams that stall no other.
  std::size_t free_of_stalls = 0;
  /// [k]: the stream numbers (above the first k) that stalled while the first k were blocked.
  std::vector<std::vector<std::size_t>> stalled;
};

/// Finds the number of hardware queues by blocking 1, 2, ... `most` of `streams` streams, created
/// for this, until all others stall. A stream without progress for `patience` counts as stalled.
/// Takes a few milliseconds per step on an otherwise idle GPU; other work may stall meanwhile.
/// Throws kInvalidArgument unless 0 < most < streams.
[[nodiscard]] COORD_EXPORT ConnectionProbe
probe_connections(const Device& device, std::size_t most = 33, std::size_t streams = 40,
                  Nanoseconds patience = std::chrono::milliseconds(2));

}  // namespace coord
