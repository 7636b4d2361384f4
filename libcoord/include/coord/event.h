// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Points in the order of a stream that others can wait for.
//
// An event stands for the work its last record captured. StreamRef::record and StreamRef::wait
// place it; a wait binds to the newest record when the wait is issued, and recording again never
// redirects it.
#pragma once

#include <memory>
#include <string_view>

#include "coord/export.h"
#include "coord/types.h"

namespace coord {

class Device;
struct DeviceState;
struct EventState;

enum class EventClass {
  kNoTiming,      // cheapest to record, to query and to wait for
  kTiming,        // elapsed() works; costs the stream about 2 us per record
  kBlockingSync,  // synchronize() sleeps instead of spinning; no timing
};

struct EventOptions {
  EventClass event_class = EventClass::kNoTiming;
  std::string_view name{};
};

/// Borrows an event. Cheap to copy; must not outlive the event's Device. A call on an event that
/// was destroyed throws kInvalidHandle. Thread-safe.
class COORD_EXPORT EventRef {
 public:
  EventRef() = default;
  EventRef(std::nullptr_t) = delete;

  [[nodiscard]] EventId id() const noexcept { return id_; }
  /// The backend's handle, which a later event may get again.
  [[nodiscard]] std::uint64_t handle() const;
  [[nodiscard]] EventClass event_class() const;

  /// True if the newest record is complete, or if there is none. Never blocks.
  [[nodiscard]] bool query() const;
  /// Blocks until the newest record is complete; returns at once if there is none.
  void synchronize() const;
  /// Device time from the newest record of `start` to that of this event; both must be complete and
  /// kTiming. Resolution about 0.5 us.
  [[nodiscard]] Nanoseconds elapsed_since(EventRef start) const;

  friend bool operator==(EventRef a, EventRef b) noexcept { return a.id_ == b.id_; }

 protected:
  friend class Coordinator;
  friend class EventPool;
  friend class StreamRef;
  EventRef(EventState* state, EventId id) : state_(state), id_(id) {}
  EventState& checked(const char* call) const;
  [[noreturn]] void refuse(const char* call) const;

  EventState* state_ = nullptr;
  EventId id_;
};

/// Owns an event; destroying it while records or waits are pending is allowed. Made by
/// Device::create_event.
class COORD_EXPORT Event : public EventRef {
 public:
  Event() = default;
  ~Event();
  Event(Event&& other) noexcept;
  Event& operator=(Event&& other) noexcept;

 private:
  friend class Device;
  Event(std::shared_ptr<DeviceState> device, EventState* state, EventId id);

  std::shared_ptr<DeviceState> device_;
};

}  // namespace coord
