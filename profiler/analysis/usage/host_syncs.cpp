// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "host_syncs.h"
#include "trace/ns_math.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace streamscope::analysis {

bool is_blocking_sync(const Trace& trace, Id sync) {
  const auto& syncs = trace.host_sync;
  return is_blocking(syncs.kind[sync]) && syncs.start_ns[sync] != kUnknownNs &&
         syncs.end_ns[sync] != kUnknownNs &&
         (syncs.result[sync] == 0 || syncs.result[sync] == trace::kNoSmall) &&
         syncs.thread_id[sync] < trace.thread.size();
}

void SyncGroup::add(const SyncGroup& other) {
  longest_ns = std::max(std::pair(steady_count > 0, longest_ns),
                        std::pair(other.steady_count > 0, other.longest_ns))
                   .second;
  count += other.count;
  steady_count += other.steady_count;
  times.add(other.times);
  open_count += other.open_count;
}

std::vector<SyncGroup> host_syncs_by_cost(const Trace& trace, IterationSlots slots) {
  const auto& syncs = trace.host_sync;
  std::map<std::tuple<trace::Small, Id, Id, Id, Id>, SyncGroup> groups;
  for (Id sync = 0; sync < syncs.size(); ++sync) {
    if (!is_blocking(syncs.kind[sync])) continue;
    Id stream = syncs.stream_id[sync];
    if (syncs.kind[sync] == trace::kEventSynchronize &&
        syncs.record_id[sync] < trace.event_record.size()) {
      stream = trace.event_record.stream_id[syncs.record_id[sync]];
    }
    const Id process = trace.process_of_thread(syncs.thread_id[sync]);
    SyncGroup& group =
        groups[{syncs.kind[sync], process, syncs.name_id[sync], stream, syncs.stack_id[sync]}];
    group.kind = static_cast<trace::HostSyncKind>(syncs.kind[sync]);
    group.process_id = process;
    group.name_id = syncs.name_id[sync];
    group.stream_id = stream;
    group.stack_id = syncs.stack_id[sync];
    ++group.count;
    if (syncs.start_ns[sync] == kUnknownNs || syncs.end_ns[sync] == kUnknownNs) {
      ++group.open_count;
      continue;
    }
    const Ns duration = std::max<Ns>(0, trace::between(syncs.start_ns[sync], syncs.end_ns[sync]));
    const bool is_steady = slots.is_steady(syncs.start_ns[sync]);
    group.longest_ns = std::max(std::pair(group.steady_count > 0, group.longest_ns),
                                std::pair(is_steady, duration))
                           .second;
    group.steady_count += is_steady;
    group.times.add(slots.of(syncs.start_ns[sync]), duration);
  }
  std::vector<SyncGroup> result;
  result.reserve(groups.size());
  for (auto& [key, group] : groups) result.push_back(group);
  std::ranges::stable_sort(result, std::ranges::greater{}, [](const SyncGroup& group) {
    return std::pair(group.times.total_ns(), group.count);
  });
  return result;
}

}  // namespace streamscope::analysis
