// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "operations.h"

#include <algorithm>

namespace streamscope::record {

Operations::Operation& Operations::known(uint32_t native) {
  return operations_.get_or_add(native, [&] {
    return run_.add(
        trace::Operation{.process_id = process_, .native_id = static_cast<trace::Small>(native)});
  });
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
  if (record.begun != ring::kNotYet) {
    row.begun_ns = run_.to_ns(record.begun, record.flags);
    row.state = std::max<trace::Small>(row.state, trace::kOperationBegun);
  }
  run_.update(operation);
  if (record.ended_before != 0)
    change_state(record.ended, kOperationSubmitted,
                 run_.to_ns(record.begin - record.ended_before, record.flags));
}

void Operations::describe(const ring::Submission& end, uint64_t* seen) {
  const uint64_t at = end.ended.load(std::memory_order_acquire);
  if (at == 0 || at == *seen) return;
  const uint32_t operation = end.operation.load(std::memory_order_acquire);
  const auto flags = static_cast<uint8_t>(end.flags.load(std::memory_order_acquire));
  if (end.ended.load(std::memory_order_acquire) != at) return;  // there is a newer one already
  *seen = at;
  change_state(operation, kOperationSubmitted, run_.to_ns(at, flags & ring::kVirtualTime));
}

void Operations::describe(const ring::OperationDependenciesRecord& record) {
  const uint32_t count = std::min<uint32_t>(record.count, ring::OperationDependenciesRecord::kMost);
  for (uint32_t i = 0; i < count; ++i) {
    const auto& one = record.dependencies[i];
    trace::OperationDependency row{.operation_id = id(record.operation),
                                   .depends_on_operation_id = id(one.operation),
                                   .inferred = one.inferred,
                                   .elided = one.elided != 0 ? 1 : 0};
    if (one.elided > 1) row.elided_because = one.elided - 1;
    bool inserted = false;
    trace::Id& known_row =
        dependencies_.get(pair_key(row.operation_id, row.depends_on_operation_id), &inserted);
    if (inserted) {
      known_row = run_.writer.append(row);
    } else {
      run_.writer.update(known_row, row);
    }
  }
}

void Operations::describe(const ring::OperationStateRecord& record) {
  change_state(record.operation, static_cast<OperationState>(record.state),
               run_.to_ns(record.begin, record.flags));
}

void Operations::describe(const ring::OperationsCompletedRecord& record) {
  const uint32_t count = std::min<uint32_t>(record.count, ring::OperationsCompletedRecord::kMost);
  const trace::Ns at = run_.to_ns(record.begin, record.flags);
  for (uint32_t i = 0; i < count; ++i) change_state(record.operations[i], kOperationCompleted, at);
}

void Operations::change_state(uint32_t native, OperationState state, trace::Ns at) {
  Operation& operation = known(native);
  trace::Operation& row = operation.row;
  switch (state) {
    case kOperationBegun:
      row.begun_ns = at;
      break;
    case kOperationSubmitted:
      row.submitted_ns = at;
      break;
    case kOperationCompleted:
    case kOperationFailed:
    case kOperationCancelled:
      row.completed_ns = at;
      if (Barrier* barrier = barriers_.find(native)) {
        barrier->row.release_ns = at;
        run_.update(*barrier);
      }
      break;
    default:
      return;
  }
  // Threads may report in any order; the state only advances.
  const auto number = static_cast<trace::Small>(state);
  if (row.state == trace::kNoSmall || number > row.state) row.state = number;
  run_.update(operation);
}

trace::Id Operations::pool(uint32_t native) {
  return pools_.get_or_add(native,
                           [&] { return run_.writer.append(trace::Pool{.process_id = process_}); });
}

void Operations::describe(const ring::PoolRecord& record) {
  trace::Pool row{.process_id = process_,
                  .kind = static_cast<trace::Small>(record.pool_kind),
                  .name_id = run_.texts.id(record.name)};
  if (record.capacity != 0) row.capacity = static_cast<int64_t>(record.capacity);
  run_.writer.update(pool(record.pool), row);
}

void Operations::describe(const ring::PoolSampleRecord& record) {
  run_.writer.append(trace::PoolSample{.pool_id = pool(record.pool),
                                       .start_ns = run_.to_ns(record.begin, record.flags),
                                       .available = static_cast<int64_t>(record.available),
                                       .in_use = static_cast<int64_t>(record.in_use),
                                       .high_water = static_cast<int64_t>(record.high_water),
                                       .wait_ns = static_cast<int64_t>(record.waited_ns)});
}

void Operations::describe(const ring::BarrierRecord& record) {
  trace::Barrier row;
  row.process_id = process_;
  row.name_id = run_.texts.id(record.name);
  row.operation_id = id(record.operation);
  row.release_ns = known(record.operation).row.completed_ns;  // if it was reported already
  barriers_.insert_or_assign(record.operation, run_.add(row));
}

void Operations::arrive(Barrier& barrier, trace::Ns at) {
  // kUnknownNs is less than any time.
  if (barrier.row.first_arrival_ns != trace::kUnknownNs && barrier.row.first_arrival_ns <= at)
    return;
  barrier.row.first_arrival_ns = at;
  run_.update(barrier);
}

void Operations::describe(const ring::BarrierStreamRecord& record, uint32_t tid) {
  Barrier* barrier = barriers_.find(record.operation);
  if (barrier == nullptr) return;  // its barrier was lost, and counted as such
  trace::BarrierStream row;
  row.barrier_id = barrier->id;
  row.stream_id = objects_.stream(record.stream, record.flags, record.context, tid, record.begin);
  row.arrival_ns = run_.to_ns(record.begin, record.flags);  // unless another one is reported
  row.elided = static_cast<trace::Small>(record.elided);
  members_.insert_or_assign(pair_key(row.barrier_id, row.stream_id), run_.add(row));
  arrive(*barrier, row.arrival_ns);
}

void Operations::describe(const ring::BarrierArrivalRecord& record, uint32_t tid) {
  Barrier* barrier = barriers_.find(record.operation);
  if (barrier == nullptr) return;
  const trace::Ns at = run_.device_ns(record.arrival_ns, record.flags);
  const bool is_virtual = (record.flags & ring::kVirtualTime) != 0;
  const trace::Id stream = objects_.stream(
      record.stream, record.flags, record.context, tid,
      is_virtual ? static_cast<uint64_t>(record.arrival_ns) : run_.clock.to_ticks(at));
  BarrierStream* member = members_.find(pair_key(barrier->id, stream));
  if (member == nullptr) return;
  member->row.arrival_ns = at;
  run_.update(*member);
  arrive(*barrier, at);
}

trace::Id Operations::timeline(uint32_t native) {
  return timelines_.get_or_add(native, [&] {
    return run_.writer.append(
        trace::Timeline{.process_id = process_, .native_id = static_cast<trace::Small>(native)});
  });
}

void Operations::describe(const ring::TimelineRecord& record) {
  run_.writer.update(timeline(record.timeline),
                     trace::Timeline{.process_id = process_,
                                     .native_id = static_cast<trace::Small>(record.timeline),
                                     .name_id = run_.texts.id(record.name),
                                     .initial = static_cast<int64_t>(record.initial)});
}

void Operations::describe(const ring::TimelinePointRecord& record, uint32_t tid) {
  trace::TimelinePoint row{.timeline_id = timeline(record.timeline),
                           .act = static_cast<trace::Small>(record.act),
                           .value = static_cast<int64_t>(record.value),
                           .thread_id = objects_.thread(tid)};
  if (record.context != ring::kNone32)
    row.stream_id = objects_.stream(record.stream, record.flags, record.context, tid, record.begin);
  row.start_ns = run_.to_ns(record.begin, record.flags);
  run_.writer.append(row);
}

void Operations::restore(EarlierRows& rows) {
  rows.each<trace::Operation>(process_, [&](trace::Id id, const trace::Operation& row) {
    operations_.get(static_cast<uint32_t>(row.native_id)) = {row, id};
  });
  rows.each<trace::OperationDependency>(
      process_, [&](trace::Id id, const trace::OperationDependency& row) {
        dependencies_.insert_or_assign(pair_key(row.operation_id, row.depends_on_operation_id), id);
      });
  rows.each<trace::Barrier>(process_, [&](trace::Id id, const trace::Barrier& row) {
    const trace::OperationColumns& operations = rows.trace().operation;
    if (row.operation_id < operations.size())
      barriers_.insert_or_assign(static_cast<uint32_t>(operations.native_id[row.operation_id]),
                                 Barrier{row, id});
  });
  rows.each<trace::BarrierStream>(process_, [&](trace::Id id, const trace::BarrierStream& row) {
    members_.insert_or_assign(pair_key(row.barrier_id, row.stream_id), BarrierStream{row, id});
  });
  rows.each<trace::Timeline>(process_, [&](trace::Id id, const trace::Timeline& row) {
    timelines_.insert_or_assign(static_cast<uint32_t>(row.native_id), id);
  });
}

}  // namespace streamscope::record
