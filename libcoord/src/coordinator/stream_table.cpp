// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "stream_table.h"

#include "observer.h"

namespace coord {

DeviceEvents& StreamTable::events_of(DeviceState& device) {
  for (DeviceEvents& events : events_) {
    if (events.device.get() == &device) return events;
  }
  const Device opened(device.shared_from_this());
  DeviceEvents& events = events_.emplace_back();
  events.device = opened.state();
  events.pool = std::make_unique<EventPool>(opened, pool_options_);
  events.spare_count = &events.pool->spare_count();
  return events;
}

StreamEntry& StreamTable::find(StreamState& stream) {
  // The stream stores its index in the table of the Coordinator that used it last.
  const std::uint64_t id = stream.id.load(std::memory_order_relaxed);
  const std::uint64_t known = stream.coordinator.load(std::memory_order_relaxed);
  if (const auto index = static_cast<std::uint32_t>(known);
      known >> 32 == coordinator_ && index < entries_.size() && entries_[index].id == id) [[likely]]
    return *(last_ = &entries_[index]);
  const auto found = indices_.find(id);
  const std::uint32_t index = found != indices_.end() ? found->second : add(stream);
  stream.coordinator.store(std::uint64_t{coordinator_} << 32 | index, std::memory_order_relaxed);
  return *(last_ = &entries_[index]);
}

std::uint32_t StreamTable::add(StreamState& stream) {
  DeviceEvents& events = events_of(*stream.device);
  // Reuses the entry of a destroyed stream, if all its work has ended; its tickets continue.
  std::uint32_t index = 0;
  const auto in_use = [](const StreamEntry& entry) {
    return entry.state->id.load(std::memory_order_relaxed) == entry.id || entry.oldest != nullptr ||
           entry.open > 0 || entry.capture != 0;
  };
  while (index < entries_.size() && in_use(entries_[index])) ++index;
  if (index == entries_.size()) {
    entries_.emplace_back();
    clocks_.add_stream();
  } else {
    indices_.erase(entries_[index].id);
    clocks_.exchange_row(index, ClockRef());  // the new stream comes after nothing yet
  }
  StreamEntry& fresh = entries_[index];
  const std::uint64_t until_milestone = fresh.until_milestone;
  fresh = StreamEntry{};
  fresh.until_milestone = until_milestone;
  fresh.index = index;
  fresh.id = stream.id.load(std::memory_order_relaxed);
  fresh.state = &stream;
  fresh.device = stream.device;
  fresh.events = &events;
  fresh.context = stream.device->backend->properties().context;
  fresh.stamped = stamps_ || stream.device->simulated;
  if (is_observed()) fresh.known_kinds = std::make_unique<KnownKinds>();
  crowded_ |= entries_.size() > connections_limit(*stream.device);
  indices_[fresh.id] = index;
  return index;
}

PoolUtilization StreamTable::event_utilization() const {
  PoolUtilization all;
  for (const DeviceEvents& events : events_) {
    const PoolUtilization one = events.pool->utilization();
    all.available += one.available;
    all.timing += one.timing;
    all.in_use += one.in_use;
  }
  return all;
}

}  // namespace coord
