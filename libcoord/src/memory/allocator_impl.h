// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The implementation of a StreamOrderedAllocator: allocator.cpp has the public functions and reuse
// of memory within a stream; allocator_arenas.cpp the rest: merging, cutting, arenas.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "coord/allocator.h"
#include "coordinator/coordinator_impl.h"
#include "host/short_lock.h"
#include "observer.h"

namespace coord {

/// Sizes and addresses are multiples of this.
inline constexpr std::size_t kUnit = 256;
/// Size classes: one per multiple of the unit, then 64 per power of two, so that a block is at most
/// 1/64 larger than requested.
inline constexpr std::size_t kLinear = 128, kSteps = 64, kSizeClasses = kLinear + 26 * kSteps;
inline constexpr std::size_t kMostBytes = kUnit << 32;

struct SizeClass {
  std::size_t index, bytes;
};

/// The class of a size from 1 to kMostBytes.
constexpr SizeClass size_class(std::size_t bytes) noexcept {
  const std::size_t last = (bytes - 1) / kUnit;  // number of the last unit
  if (last < kLinear) return {last, (last + 1) * kUnit};
  const auto shift = static_cast<std::size_t>(std::bit_width(last)) - 7;
  const std::size_t step = last >> shift;
  return {kLinear + (shift - 1) * kSteps + step - kSteps, ((step + 1) << shift) * kUnit};
}

struct Arena;

/// A piece of an arena: in use, or free for work ordered after what it still waits for.
struct Block {
  char* address = nullptr;
  std::size_t bytes = 0;
  Arena* arena = nullptr;
  Block* before = nullptr;  // its neighbors in the arena
  Block* after = nullptr;
  bool in_use = false;
  Point allocated;            // position of its stream at allocation
  std::uint64_t owner = 0;    // id of the stream it was allocated for
  std::uint64_t capture = 0;  // the capture whose graph uses it
  // Also while it is in use:
  std::vector<OperationHandle> dependencies;
  // While it is free: what else it waits for.
  struct FreedAt {
    Point point;
    OperationHandle last;  // an operation that ends no earlier; may be null
  };
  std::vector<FreedAt> freed;
  // In the list of blocks of its class that a stream can take at once.
  Block** list = nullptr;
  Block* previous = nullptr;
  Block* next = nullptr;
};

struct Arena {
  Allocation memory;
  Block* first = nullptr;
};

class StreamOrderedAllocator::Impl {
 public:
  Impl(Coordinator& coordinator, const AllocatorOptions& options);

  // allocator.cpp
  void* allocate(StreamRef stream, std::size_t bytes);
  void free(StreamRef stream, void* address);
  std::size_t free_all(StreamRef stream, OperationHandle operation);
  void add_dependency(const void* address, OperationHandle operation);
  bool satisfied(const void* address) const;
  void clear_dependencies(const void* address);
  void check_use(StreamRef stream, const void* address) const;

  // allocator_arenas.cpp
  std::size_t trim(std::size_t keep_bytes);
  void end_captures();
  AllocatorStatistics statistics() const;

 private:
  using Place = Coordinator::Impl::StreamPlace;
  using Lists = std::array<Block*, kSizeClasses>;
  /// Adjacent free blocks.
  struct Run {
    Block* first = nullptr;
    std::size_t bytes = 0;
  };

  // All with the lock held.
  [[nodiscard]] Block* take_listed(const Place& place, std::size_t index);
  [[nodiscard]] Block* find_elsewhere(const Place& place, StreamRef stream, std::size_t bytes);
  void put_into_list(Block& block, Block*& head) noexcept;
  static void take_out(Block& block) noexcept;
  void make_free(Block& block, const Place& place);
  Lists& lists_of(std::uint32_t stream);
  Block& find(const void* address, const char* call) const;
  [[noreturn]] void refuse(int code, const char* call, const std::string& why) const;
  void notify() const;

  [[nodiscard]] bool usable(const Place& place, const Block& block) const;
  template <typename Usable>
  [[nodiscard]] Run best_run(std::size_t bytes, Usable usable) const;
  [[nodiscard]] Block* carve(const Place& place, std::size_t bytes);
  Block& cut(const Place& place, const Run& run, std::size_t bytes);
  [[nodiscard]] Block* grow(const Place& place, std::size_t bytes);
  [[nodiscard]] Block* recover(const Place& place, StreamRef stream, std::size_t bytes);
  [[nodiscard]] Block* carve_after_waits(const Place& place, StreamRef stream, std::size_t bytes);
  template <typename Suits>
  std::size_t release_free_arenas(std::size_t until_reserved, Suits suits);
  Block& new_block(Arena& arena, char* address, std::size_t bytes);
  void forget(Block& block);

  Coordinator& coordinator_;
  Coordinator::Impl& clocks_;
  const std::shared_ptr<DeviceState> device_;
  const AllocatorOptions options_;
  const std::string name_;
  const std::uint64_t number_ = next_pool_number();

  mutable ShortLock mutex_;
  std::list<Arena> arenas_;
  std::unordered_map<const void*, Block*> by_address_;  // all blocks
  std::deque<Block> blocks_;
  std::vector<Block*> unused_;                 // of these
  std::vector<std::unique_ptr<Lists>> lists_;  // by stream
  mutable AllocatorStatistics counts_;
};

}  // namespace coord
