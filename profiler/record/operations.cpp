// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "operations.h"

namespace streamscope::record {

Operations::Operation& Operations::known(uint32_t native) {
  bool inserted = false;
  uint32_t& index = index_.get(native, &inserted);
  if (inserted) {
    index = static_cast<uint32_t>(operations_.size());
    Operation operation;
    operation.row.process_id = process_;
    operation.row.native_id = static_cast<trace::Small>(native);
    operation.id = run_.writer.append(operation.row);
    operations_.push_back(operation);
  }
  return operations_[index];
}

void Operations::describe(const ring::OperationRecord& record, uint32_t tid) {
  const trace::Id parent = id(record.parent);
  Operation& operation = known(record.operation);
  trace::Operation& row = operation.row;
  row.thread_id = objects_.thread(tid);
  row.type = record.type;
  row.priority = record.priority;
  if (record.context != ring::kNone32)
    row.stream_id = objects_.stream(record.stream, record.flags, record.context, tid, record.begin);
  row.name_id = run_.texts.id(record.name);
  row.call_site_id = run_.texts.id(record.call_site);
  row.parent_operation_id = parent;
  if (row.state == trace::kNoSmall) row.state = trace::kOperationRegistered;
  row.registered_ns = run_.to_ns(record.begin, record.flags);
  run_.writer.update(operation.id, row);
}

void Operations::describe(const ring::OperationDependencyRecord& record) {
  trace::OperationDependency row;
  row.operation_id = id(record.operation);
  row.depends_on_operation_id = id(record.depends_on);
  row.inferred = record.inferred;
  row.elided = record.elided;
  bool inserted = false;
  trace::Id& known_row =
      dependencies_.get(uint64_t{record.operation} << 32 | record.depends_on, &inserted);
  if (inserted) {
    known_row = run_.writer.append(row);
  } else {
    run_.writer.update(known_row, row);
  }
}

void Operations::describe(const ring::OperationStateRecord& record) {
  Operation& operation = known(record.operation);
  trace::Operation& row = operation.row;
  const trace::Ns at = run_.to_ns(record.begin, record.flags);
  switch (static_cast<ring::OperationState>(record.state)) {
    case ring::OperationState::kBegun:
      row.begun_ns = at;
      break;
    case ring::OperationState::kSubmitted:
      row.submitted_ns = at;
      break;
    case ring::OperationState::kCompleted:
    case ring::OperationState::kFailed:
    case ring::OperationState::kCancelled:
      row.completed_ns = at;
      break;
    default:
      return;
  }
  // Threads may tell their facts in any order; the state only advances.
  if (row.state == trace::kNoSmall || record.state > row.state) row.state = record.state;
  run_.writer.update(operation.id, row);
}

trace::Id Operations::pool(uint32_t native) {
  bool inserted = false;
  trace::Id& id = pools_.get(native, &inserted);
  if (inserted) {
    trace::Pool row;
    row.process_id = process_;
    id = run_.writer.append(row);
  }
  return id;
}

void Operations::describe(const ring::PoolRecord& record) {
  trace::Pool row;
  row.process_id = process_;
  row.kind = static_cast<trace::Small>(record.pool_kind);
  row.name_id = run_.texts.id(record.name);
  if (record.capacity != 0) row.capacity = static_cast<int64_t>(record.capacity);
  run_.writer.update(pool(record.pool), row);
}

void Operations::describe(const ring::PoolSampleRecord& record) {
  trace::PoolSample row;
  row.pool_id = pool(record.pool);
  row.start_ns = run_.to_ns(record.begin, record.flags);
  row.available = static_cast<int64_t>(record.available);
  row.in_use = static_cast<int64_t>(record.in_use);
  row.high_water = static_cast<int64_t>(record.high_water);
  row.wait_ns = static_cast<int64_t>(record.waited_ns);
  run_.writer.append(row);
}

void Operations::describe(const ring::BarrierRecord& record) {
  trace::Barrier row;
  row.process_id = process_;
  row.name_id = run_.texts.id(record.name);
  row.operation_id = id(record.operation);
  bool inserted = false;
  trace::Id& barrier = barriers_.get(record.operation, &inserted);
  barrier = run_.writer.append(row);
}

void Operations::describe(const ring::BarrierStreamRecord& record, uint32_t tid) {
  bool inserted = false;
  const trace::Id barrier = barriers_.get(record.operation, &inserted);
  if (inserted) return;  // its barrier was lost, and counted as such
  trace::BarrierStream row;
  row.barrier_id = barrier;
  row.stream_id = objects_.stream(record.stream, record.flags, record.context, tid, record.begin);
  row.elided = static_cast<trace::Small>(record.elided);
  run_.writer.append(row);
}

void Operations::restore(trace::Id id, const trace::Operation& row) {
  index_.insert_or_assign(static_cast<uint32_t>(row.native_id),
                          static_cast<uint32_t>(operations_.size()));
  operations_.push_back({row, id});
}

}  // namespace streamscope::record
