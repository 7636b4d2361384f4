// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Lanes of libcoord's task queues: under a device, one for each multiprocessor whose warps ran
// tasks; under a process, one for each worker thread.

#include <map>

#include "intervals.h"
#include "labels.h"
#include "lane_builder.h"

namespace streamscope::viewer {
namespace {

// One row per warp of a multiprocessor would take the space of everything else.
constexpr size_t kMaxTaskRows = 8;

}  // namespace

// Queues of the process whose tasks ran on the device; kNoId: on the host.
void LaneBuilder::add_tasks(Id process, Id device, int parent) {
  const bool on_host = device == kNoId;
  const auto& queue_id = trace_.task.task_queue_id;
  const Grouping tasks(trace_.task_queue.size(), queue_id.size(),
                       [&](uint32_t task) { return queue_id[task]; });
  for (Id queue = 0; queue < trace_.task_queue.size(); ++queue) {
    if (trace_.task_queue.process_id[queue] != process) continue;
    std::map<trace::Small, std::vector<Interval>> by_worker;
    int64_t count = 0;
    for (const Id id : tasks.of(queue)) {
      const Id op = from_.items.op_of_task(id);
      const Id where =
          op < trace_.op.size() ? trace_.device_of_stream(trace_.op.stream_id[op]) : kNoId;
      const Item item{ItemKind::kTask, id};
      const auto range = from_.items.time(item);
      if (where != device || lanes_.worker_of(id) == trace::kNoSmall || !range) continue;
      by_worker[lanes_.worker_of(id)].push_back({*range, item});
      ++count;
    }
    if (by_worker.empty()) continue;
    Lane group{.kind = LaneKind::kTaskQueue,
               .depth = lanes_[static_cast<size_t>(parent)].depth + 1,
               .parent = parent,
               .object = queue};
    const std::string_view name = trace_.text(trace_.task_queue.name_id[queue]);
    group.title = name.empty() ? "Tasks" : "Tasks of " + std::string(name);
    group.detail = format_count(count) + (on_host ? " by " : " on ") +
                   format_count(static_cast<int64_t>(by_worker.size())) +
                   (on_host ? " threads" : " SMs");
    const size_t group_lane = add(std::move(group));
    double busy = 0;
    for (auto& [worker, intervals] : by_worker) {
      sort_by_start(intervals);
      Lane lane{.kind = LaneKind::kTaskWorker,
                .depth = lanes_[group_lane].depth + 1,
                .parent = static_cast<int>(group_lane),
                .object = static_cast<Id>(worker)};
      lane.title = (on_host ? "worker " : "SM ") + std::to_string(worker);
      lane.detail = format_count(static_cast<int64_t>(intervals.size())) + " tasks";
      lane.busy_share = busy_share(intervals, from_.extent);
      busy += lane.busy_share;
      add_bands(from_.items, lane, BandKind::kTasks, intervals, kMaxTaskRows);
      lanes_.of_task_worker_[{queue, worker}] = add(std::move(lane));
    }
    lanes_.lanes_[group_lane].busy_share = busy / static_cast<double>(by_worker.size());
  }
}

}  // namespace streamscope::viewer
