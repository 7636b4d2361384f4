// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Device memory in the order of streams: freed memory is used again by whatever is ordered after
// its last use, without asking the device and without recording anything.
//
// The order comes from a Coordinator: memory that was freed in one stream serves another as soon as
// that one comes after what the first had got by then, through whichever waits the operations'
// dependencies have made. The memory is for the work of operations; what is enqueued outside of
// them the allocator does not know.
//
// It takes arenas from the device, and gives those back that are free as a whole before it takes
// more than ever.
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
  /// The least that is taken from the device at a time.
  std::size_t arena_bytes = std::size_t{2} << 20;
  /// The most that is taken from the device; 0: all it has.
  std::size_t limit_bytes = 0;
  /// Shown in traces.
  std::string_view name = "memory";
};

/// Counts since the allocator was made, in blocks; sizes in bytes, now or at most.
struct AllocatorStatistics {
  std::uint64_t allocations = 0;
  std::uint64_t frees = 0;
  std::uint64_t same_stream = 0;   // allocations served by what the stream itself had freed
  std::uint64_t cross_stream = 0;  // by what another one had, as the clocks allowed
  std::uint64_t carved = 0;        // cut from free memory, merged where needed
  std::uint64_t grown = 0;         // that took an arena from the device
  std::uint64_t waits = 0;         // stream waits placed, as there was no other memory
  std::uint64_t recoveries = 0;    // allocations that succeeded after the device had refused
  std::uint64_t misuses = 0;       // calls refused with an error
  std::size_t bytes_in_use = 0, peak_in_use = 0;
  std::size_t bytes_reserved = 0, peak_reserved = 0;  // taken from the device
  std::size_t largest_free = 0;                       // that lies in one piece

  /// Share of the free memory that is not in one piece: 0 if all of it is.
  [[nodiscard]] double fragmentation() const noexcept {
    const std::size_t free = bytes_reserved - bytes_in_use;
    return free == 0 ? 0.0 : 1.0 - static_cast<double>(largest_free) / static_cast<double>(free);
  }
};

/// Thread-safe, but calls for one stream need outside order, as submissions to it do. The
/// Coordinator must outlive it. Memory that was not freed ends with it.
class COORD_EXPORT StreamOrderedAllocator {
 public:
  explicit StreamOrderedAllocator(Coordinator& coordinator, const AllocatorOptions& options = {});
  /// Waits for the device, as giving its memory back does.
  ~StreamOrderedAllocator();
  StreamOrderedAllocator(const StreamOrderedAllocator&) = delete;
  StreamOrderedAllocator& operator=(const StreamOrderedAllocator&) = delete;

  /// Memory for what `stream` gets from now on, and for streams that are ordered after that;
  /// aligned to 256 bytes, not initialized. Makes no call to the driver while freed memory serves;
  /// else it takes more from the device, or makes the stream wait for memory that others have
  /// freed, or gives unused memory back first, which waits for the device. Throws kInvalidArgument
  /// for 0 bytes, kOutOfMemory with the figures if nothing helps.
  [[nodiscard]] void* allocate(StreamRef stream, std::size_t bytes);

  /// Ends the use of memory: by what `stream` has got so far, and by what that comes after. Throws
  /// kInvalidHandle if it is not memory of this allocator, or was freed before; kNotPermitted if
  /// `stream` is not ordered after the allocation.
  void free(StreamRef stream, void* address);

  /// Frees all memory that was allocated for `stream`, as soon as `operation` has ended or is
  /// ordered before who wants it. Returns the bytes.
  std::size_t free_all(StreamRef stream, OperationHandle operation);

  /// The memory is not used again either before `operation`, of whichever stream, has ended or is
  /// ordered before who wants it: for uses that the stream that frees it does not come after.
  /// Throws kInvalidHandle as free() does.
  void add_dependency(const void* address, OperationHandle operation);
  /// True if all operations that were added have ended, as far as the Coordinator knows. Asks
  /// nobody.
  [[nodiscard]] bool satisfied(const void* address) const;
  /// Forgets them.
  void clear_dependencies(const void* address);

  /// Throws kInvalidHandle unless the address lies in memory that is allocated, kNotPermitted if
  /// `stream` is not ordered after its allocation: for programs that want misuse found where it
  /// happens.
  void check_use(StreamRef stream, const void* address) const;

  /// Gives arenas that are free as a whole back to the device, which waits for it, until no more
  /// than `keep_bytes` are taken. Returns the bytes given back. Memory that graphs use stays.
  std::size_t trim(std::size_t keep_bytes = 0);
  /// After the last launch of all graphs whose capture allocated or freed memory: it serves again.
  void end_captures();

  [[nodiscard]] AllocatorStatistics statistics() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace coord
