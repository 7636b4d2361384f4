// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "coord/allocator.h"

#include <algorithm>

#include "allocator_impl.h"
#include "codes.h"

namespace coord {

namespace {

constexpr const char* kAllocate = "StreamOrderedAllocator::allocate";
constexpr const char* kFree = "StreamOrderedAllocator::free";
using Lock = std::unique_lock<ShortLock>;

}  // namespace

StreamOrderedAllocator::Impl::Impl(Coordinator& coordinator, const AllocatorOptions& options)
    : coordinator_(coordinator),
      clocks_(*coordinator.impl_),
      device_(clocks_.device().shared_from_this()),
      options_(options),
      name_(options.name) {
  if (options.arena_bytes == 0)
    throw make_error(kCodeInvalidValue, "StreamOrderedAllocator", "arenas of 0 bytes");
  notify_pool(number_, COORD_POOL_MEMORY, options.limit_bytes, name_.c_str());
}

void StreamOrderedAllocator::Impl::refuse(int code, const char* call,
                                          const std::string& why) const {
  ++counts_.misuses;
  throw make_error(code, call, why);
}

// Lists of blocks a stream can take at once: all their uses end before the stream's next work.

StreamOrderedAllocator::Impl::Lists& StreamOrderedAllocator::Impl::lists_of(std::uint32_t stream) {
  while (stream >= lists_.size()) lists_.push_back(std::make_unique<Lists>());
  return *lists_[stream];
}

void StreamOrderedAllocator::Impl::put_into_list(Block& block, Block*& head) noexcept {
  block.list = &head;
  block.previous = nullptr;
  block.next = head;
  if (head != nullptr) head->previous = &block;
  head = &block;
}

void StreamOrderedAllocator::Impl::take_out(Block& block) noexcept {
  if (block.list == nullptr) return;
  (block.previous != nullptr ? block.previous->next : *block.list) = block.next;
  if (block.next != nullptr) block.next->previous = block.previous;
  block.list = nullptr;
}

Block* StreamOrderedAllocator::Impl::take_listed(const Place& place, std::size_t index) {
  if (place.capture != 0) return nullptr;  // the lists hold memory freed outside of graphs
  Block* block = lists_of(place.stream)[index];
  if (block != nullptr) [[likely]] {
    ++counts_.same_stream;
    take_out(*block);
    return block;
  }
  for (const std::unique_ptr<Lists>& other : lists_) {
    block = (*other)[index];
    if (block == nullptr || !usable(place, *block)) continue;
    ++counts_.cross_stream;
    take_out(*block);
    return block;
  }
  return nullptr;
}

// Public functions

// If no list has a block: cuts one from free memory, takes more, or recovers.
Block* StreamOrderedAllocator::Impl::find_elsewhere(const Place& place, StreamRef stream,
                                                    std::size_t bytes) {
  if (Block* const block = carve(place, bytes); block != nullptr) {
    ++counts_.carved;
    return block;
  }
  if (Block* const block = grow(place, bytes); block != nullptr) {
    ++counts_.grown;
    return block;
  }
  Block* const block = recover(place, stream, bytes);
  ++counts_.recoveries;
  return block;
}

void* StreamOrderedAllocator::Impl::allocate(StreamRef stream, std::size_t bytes) {
  StreamState& state = clocks_.state_of(stream, kAllocate);
  if (bytes == 0) throw make_error(kCodeInvalidValue, kAllocate, "cannot allocate 0 bytes");
  if (state.device != device_.get())
    throw make_error(kCodeInvalidHandle, kAllocate, "the stream belongs to another device");
  if (bytes > kMostBytes)
    throw make_error(kCodeOutOfMemory, kAllocate, std::to_string(bytes) + " bytes");
  const SizeClass size = size_class(bytes);
  const Lock lock(mutex_);
  const Place place = clocks_.place_of(state);
  Block* block = take_listed(place, size.index);
  if (block == nullptr) [[unlikely]]
    block = find_elsewhere(place, stream, size.bytes);
  block->in_use = true;
  block->capture = place.capture;
  block->owner = state.id.load(std::memory_order_relaxed);
  block->allocated = place.point();
  block->dependencies.clear();
  ++counts_.allocations;
  counts_.bytes_in_use += block->bytes;
  counts_.peak_in_use = std::max(counts_.peak_in_use, counts_.bytes_in_use);
  if (observer().pool_sample != nullptr) notify();
  return block->address;
}

Block& StreamOrderedAllocator::Impl::find(const void* address, const char* call) const {
  const auto found = by_address_.find(address);
  if (found == by_address_.end())
    refuse(kCodeInvalidHandle, call, "the address is not an allocation of \"" + name_ + "\"");
  if (!found->second->in_use) refuse(kCodeInvalidHandle, call, "the memory was already freed");
  return *found->second;
}

// `place` is where it was freed, by a stream that is ordered after all its uses.
void StreamOrderedAllocator::Impl::make_free(Block& block, const Place& place) {
  block.in_use = false;
  block.capture = std::max(block.capture, place.capture);
  block.freed.clear();
  block.freed.push_back({place.point(), place.last});
  ++counts_.frees;
  counts_.bytes_in_use -= block.bytes;
  if (block.capture == 0 && block.dependencies.empty())
    put_into_list(block, lists_of(place.stream)[size_class(block.bytes).index]);
}

void StreamOrderedAllocator::Impl::free(StreamRef stream, void* address) {
  StreamState& state = clocks_.state_of(stream, kFree);
  const Lock lock(mutex_);
  Block& block = find(address, kFree);
  const Place place = clocks_.place_of(state);
  if (block.allocated.stream != place.stream && !clocks_.comes_after(place, block.allocated))
    refuse(kCodeNotPermitted, kFree,
           "stream \"" + state.name + "\" is not ordered after the allocation that it frees");
  make_free(block, place);
  if (observer().pool_sample != nullptr) notify();
}

std::size_t StreamOrderedAllocator::Impl::free_all(StreamRef stream, OperationHandle operation) {
  StreamState& state = clocks_.state_of(stream, "StreamOrderedAllocator::free_all");
  const Lock lock(mutex_);
  clocks_.check(operation, "StreamOrderedAllocator::free_all");
  const std::uint64_t id = state.id.load(std::memory_order_relaxed);
  std::size_t bytes = 0;
  for (const auto& [address, block] : by_address_) {
    if (!block->in_use || block->owner != id) continue;
    bytes += block->bytes;
    block->in_use = false;
    block->dependencies.push_back(operation);
    block->freed.clear();
    ++counts_.frees;
    counts_.bytes_in_use -= block->bytes;
  }
  if (observer().pool_sample != nullptr) notify();
  return bytes;
}

void StreamOrderedAllocator::Impl::add_dependency(const void* address, OperationHandle operation) {
  constexpr const char* kCall = "StreamOrderedAllocator::add_dependency";
  const Lock lock(mutex_);
  clocks_.check(operation, kCall);
  find(address, kCall).dependencies.push_back(operation);
}

bool StreamOrderedAllocator::Impl::satisfied(const void* address) const {
  const Lock lock(mutex_);
  const Block& block = find(address, "StreamOrderedAllocator::satisfied");
  return std::ranges::all_of(block.dependencies, [&](OperationHandle operation) {
    return clocks_.known_ended(operation);
  });
}

void StreamOrderedAllocator::Impl::clear_dependencies(const void* address) {
  const Lock lock(mutex_);
  find(address, "StreamOrderedAllocator::clear_dependencies").dependencies.clear();
}

void StreamOrderedAllocator::Impl::check_use(StreamRef stream, const void* address) const {
  constexpr const char* kCall = "StreamOrderedAllocator::check_use";
  StreamState& state = clocks_.state_of(stream, kCall);
  const auto* const byte = static_cast<const char*>(address);
  const Lock lock(mutex_);
  for (const Arena& arena : arenas_) {
    const auto* const begin = static_cast<const char*>(arena.memory.address());
    if (byte < begin || byte >= begin + arena.memory.bytes()) continue;
    const Block* block = arena.first;
    while (byte >= block->address + block->bytes) block = block->after;
    if (!block->in_use) refuse(kCodeInvalidHandle, kCall, "the memory was already freed");
    const Place place = clocks_.place_of(state);
    if (block->allocated.stream != place.stream && !clocks_.comes_after(place, block->allocated))
      refuse(kCodeNotPermitted, kCall,
             "stream \"" + state.name + "\" is not ordered after the allocation of what it uses");
    return;
  }
  refuse(kCodeInvalidHandle, kCall, "the address is not in memory of \"" + name_ + "\"");
}

// The public class

StreamOrderedAllocator::StreamOrderedAllocator(Coordinator& coordinator,
                                               const AllocatorOptions& options)
    : impl_(std::make_unique<Impl>(coordinator, options)) {}

StreamOrderedAllocator::~StreamOrderedAllocator() = default;

void* StreamOrderedAllocator::allocate(StreamRef stream, std::size_t bytes) {
  return impl_->allocate(stream, bytes);
}

void StreamOrderedAllocator::free(StreamRef stream, void* address) { impl_->free(stream, address); }

std::size_t StreamOrderedAllocator::free_all(StreamRef stream, OperationHandle operation) {
  return impl_->free_all(stream, operation);
}

void StreamOrderedAllocator::add_dependency(const void* address, OperationHandle operation) {
  impl_->add_dependency(address, operation);
}

bool StreamOrderedAllocator::satisfied(const void* address) const {
  return impl_->satisfied(address);
}

void StreamOrderedAllocator::clear_dependencies(const void* address) {
  impl_->clear_dependencies(address);
}

void StreamOrderedAllocator::check_use(StreamRef stream, const void* address) const {
  impl_->check_use(stream, address);
}

std::size_t StreamOrderedAllocator::trim(std::size_t keep_bytes) { return impl_->trim(keep_bytes); }

void StreamOrderedAllocator::end_captures() { impl_->end_captures(); }

AllocatorStatistics StreamOrderedAllocator::statistics() const { return impl_->statistics(); }

}  // namespace coord
