// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Lanes of libcoord's task queues: under a device, one for each multiprocessor whose warps ran
// tasks; under a process, one for each worker thread.

#include <algorithm>
#include <map>

#include "analysis/usage/task_usage.h"
#include "intervals.h"
#include "labels.h"
#include "trace_model.h"

namespace streamscope::viewer {
namespace {

// One row per warp of a multiprocessor would take the space of everything else.
constexpr size_t kMaxTaskRows = 8;

}  // namespace

void TraceModel::link_tasks() {
  task_run_ops_ = analysis::task_run_ops(trace());
  tasks_of_queue_.resize(trace().task_queue.size());
  for (Id id = 0; id < trace().task.size(); ++id) {
    const Id queue = trace().task.task_queue_id[id];
    if (queue < tasks_of_queue_.size()) tasks_of_queue_[queue].push_back(id);
  }
}

trace::Small TraceModel::worker_of(Id task) const {
  const auto& tasks = trace().task;
  return tasks.task_run_id[task] == kNoId ? tasks.worker[task] : tasks.sm[task];
}

// Queues of the process whose tasks ran on the device; kNoId: on the host.
void TraceModel::add_tasks(Id process, Id device, int parent) {
  const bool on_host = device == kNoId;
  for (Id queue = 0; queue < tasks_of_queue_.size(); ++queue) {
    if (trace().task_queue.process_id[queue] != process) continue;
    std::map<trace::Small, std::vector<Interval>> by_worker;
    int64_t count = 0;
    for (const Id id : tasks_of_queue_[queue]) {
      const Id run = trace().task.task_run_id[id];
      const Id op = run < task_run_ops_.size() ? task_run_ops_[run] : kNoId;
      const Id where =
          op < trace().op.size() ? trace().device_of_stream(trace().op.stream_id[op]) : kNoId;
      const Item item{ItemKind::kTask, id};
      const auto range = time(item);
      if (where != device || worker_of(id) == trace::kNoSmall || !range) continue;
      by_worker[worker_of(id)].push_back({*range, item});
      ++count;
    }
    if (by_worker.empty()) continue;
    Lane group{.kind = LaneKind::kTaskQueue,
               .depth = lanes_[static_cast<size_t>(parent)].depth + 1,
               .parent = parent,
               .object = queue};
    const std::string_view name = trace().text(trace().task_queue.name_id[queue]);
    group.title = name.empty() ? "Tasks" : "Tasks of " + std::string(name);
    group.detail = format_count(count) + (on_host ? " by " : " on ") +
                   format_count(static_cast<int64_t>(by_worker.size())) +
                   (on_host ? " threads" : " SMs");
    const size_t group_lane = add_lane(std::move(group));
    double busy = 0;
    for (auto& [worker, intervals] : by_worker) {
      sort_by_start(intervals);
      std::vector<Ns> start, end;
      for (const Interval& interval : intervals) {
        start.push_back(interval.range.begin_ns);
        end.push_back(interval.range.end_ns);
      }
      Lane lane{.kind = LaneKind::kTaskWorker,
                .depth = lanes_[group_lane].depth + 1,
                .parent = static_cast<int>(group_lane),
                .object = static_cast<Id>(worker)};
      lane.title = (on_host ? "worker " : "SM ") + std::to_string(worker);
      lane.detail = format_count(static_cast<int64_t>(intervals.size())) + " tasks";
      lane.busy_share = static_cast<double>(covered_ns(start, end)) / extent_.span_ns();
      busy += lane.busy_share;
      add_bands(*this, lane, BandKind::kTasks, intervals, kMaxTaskRows);
      task_lane_[{queue, worker}] = add_lane(std::move(lane));
    }
    lanes_[group_lane].busy_share = busy / static_cast<double>(by_worker.size());
  }
}

}  // namespace streamscope::viewer
