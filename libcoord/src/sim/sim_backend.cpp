// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "sim/sim_backend.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <utility>

#include "codes.h"
#include "device_state.h"
#include "observer.h"
#include "sim/call.h"

namespace coord::sim {

namespace {

constexpr NativeStream kFirstStreamHandle = 0x10000;
constexpr NativeEvent kFirstEventHandle = 0x8000'0000;
constexpr std::uint64_t kHandleStep = 0x100;
constexpr std::uint64_t kFirstTraceAddress = 0x7'0000'0000;
/// Contexts of simulated devices are numbered from here, away from those of CUDA in the same
/// process.
constexpr std::uint32_t kFirstContext = 1'000'000;

std::atomic<std::uint32_t> next_ordinal{0};

// CUDA's flags, as traces show them.
constexpr std::uint64_t kStreamNonBlocking = 1;
constexpr std::uint64_t kEventBlockingSync = 1;
constexpr std::uint64_t kEventDisableTiming = 2;

std::uint64_t event_flags(EventClass event_class) {
  switch (event_class) {
    case EventClass::kTiming:
      return 0;
    case EventClass::kNoTiming:
      return kEventDisableTiming;
    case EventClass::kBlockingSync:
      return kEventDisableTiming | kEventBlockingSync;
  }
  return 0;
}

DeviceProperties describe(const Config& config) {
  DeviceProperties properties;
  properties.name = config.name;
  properties.ordinal = next_ordinal.fetch_add(1);
  properties.uuid = "SIM-" + std::to_string(properties.ordinal);
  properties.simulated = true;
  properties.context = kFirstContext + properties.ordinal;
  properties.compute_capability = 90;
  properties.sm_count = config.sm_count;
  properties.copy_engines = 2 * config.copy_engines_per_direction;
  properties.max_connections = 8;
  properties.memory_bytes = config.memory_bytes;
  properties.least_priority = 0;
  properties.greatest_priority = -5;
  return properties;
}

}  // namespace

std::unique_ptr<Backend> open_simulated(const Config& config) {
  if (config.sm_count == 0 || config.concurrent_kernels == 0 ||
      config.copy_engines_per_direction == 0 || config.jitter < 0) {
    throw make_error(
        kCodeInvalidValue, "Device::open(sim::Config)",
        "a device needs multiprocessors, concurrent kernels and copy engines, and jitter >= 0");
  }
  return std::make_unique<SimBackend>(config);
}

void host_work(const Device& device, Nanoseconds duration) {
  auto* backend = dynamic_cast<SimBackend*>(device.state()->backend.get());
  if (backend == nullptr)
    throw make_error(kCodeNotSupported, "sim::host_work", "the device is not simulated");
  if (duration < Nanoseconds(0))
    throw make_error(kCodeInvalidValue, "sim::host_work", "the duration is negative");
  backend->host_work(duration);
}

SimBackend::SimBackend(const Config& config)
    : config_(config),
      properties_(describe(config)),
      engine_(config, [this](const Op& op) { on_ended(op); }),
      next_stream_handle_(kFirstStreamHandle),
      next_trace_address_(kFirstTraceAddress) {
  if (observer().device != nullptr) {
    coord_device_facts facts{};
    facts.device = properties_.ordinal;
    facts.context = properties_.context;
    facts.simulated = 1;
    facts.compute_capability = properties_.compute_capability;
    facts.sm_count = properties_.sm_count;
    facts.copy_engines = properties_.copy_engines;
    facts.max_connections = properties_.max_connections;
    facts.memory_bytes = properties_.memory_bytes;
    facts.name = properties_.name.c_str();
    facts.uuid = properties_.uuid.c_str();
    observer().device(&facts);
  }
  stream_of_handle_[kLegacyStream] =
      add_stream(kLegacyStream, StreamKind::kLegacy, 0, "legacy default", 0);
}

SimBackend::~SimBackend() {
  engine_.for_each_pending([this](const Op& op) { tell_op(op, false); });
  for (void* address : abandoned_memory_) std::free(address);
  for (const auto& [key, range] : memory_) std::free(range.address);
}

TimeNs SimBackend::now() {
  if (inside_device()) return {engine_.now_ns()};
  std::lock_guard lock(mutex_);
  return {std::max(host_clocks_[this_thread_number()], engine_.now_ns())};
}

void SimBackend::host_work(Nanoseconds duration) {
  if (inside_device())
    throw make_error(kCodeNotPermitted, "sim::host_work", "called by a kernel or host function");
  std::lock_guard lock(mutex_);
  std::int64_t& clock = host_clocks_[this_thread_number()];
  clock = std::max(clock, engine_.now_ns()) + duration.count();
  see_memory_until(clock);
}

void SimBackend::see_memory_until(std::int64_t time_ns) {
  if (engine_.pending_memory_waits() == 0) return;
  InsideDevice inside;
  engine_.advance(time_ns);
}

// Streams

std::uint32_t SimBackend::add_stream(NativeStream handle, StreamKind kind, int priority,
                                     std::string_view name, std::int64_t time_ns) {
  const std::uint32_t stream = engine_.add_stream(priority, name);
  streams_.push_back({.handle = handle, .kind = kind});
  if (kind == StreamKind::kBlocking || kind == StreamKind::kPerThread)
    blocking_streams_.push_back(stream);
  tell_stream(stream, priority, false, time_ns);
  return stream;
}

void SimBackend::tell_stream(std::uint32_t stream, int priority, bool destroyed,
                             std::int64_t time_ns) {
  if (observer().stream == nullptr) return;
  const StreamEntry& entry = streams_[stream];
  const std::string name(engine_.stream_name(stream));
  coord_stream_facts facts{};
  facts.context = properties_.context;
  facts.stream = stream;
  facts.handle = entry.handle;
  facts.kind = static_cast<std::uint32_t>(entry.kind);
  facts.priority = priority;
  facts.destroyed = destroyed ? 1 : 0;
  facts.time_ns = time_ns;
  facts.name = name.c_str();
  observer().stream(&facts);
}

std::uint32_t SimBackend::find_stream(NativeStream handle, const char* call) {
  if (handle == kPerThreadStream) {
    auto [entry, is_new] = per_thread_streams_.try_emplace(this_thread_number(), 0);
    if (is_new) {
      entry->second = add_stream(handle, StreamKind::kPerThread, 0, "per-thread default",
                                 host_clocks_[this_thread_number()]);
    }
    return entry->second;
  }
  const auto found = stream_of_handle_.find(handle);
  if (found == stream_of_handle_.end())
    throw make_error(kCodeInvalidHandle, call, "no such stream");
  return found->second;
}

NativeStream SimBackend::create_stream(int priority, bool non_blocking, std::string_view name) {
  Call call(*this, "simStreamCreate");
  call.enter();
  NativeStream handle = next_stream_handle_;
  if (free_stream_handles_.empty()) {
    next_stream_handle_ += kHandleStep;
  } else {  // as CUDA does, give a freed handle out again at once
    handle = free_stream_handles_.back();
    free_stream_handles_.pop_back();
  }
  const std::int64_t cost_ns = config_.calibration.stream_create_ns;
  // The stream exists just before the call returns.
  stream_of_handle_[handle] =
      add_stream(handle, non_blocking ? StreamKind::kNonBlocking : StreamKind::kBlocking, priority,
                 name, call.begin_ns + cost_ns - 1);
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
    call.on_stream(handle);
    call.enter();
    const std::int64_t cost_ns = config_.calibration.stream_destroy_ns;
    streams_[call.stream].destroyed = true;
    tell_stream(call.stream, 0, true, call.begin_ns + cost_ns - 1);
    stream_of_handle_.erase(handle);
    free_stream_handles_.push_back(handle);
    call.finish(cost_ns);
  } catch (const Error&) {
    // The device has failed: there is nothing left to destroy.
  }
}

std::vector<OpRef> SimBackend::barrier_before(std::uint32_t stream) {
  std::vector<OpRef> before;
  switch (streams_[stream].kind) {
    case StreamKind::kNonBlocking:
      break;
    case StreamKind::kPerThread:
    case StreamKind::kBlocking:
      if (const OpRef last = engine_.tail(stream_of_handle_[kLegacyStream]); !engine_.done(last))
        before.push_back(last);
      break;
    case StreamKind::kLegacy:
      before = tails(stream);
      break;
  }
  return before;
}

std::vector<OpRef> SimBackend::tails(std::uint32_t stream) {
  std::vector<OpRef> last{engine_.tail(stream)};
  if (streams_[stream].kind != StreamKind::kLegacy) return last;
  std::erase_if(blocking_streams_, [&](std::uint32_t blocking) {
    if (!engine_.done(engine_.tail(blocking))) {
      last.push_back(engine_.tail(blocking));
      return false;
    }
    return streams_[blocking].destroyed;
  });
  return last;
}

bool SimBackend::query_stream(NativeStream handle) {
  Call call(*this, "simStreamQuery");
  call.on_stream(handle);
  call.enter();
  {
    InsideDevice inside;
    engine_.advance(call.begin_ns);
  }
  const std::vector<OpRef> last = tails(call.stream);
  const bool done =
      std::all_of(last.begin(), last.end(), [&](OpRef op) { return engine_.done(op); });
  if (done) {
    call.finish(config_.calibration.stream_query_ns);
  } else {
    call.finish_not_ready(config_.calibration.stream_query_ns);
  }
  return done;
}

void SimBackend::synchronize_stream(NativeStream handle) {
  Call call(*this, "simStreamSynchronize");
  call.on_stream(handle);
  call.enter();
  call.block_until(tails(call.stream), config_.calibration.synchronize_idle_ns,
                   config_.calibration.wake_spinning_ns);
  call.finish(0);
}

void SimBackend::synchronize_device() {
  Call call(*this, "simDeviceSynchronize");
  call.enter();
  std::vector<OpRef> last;
  for (std::uint32_t stream = 0; stream < streams_.size(); ++stream) {
    if (!engine_.done(engine_.tail(stream))) last.push_back(engine_.tail(stream));
  }
  call.block_until(last, config_.calibration.synchronize_idle_ns,
                   config_.calibration.wake_spinning_ns);
  call.finish(0);
}

// Events

std::uint32_t SimBackend::find_event(NativeEvent handle, const char* call) {
  const auto found = event_of_handle_.find(handle);
  if (found == event_of_handle_.end()) throw make_error(kCodeInvalidHandle, call, "no such event");
  return found->second;
}

NativeEvent SimBackend::create_event(EventClass event_class, std::string_view name) {
  Call call(*this, "simEventCreate");
  call.enter();
  if (free_events_.empty()) {
    free_events_.push_back(static_cast<std::uint32_t>(events_.size()));
    events_.emplace_back();
  }
  const std::uint32_t index = free_events_.back();
  free_events_.pop_back();
  const NativeEvent handle = kFirstEventHandle + index * kHandleStep;
  events_[index] = {.handle = handle,
                    .event_class = event_class,
                    .version = events_[index].version,
                    .destroyed = false};
  event_of_handle_[handle] = index;
  call.says(handle, event_flags(event_class));
  call.finish(config_.calibration.event_create_ns);
  if (!name.empty() && observer().event_name != nullptr) {
    observer().event_name(properties_.context, handle, std::string(name).c_str());
  }
  return handle;
}

void SimBackend::destroy_event(NativeEvent handle) noexcept {
  if (inside_device()) return;
  try {
    Call call(*this, "simEventDestroy");
    call.on_event(handle);
    call.enter();
    events_[call.event].destroyed = true;
    event_of_handle_.erase(handle);
    free_events_.push_back(call.event);
    call.finish(config_.calibration.event_destroy_ns);
  } catch (const Error&) {
    // The device has failed: there is nothing left to destroy.
  }
}

void SimBackend::record(NativeStream stream, NativeEvent event) {
  Call call(*this, "simEventRecord");
  call.on_stream(stream);
  call.on_event(event);
  call.enter();
  EventEntry& entry = events_[call.event];
  const bool timing = entry.event_class == EventClass::kTiming;
  entry.recorded_ns = -1;
  entry.record = call.submit({.kind = OpKind::kRecord,
                              .duration_ns = timing ? config_.calibration.record_timing_gpu_ns : 0,
                              .event = call.event,
                              .version = ++entry.version});
  call.finish(timing ? config_.calibration.record_timing_ns : config_.calibration.record_ns);
}

void SimBackend::wait(NativeStream stream, NativeEvent event) {
  Call call(*this, "simStreamWaitEvent");
  call.on_stream(stream);
  call.on_event(event);
  call.enter();
  // Waits for the newest record, whatever is recorded later. On the legacy stream even a wait for a
  // complete record is a barrier; one for an event that was never recorded is nothing anywhere.
  if (const OpRef record = events_[call.event].record; record.serial != 0) {
    const OpRef after[] = {record};
    call.submit({.kind = OpKind::kWait}, after);
  }
  call.finish(config_.calibration.wait_ns);
}

bool SimBackend::query_event(NativeEvent event) {
  Call call(*this, "simEventQuery");
  call.on_event(event);
  call.enter();
  {
    InsideDevice inside;
    engine_.advance(call.begin_ns);
  }
  const bool done = engine_.done(events_[call.event].record);
  if (done) {
    call.finish(config_.calibration.event_query_ns);
  } else {
    call.finish_not_ready(config_.calibration.event_query_ns);
  }
  return done;
}

void SimBackend::synchronize_event(NativeEvent event) {
  Call call(*this, "simEventSynchronize");
  call.on_event(event);
  call.enter();
  const EventEntry& entry = events_[call.event];
  const OpRef record[] = {entry.record};
  const Calibration& costs = config_.calibration;
  call.block_until(record, costs.synchronize_idle_ns,
                   entry.event_class == EventClass::kBlockingSync ? costs.wake_blocking_ns
                                                                  : costs.wake_spinning_ns);
  call.finish(0);
}

Nanoseconds SimBackend::elapsed(NativeEvent start, NativeEvent end) {
  Call call(*this, "simEventElapsedTime");
  call.on_event(start);
  const std::uint32_t from = call.event;
  call.on_event(end);
  call.enter();
  call.says(start, end);
  {
    InsideDevice inside;
    engine_.advance(call.begin_ns);
  }
  for (std::uint32_t event : {from, call.event}) {
    if (events_[event].record.serial == 0)
      call.fail(kCodeInvalidHandle, "an event was never recorded");
    if (!engine_.done(events_[event].record)) call.fail(kCodeNotReady, "a record is not complete");
  }
  const Nanoseconds result(events_[call.event].recorded_ns - events_[from].recorded_ns);
  call.finish(config_.calibration.event_elapsed_ns);
  return result;
}

// What the engine reports

void SimBackend::on_ended(const Op& op) {
  if (op.kind == OpKind::kRecord && events_[op.event].version == op.version) {
    events_[op.event].recorded_ns = op.end_ns;
  }
  tell_op(op, true);
}

void SimBackend::tell_op(const Op& op, bool ended) {
  if (observer().sim_op == nullptr) return;
  coord_sim_op facts{};
  switch (op.kind) {
    case OpKind::kKernel:
      facts.kind = COORD_SIM_KERNEL;
      break;
    case OpKind::kCopyToDevice:
      facts.kind = COORD_SIM_MEMCPY, facts.copy_kind = 1;
      break;
    case OpKind::kCopyToHost:
      facts.kind = COORD_SIM_MEMCPY, facts.copy_kind = 2;
      break;
    case OpKind::kCopyInDevice:
      facts.kind = COORD_SIM_MEMCPY, facts.copy_kind = 8;
      break;
    case OpKind::kMemset:
      facts.kind = COORD_SIM_MEMSET;
      break;
    case OpKind::kHostFunction:
      facts.kind = COORD_SIM_HOST_FUNCTION;
      break;
    case OpKind::kMemoryWait:
      facts.kind = COORD_SIM_MEMORY_WAIT;
      break;
    case OpKind::kMemoryWrite:
      facts.kind = COORD_SIM_MEMORY_WRITE;
      break;
    case OpKind::kRecord:
    case OpKind::kWait:
      return;  // calls, not work
  }
  const std::string name(op.name);
  facts.correlation_id = op.correlation_id;
  facts.context = properties_.context;
  facts.stream = op.stream;
  facts.begin_ns = op.begin_ns;
  facts.end_ns = ended ? op.end_ns : -1;
  facts.bytes = op.bytes;
  facts.memory_kinds = op.memory_kinds;
  for (std::uint32_t axis = 0; axis < 3; ++axis) facts.grid[axis] = facts.block[axis] = 1;
  if (op.kind == OpKind::kKernel) facts.grid[0] = op.blocks;
  facts.name = name.c_str();
  observer().sim_op(&facts);
}

}  // namespace coord::sim
