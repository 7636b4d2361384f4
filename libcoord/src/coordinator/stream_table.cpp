// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The streams with operations of a Coordinator, and the events of their devices.

#include <algorithm>

#include "coordinator_impl.h"
#include "observer.h"

namespace coord {

DeviceEvents& Coordinator::Impl::events_of(DeviceState& device) {
  for (DeviceEvents& events : events_) {
    if (events.device.get() == &device) return events;
  }
  const Device opened(device.shared_from_this());
  DeviceEvents& events = events_.emplace_back();
  events.device = opened.state();
  events.pool = std::make_unique<EventPool>(opened, options_.events);
  events.spare_count = &events.pool->spare_count();
  return events;
}

StreamEntry& Coordinator::Impl::find_stream(StreamState& stream) {
  // The stream stores its index in the table of the Coordinator that used it last.
  const std::uint64_t id = stream.id.load(std::memory_order_relaxed);
  const std::uint64_t known = stream.coordinator.load(std::memory_order_relaxed);
  if (const auto index = static_cast<std::uint32_t>(known);
      known >> 32 == number_ && index < streams_.size() && streams_[index].id == id) [[likely]]
    return *(last_stream_ = &streams_[index]);
  const auto found = stream_indices_.find(id);
  const std::uint32_t index = found != stream_indices_.end() ? found->second : add_stream(stream);
  stream.coordinator.store(std::uint64_t{number_} << 32 | index, std::memory_order_relaxed);
  return *(last_stream_ = &streams_[index]);
}

std::uint32_t Coordinator::Impl::stream_index(StreamState& stream) {
  return stream_entry(stream).index;
}

std::uint32_t Coordinator::Impl::add_stream(StreamState& stream) {
  DeviceEvents& events = events_of(*stream.device);
  // Reuses the entry of a destroyed stream, if all its work has ended; its tickets continue.
  std::uint32_t index = 0;
  while (index < streams_.size() &&
         (streams_[index].state->id.load(std::memory_order_relaxed) == streams_[index].id ||
          streams_[index].oldest != nullptr || streams_[index].open > 0 ||
          streams_[index].capture != 0)) {
    ++index;
  }
  if (index == streams_.size()) {
    streams_.emplace_back();
    clocks_.add_stream();
  } else {
    stream_indices_.erase(streams_[index].id);
    clocks_.exchange_row(index, ClockRef());  // the new stream comes after nothing yet
  }
  StreamEntry& fresh = streams_[index];
  const std::uint64_t until_milestone = fresh.until_milestone;
  fresh = StreamEntry{};
  fresh.until_milestone = until_milestone;
  fresh.index = index;
  fresh.id = stream.id.load(std::memory_order_relaxed);
  fresh.state = &stream;
  fresh.device = stream.device;
  fresh.events = &events;
  fresh.context = stream.device->backend->properties().context;
  fresh.stamped = stamps_submissions_ || stream.device->simulated;
  if (is_observed()) fresh.known_kinds = std::make_unique<KnownKinds>();
  crowded_ |= streams_.size() > connections_limit(*stream.device);
  stream_indices_[fresh.id] = index;
  return index;
}

// A deferred operation may be using the stream from another thread.
void Coordinator::Impl::await_stream(Lock& lock, OperationRecord& record) {
  StreamEntry& stream = *record.entry;
  while (stream.dispatched && stream.open > 0) {
    const bool mine = std::ranges::any_of(operations_.all(), [&](const OperationRecord& other) {
      return other.state.load(std::memory_order_relaxed) == OperationState::kBegun &&
             other.point.stream == record.point.stream && other.runner == this_thread_number();
    });
    if (mine) return;
    changed_.wait(lock);
  }
}

}  // namespace coord
