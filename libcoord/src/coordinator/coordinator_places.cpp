// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Stream positions and their order: the clocks, for other parts of libcoord. The only driver call
// here checks whether a capture has ended.

#include "coordinator_impl.h"

namespace coord {

Coordinator::Impl::StreamPlace Coordinator::Impl::place_of(StreamState& stream) {
  const Lock lock(mutex_);
  const StreamEntry& entry = streams_.of(stream);
  StreamPlace place{entry.index, clocks_.ticket(entry.index) + entry.open, entry.capture, {}};
  if (entry.capture != 0 && capture_is_over(entry)) place.capture = 0;
  if (entry.open == 0) place.last = last_of(entry);
  return place;
}

bool Coordinator::Impl::comes_after(const StreamPlace& place, Point point) const {
  const Lock lock(mutex_);
  if (point.ticket == 0 || point.stream == place.stream || clocks_.proved(point)) return true;
  // After a capture, the entry still holds the capture's order instead of the stream's.
  const StreamEntry& entry = streams_[place.stream];
  const bool left = entry.capture != 0 && place.capture == 0;
  return (left ? entry.outside : clocks_.row(place.stream)).covers(point);
}

bool Coordinator::Impl::comes_after(const StreamPlace& place,
                                    const OperationHandle& operation) const {
  Point point;
  {
    const Lock lock(mutex_);
    const OperationRecord* record = OperationRecord::unended(operation);
    if (record == nullptr) return true;
    if (record->unsubmitted() || record->is_group) return false;
    point = record->point;
  }
  return comes_after(place, point);
}

bool Coordinator::Impl::known_ended(Point point) const {
  const Lock lock(mutex_);
  return point.ticket == 0 || clocks_.proved(point);
}

bool Coordinator::Impl::known_ended(const OperationHandle& operation) const {
  const Lock lock(mutex_);
  return OperationRecord::unended(operation) == nullptr;
}

bool Coordinator::Impl::can_order_after(const OperationHandle& operation) const {
  if (!operation.id_.valid()) return false;
  const Lock lock(mutex_);
  const OperationRecord* record = OperationRecord::unended(operation);
  return record == nullptr ||
         (record->state.load(std::memory_order_relaxed) == OperationState::kSubmitted &&
          !record->is_group && record->has_event);
}

void Coordinator::Impl::check(const OperationHandle& operation, const char* call) const {
  const Lock lock(mutex_);
  find(operation, call);
}

}  // namespace coord
