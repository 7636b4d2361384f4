// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Lanes of values over time: how busy a device is, concurrent kernels and queue depth, and the
// pools of a process.

#include <algorithm>

#include "lane_builder.h"

namespace streamscope::viewer {

using trace::kUnknownNs;

namespace {

// When things began and ended, ascending.
struct Spans {
  std::vector<Ns> begins, ends;
};

std::vector<Ns> merged(const std::vector<Ns>& a, const std::vector<Ns>& b) {
  std::vector<Ns> all(a.size() + b.size());
  std::ranges::merge(a, b, all.begin());
  return all;
}

}  // namespace

void LaneBuilder::add_counter(Counter counter, std::string title, std::string detail, int parent) {
  if (counter.empty()) return;
  const Lane& group = lanes_[static_cast<size_t>(parent)];
  add({.kind = LaneKind::kCounter,
       .depth = group.depth + 1,
       .parent = parent,
       .object = group.object,
       .title = std::move(title),
       .detail = std::move(detail),
       .counter = std::move(counter)});
}

void LaneBuilder::add_device_counters(std::span<const Id> streams, int parent) {
  if (from_.is_sketch) return;  // cells of the pyramid are not kernels
  std::vector<char> is_here(trace_.stream.size(), 0);
  for (const Id stream : streams) is_here[stream] = 1;
  // Rows on these streams for which `is_counted` is true; one without an end is still open.
  const auto spans = [&](const trace::Column<Id>& stream_id, const trace::Column<Ns>& begin_ns,
                         const trace::Column<Ns>& end_ns, auto is_counted) {
    Spans found;
    for (Id id = 0; id < stream_id.size(); ++id) {
      const Id stream = stream_id[id];
      if (stream >= is_here.size() || !is_here[stream] || !is_counted(id)) continue;
      const Ns begin = begin_ns[id], end = end_ns[id];
      if (begin == kUnknownNs) continue;
      found.begins.push_back(begin);
      if (end != kUnknownNs) found.ends.push_back(end);
    }
    for (std::vector<Ns>* times : {&found.begins, &found.ends}) std::ranges::sort(*times);
    return found;
  };
  const auto& op = trace_.op;
  Spans kernels = spans(op.stream_id, op.start_ns, op.end_ns,
                        [&](Id id) { return op.kind[id] == trace::kKernel; });
  const Spans others = spans(op.stream_id, op.start_ns, op.end_ns, [&](Id id) {
    return op.kind[id] != trace::kKernel && op.kind[id] != trace::kMemoryWait;
  });
  add_counter(any_open(merged(kernels.begins, others.begins), merged(kernels.ends, others.ends)),
              "Busy", "share of time with work", parent);
  // One at a time is what the lane above shows.
  if (Counter at_once = count_open(std::move(kernels.begins), std::move(kernels.ends));
      at_once.most() > 1)
    add_counter(std::move(at_once), "Concurrent kernels", "all streams", parent);
  const auto& operation = trace_.operation;
  Spans operations = spans(operation.stream_id, operation.submitted_ns, operation.completed_ns,
                           [](Id) { return true; });
  add_counter(count_open(std::move(operations.begins), std::move(operations.ends)), "Queue depth",
              "submitted, not completed", parent);
}

void LaneBuilder::add_pools(Id process, int parent) {
  for (size_t i = 0; i < from_.insights.pools.size(); ++i) {
    const analysis::PoolUsage& pool = from_.insights.pools[i];
    // The number of live streams and events says little, unlike memory counted from calls.
    if (pool.process_id != process || (pool.derived && pool.kind != trace::kMemoryPool)) continue;
    const Counter& in_use = from_.pools.curves()[i].in_use;
    add_counter(in_use, pool.name, "in use, at most " + in_use.text_of_capacity(in_use.most()),
                parent);
  }
}

}  // namespace streamscope::viewer
