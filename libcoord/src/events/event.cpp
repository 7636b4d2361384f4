// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "coord/event.h"

#include <utility>

#include "codes.h"
#include "device_state.h"

namespace coord {

void EventRef::refuse(const char* call) const {
  throw make_error(kCodeInvalidHandle, call,
                   state_ == nullptr ? "the event is null" : "the event was destroyed or released");
}

std::uint64_t EventRef::handle() const { return checked("EventRef::handle").native; }

EventClass EventRef::event_class() const { return checked("EventRef::event_class").event_class; }

bool EventRef::query() const {
  EventState& event = checked("EventRef::query");
  return event.device->backend->query_event(event.native);
}

void EventRef::synchronize() const {
  EventState& event = checked("EventRef::synchronize");
  event.device->backend->synchronize_event(event.native);
}

Nanoseconds EventRef::elapsed_since(EventRef start) const {
  constexpr const char* kCall = "EventRef::elapsed_since";
  EventState& from = start.checked(kCall);
  EventState& to = checked(kCall);
  if (from.device != to.device)
    throw make_error(kCodeInvalidHandle, kCall, "the events belong to different devices");
  if (from.event_class != EventClass::kTiming || to.event_class != EventClass::kTiming) {
    throw make_error(kCodeInvalidHandle, kCall, "both events must be of class kTiming");
  }
  return to.device->backend->elapsed(from.native, to.native);
}

Event::Event(std::shared_ptr<DeviceState> device, EventState* state, EventId id)
    : EventRef(state, id), device_(std::move(device)) {}

Event::~Event() {
  if (state_ == nullptr) return;
  const NativeEvent native = state_->native;
  device_->remove(*state_);
  device_->backend->destroy_event(native);
}

Event::Event(Event&& other) noexcept
    : EventRef(std::exchange(other.state_, nullptr), std::exchange(other.id_, EventId{})),
      device_(std::move(other.device_)) {}

Event& Event::operator=(Event&& other) noexcept {
  Event moved(std::move(other));
  std::swap(state_, moved.state_);
  std::swap(id_, moved.id_);
  std::swap(device_, moved.device_);
  return *this;
}

}  // namespace coord
