// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Streams to borrow: the pool knows how much work each of them still has, without asking the
// driver.
//
// Whoever needs a stream leases one. The end of a lease enqueues a write of the lease's number into
// page-locked memory behind its work, so that what a stream has left is what was leased less what
// the device has written: two loads. An idle stream is always preferred to a busy one.
//
// That write takes the device some 2 us: lease a stream for a step of work, not for each kernel.
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

/// Which stream a lease gets. An idle one in any case, if there is one.
enum class PoolStrategy : std::uint8_t {
  kRoundRobin,    // the next in turn
  kLoadBalanced,  // the one with the fewest leases left; of idle ones the first
  kPriority,      // one of the priority asked for, before others; then as kLoadBalanced
  kWorkload,      // the one with the least time left, by what such leases have taken; of idle ones
                  // one that last had the same kind of work
};

/// What a lease is for. How long each kind takes is measured apart.
enum class Workload : std::uint8_t { kCompute, kMemory, kMixed, kCoordination };
inline constexpr std::size_t kWorkloads = 4;

[[nodiscard]] COORD_EXPORT const char* to_string(PoolStrategy strategy) noexcept;
[[nodiscard]] COORD_EXPORT const char* to_string(Workload workload) noexcept;

struct StreamPoolOptions {
  /// Streams to begin with; 0: the device's hardware queues less two, for with more streams blocked
  /// others may stall.
  std::size_t size = 0;
  /// What resize() and tune() do not exceed, at most 64; 0: the hardware queues, or `size` if that
  /// is more.
  std::size_t max_size = 0;
  PoolStrategy strategy = PoolStrategy::kLoadBalanced;
  /// One lease of a stream in so many is timed by the device; 0: none. A timed lease takes two
  /// events of class kTiming, of some 2 us each.
  std::uint32_t time_one_in = 16;
  /// Shown in traces; the streams are called by it and their number.
  std::string_view name = "streams";
};

/// What leases of one kind have taken on the device.
struct WorkloadTime {
  std::uint64_t measured = 0;
  Nanoseconds average{0};  // of all measured ones
};

/// Counts since the pool was made.
struct StreamPoolMetrics {
  std::uint64_t leases = 0;    // that were not dropped, nor captured; and reservations given back
  std::uint64_t busy = 0;      // leases that got a busy stream, for want of an idle one
  std::size_t size = 0;        // streams open to leases; not reserved ones
  std::size_t reserved = 0;    // now
  std::size_t high_water = 0;  // most streams busy at a time, as seen by leases and metrics()
  Nanoseconds waited{0};       // in wait_any_ready()
  std::array<WorkloadTime, kWorkloads> times;
};

/// What tune() found and did.
struct PoolTuning {
  PoolStrategy strategy{};  // from now on
  std::size_t size = 0;
  bool changed = false;
  std::string why;  // with the figures
};

class StreamLease;
class ReservedStream;

/// Thread-safe. Two leases of one stream may be held at a time, if none is idle: their work runs
/// one after the other. Keeps its device open. All leases must have ended before the pool does; the
/// work of its streams need not.
class COORD_EXPORT StreamPool {
 public:
  /// Throws kInvalidArgument for sizes that do not fit.
  explicit StreamPool(const Device& device, const StreamPoolOptions& options = {});
  ~StreamPool();
  StreamPool(const StreamPool&) = delete;
  StreamPool& operator=(const StreamPool&) = delete;

  /// A stream to enqueue work on until the lease ends. Makes no call to the driver, but for leases
  /// that are timed; never blocks. `priority` matters to kPriority only. Throws kExhausted if all
  /// streams are reserved.
  [[nodiscard]] StreamLease lease(Workload workload = Workload::kMixed,
                                  StreamPriority priority = StreamPriority::kNormal);

  /// An idle stream for its holder alone, given back by the destructor of what is returned; a new
  /// one, within max_size, if none is idle. Throws kExhausted.
  [[nodiscard]] ReservedStream reserve();

  /// True if a stream is idle. Asks nobody.
  [[nodiscard]] bool has_ready() const noexcept;
  /// Streams that are idle, not counting reserved ones.
  [[nodiscard]] std::size_t ready_count() const noexcept;
  /// Blocks until a stream is idle, no longer than `timeout` (0: looks once). False if none was by
  /// then. Throws what has become of the device if that failed.
  [[nodiscard]] bool wait_any_ready(Nanoseconds timeout);
  /// Leases of the stream whose work has not ended. Throws kInvalidHandle if it is not the pool's.
  [[nodiscard]] std::uint64_t load(StreamRef stream) const;

  void set_strategy(PoolStrategy strategy) noexcept;
  [[nodiscard]] PoolStrategy strategy() const noexcept;
  /// Opens so many streams to leases. Work of those that are closed goes on. Throws
  /// kInvalidArgument for none or more than max_size.
  void resize(std::size_t size);
  /// Changes size and strategy if the leases since the last call say so: more streams while many
  /// leases find none idle, fewer if some were never needed; kLoadBalanced instead of kRoundRobin
  /// once streams are busy; kWorkload once kinds of work differ much in their measured time.
  /// kPriority is never left: what it is for is not speed.
  PoolTuning tune();

  [[nodiscard]] StreamPoolMetrics metrics() const;
  /// What leases of this kind have taken, from one end of the lease's work to the other.
  [[nodiscard]] WorkloadTime time_of(Workload workload) const;

 private:
  friend class StreamLease;
  friend class ReservedStream;
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// Holds a stream of a pool: what is enqueued on it until the end is one piece of work to the pool.
/// Thread-compatible.
class COORD_EXPORT StreamLease : public StreamRef {
 public:
  StreamLease() = default;
  /// As end(); but what that would throw is dropped, and the lease is not counted any more.
  ~StreamLease() {
    if (pool_ != nullptr) end_quietly();
  }
  StreamLease(StreamLease&& other) noexcept;
  StreamLease& operator=(StreamLease&& other) noexcept;

  /// No more work. One call to the driver; none if the stream is being captured, when nothing of it
  /// counts.
  void end();
  /// Ends it, if nothing was enqueued: without any call.
  void drop() noexcept;

 private:
  friend class StreamPool;
  StreamLease(StreamPool::Impl& pool, std::uint32_t slot, StreamRef stream, bool alone)
      : StreamRef(stream), pool_(&pool), slot_(slot), alone_(alone) {}

  void end_quietly() noexcept;

  StreamPool::Impl* pool_ = nullptr;
  std::uint32_t slot_ = 0;
  bool timed_ = false;
  bool alone_ = false;  // it found its stream idle
};

/// A stream that a pool gives to nobody else. Thread-compatible.
class COORD_EXPORT ReservedStream : public StreamRef {
 public:
  ReservedStream() = default;
  /// Gives it back to leases, which see it as idle once what it has now has ended.
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

/// Which streams hold up others that they have nothing to do with.
struct ConnectionProbe {
  /// So many blocked streams, each with work behind the block, hold up all others: the hardware
  /// queues. 0 if none of the numbers tried does.
  std::size_t connections = 0;
  /// The most blocked streams that hold up none.
  std::size_t free_of_stalls = 0;
  /// [k]: of the streams beyond the first k, which are numbered on, those that stood still while
  /// the first k were blocked.
  std::vector<std::vector<std::size_t>> stalled;
};

/// Finds the number of hardware queues by blocking 1, 2, ... `most` of `streams` streams, which are
/// made for it, until all others stand still. A stream that gets nowhere for `patience` counts as
/// standing still. Takes a few milliseconds for each step on a GPU that is otherwise idle; other
/// work meanwhile may stall. Throws kInvalidArgument unless 0 < most < streams.
[[nodiscard]] COORD_EXPORT ConnectionProbe
probe_connections(const Device& device, std::size_t most = 33, std::size_t streams = 40,
                  Nanoseconds patience = std::chrono::milliseconds(2));

}  // namespace coord
