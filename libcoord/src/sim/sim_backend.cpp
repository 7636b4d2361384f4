// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "sim/sim_backend.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "codes.h"
#include "coord/device.h"
#include "device_state.h"
#include "sim/call.h"

namespace coord::sim {

namespace {

constexpr NativeEvent kFirstEventHandle = 0x8000'0000;
constexpr std::uint64_t kHandleStep = 0x100;
/// Contexts of simulated devices are numbered from here, separate from CUDA's in the same process.
constexpr std::uint32_t kFirstContext = 1'000'000;

std::atomic<std::uint32_t> next_ordinal{0};

// CUDA's flags, as traces show them.
constexpr std::uint64_t kStreamNonBlocking = 1;
constexpr std::uint64_t kEventBlockingSync = 1;
constexpr std::uint64_t kEventDisableTiming = 2;

std::uint64_t event_flags(EventClass event_class) {
  if (event_class == EventClass::kTiming) return 0;
  return kEventDisableTiming | (event_class == EventClass::kBlockingSync ? kEventBlockingSync : 0);
}

DeviceProperties describe(const Config& config) {
  const std::uint32_t ordinal = next_ordinal.fetch_add(1);
  return {.name = config.name,
          .uuid = "SIM-" + std::to_string(ordinal),
          .simulated = true,
          .ordinal = ordinal,
          .context = kFirstContext + ordinal,
          .compute_capability = 90,
          .sm_count = config.sm_count,
          .copy_engines = 2 * config.copy_engines_per_direction,
          .max_connections = config.max_connections,
          .memory_bytes = config.memory_bytes,
          .least_priority = 0,
          .greatest_priority = -5};
}

}  // namespace

std::unique_ptr<Backend> open_simulated(const Config& config) {
  return std::move(open_simulated(config, 1, nullptr).front());
}

std::vector<std::unique_ptr<Backend>> open_simulated(const Config& config, std::uint32_t count,
                                                     Scheduler* scheduler) {
  if (count == 0 || config.sm_count == 0 || config.concurrent_kernels == 0 ||
      config.copy_engines_per_direction == 0 || config.jitter < 0 || config.max_connections == 0 ||
      config.max_connections > 32 || config.stream_queue_depth == 0) {
    throw make_error(
        kCodeInvalidValue, "Device::open(sim::Config)",
        "a device needs multiprocessors, concurrent kernels, copy engines, space in its "
        "streams, 1 to 32 connections, and jitter >= 0");
  }
  const auto machine = std::make_shared<Machine>(config, count, scheduler);
  std::vector<std::unique_ptr<Backend>> devices;
  for (std::uint32_t device = 0; device < count; ++device)
    devices.push_back(std::make_unique<SimBackend>(machine, device));
  return devices;
}

namespace {

SimBackend& simulated(const Device& device, const char* call) {
  auto* backend = dynamic_cast<SimBackend*>(device.state()->backend.get());
  if (backend == nullptr) throw make_error(kCodeNotSupported, call, "the device is not simulated");
  return *backend;
}

}  // namespace

void host_work(const Device& device, Nanoseconds duration) {
  SimBackend& backend = simulated(device, "sim::host_work");
  if (duration < Nanoseconds(0))
    throw make_error(kCodeInvalidValue, "sim::host_work", "the duration is negative");
  backend.host_work(duration);
}

void inject(const Device& device, const Injection& injection) {
  simulated(device, "sim::inject").inject(injection);
}

SimBackend::SimBackend(std::shared_ptr<Machine> machine, std::uint32_t device)
    : shared_(std::move(machine)),
      machine_(*shared_),
      device_(device),
      costs_(machine_.config.calibration),
      properties_(describe(machine_.config)) {
  machine_.contexts[device_] = properties_.context;
  if (const coord_observer& hooks = machine_.hooks(); hooks.device != nullptr) {
    const coord_device_facts facts{.device = properties_.ordinal,
                                   .context = properties_.context,
                                   .simulated = 1,
                                   .compute_capability = properties_.compute_capability,
                                   .sm_count = properties_.sm_count,
                                   .copy_engines = properties_.copy_engines,
                                   .max_connections = properties_.max_connections,
                                   .memory_bytes = properties_.memory_bytes,
                                   .name = properties_.name.c_str(),
                                   .uuid = properties_.uuid.c_str()};
    hooks.device(&facts);
  }
  machine_.legacy_streams[device_] =
      machine_.add_stream(device_, kLegacyStream, StreamKind::kLegacy, 0, "legacy default", 0);
}

TimeNs SimBackend::now() {
  if (inside_device()) return {machine_.engine.now_ns()};
  std::lock_guard lock(machine_.mutex);
  return {std::max(machine_.host_clocks[this_thread_number()], machine_.engine.now_ns())};
}

void SimBackend::host_work(Nanoseconds duration) {
  if (inside_device())
    throw make_error(kCodeNotPermitted, "sim::host_work", "called by a kernel or host function");
  std::lock_guard lock(machine_.mutex);
  std::int64_t& clock = machine_.host_clocks[this_thread_number()];
  clock = std::max(clock, machine_.engine.now_ns()) + duration.count();
  machine_.see_memory_until(clock);
}

void SimBackend::inject(const Injection& injection) {
  std::lock_guard lock(machine_.mutex);
  machine_.injections.push_back({injection});
}

// Streams

NativeStream SimBackend::create_stream(int priority, bool non_blocking, std::string_view name) {
  Call call(*this, "simStreamCreate", CaptureRule::kSafe);
  NativeStream handle = machine_.next_stream_handle;
  if (machine_.destroyed_streams.empty()) {
    machine_.next_stream_handle += kHandleStep;
  } else {  // like CUDA, reuse a freed handle at once
    const StreamEntry& destroyed = machine_.streams[machine_.destroyed_streams.back()];
    machine_.destroyed_streams.pop_back();
    handle = destroyed.handle;
    call.enters_after(destroyed.last_call_ns);
  }
  const std::int64_t cost_ns = costs_.stream_create_ns;
  // The stream exists just before the call returns.
  const std::uint32_t stream = machine_.add_stream(
      device_, handle, non_blocking ? StreamKind::kNonBlocking : StreamKind::kBlocking, priority,
      name, call.begin_ns + cost_ns - 1);
  machine_.stream_of_handle[handle] = stream;
  // A thread whose clock is behind cannot have received it earlier.
  machine_.streams[stream].last_call_ns = call.begin_ns + cost_ns;
  call.says_stream(handle);
  call.says(0, (non_blocking ? kStreamNonBlocking : 0) |
                   static_cast<std::uint64_t>(static_cast<std::uint32_t>(priority)) << 32);
  call.finish(cost_ns);
  return handle;
}

void SimBackend::destroy_stream(NativeStream handle) noexcept {
  if (inside_device()) return;
  try {
    Call call(*this, "simStreamDestroy");
    call.cannot_throw();
    call.on_stream(handle);
    call.enter(CaptureRule::kSafe);
    const std::int64_t cost_ns = costs_.stream_destroy_ns;
    machine_.streams[call.stream].destroyed = true;
    machine_.notify_stream(call.stream, 0, true, call.begin_ns + cost_ns - 1);
    machine_.stream_of_handle.erase(handle);
    machine_.destroyed_streams.push_back(call.stream);
    call.finish(cost_ns);
  } catch (const Error&) {
    // The device has failed: nothing is left to destroy.
  }
}

bool SimBackend::query_stream(NativeStream handle) {
  Call call(*this, "simStreamQuery");
  call.on_stream(handle);
  call.touches(machine_.tails(call.stream));
  call.enter(CaptureRule::kLooks);
  const bool done = call.poll(machine_.tails(call.stream));
  call.finish(costs_.stream_query_ns, done);
  return done;
}

void SimBackend::synchronize_stream(NativeStream handle) {
  Call call(*this, "simStreamSynchronize", handle, CaptureRule::kLooks);
  call.block_until(machine_.tails(call.stream), costs_.synchronize_idle_ns,
                   costs_.wake_spinning_ns);
  call.finish(0);
}

void SimBackend::synchronize_device() {
  Call call(*this, "simDeviceSynchronize", CaptureRule::kWholeDevice);
  call.block_until(machine_.all_tails(device_), costs_.synchronize_idle_ns,
                   costs_.wake_spinning_ns);
  call.finish(0);
}

// Events

NativeEvent SimBackend::create_event(EventClass event_class, std::string_view name) {
  Call call(*this, "simEventCreate", CaptureRule::kSafe);
  if (machine_.free_events.empty()) {
    machine_.free_events.push_back(static_cast<std::uint32_t>(machine_.events.size()));
    machine_.events.emplace_back();
  }
  const std::uint32_t index = machine_.free_events.back();
  machine_.free_events.pop_back();
  call.enters_after(machine_.events[index].last_call_ns);  // the end of its destruction
  const NativeEvent handle = machine_.first_handle + kFirstEventHandle + index * kHandleStep;
  machine_.events[index] = {.handle = handle,
                            .event_class = event_class,
                            .device = device_,
                            .version = machine_.events[index].version,
                            .last_call_ns = call.begin_ns + costs_.event_create_ns,
                            .destroyed = false};
  machine_.event_of_handle[handle] = index;
  call.says(handle, event_flags(event_class));
  call.finish(costs_.event_create_ns);
  if (!name.empty() && machine_.hooks().event_name != nullptr) {
    machine_.hooks().event_name(properties_.context, handle, std::string(name).c_str());
  }
  return handle;
}

void SimBackend::destroy_event(NativeEvent handle) noexcept {
  if (inside_device()) return;
  try {
    Call call(*this, "simEventDestroy");
    call.cannot_throw();
    call.on_event(handle);
    call.enter(CaptureRule::kSafe);
    machine_.events[call.event].destroyed = true;
    machine_.event_of_handle.erase(handle);
    machine_.free_events.push_back(call.event);
    call.finish(costs_.event_destroy_ns);
  } catch (const Error&) {
    // The device has failed: nothing is left to destroy.
  }
}

void SimBackend::record(NativeStream stream, NativeEvent event) {
  Call call(*this, "simEventRecord");
  call.on_stream(stream);
  call.on_event(event, true);
  call.enter(CaptureRule::kEnqueues);
  EventEntry& entry = machine_.events[call.event];
  const bool timing = entry.event_class == EventClass::kTiming;
  const StreamEntry& from = machine_.streams[call.stream];
  entry.capture = from.capture;
  entry.capture_tail = from.capture_tail;
  if (!call.captured()) {
    entry.recorded_ns = -1;
    entry.record = call.submit({.kind = OpKind::kRecord,
                                .timed = timing,
                                .duration_ns = timing ? costs_.record_timing_gpu_ns : 0,
                                .event = call.event,
                                .version = ++entry.version});
  }
  call.finish(timing ? costs_.record_timing_ns : costs_.record_ns);
}

void SimBackend::wait(NativeStream stream, NativeEvent event) {
  Call call(*this, "simStreamWaitEvent");
  call.on_stream(stream);
  call.on_event(event);
  call.enter(CaptureRule::kEnqueues);
  const EventEntry& entry = machine_.events[call.event];
  if (entry.capture != 0 || call.captured()) {
    join_capture(call, entry);
  } else if (entry.record.serial != 0) {
    // Waits for the newest record, regardless of later ones. On the legacy stream even a wait for a
    // complete record is a barrier; on any stream, a wait for a never recorded event has no effect.
    const OpRef after[] = {entry.record};
    call.submit({.kind = OpKind::kWait}, after);
  }
  call.finish(costs_.wait_ns);
}

bool SimBackend::query_event(NativeEvent event) {
  Call call(*this, "simEventQuery");
  call.on_event(event);
  call.touches({machine_.events[call.event].record});
  call.enter(CaptureRule::kLooks);
  const OpRef record[] = {machine_.events[call.event].record};
  const bool done = call.poll(record);
  call.finish(costs_.event_query_ns, done);
  return done;
}

void SimBackend::synchronize_event(NativeEvent event) {
  Call call(*this, "simEventSynchronize");
  call.on_event(event);
  call.enter(CaptureRule::kLooks);
  const EventEntry& entry = machine_.events[call.event];
  const OpRef record[] = {entry.record};
  call.block_until(record, costs_.synchronize_idle_ns,
                   entry.event_class == EventClass::kBlockingSync ? costs_.wake_blocking_ns
                                                                  : costs_.wake_spinning_ns);
  call.finish(0);
}

Nanoseconds SimBackend::elapsed(NativeEvent start, NativeEvent end) {
  Call call(*this, "simEventElapsedTime");
  call.on_event(start);
  const std::uint32_t from = call.event;
  call.on_event(end);
  call.enter(CaptureRule::kLooks);
  call.says(start, end);
  machine_.advance(call.begin_ns);
  for (std::uint32_t event : {from, call.event}) {
    if (machine_.events[event].record.serial == 0)
      call.fail(kCodeInvalidHandle, "an event was never recorded");
    if (!machine_.engine.done(machine_.events[event].record))
      call.fail(kCodeNotReady, "a record is not complete");
  }
  const Nanoseconds result(machine_.events[call.event].recorded_ns -
                           machine_.events[from].recorded_ns);
  call.finish(costs_.event_elapsed_ns);
  return result;
}

}  // namespace coord::sim
