// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "tasks.h"

namespace streamscope::record {

trace::Id Tasks::queue(uint32_t native) {
  return queues_.get_or_add(native, [&] {
    return run_.writer.append(
        trace::TaskQueue{.process_id = process_, .native_id = static_cast<trace::Small>(native)});
  });
}

Tasks::Run& Tasks::known_run(uint32_t queue_number, uint32_t native) {
  const trace::Id of = queue(queue_number);
  return runs_.get_or_add(pair_key(of, native), [&] {
    return run_.add(
        trace::TaskRun{.task_queue_id = of, .native_id = static_cast<trace::Small>(native)});
  });
}

void Tasks::describe(const ring::TaskQueueRecord& record) {
  run_.writer.update(queue(record.queue),
                     trace::TaskQueue{.process_id = process_,
                                      .native_id = static_cast<trace::Small>(record.queue),
                                      .name_id = run_.texts.id(record.name),
                                      .on_device = record.on_device != 0 ? 1 : 0,
                                      .workers = static_cast<trace::Small>(record.workers)});
}

void Tasks::describe(const ring::TaskRunRecord& record, uint32_t tid) {
  Run& run = known_run(record.queue, record.run);
  if (record.ended == 0) {
    run.row.thread_id = objects_.thread(tid);
    if (record.call_number != 0) run.row.call_number = record.call_number;
    run.row.operation_id = operations_.id(record.operation);
  } else {
    run.row.left_out = static_cast<trace::Int>(record.left_out);
    if (record.left_out != 0)
      run_.losses.add(process_, "tasks-left-out", static_cast<int64_t>(record.left_out));
  }
  run_.update(run);
}

void Tasks::describe(const ring::TaskRecord& record, uint32_t tid) {
  trace::Task row;
  row.task_queue_id = queue(record.queue);
  row.number = static_cast<trace::Int>(record.task);
  row.worker = static_cast<trace::Small>(record.worker);
  if (record.sm != ring::kNone32) row.sm = static_cast<trace::Small>(record.sm);
  if (record.type != ring::kNoTaskType) row.type = record.type;
  if (record.run == ring::kNone32) {
    row.thread_id = objects_.thread(tid);
    row.start_ns = run_.to_ns(record.begin, record.flags);
    row.duration_ns = run_.to_ns(record.end, record.flags) - row.start_ns;
  } else {
    row.task_run_id = known_run(record.queue, record.run).id;
    row.offset_ns = static_cast<trace::Int>(record.begin);
    row.duration_ns = static_cast<trace::Int>(record.end - record.begin);
  }
  run_.writer.append(row);
}

void Tasks::restore(EarlierRows& rows) {
  rows.each<trace::TaskQueue>(process_, [&](trace::Id id, const trace::TaskQueue& row) {
    queues_.insert_or_assign(static_cast<uint32_t>(row.native_id), id);
  });
  rows.each<trace::TaskRun>(process_, [&](trace::Id id, const trace::TaskRun& row) {
    runs_.insert_or_assign(pair_key(row.task_queue_id, static_cast<uint32_t>(row.native_id)),
                           Run{row, id});
  });
}

}  // namespace streamscope::record
