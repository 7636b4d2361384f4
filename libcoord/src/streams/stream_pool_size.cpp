// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Which streams of a pool exist, are open to leases, or are reserved.

#include <algorithm>

#include "codes.h"
#include "coord/error.h"
#include "stream_pool_impl.h"

namespace coord {

namespace {

constexpr const char* kMake = "StreamPool";

/// The options with all defaults filled in.
StreamPoolOptions complete(StreamPoolOptions options, const Device& device) {
  const std::size_t connections = std::max(device.properties().max_connections, 1u);
  if (options.size == 0) {
    options.size = connections > 3 ? connections - 2 : connections;
    if (options.max_size != 0) options.size = std::min(options.size, options.max_size);
  }
  if (options.max_size == 0) options.max_size = std::max(options.size, connections);
  if (options.max_size > kMostStreams || options.size > options.max_size)
    throw make_error(kCodeInvalidValue, kMake,
                     "a pool of " + std::to_string(options.size) + " streams, at most " +
                         std::to_string(options.max_size) + "; the limit is 64");
  return options;
}

}  // namespace

StreamPool::Impl::Impl(const Device& device, const StreamPoolOptions& options)
    : strategy(options.strategy),
      device_(device),
      options_(complete(options, device)),
      name_(options.name),
      max_size_(options_.max_size),
      words_(device.allocate_host<std::uint64_t>(kMostStreams)),
      done_(words_.data()),
      events_(device, {.name = "times of leases"}),
      slots_(max_size_) {
  notify_pool(number_, COORD_POOL_STREAMS, max_size_, name_.c_str());
  for (std::size_t p = 0; p < priorities_.size(); ++p)
    priorities_[p] = priority_number(static_cast<StreamPriority>(p), device.properties());
  const Lock lock(mutex_);
  for (std::size_t i = 0; i < options_.size; ++i) set_open(add_slot(), true);
}

StreamPool::Impl::~Impl() {
  // The device may still write to the words.
  for (std::uint32_t slot = 0; slot < count_.load(); ++slot) {
    try {
      if (slots_[slot].ended != done(slot)) slots_[slot].stream.synchronize();
    } catch (const Error&) {
      // It has failed, and writes nothing anymore.
    }
  }
}

std::uint32_t StreamPool::Impl::add_slot() {
  const std::uint32_t index = count_.load(std::memory_order_relaxed);
  StreamSlot& slot = slots_[index];
  // In a pool with kPriority, streams are high, normal and low in turn.
  const bool by_priority = options_.strategy == PoolStrategy::kPriority;
  constexpr StreamPriority kTurn[] = {StreamPriority::kHigh, StreamPriority::kNormal,
                                      StreamPriority::kLow};
  const StreamPriority priority = by_priority ? kTurn[index % 3] : StreamPriority::kNormal;
  const std::string name = name_ + " " + std::to_string(index);
  slot.stream = device_.create_stream({.priority = priority, .name = name});
  slot.priority = slot.stream.priority();
  taken_[index].store(kClosed, std::memory_order_relaxed);
  count_.store(index + 1, std::memory_order_release);
  return index;
}

void StreamPool::Impl::set_open(std::uint32_t index, bool open) noexcept {
  slots_[index].open = open;
  if (open && !slots_[index].reserved) {
    taken_[index].fetch_and(~kClosed, std::memory_order_acq_rel);
  } else {
    taken_[index].fetch_or(kClosed, std::memory_order_acq_rel);
  }
}

std::size_t StreamPool::Impl::size_now() const noexcept {
  return static_cast<std::size_t>(std::ranges::count_if(
      slots_, [](const StreamSlot& slot) { return slot.open && !slot.reserved; }));
}

void StreamPool::Impl::resize(std::size_t size) {
  constexpr const char* kCall = "StreamPool::resize";
  const Lock lock(mutex_);
  const auto reserved = static_cast<std::size_t>(
      std::ranges::count_if(slots_, [](const StreamSlot& slot) { return slot.reserved; }));
  if (size == 0 || size + reserved > max_size_)
    throw make_error(kCodeInvalidValue, kCall,
                     std::to_string(size) + " streams, and " + std::to_string(reserved) +
                         " are reserved: the maximum is " + std::to_string(max_size_));
  for (std::uint32_t i = 0; size_now() < size; ++i) {
    if (i == count_.load(std::memory_order_relaxed)) add_slot();
    if (!slots_[i].open && !slots_[i].reserved) set_open(i, true);
  }
  for (std::uint32_t i = count_.load(std::memory_order_relaxed); size_now() > size;) {
    if (slots_[--i].open && !slots_[i].reserved) set_open(i, false);
  }
}

ReservedStream StreamPool::Impl::reserve() {
  const Lock lock(mutex_);
  const std::uint32_t count = count_.load(std::memory_order_relaxed);
  std::uint32_t found = kNone;
  for (std::uint32_t i = 0; i < count && found == kNone; ++i) {
    StreamSlot& slot = slots_[i];
    if (slot.reserved) continue;
    // A closed stream already has its bit set, and no lease takes it.
    const bool free = slot.open ? take_idle(i, kClosed) : load_of(i) == 0;
    if (free) found = i;
  }
  if (found == kNone && count < max_size_) found = add_slot();
  if (found == kNone)
    throw make_error(ErrorKind::kExhausted, kCodeOutOfMemory, "StreamPool::reserve",
                     "no stream of \"" + name_ + "\" is idle, and the pool is at its maximum size");
  slots_[found].reserved = true;
  return {*this, found, slots_[found].stream};
}

// The work of its holder counts as one lease until it has ended.
void StreamPool::Impl::give_back(std::uint32_t index) noexcept {
  taken_[index].fetch_add(1, std::memory_order_acq_rel);
  try {
    end(index, false, false);
  } catch (const Error&) {
    // As in ~StreamLease().
  }
  const Lock lock(mutex_);
  slots_[index].reserved = false;
  set_open(index, slots_[index].open);
}

}  // namespace coord
