// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The streams that a Coordinator has operations of, and the events of their devices.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <source_location>
#include <unordered_map>
#include <utility>
#include <vector>

#include "clock_table.h"
#include "coord/event_pool.h"
#include "coord/operation.h"
#include "device_state.h"
#include "operation_record.h"

namespace coord {

/// An event is recorded behind one in this many operations even if it is not needed, and the device
/// is queried for an old one: so ended operations are retired even if no one waits for them.
inline constexpr std::uint64_t kMilestoneEvery = 256;

/// The events for operations of one device. Events that may be recorded again are kept as spares
/// under the Coordinator's lock, so that most operations do not need the pool.
struct DeviceEvents {
  std::shared_ptr<DeviceState> device;
  std::unique_ptr<EventPool> pool;
  std::atomic<std::size_t>* spare_count = nullptr;  // of the pool; they do not count as in use
  std::array<EventRef, 2 * kMilestoneEvery> spare;

  /// A spare one, or none.
  EventRef take() noexcept {
    const std::size_t count = spare_count->load(std::memory_order_relaxed);
    if (count == 0) [[unlikely]]
      return {};
    spare_count->store(count - 1, std::memory_order_relaxed);
    return spare[count - 1];
  }
  void give_back(EventRef event) {
    const std::size_t count = spare_count->load(std::memory_order_relaxed);
    if (count == spare.size()) [[unlikely]]
      return pool->release(event);
    spare[count] = event;
    spare_count->store(count + 1, std::memory_order_relaxed);
  }
};

/// A kind of operations that the observer knows by a number: those of one stream that differ only
/// in number, stamps and dependencies.
struct alignas(64) KnownKind {
  static constexpr std::uint32_t kNone = 0, kMaking = ~0u;
  std::atomic<std::uint32_t> number{kNone};  // kMaking until all other fields are set
  // Not adjacent, so that an operation's bytes are compared as they were written: one by one.
  OperationType type{};
  std::uint8_t text_bytes = 0;
  OperationPriority priority{};
  std::source_location where;
  std::array<char, 32> text{};  // the description
};
/// By call site. The first kind at a place keeps it, so an entry never changes.
using KnownKinds = std::array<KnownKind, 8>;

/// A stream that a Coordinator has operations of. Addresses stay.
struct StreamEntry {
  std::uint64_t id = 0;
  std::uint32_t index = 0;
  std::uint32_t context = 0;  // of its device
  StreamState* state = nullptr;
  DeviceEvents* events = nullptr;
  DeviceState* device = nullptr;
  OperationRecord* oldest = nullptr;  // submitted and not proved to have ended, in order
  OperationRecord* newest = nullptr;
  std::uint32_t open = 0;   // operations whose functions run now
  bool dispatched = false;  // one of them is deferred, possibly on another thread
  bool stamped = false;     // the ends of its submissions are stamped
  std::uint64_t until_milestone = kMilestoneEvery;  // operations begun, outside of captures
  std::uint64_t capture = 0;     // number of the capture that the stream is part of
  OperationHandle last;          // of its operations
  ClockRef outside;              // its row before the capture
  OperationHandle outside_last;  // `last` before that
  std::deque<std::pair<OperationRecord*, Point>> milestones;
  std::vector<OperationHandle> held_by;     // operations its last waits are for
  std::unique_ptr<KnownKinds> known_kinds;  // null if the observer does not want any
};

/// How many of the device's hardware queues may be blocked.
inline std::size_t connections_limit(const DeviceState& device) noexcept {
  const std::uint32_t connections = device.max_connections;
  return connections > 3 ? connections - 2 : 1;
}

/// Thread-compatible.
class StreamTable {
 public:
  /// For the Coordinator with this number, which adds each stream to `clocks`. `stamps`: the ends
  /// of all submissions are stamped, not only those of simulated devices.
  StreamTable(std::uint32_t coordinator, EventPoolOptions events, bool stamps, ClockTable& clocks)
      : coordinator_(coordinator), pool_options_(events), stamps_(stamps), clocks_(clocks) {}

  /// The entry of a stream, which is added if it is new; fast for the one used last.
  StreamEntry& of(StreamState& stream) {
    StreamEntry* const known = last_;
    if (known != nullptr && known->id == stream.id.load(std::memory_order_relaxed)) [[likely]]
      return *known;
    return find(stream);
  }
  /// Null if it has none.
  [[nodiscard]] const StreamEntry* known(StreamId stream) const {
    const auto found = indices_.find(stream.value);
    return found != indices_.end() ? &entries_[found->second] : nullptr;
  }
  [[nodiscard]] StreamEntry& operator[](std::uint32_t index) { return entries_[index]; }
  [[nodiscard]] const StreamEntry& operator[](std::uint32_t index) const { return entries_[index]; }
  [[nodiscard]] auto begin() noexcept { return entries_.begin(); }
  [[nodiscard]] auto end() noexcept { return entries_.end(); }
  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }
  /// There were more streams than hardware queues.
  [[nodiscard]] bool crowded() const noexcept { return crowded_; }
  /// Of the events of all devices.
  [[nodiscard]] PoolUtilization event_utilization() const;

 private:
  StreamEntry& find(StreamState& stream);
  std::uint32_t add(StreamState& stream);
  DeviceEvents& events_of(DeviceState& device);

  std::deque<StreamEntry> entries_;
  StreamEntry* last_ = nullptr;  // used last
  bool crowded_ = false;
  std::unordered_map<std::uint64_t, std::uint32_t> indices_;  // by stream id
  std::deque<DeviceEvents> events_;                           // of each device
  const std::uint32_t coordinator_;
  const EventPoolOptions pool_options_;
  const bool stamps_;
  ClockTable& clocks_;
};

}  // namespace coord
