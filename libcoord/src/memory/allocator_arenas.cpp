// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What an allocator does when no block of the requested size is available: merges and cuts free
// blocks, takes arenas from the device, returns them.

#include <algorithm>

#include "allocator_impl.h"
#include "capture_mode.h"
#include "codes.h"
#include "coord/error.h"

namespace coord {

namespace {

using Lock = std::unique_lock<ShortLock>;
/// Arena sizes above the minimum are multiples of this.
constexpr std::size_t kArenaStep = 64 << 10;
constexpr auto kAny = [](const Block&) { return true; };

}  // namespace

// Blocks

Block& StreamOrderedAllocator::Impl::new_block(Arena& arena, char* address, std::size_t bytes) {
  if (unused_.empty()) unused_.push_back(&blocks_.emplace_back());
  Block& block = *unused_.back();
  unused_.pop_back();
  block.address = address;
  block.bytes = bytes;
  block.arena = &arena;
  block.before = block.after = nullptr;
  block.in_use = false;
  block.capture = 0;
  block.dependencies.clear();
  block.freed.clear();
  by_address_[address] = &block;
  return block;
}

void StreamOrderedAllocator::Impl::forget(Block& block) {
  take_out(block);
  by_address_.erase(block.address);
  unused_.push_back(&block);
}

// Whether the next work at `place` comes after everything a free block waits for.
bool StreamOrderedAllocator::Impl::usable(const Place& place, const Block& block) const {
  if (block.capture != 0 && block.capture != place.capture) return false;
  // Memory freed outside of a graph is not in the graph's order: its uses must have ended.
  const bool must_be_over = place.capture != 0 && block.capture == 0;
  for (const Block::FreedAt& freed : block.freed) {
    if (must_be_over ? !clocks_.known_ended(freed.point) : !clocks_.comes_after(place, freed.point))
      return false;
  }
  for (OperationHandle operation : block.dependencies) {
    if (must_be_over ? !clocks_.known_ended(operation) : !clocks_.comes_after(place, operation))
      return false;
  }
  return true;
}

// The shortest run of adjacent free blocks that is long enough; the first one if there are several.
template <typename Usable>
StreamOrderedAllocator::Impl::Run StreamOrderedAllocator::Impl::best_run(std::size_t bytes,
                                                                         Usable usable) const {
  Run best;
  for (const Arena& arena : arenas_) {
    for (Block* block = arena.first; block != nullptr;) {
      Run run;
      for (; block != nullptr && !block->in_use && usable(*block); block = block->after) {
        if (run.first == nullptr) run.first = block;
        run.bytes += block->bytes;
      }
      if (run.bytes >= bytes && (best.first == nullptr || run.bytes < best.bytes)) best = run;
      if (block != nullptr) block = block->after;
    }
  }
  return best;
}

// Makes one block of the requested size from a run of free ones, and one from the rest. Both wait
// for everything that any of them waited for.
Block& StreamOrderedAllocator::Impl::cut(const Place& place, const Run& run, std::size_t bytes) {
  Block& block = *run.first;
  take_out(block);
  while (block.bytes < run.bytes) {
    Block& next = *block.after;
    block.bytes += next.bytes;
    block.capture = std::max(block.capture, next.capture);
    for (const Block::FreedAt& freed : next.freed) {
      const auto same = std::ranges::find_if(block.freed, [&](const Block::FreedAt& mine) {
        return mine.point.stream == freed.point.stream;
      });
      if (same == block.freed.end()) {
        block.freed.push_back(freed);
      } else if (same->point.ticket < freed.point.ticket) {
        *same = freed;
      }
    }
    block.dependencies.insert(block.dependencies.end(), next.dependencies.begin(),
                              next.dependencies.end());
    block.after = next.after;
    if (next.after != nullptr) next.after->before = &block;
    forget(next);
  }
  if (block.bytes > bytes) {
    Block& rest = new_block(*block.arena, block.address + bytes, block.bytes - bytes);
    rest.capture = block.capture;
    rest.freed = block.freed;
    rest.dependencies = block.dependencies;
    rest.before = &block;
    rest.after = block.after;
    if (rest.after != nullptr) rest.after->before = &rest;
    block.after = &rest;
    block.bytes = bytes;
    const SizeClass size = size_class(rest.bytes);
    if (size.bytes == rest.bytes && place.capture == 0 && rest.capture == 0)
      put_into_list(rest, lists_of(place.stream)[size.index]);
  }
  return block;
}

Block* StreamOrderedAllocator::Impl::carve(const Place& place, std::size_t bytes) {
  const Run run = best_run(bytes, [&](const Block& block) { return usable(place, block); });
  return run.first != nullptr ? &cut(place, run, bytes) : nullptr;
}

// Arenas

// Returns arenas whose blocks are all free and suitable, smallest first, until at most this many
// bytes are reserved. The device waits for work that still uses them.
template <typename Suits>
std::size_t StreamOrderedAllocator::Impl::release_free_arenas(std::size_t until_reserved,
                                                              Suits suits) {
  std::size_t released = 0;
  while (counts_.bytes_reserved > until_reserved) {
    auto best = arenas_.end();
    for (auto arena = arenas_.begin(); arena != arenas_.end(); ++arena) {
      bool free = true;
      for (const Block* block = arena->first; block != nullptr; block = block->after)
        free = free && !block->in_use && block->capture == 0 && suits(*block);
      if (free && (best == arenas_.end() || arena->memory.bytes() < best->memory.bytes()))
        best = arena;
    }
    if (best == arenas_.end()) break;
    for (Block* block = best->first; block != nullptr;) {
      Block* const next = block->after;
      forget(*block);
      block = next;
    }
    released += best->memory.bytes();
    counts_.bytes_reserved -= best->memory.bytes();
    const AllowedDuringCapture allowed(*device_->backend);
    arenas_.erase(best);
  }
  return released;
}

// Null if the device has no more, or there is a limit.
Block* StreamOrderedAllocator::Impl::grow(const Place& place, std::size_t bytes) {
  std::size_t wanted =
      std::max(options_.arena_bytes, (bytes + kArenaStep - 1) / kArenaStep * kArenaStep);
  // Before exceeding the peak, returns memory that the stream could use except for its shape: this
  // keeps peak reserved memory close to peak used memory.
  if (counts_.bytes_reserved + wanted > counts_.peak_reserved)
    release_free_arenas(counts_.peak_reserved - std::min(counts_.peak_reserved, wanted),
                        [&](const Block& block) { return usable(place, block); });
  if (options_.limit_bytes != 0) {
    const std::size_t reserved = std::min(counts_.bytes_reserved, options_.limit_bytes);
    const std::size_t left = (options_.limit_bytes - reserved) / kUnit * kUnit;
    if (bytes > left) return nullptr;
    wanted = std::min(wanted, left);
  }
  void* memory = nullptr;
  try {
    const AllowedDuringCapture allowed(*device_->backend);
    memory = device_->backend->allocate(wanted, false);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kOutOfMemory) throw;
    return nullptr;
  }
  Arena& arena = arenas_.emplace_back();
  arena.memory = Allocation(device_, memory, wanted, false);
  arena.first = &new_block(arena, static_cast<char*>(memory), wanted);
  counts_.bytes_reserved += wanted;
  counts_.peak_reserved = std::max(counts_.peak_reserved, counts_.bytes_reserved);
  return &cut(place, {arena.first, wanted}, bytes);
}

// Takes memory whose use is not ordered before the stream, and makes the stream wait.
Block* StreamOrderedAllocator::Impl::carve_after_waits(const Place& place, StreamRef stream,
                                                       std::size_t bytes) {
  if (place.capture != 0) return nullptr;
  const auto can_wait = [&](const Block& block) {
    if (block.capture != 0) return false;
    return std::ranges::all_of(block.freed,
                               [&](const Block::FreedAt& freed) {
                                 return clocks_.comes_after(place, freed.point) ||
                                        clocks_.can_order_after(freed.last);
                               }) &&
           std::ranges::all_of(block.dependencies, [&](OperationHandle operation) {
             return clocks_.comes_after(place, operation) || clocks_.can_order_after(operation);
           });
  };
  const Run run = best_run(bytes, can_wait);
  if (run.first == nullptr) return nullptr;
  std::size_t left = run.bytes;
  for (const Block* block = run.first; left > 0; left -= block->bytes, block = block->after) {
    for (const Block::FreedAt& freed : block->freed) {
      if (!clocks_.comes_after(place, freed.point))
        counts_.waits += clocks_.order_after(stream, freed.last) ? 1 : 0;
    }
    for (OperationHandle operation : block->dependencies) {
      if (!clocks_.comes_after(place, operation))
        counts_.waits += clocks_.order_after(stream, operation) ? 1 : 0;
    }
    if (block->after == nullptr) break;
  }
  return &cut(place, run, bytes);
}

// The device has no more memory: recovers first with a stream wait, then with a host wait.
Block* StreamOrderedAllocator::Impl::recover(const Place& place, StreamRef stream,
                                             std::size_t bytes) {
  if (Block* block = carve_after_waits(place, stream, bytes); block != nullptr) return block;
  if (release_free_arenas(0, kAny) > 0) {
    if (Block* block = grow(place, bytes); block != nullptr) return block;
  }
  throw make_error(kCodeOutOfMemory, "StreamOrderedAllocator::allocate",
                   std::to_string(bytes) + " bytes requested; \"" + name_ + "\" has " +
                       std::to_string(counts_.bytes_reserved) + " bytes from the device, " +
                       std::to_string(counts_.bytes_in_use) + " in use" +
                       (options_.limit_bytes == 0
                            ? std::string()
                            : ", and its limit is " + std::to_string(options_.limit_bytes)));
}

std::size_t StreamOrderedAllocator::Impl::trim(std::size_t keep_bytes) {
  const Lock lock(mutex_);
  const std::size_t released = release_free_arenas(keep_bytes, kAny);
  if (observer().pool_sample != nullptr) notify();
  return released;
}

void StreamOrderedAllocator::Impl::end_captures() {
  const Lock lock(mutex_);
  for (const auto& [address, block] : by_address_) {
    if (block->capture == 0) continue;
    block->capture = 0;
    block->freed.clear();
    block->dependencies.clear();
  }
}

// Statistics

AllocatorStatistics StreamOrderedAllocator::Impl::statistics() const {
  const Lock lock(mutex_);
  AllocatorStatistics result = counts_;
  for (const Arena& arena : arenas_) {
    std::size_t run = 0;
    for (const Block* block = arena.first; block != nullptr; block = block->after) {
      run = block->in_use ? 0 : run + block->bytes;
      result.largest_free = std::max(result.largest_free, run);
    }
  }
  return result;
}

void StreamOrderedAllocator::Impl::notify() const {
  const coord_pool_sample_facts facts{.pool = static_cast<std::uint32_t>(number_),
                                      .available = counts_.bytes_reserved - counts_.bytes_in_use,
                                      .in_use = counts_.bytes_in_use,
                                      .high_water = counts_.peak_in_use,
                                      .time_ns = device_->observer_time_ns()};
  observer().pool_sample(&facts);
}

}  // namespace coord
