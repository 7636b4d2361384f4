// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "task_usage.h"
#include "trace/ns_math.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace streamscope::analysis {
namespace {

using trace::kNoInt;
using trace::kNoSmall;

// Damaged files may contain any worker number.
constexpr size_t kMostWorkers = 1 << 20;

// A task on the clock of its run, or of the host.
struct Interval {
  Id queue, run;
  trace::Small worker;
  Ns start_ns, end_ns;
  auto order() const { return std::tuple(queue, worker, run, start_ns); }
};

std::vector<Interval> intervals_of(const Trace& trace) {
  const auto& task = trace.task;
  std::vector<Interval> result;
  result.reserve(task.size());
  for (Id id = 0; id < task.size(); ++id) {
    if (task.task_queue_id[id] >= trace.task_queue.size() || task.worker[id] < 0) continue;
    const Ns start =
        task.start_ns[id] != kUnknownNs ? task.start_ns[id] : static_cast<Ns>(task.offset_ns[id]);
    if (start == kUnknownNs || task.duration_ns[id] == kNoInt) continue;
    result.push_back({task.task_queue_id[id], task.task_run_id[id], task.worker[id], start,
                      start + std::max<Ns>(task.duration_ns[id], 0)});
  }
  std::ranges::sort(result, {}, &Interval::order);
  return result;
}

}  // namespace

Ns TaskUsage::total_ns() const {
  Ns sum = 0;
  for (const Ns busy : busy_ns) trace::add_to(sum, busy);
  return sum;
}

Ns TaskUsage::longest_ns() const {
  return busy_ns.empty() ? 0 : *std::max_element(busy_ns.begin(), busy_ns.end());
}

double TaskUsage::imbalance() const {
  const Ns total = total_ns();
  if (total == 0) return 0;
  return static_cast<double>(longest_ns()) * static_cast<double>(busy_ns.size()) /
         static_cast<double>(total);
}

std::vector<TaskUsage> task_usage(const Trace& trace) {
  std::vector<TaskUsage> result(trace.task_queue.size());
  for (Id id = 0; id < result.size(); ++id) {
    TaskUsage& queue = result[id];
    queue.queue = id;
    queue.name = trace.text(trace.task_queue.name_id[id]);
    if (queue.name.empty()) queue.name = "queue " + std::to_string(id);
    queue.on_device = trace.task_queue.on_device[id] == 1;
    const trace::Small workers = trace.task_queue.workers[id];
    if (workers > 0) queue.busy_ns.resize(std::min<size_t>(workers, kMostWorkers));
    queue.tasks_of.resize(queue.busy_ns.size());
  }
  for (Id id = 0; id < trace.task_run.size(); ++id) {
    if (trace.task_run.task_queue_id[id] >= result.size()) continue;
    TaskUsage& queue = result[trace.task_run.task_queue_id[id]];
    ++queue.runs;
    if (trace.task_run.left_out[id] > 0)
      queue.left_out += static_cast<uint64_t>(trace.task_run.left_out[id]);
  }
  std::vector<std::set<trace::Small>> sms(result.size());
  for (Id id = 0; id < trace.task.size(); ++id) {
    const Id queue = trace.task.task_queue_id[id];
    if (queue >= result.size()) continue;
    ++result[queue].tasks;
    if (trace.task.sm[id] != kNoSmall) sms[queue].insert(trace.task.sm[id]);
  }
  for (Id id = 0; id < result.size(); ++id) result[id].sms = sms[id].size();

  const Interval* before = nullptr;
  Ns reached = 0;  // the end of the worker's tasks so far, on its clock
  const std::vector<Interval> intervals = intervals_of(trace);
  for (const Interval& each : intervals) {
    TaskUsage& queue = result[each.queue];
    const auto worker = static_cast<size_t>(each.worker);
    if (worker >= kMostWorkers) continue;
    if (worker >= queue.busy_ns.size()) {
      queue.busy_ns.resize(worker + 1);
      queue.tasks_of.resize(worker + 1);
    }
    const bool goes_on = before != nullptr && before->queue == each.queue &&
                         before->worker == each.worker && before->run == each.run;
    const Ns from = goes_on ? std::max(reached, each.start_ns) : each.start_ns;
    trace::add_to(queue.busy_ns[worker], std::max<Ns>(each.end_ns - from, 0));
    ++queue.tasks_of[worker];
    reached = goes_on ? std::max(reached, each.end_ns) : each.end_ns;
    before = &each;
  }
  return result;
}

std::vector<Id> task_run_ops(const Trace& trace) {
  const auto& run = trace.task_run;
  std::map<std::pair<Id, trace::Int>, Id> launches;  // by process and call number
  for (Id id = 0; id < run.size(); ++id) {
    if (run.call_number[id] != kNoInt)
      launches.emplace(std::pair(trace.process_of_thread(run.thread_id[id]), run.call_number[id]),
                       id);
  }
  std::vector<Id> result(run.size(), kNoId);
  const trace::OpColumns& ops = trace.op;
  for (Id op = 0; !launches.empty() && op < ops.size(); ++op) {
    if (ops.kind[op] != trace::kKernel) continue;
    const auto found =
        launches.find({trace.process_of_stream(ops.stream_id[op]), ops.call_number[op]});
    if (found != launches.end()) result[found->second] = op;
  }
  return result;
}

}  // namespace streamscope::analysis
