// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "host_syncs.h"
#include "trace/ns_math.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace streamscope::analysis {

std::vector<SyncGroup> host_syncs_by_cost(const Trace& trace) {
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
    trace::add_to(group.total_ns, duration);
    if (group.longest == kNoId || duration > group.longest_ns) {
      group.longest_ns = duration;
      group.longest = sync;
    }
  }
  std::vector<SyncGroup> result;
  result.reserve(groups.size());
  for (auto& [key, group] : groups) result.push_back(group);
  std::ranges::stable_sort(result, std::ranges::greater{}, [](const SyncGroup& group) {
    return std::pair(group.total_ns, group.count);
  });
  return result;
}

}  // namespace streamscope::analysis
