// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "host_syncs.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace streamscope::analysis {

bool is_blocking(trace::Small host_sync_kind) {
  switch (host_sync_kind) {
    case trace::kDeviceSynchronize:
    case trace::kStreamSynchronize:
    case trace::kEventSynchronize:
      return true;
    default:
      return false;
  }
}

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
    const Ns duration = std::max<Ns>(0, syncs.end_ns[sync] - syncs.start_ns[sync]);
    group.total_ns += duration;
    if (group.longest == kNoId || duration > group.longest_ns) {
      group.longest_ns = duration;
      group.longest = sync;
    }
  }
  std::vector<SyncGroup> result;
  for (auto& [key, group] : groups) result.push_back(group);
  std::stable_sort(result.begin(), result.end(), [](const SyncGroup& a, const SyncGroup& b) {
    return std::tie(b.total_ns, b.count) < std::tie(a.total_ns, a.count);
  });
  return result;
}

SyncIndex::SyncIndex(const Trace& trace) : threads_(trace.thread.size()) {
  const auto& syncs = trace.host_sync;
  for (Id sync = 0; sync < syncs.size(); ++sync) {
    const Id thread = syncs.thread_id[sync];
    if (thread >= threads_.size() || !is_blocking(syncs.kind[sync]) ||
        syncs.start_ns[sync] == kUnknownNs || syncs.end_ns[sync] == kUnknownNs ||
        syncs.end_ns[sync] <= syncs.start_ns[sync]) {
      continue;
    }
    threads_[thread].push_back({syncs.start_ns[sync], syncs.end_ns[sync], 0, sync});
  }
  for (std::vector<Entry>& entries : threads_) {
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
      return std::tie(a.start_ns, a.sync) < std::tie(b.start_ns, b.sync);
    });
    Ns total = 0, free_from = kUnknownNs;
    for (Entry& entry : entries) {
      // One thread is in one call at a time; odd data must not count an instant twice.
      entry.start_ns = std::max(entry.start_ns, free_from);
      entry.end_ns = std::max(entry.end_ns, entry.start_ns);
      entry.before_ns = total;
      total += entry.end_ns - entry.start_ns;
      free_from = entry.end_ns;
    }
  }
}

SyncIndex::Blocked SyncIndex::blocked(Id thread, Ns from, Ns to) const {
  if (thread >= threads_.size() || from == kUnknownNs || to == kUnknownNs || from >= to) return {};
  const std::vector<Entry>& entries = threads_[thread];
  // Time blocked before an instant, and the last entry that starts before it.
  const auto before = [&](Ns at) -> std::pair<Ns, const Entry*> {
    auto next = std::lower_bound(entries.begin(), entries.end(), at,
                                 [](const Entry& entry, Ns ns) { return entry.start_ns < ns; });
    if (next == entries.begin()) return {0, nullptr};
    const Entry& entry = *std::prev(next);
    return {entry.before_ns + std::min(entry.end_ns, at) - entry.start_ns, &entry};
  };
  const auto [until_to, last] = before(to);
  const Ns duration = until_to - before(from).first;
  return {duration, duration > 0 ? last->sync : kNoId};
}

}  // namespace streamscope::analysis
