// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "coord/device.h"

#include <charconv>
#include <utility>

#include "codes.h"
#include "cuda/cuda_backend.h"
#include "device_state.h"
#include "host/ticks.h"
#include "observer.h"
#include "sim/sim_backend.h"

namespace coord {

namespace {

std::atomic<std::uint64_t> next_device_id{0};
std::atomic<std::uint64_t> next_stream_id{0};
std::atomic<std::uint64_t> next_event_id{0};

coord_clock clock_of(bool simulated) {
  if (simulated) return COORD_CLOCK_VIRTUAL;
  return has_invariant_counter() ? COORD_CLOCK_COUNTER : COORD_CLOCK_MONOTONIC;
}

std::shared_ptr<DeviceState> open_state(std::unique_ptr<Backend> backend) {
  return std::make_shared<DeviceState>(std::move(backend));
}

}  // namespace

const char* to_string(MemoryKind kind) noexcept {
  constexpr const char* kNames[] = {"Pageable", "Pinned", "Device", "Managed"};
  return kNames[static_cast<std::size_t>(kind)];
}

int priority_number(StreamPriority priority, const DeviceProperties& properties) {
  switch (priority) {
    case StreamPriority::kLow:
      return properties.least_priority;
    case StreamPriority::kNormal:
      return std::min(0, properties.least_priority);
    case StreamPriority::kHigh:
      return properties.greatest_priority;
  }
  throw make_error(kCodeInvalidValue, "Device::create_stream", "no such priority");
}

std::uint64_t take_event_ids(std::uint64_t count) noexcept {
  return next_event_id.fetch_add(count, std::memory_order_relaxed);
}

DeviceState::DeviceState(std::unique_ptr<Backend> opened)
    : id{next_device_id.fetch_add(1)},
      backend(std::move(opened)),
      simulated(backend->properties().simulated),
      clock(clock_of(simulated)),
      max_connections(backend->properties().max_connections) {
  legacy = &add_stream(kLegacyStream, 0, "legacy default");
}

StreamState& DeviceState::add_stream(NativeStream native, int priority, std::string_view name) {
  std::lock_guard lock(mutex_);
  if (free_streams_.empty()) {
    streams_.emplace_back();
    free_streams_.push_back(&streams_.back());
  }
  StreamState& stream = *free_streams_.back();
  free_streams_.pop_back();
  stream.device = this;
  stream.native = native;
  stream.priority = priority;
  stream.name = name;
  stream.counts.reset();
  stream.id.store(next_stream_id.fetch_add(1), std::memory_order_release);
  return stream;
}

EventState& DeviceState::add_event(NativeEvent native, EventClass event_class) {
  std::lock_guard lock(mutex_);
  if (free_events_.empty()) {
    events_.emplace_back();
    free_events_.push_back(&events_.back());
  }
  EventState& event = *free_events_.back();
  free_events_.pop_back();
  event.device = this;
  event.native = native;
  event.event_class = event_class;
  event.pool.store(0, std::memory_order_relaxed);
  event.id.store(take_event_ids(1), std::memory_order_release);
  return event;
}

void DeviceState::remove(StreamState& stream) {
  std::lock_guard lock(mutex_);
  stream.id.store(StreamId::kNone, std::memory_order_release);
  stream.meter.store(nullptr, std::memory_order_relaxed);
  free_streams_.push_back(&stream);
}

void DeviceState::remove(EventState& event) {
  std::lock_guard lock(mutex_);
  event.id.store(EventId::kNone, std::memory_order_release);
  free_events_.push_back(&event);
}

StreamState& DeviceState::per_thread_stream() {
  const std::uint64_t thread = this_thread_number();
  {
    std::lock_guard lock(mutex_);
    if (auto found = per_thread_.find(thread); found != per_thread_.end()) return *found->second;
  }
  StreamState& stream = add_stream(kPerThreadStream, 0, "per-thread default");
  std::lock_guard lock(mutex_);
  return *per_thread_.emplace(thread, &stream).first->second;
}

void DeviceState::own_memory(void* address, const OwnedMemory& owned) {
  if (owned.stream == nullptr) return;
  if (StreamCounts* const counts = owned.counts(); counts != nullptr)
    counts->add_memory(owned.bytes);
  const std::lock_guard lock(mutex_);
  owned_memory_[address] = owned;
}

OwnedMemory DeviceState::disown_memory(void* address) {
  const std::lock_guard lock(mutex_);
  const auto found = owned_memory_.find(address);
  if (found == owned_memory_.end()) return {};
  const OwnedMemory owned = found->second;
  owned_memory_.erase(found);
  if (StreamCounts* const counts = owned.counts(); counts != nullptr)
    counts->memory.fetch_sub(owned.bytes, std::memory_order_relaxed);
  return owned;
}

void StreamCounts::add_memory(std::size_t more) noexcept {
  const std::size_t now = memory.fetch_add(more, std::memory_order_relaxed) + more;
  if (now > peak_memory.load(std::memory_order_relaxed))
    peak_memory.store(now, std::memory_order_relaxed);
}

void StreamCounts::reset() noexcept {
  for (auto* counts : {&work, &bytes}) {
    for (Count& count : *counts) count.store(0, std::memory_order_relaxed);
  }
  for (Count* count : {&operations, &records, &waits}) count->store(0, std::memory_order_relaxed);
  memory.store(0, std::memory_order_relaxed);
  peak_memory.store(0, std::memory_order_relaxed);
}

Device Device::open(std::string_view which) {
  constexpr const char* kExpected = "expected \"auto\", \"sim\", \"cuda\" or \"cuda:N\"";
  find_observer();
  const std::string call = "Device::open(\"" + std::string(which) + "\")";
  const std::string_view wanted = which.substr(0, which.find(':'));
  int ordinal = 0;
  if (wanted.size() < which.size()) {
    const std::string_view digits = which.substr(wanted.size() + 1);
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), ordinal);
    if (error != std::errc() || end != digits.data() + digits.size() || ordinal < 0 ||
        wanted == "auto") {
      throw make_error(kCodeInvalidValue, call, kExpected);
    }
  }
  bool known = false;
  std::string why_none;
  for (const BackendFactory& backend : backends()) {
    if (wanted != "auto" && wanted != backend.name) continue;
    known = true;
    const int count = backend.device_count(why_none);
    if (ordinal < count) return Device(open_state(backend.open(ordinal)));
    if (count > 0) why_none = "there are " + std::to_string(count) + " devices, numbered from 0";
  }
  if (!known) throw make_error(kCodeInvalidValue, call, kExpected);
  throw make_error(kCodeNoDevice, call, why_none);
}

Device Device::open(const sim::Config& config) {
  find_observer();
  return Device(open_state(sim::open_simulated(config)));
}

std::vector<Device> sim::open_devices(const Config& config, std::uint32_t count) {
  find_observer();
  std::vector<Device> devices;
  for (std::unique_ptr<Backend>& backend : open_simulated(config, count, nullptr))
    devices.push_back(Device(open_state(std::move(backend))));
  return devices;
}

Device Device::of_context(CUctx_st* context) {
  find_observer();
  return Device(open_state(cuda::open(context)));
}

Device Device::of_backend(std::unique_ptr<Backend> backend) {
  if (backend == nullptr)
    throw make_error(kCodeInvalidValue, "Device::of_backend", "the backend is null");
  find_observer();
  return Device(open_state(std::move(backend)));
}

DeviceId Device::id() const noexcept { return state_->id; }

const DeviceProperties& Device::properties() const noexcept {
  return state_->backend->properties();
}

Stream Device::create_stream(const StreamOptions& options) const {
  const int priority = priority_number(options.priority, properties());
  const NativeStream native =
      state_->backend->create_stream(priority, options.non_blocking, options.name);
  StreamState& stream = state_->add_stream(native, priority, options.name);
  return Stream(state_, &stream, StreamId{stream.id.load()});
}

Event Device::create_event(const EventOptions& options) const {
  const NativeEvent native = state_->backend->create_event(options.event_class, options.name);
  EventState& event = state_->add_event(native, options.event_class);
  return Event(state_, &event, EventId{event.id.load()});
}

StreamRef Device::legacy_stream() const {
  return StreamRef(state_->legacy, StreamId{state_->legacy->id.load()});
}

StreamRef Device::per_thread_stream() const {
  StreamState& stream = state_->per_thread_stream();
  return StreamRef(&stream, StreamId{stream.id.load()});
}

std::size_t Device::byte_count(std::size_t count, std::size_t element_bytes) {
  if (count == 0 || count > std::numeric_limits<std::size_t>::max() / element_bytes) {
    throw make_error(kCodeInvalidValue, "Device::allocate",
                     "cannot allocate " + std::to_string(count) + " elements of " +
                         std::to_string(element_bytes) + " bytes");
  }
  return count * element_bytes;
}

Allocation Device::allocate_bytes(std::size_t bytes, bool on_host) const {
  return Allocation(state_, state_->backend->allocate(bytes, on_host), bytes, on_host);
}

Allocation Device::allocate_managed_bytes(std::size_t bytes) const {
  return Allocation(state_, state_->backend->allocate_managed(bytes), bytes, false);
}

MemoryKind Device::memory_kind(const void* address) const {
  return state_->backend->memory_kind(address);
}

void Device::synchronize() const { state_->backend->synchronize_device(); }

void Device::host_access(const MemoryRange& range, Access access) const {
  state_->backend->host_access(range.address, range.bytes, access == Access::kWrite);
}

CaptureMode Device::exchange_capture_mode(CaptureMode mode) const {
  return state_->backend->exchange_capture_mode(mode);
}

TimeNs Device::now() const { return state_->backend->now(); }

CurrentDevice::CurrentDevice(const Device& device) : state_(device.state()) {
  state_->backend->enter();
}

CurrentDevice::~CurrentDevice() { state_->backend->leave(); }

Allocation::Allocation(std::shared_ptr<DeviceState> device, void* address, std::size_t bytes,
                       bool on_host)
    : memory_(address, [device = std::move(device),
                        on_host](void* memory) { device->backend->release(memory, on_host); }),
      bytes_(bytes) {}

}  // namespace coord
