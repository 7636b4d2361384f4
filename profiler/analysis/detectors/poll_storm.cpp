// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// poll-storm (SS209): a thread queries far more often than there is work; or it synchronizes after
//   every single op, so that nothing is ever queued behind what runs. A query that returns "not
//   ready" costs 0.2 to 0.4 µs and holds driver locks that issuing threads need. Evidence: calls.
//   Found from 64 such queries and 8 per op of the process, or from 32 synchronizations with at
//   most 1.25 ops before each. No gain is estimated: what the thread would do instead is not known.
//   Known false alarm: a thread that has nothing else to do.
#include <fmt/format.h>

#include <algorithm>

#include "../labels.h"
#include "../units.h"
#include "analysis/usage/host_syncs.h"
#include "families.h"
#include "trace/ns_math.h"

namespace streamscope::analysis {
namespace {

constexpr size_t kLeastPolls = 64, kPollsPerOp = 8;
constexpr size_t kLeastSyncs = 32;

struct RepeatedCalls {
  Id first = kNoId, last = kNoId;
  size_t count = 0;
  Ns time_ns = 0;
};

}  // namespace

void find_poll_storms(Analyses& analyses, Findings& findings) {
  const Trace& trace = analyses.trace();
  const auto& syncs = trace.host_sync;
  std::vector<size_t> process_ops(trace.process.size()), thread_ops(trace.thread.size());
  for (Id op = 0; op < trace.op.size(); ++op) {
    const Id process = trace.process_of_stream(trace.op.stream_id[op]);
    const Id thread = analyses.order().issue(op).thread_id;
    if (process < process_ops.size()) ++process_ops[process];
    if (thread < thread_ops.size()) ++thread_ops[thread];
  }
  std::map<Findings::Key, RepeatedCalls> polls, blocks;
  for (Id sync = 0; sync < syncs.size(); ++sync) {
    const Id thread = syncs.thread_id[sync];
    if (thread >= trace.thread.size() || syncs.end_ns[sync] == kUnknownNs) continue;
    const bool query = is_query(syncs.kind[sync]);
    if (query ? syncs.result[sync] != trace::kResultNotReady : !is_blocking_sync(trace, sync))
      continue;
    RepeatedCalls& calls =
        (query ? polls : blocks)[{thread, syncs.name_id[sync], syncs.stack_id[sync]}];
    if (calls.count == 0) calls.first = sync;
    calls.count += static_cast<size_t>(std::max<trace::Int>(trace::call_count(syncs, sync), 1));
    calls.last = sync;
    trace::add_to(calls.time_ns, trace::between(syncs.start_ns[sync], syncs.end_ns[sync]));
  }
  const auto report = [&](const Findings::Key& key, const RepeatedCalls& calls, std::string title,
                          std::string text) {
    findings.add(key, syncs.start_ns[calls.last], [&] {
      Finding finding;
      finding.host_sync = calls.first;
      finding.event_record = syncs.record_id[calls.first];
      finding.title = std::move(title);
      finding.text = std::move(text);
      return finding;
    });
    findings.find(key)->count = calls.count;
  };
  for (const auto& [key, calls] : polls) {
    const Id process = trace.process_of_thread(static_cast<Id>(key[0]));
    const size_t ops = process < process_ops.size() ? process_ops[process] : 0;
    if (calls.count < kLeastPolls || calls.count < kPollsPerOp * ops) continue;
    report(key, calls,
           fmt::format("{} returned not-ready {} for {}", sync_name(trace, calls.first),
                       format_count(calls.count, "time"), format_count(ops, "op")),
           fmt::format("The thread polled for {}. Synchronize with the event, or poll "
                       "less often; a blocking-sync event lets the thread sleep.",
                       format_duration(calls.time_ns)));
  }
  for (const auto& [key, calls] : blocks) {
    const size_t ops = thread_ops[key[0]];
    if (calls.count < kLeastSyncs || ops == 0 || 4 * ops > 5 * calls.count) continue;
    report(key, calls, fmt::format("{} after every op", sync_name(trace, calls.first)),
           fmt::format("The thread issued {} and synchronized {}, which took {}. Issue more work "
                       "before each synchronization; order ops with streams and events.",
                       format_count(ops, "op"), format_count(calls.count, "time"),
                       format_duration(calls.time_ns)));
  }
}

}  // namespace streamscope::analysis
