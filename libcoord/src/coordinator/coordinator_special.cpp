// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Rarely used options of operations: groups, memory ranges, a timeout, dependencies that are not
// submitted, holding because of the hardware queues.

#include <algorithm>

#include "codes.h"
#include "coordinator_impl.h"
#include "host/ticks.h"

namespace coord {

void Coordinator::Impl::refuse_dependency(const OperationRecord& on) const {
  if (!on.named)
    throw make_error(kCodeInvalidHandle, kSubmit, "a posted operation cannot be depended on");
  throw make_error(kCodeNotPermitted, kSubmit,
                   "it depends on " + describe(on) + ", which is not submitted");
}

// Checks rarely used options. Throws if the group accepts no member.
void Coordinator::Impl::check_special(const OperationOptions& options) const {
  if (!options.group.id().valid()) return;
  const OperationRecord* const group = find(options.group, kSubmit);
  if (group == nullptr || !group->is_group || !group->extra->open)
    throw make_error(kCodeInvalidValue, kSubmit, "the group is closed or not a group");
}

void Coordinator::Impl::join_group(OperationRecord& record, OperationRecord& group) {
  record.more().group = &group;
  ++group.users;
  ++group.more().unsubmitted;
  ++group.more().not_ended;
  for (const OperationHandle& after : group.after) {
    if (OperationRecord* dependency = live(after); dependency != nullptr)
      depend(record, *dependency, false);
  }
}

// The dependencies of an operation that names one of them twice, needs one of them to be submitted,
// or gets more of them from its group and ranges.
Coordinator::Impl::Need Coordinator::Impl::take_special(OperationRecord& record,
                                                        const OperationOptions& options,
                                                        Need need) {
  record.after.clear();
  for (const OperationHandle& one : options.after) {
    if (!record.after.contains(one)) record.after.push_back(one);
  }
  if (need == Need::kSubmission && !record.is_group) {  // members inherit the needs of a group
    for (const OperationHandle& after : record.after) {
      OperationRecord* on = live(after);
      if (on != nullptr && on->unsubmitted()) await_submission(record, *on);
    }
  }
  if (options.group.id().valid()) {
    join_group(record, *options.group.record_);
    need = std::max(need, Need::kOrder);
  }
  if (!options.reads.empty() || !options.writes.empty()) {
    record.has_ranges = record.named = true;
    record.more().reads = options.reads;
    record.more().writes = options.writes;
    record.inferred_from = static_cast<std::uint32_t>(record.after.size());
    if (options.infer_dependencies) infer(record);
    record.inferred_to = static_cast<std::uint32_t>(record.after.size());
    need = std::max(need, Need::kOrder);
  }
  return need;
}

// Call once a profiler knows the operation.
void Coordinator::Impl::declare_special(OperationRecord& record, const OperationOptions& options) {
  Backend& backend = *record.device->backend;
  const auto id = static_cast<std::uint32_t>(record.id.load(std::memory_order_relaxed));
  for (const MemoryRange& range : options.reads)
    backend.declare_access(id, range.address, range.bytes, false);
  for (const MemoryRange& range : options.writes)
    backend.declare_access(id, range.address, range.bytes, true);
  if (options.timeout == Nanoseconds::max()) return;
  record.more().deadline_ns = monotonic_ns() + options.timeout.count();
  deadlines_.push_back(record.handle());
  wake_poller();
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

// Whether the hardware queues allow the operation to block its stream.
bool Coordinator::Impl::may_begin(Lock& lock, OperationRecord& record) {
  return !over_connections(lock, record) || options_.connections == Connections::kReport ||
         record.type == OperationType::kSynchronization || record.type == OperationType::kBarrier;
}

// A new operation does not begin yet: reports it to the observer now.
void Coordinator::Impl::put_off(OperationRecord& record) {
  record.begun = 0;
  record.cost = 0;
  if (!record.announced) reports_.registered(record);
  if (record.missing == 0) return;
  ++metrics_.deferred;
  ++metrics_.blocked_now;
}

// Whether a new operation may begin now. If not, it waits for the submission of others, or is held
// because of the hardware queues.
bool Coordinator::Impl::clear_to_begin(Lock& lock, OperationRecord& record) {
  if (record.missing > 0) {
    put_off(record);
    return false;
  }
  await_stream(lock, record);
  if (!streams_.crowded() || may_begin(lock, record)) return true;
  put_off(record);
  held_.push_back(record.handle());
  ++metrics_.deferred;
  wake_poller();
  return false;
}

}  // namespace coord
