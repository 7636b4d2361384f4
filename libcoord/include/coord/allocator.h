// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Stream-ordered device memory: freed memory is reused by work that is ordered after its last use,
// without a query to the device and without recording an event.
//
// The order comes from a Coordinator: another stream can reuse memory freed in one stream as soon
// as it is ordered after the work the first stream had at the time of the free, through any waits
// that operations' dependencies have placed. The memory is for the work of operations; the
// allocator does not see work enqueued outside of them.
//
// It takes arenas from the device, and returns entirely free arenas before it exceeds its previous
// peak.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "coord/coordinator.h"
#include "coord/export.h"
#include "coord/operation.h"
#include "coord/stream.h"

namespace coord {

struct AllocatorOptions {
  /// Minimum size of one allocation from the device.
  std::size_t arena_bytes = std::size_t{2} << 20;
  /// Maximum taken from the device; 0: no limit.
  std::size_t limit_bytes = 0;
  /// Shown in traces.
  std::string_view name = "memory";
};

/// Counts since the allocator was created, in blocks; sizes in bytes, current or peak.
struct AllocatorStatistics {
  std::uint64_t allocations = 0;
  std::uint64_t frees = 0;
  std::uint64_t same_stream = 0;   // allocations served from memory the same stream freed
  std::uint64_t cross_stream = 0;  // from memory another stream freed, as the clocks allowed
  std::uint64_t carved = 0;        // cut from free memory, merged where needed
  std::uint64_t grown = 0;         // allocations that took an arena from the device
  std::uint64_t waits = 0;         // stream waits placed because no other memory was free
  std::uint64_t recoveries = 0;    // allocations that succeeded after the device had refused
  std::uint64_t misuses = 0;       // calls refused with an error
  std::size_t bytes_in_use = 0, peak_in_use = 0;
  std::size_t bytes_reserved = 0, peak_reserved = 0;  // taken from the device
  std::size_t largest_free = 0;                       // largest contiguous piece

  /// Share of the free memory outside the largest piece: 0 if all of it is contiguous.
  [[nodiscard]] double fragmentation() const noexcept {
    const std::size_t free = bytes_reserved - bytes_in_use;
    return free == 0 ? 0.0 : 1.0 - static_cast<double>(largest_free) / static_cast<double>(free);
  }
};

/// Thread-safe, but calls for one stream need external synchronization, as submissions to it do.
/// The Coordinator must outlive it. Destroying it releases memory that was not freed.
class COORD_EXPORT StreamOrderedAllocator {
 public:
  explicit StreamOrderedAllocator(Coordinator& coordinator, const AllocatorOptions& options = {});
  /// Waits for the device, because releasing its memory does.
  ~StreamOrderedAllocator();
  StreamOrderedAllocator(const StreamOrderedAllocator&) = delete;
  StreamOrderedAllocator& operator=(const StreamOrderedAllocator&) = delete;

  /// Memory for later work of `stream`, and for streams that are ordered after that; aligned to 256
  /// bytes, not initialized. Makes no driver call if freed memory is available; otherwise it takes
  /// more from the device, or makes the stream wait for memory that others have freed, or first
  /// returns unused memory, which waits for the device. Throws kInvalidArgument for 0 bytes,
  /// kOutOfMemory with the figures if all of this fails.
  [[nodiscard]] void* allocate(StreamRef stream, std::size_t bytes);

  /// Frees memory whose last use is the work now in `stream`, or work that is ordered before it.
  /// Throws kInvalidHandle if the memory is not from this allocator or was already freed;
  /// kNotPermitted if `stream` is not ordered after the allocation.
  void free(StreamRef stream, void* address);

  /// Frees all memory that was allocated for `stream`; it is reused once `operation` has ended or
  /// is ordered before the new user. Returns the bytes.
  std::size_t free_all(StreamRef stream, OperationHandle operation);

  /// Also delays reuse until `operation`, of any stream, has ended or is ordered before the new
  /// user: for uses that are not ordered before the freeing stream. Throws kInvalidHandle as free()
  /// does.
  void add_dependency(const void* address, OperationHandle operation);
  /// True if all added operations have ended, as far as the Coordinator knows. Makes no query.
  [[nodiscard]] bool satisfied(const void* address) const;
  /// Removes the added operations.
  void clear_dependencies(const void* address);

  /// Throws kInvalidHandle unless the address is in allocated memory, kNotPermitted if `stream` is
  /// not ordered after its allocation: for programs that check for misuse at the place of use.
  void check_use(StreamRef stream, const void* address) const;

  /// Returns entirely free arenas to the device until at most `keep_bytes` are taken; this waits
  /// for the device. Returns the bytes released. Memory that graphs use stays.
  std::size_t trim(std::size_t keep_bytes = 0);
  /// Call after the last launch of all graphs whose capture allocated or freed memory: makes that
  /// memory available again.
  void end_captures();

  [[nodiscard]] AllocatorStatistics statistics() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace coord
