// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "collect/coord/task_observer.h"

#include <algorithm>

#include "collect/coord/coord_observer.h"

namespace streamscope::collect {
namespace {

using ring::RecordKind;

void push_run(ThreadState& thread, uint32_t queue, uint32_t run, bool ended, uint64_t left_out) {
  ring::TaskRunRecord record{};
  record.kind = RecordKind::kTaskRun;
  record.ended = ended ? 1 : 0;
  record.queue = queue;
  record.left_out = left_out;
  record.run = run;
  record.call_number = thread.open_number;
  record.operation = thread.operation();
  thread.push(record);
}

}  // namespace

void on_task_queue(const coord_task_queue_facts* facts) {
  ThreadState* thread = running_thread();
  if (thread == nullptr) return;
  ring::TaskQueueRecord record{};
  record.kind = RecordKind::kTaskQueue;
  record.on_device = facts->on_device != 0 ? 1 : 0;
  record.queue = facts->queue;
  record.name = send_text(*thread, view(facts->name));
  record.workers = facts->workers;
  thread->push(record);
}

void on_task_run(uint32_t queue, uint32_t run) {
  if (ThreadState* thread = recording_thread()) push_run(*thread, queue, run, false, 0);
}

uint64_t on_task_stamp(uint32_t* clock) {
  if (coord_is_simulated()) {
    *clock = COORD_CLOCK_VIRTUAL;
    return coord_virtual_now();
  }
  *clock = recording_clock();
  return ticks();
}

uint32_t on_tasks(const coord_tasks_facts* facts) {
  ThreadState* thread = recording_thread();
  if (thread == nullptr) return facts->count;  // not recorded
  const bool of_run = facts->run != COORD_NONE;
  uint32_t count = facts->count;
  // A host thread goes on, and its ring counts the records that do not fit. The reporter of a run
  // calls again, so it leaves an eighth of the ring to the thread's other records.
  if (of_run) {
    const uint64_t room = thread->ring.room(), kept = thread->ring.header().capacity / 8;
    count = static_cast<uint32_t>(std::min<uint64_t>(count, room > kept ? room - kept : 0));
  }
  const bool is_virtual = !of_run && facts->clock == COORD_CLOCK_VIRTUAL;
  for (uint32_t i = 0; i < count; ++i) {
    const coord_task& task = facts->tasks[i];
    thread->push_in_place<ring::TaskRecord>([&](ring::TaskRecord& record) {
      record = {};
      record.kind = RecordKind::kTask;
      record.flags = is_virtual ? ring::kVirtualTime : 0;
      record.type = static_cast<uint16_t>(std::min<uint32_t>(task.type, ring::kNoTaskType));
      record.queue = facts->queue;
      record.task = task.task;
      record.begin = task.begin;
      record.end = task.end;
      record.worker = task.worker;
      record.sm = task.sm;
      record.run = facts->run;
    });
  }
  if (facts->last != 0) push_run(*thread, facts->queue, facts->run, true, facts->left_out);
  return count;
}

}  // namespace streamscope::collect
