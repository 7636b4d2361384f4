// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The public interface of a Coordinator.

#include "coord/coordinator.h"

#include <algorithm>

#include "coord/barrier.h"
#include "coordinator_impl.h"
#include "observer.h"

namespace coord {

namespace {

/// All Coordinators, for host_access().
struct Coordinators {
  std::mutex mutex;
  std::vector<Coordinator*> all;
};
Coordinators& coordinators() {
  static auto* const kept = new Coordinators;  // some may end after static destructors have run
  return *kept;
}

}  // namespace

const char* to_string(OperationType type) noexcept {
  constexpr const char* kNames[] = {"Kernel",    "MemoryTransfer", "Synchronization", "Reduction",
                                    "Broadcast", "AllReduce",      "Barrier"};
  return kNames[static_cast<std::size_t>(type)];
}

const char* to_string(OperationPriority priority) noexcept {
  constexpr const char* kNames[] = {"Critical", "High", "Normal", "Low", "Cleanup"};
  return kNames[static_cast<std::size_t>(priority)];
}

const char* to_string(OperationState state) noexcept {
  constexpr const char* kNames[] = {"registered", "begun",     "submitted", "completed",
                                    "failed",     "cancelled", "captured"};
  return kNames[static_cast<std::size_t>(state)];
}

// The public class

Coordinator::Coordinator(const Device& device, const CoordinatorOptions& options)
    : impl_(std::make_unique<Impl>(device, options)) {
  const std::lock_guard lock(coordinators().mutex);
  coordinators().all.push_back(this);
}

Coordinator::~Coordinator() {
  {
    const std::lock_guard lock(coordinators().mutex);
    std::erase(coordinators().all, this);
  }
  impl_->shut_down();
}

bool host_access(MemoryRange range, Access access) {
  const std::lock_guard lock(coordinators().mutex);
  if (coordinators().all.empty()) {
    find_observer();
    notify_access(observer(), COORD_NONE, COORD_NONE,
                  reinterpret_cast<std::uintptr_t>(range.address), range.bytes,
                  access == Access::kWrite, 0);
  }
  bool safe = true;
  for (Coordinator* coordinator : coordinators().all)
    safe = coordinator->host_access(range, access) && safe;
  return safe;
}

OperationHandle Coordinator::register_operation(const OperationOptions& options,
                                                std::source_location where) {
  return impl_->add<Impl::Entry::kRegistered>(options, where);
}

OperationHandle Coordinator::open_group(const OperationOptions& options,
                                        std::source_location where) {
  return impl_->add<Impl::Entry::kGroup>(options, where);
}

void Coordinator::close_group(OperationHandle group) { impl_->close_group(group); }

void Coordinator::add_dependency(OperationHandle operation, OperationHandle after) {
  impl_->add_dependency(operation, after);
}

void Coordinator::begin(OperationHandle operation) { impl_->begin(operation); }

void Coordinator::complete(OperationHandle operation) { impl_->finish(operation); }

void Coordinator::submit(OperationHandle operation, std::function<void(StreamRef)> function) {
  impl_->submit_registered(operation, std::move(function));
}

bool Coordinator::order_after(StreamRef stream, OperationHandle operation) {
  return impl_->order_after(stream, operation);
}

// The first stream waits for the others, and they wait for it.
OperationHandle Coordinator::pass_barrier(const std::vector<StreamRef>& streams,
                                          std::string_view name, const std::source_location& where,
                                          BarrierMetrics& metrics,
                                          std::span<const std::int64_t> arrivals) {
  OperationHandle passed;
  const std::vector<OperationHandle> newest = impl_->newest(streams, passed, metrics.records);
  if (passed.id().valid()) {
    metrics.elided += 2 * (streams.size() - 1);
    return passed;
  }
  const std::uint64_t placed = impl_->metrics().waits_placed;
  passed = submit(
      {.type = OperationType::kBarrier,
       .priority = OperationPriority::kCritical,
       .stream = streams.front(),
       .after = std::span(newest),
       .description = name},
      [](StreamRef) {}, where);
  ++metrics.records;
  std::vector<std::uint32_t> elided;
  for (std::size_t i = 0; i < streams.size(); ++i)
    elided.push_back(i == 0 || order_after(streams[i], passed) ? 0 : 1);
  notify_barrier(passed, streams, elided, name, arrivals);
  const std::uint64_t waits = impl_->metrics().waits_placed - placed;
  metrics.waits += waits;
  metrics.elided +=
      2 * (streams.size() - 1) - std::min<std::uint64_t>(waits, 2 * (streams.size() - 1));
  return passed;
}

std::int64_t Coordinator::arrival_time() const {
  if (observer().barrier_arrival == nullptr) return 0;
  const DeviceState& device = impl_->device();
  return device.simulated ? device.backend->now().value : monotonic_ns();
}

void Coordinator::notify_barrier(OperationHandle passed, std::span<const StreamRef> streams,
                                 std::span<const std::uint32_t> elided, std::string_view name,
                                 std::span<const std::int64_t> arrivals) {
  if (observer().barrier == nullptr) return;
  const auto operation = static_cast<std::uint32_t>(passed.id().value);
  std::vector<coord_barrier_stream> hooks;
  for (std::size_t i = 0; i < streams.size(); ++i) {
    const StreamState& stream = streams[i].checked("Barrier::pass");
    hooks.push_back({stream.device->backend->properties().context, elided[i], stream.native});
  }
  const std::string text(name);
  const DeviceState& device = *streams.front().checked("Barrier::pass").device;
  const coord_barrier_facts facts{.operation = operation,
                                  .stream_count = static_cast<std::uint32_t>(hooks.size()),
                                  .streams = hooks.data(),
                                  .name = text.c_str(),
                                  .time_ns = device.observer_time_ns()};
  observer().barrier(&facts);
  if (observer().barrier_arrival == nullptr) return;
  for (std::size_t i = 0; i < arrivals.size(); ++i) {
    const coord_barrier_arrival_facts arrival{operation, hooks[i].context, hooks[i].stream,
                                              arrivals[i]};
    observer().barrier_arrival(&arrival);
  }
}

Coordinator::LastOperation Coordinator::last_operation(StreamRef stream) const {
  return impl_->last_operation(stream);
}

std::vector<OperationHandle> Coordinator::newest(const std::vector<StreamRef>& streams) {
  OperationHandle all_ordered;
  std::uint64_t records = 0;
  return impl_->newest(streams, all_ordered, records);
}

OperationState Coordinator::state(OperationHandle operation) const {
  return impl_->state(operation);
}

bool Coordinator::simulated() const { return impl_->device().simulated; }

TimeNs Coordinator::now() const { return impl_->device().backend->now(); }

bool Coordinator::cancel(OperationHandle operation) { return impl_->cancel(operation); }

bool Coordinator::completed(OperationHandle operation) { return impl_->completed(operation); }

void Coordinator::wait(OperationHandle operation) { impl_->wait(operation); }

bool Coordinator::wait_for(OperationHandle operation, Nanoseconds limit) {
  return impl_->wait_for(operation, limit);
}

void Coordinator::on_complete(OperationHandle operation, std::function<void(Outcome)> callback) {
  impl_->on_complete(operation, std::move(callback));
}

std::size_t Coordinator::poll() { return impl_->poll(); }

bool Coordinator::host_access(MemoryRange range, Access access) {
  return impl_->host_access(range, access);
}

std::vector<Race> Coordinator::races() const { return impl_->races(); }

std::optional<OperationInfo> Coordinator::info(OperationHandle operation) const {
  return impl_->info(operation);
}

CoordinatorMetrics Coordinator::metrics() const { return impl_->metrics(); }

PoolUtilization Coordinator::event_utilization() const { return impl_->event_utilization(); }

}  // namespace coord
