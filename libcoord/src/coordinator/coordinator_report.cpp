// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// State of a Coordinator and its operations, for info(), metrics() and find_deadlocks().

#include "coordinator_impl.h"
#include "host/ticks.h"

namespace coord {

std::string Coordinator::Impl::describe(const OperationRecord& record) const {
  std::string text = record.is_group ? "group " : "operation ";
  text += std::to_string(record.id.load(std::memory_order_relaxed));
  if (record.described) text += std::string(" \"") + record.name() + "\"";
  return text + " (" + to_string(record.state.load(std::memory_order_relaxed)) + ", " +
         text_of(record.where) + ")";
}

Coordinator::LastOperation Coordinator::Impl::last_operation(StreamRef stream) const {
  const Lock lock(mutex_);
  const StreamEntry* const entry = streams_.known(stream.id());
  if (entry == nullptr) return {};
  const OperationHandle last = entry->capture != 0 ? entry->outside_last : entry->last;
  const OperationRecord* record = last.id().valid() ? live(last) : nullptr;
  return record == nullptr ? LastOperation{} : LastOperation{last.id().value, describe(*record)};
}

TimeNs Coordinator::Impl::time_of(std::uint64_t stamp, const OperationRecord& record) const {
  if (stamp == 0) return {};
  if (record.device->simulated) return {static_cast<std::int64_t>(stamp)};
  return time_of_ticks(stamp);
}

OperationState Coordinator::Impl::state(OperationHandle operation) const {
  const Lock lock(mutex_);
  if (const OperationRecord* record = find(operation, "Coordinator::state"); record != nullptr)
    return record->state.load(std::memory_order_relaxed);
  return failures_.contains(operation.id_.value) ? OperationState::kFailed
                                                 : OperationState::kCompleted;
}

std::optional<OperationInfo> Coordinator::Impl::info(OperationHandle operation) const {
  const Lock lock(mutex_);
  const OperationRecord* record = find(operation, "Coordinator::info");
  if (record == nullptr) return std::nullopt;
  OperationInfo result;
  result.id = operation.id();
  result.type = record->type;
  result.priority = record->priority;
  result.effective_priority = record->effective;
  result.state = record->state.load();
  result.is_group = record->is_group;
  result.stream = record->stream_ref.id();
  for (const OperationHandle& after : record->after) result.dependencies.push_back(after.id());
  result.description = record->name();
  result.where = record->where;
  result.created = time_of(record->created, *record);
  result.begun = time_of(record->begun, *record);
  result.submitted = time_of(record->submitted, *record);
  result.ended = time_of(record->ended, *record);
  return result;
}

CoordinatorMetrics Coordinator::Impl::metrics() const {
  const Lock lock(mutex_);
  CoordinatorMetrics result = metrics_;
  costs_.report(result);
  return result;
}

void Coordinator::Impl::notify_waits(WaitGraph& graph) const {
  const Lock lock(mutex_);
  const auto node_of = [&](const OperationRecord& record) {
    const std::uint64_t id = record.id.load();
    return graph.node(COORD_WAITS_OPERATION, "operation " + std::to_string(id), describe(record),
                      id);
  };
  for (OperationRecord& record : const_cast<OperationTable&>(operations_).all()) {
    if (record.retired || record.ended_already() ||
        record.state.load() == OperationState::kCaptured)
      continue;
    const std::size_t node = node_of(record);
    for (OperationHandle after : record.after) {
      if (const OperationRecord* before = OperationRecord::unended(after); before != nullptr)
        graph.edge(node, node_of(*before));
    }
    if (record.extra != nullptr && record.extra->group != nullptr &&
        !record.extra->group->ended_already()) {
      graph.edge(node_of(*record.extra->group), node);
    }
    if (record.state.load() == OperationState::kBegun) {
      // Only its thread can end the submission.
      graph.edge(node, graph.thread(record.runner));
    }
    if (!record.is_group && !record.unsubmitted())
      graph.in_stream(node, record.stream_ref.id().value,
                      record.device->simulated ? record.order : record.begun);
  }
  for (const HostWait& wait : host_waits_) {
    if (const OperationRecord* record = OperationRecord::unended(wait.operation); record != nullptr)
      graph.edge(graph.thread(wait.thread), node_of(*record));
  }
}

}  // namespace coord
