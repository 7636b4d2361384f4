// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "coord/waiter.h"

#include <condition_variable>
#include <utility>

#include "capture_mode.h"
#include "codes.h"
#include "coord/event_pool.h"
#include "device_state.h"
#include "poller.h"
#include "ticks.h"
#include "waits.h"

namespace coord {

namespace {

/// The environment of waits for a device.
struct WaiterEnv {
  using Mutex = std::mutex;
  using Condition = std::condition_variable;
  using Event = EventRef;

  [[nodiscard]] static std::int64_t now_ns() { return monotonic_ns(); }
  [[nodiscard]] bool reached(EventRef event) const {
    const AllowedDuringCapture allowed(*device.state()->backend);
    return event.query();
  }
  void release(EventRef event) { events.release(event); }
  void post(std::function<void()> function) const { executor->post(std::move(function)); }

  const Device device;
  EventPool events;
  const std::shared_ptr<Executor> executor;
};

}  // namespace

class AsyncWaiter::Impl {
 public:
  Impl(const Device& device, const AsyncWaiterOptions& options)
      : env_{device, EventPool(device, {.name = "waiter"}),
             options.executor != nullptr ? options.executor : Executor::shared()},
        waits_(env_),
        poller_(std::make_unique<PollClient>([this] { return waits_.poll_once(); })) {}
  ~Impl() {
    poller_.reset();
    waits_.end_all();
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  WaitId add(StreamRef stream, std::function<void(WaitOutcome)> function, Nanoseconds timeout);
  BasicWaits<WaiterEnv>& waits() noexcept { return waits_; }

 private:
  WaiterEnv env_;
  BasicWaits<WaiterEnv> waits_;
  std::unique_ptr<PollClient> poller_;
};

WaitId AsyncWaiter::Impl::add(StreamRef stream, std::function<void(WaitOutcome)> function,
                              Nanoseconds timeout) {
  constexpr const char* kCall = "AsyncWaiter::when_reached";
  if (!function) throw make_error(kCodeInvalidValue, kCall, "the function is empty");
  if (stream.capture_status() != CaptureStatus::kNone)
    throw make_error(kCodeCaptureUnsupported, kCall, "the stream is being captured");
  const EventRef event = env_.events.acquire();
  try {
    stream.record(event);
  } catch (...) {
    env_.events.release(event);
    throw;
  }
  std::int64_t deadline_ns = 0;
  if (timeout != Nanoseconds::max())
    deadline_ns = monotonic_ns() + std::max<std::int64_t>(timeout.count(), 0);
  const std::uint64_t id = waits_.add(stream.id().value, event, std::move(function), deadline_ns);
  env_.executor->expect();
  poller_->wake();
  return WaitId{id};
}

AsyncWaiter::AsyncWaiter(const Device& device, const AsyncWaiterOptions& options)
    : impl_(std::make_unique<Impl>(device, options)) {}

AsyncWaiter::~AsyncWaiter() = default;

WaitId AsyncWaiter::when_reached(StreamRef stream, std::function<void(WaitOutcome)> function,
                                 Nanoseconds timeout) {
  return impl_->add(stream, std::move(function), timeout);
}

bool AsyncWaiter::cancel(WaitId wait) { return impl_->waits().cancel(wait.value); }

std::size_t AsyncWaiter::pending() const { return impl_->waits().pending(); }

}  // namespace coord
