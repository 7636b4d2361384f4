// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "steps.h"

#include <fmt/format.h>

#include <algorithm>

#include "../labels.h"
#include "analysis/memory/memory_lives.h"
#include "vocabulary/call_kind.h"
#include "vocabulary/copy_kind.h"

namespace streamscope::analysis {

Id next_op_on(Analyses& analyses, Id stream, Ns after) {
  const StreamOps& stream_ops = analyses.stream_ops();
  if (stream >= stream_ops.stream_count() || after == kUnknownNs) return kNoId;
  for (Id op : stream_ops.ops(stream)) {
    const Ns at = analyses.order().issue(op).end_ns;
    if (at != kUnknownNs && at >= after) return op;
  }
  return kNoId;
}

Id last_op_before(Analyses& analyses, Id stream, Ns before) {
  const StreamOps& stream_ops = analyses.stream_ops();
  if (stream >= stream_ops.stream_count() || before == kUnknownNs) return kNoId;
  const auto ops = stream_ops.ops(stream);
  for (auto op = ops.rbegin(); op != ops.rend(); ++op) {
    const Ns at = analyses.order().issue(*op).end_ns;
    if (at != kUnknownNs && at < before) return *op;
  }
  return kNoId;
}

std::string describe(const Trace& trace, const std::vector<Hop>& path) {
  std::string text;
  for (const Hop& hop : path) {
    if (!text.empty()) text += ", then ";
    const auto stream = [&](Id id) { return "stream " + stream_label(trace, id); };
    switch (hop.kind) {
      case trace::kEventEdge:
        text += fmt::format("a wait of {} for an event of {}",
                            hop.to_stream == kNoId ? "all streams" : stream(hop.to_stream),
                            hop.from_stream == kNoId ? "all streams" : stream(hop.from_stream));
        break;
      case trace::kLegacyEdge:
        text += fmt::format("the legacy default stream between {} and {}", stream(hop.from_stream),
                            stream(hop.to_stream));
        break;
      case trace::kMemoryEdge:
        text += fmt::format("a memory wait on {}", stream(hop.to_stream));
        break;
      case trace::kHostEdge:
        if (hop.to_stream != kNoId) {
          text += fmt::format("the host's later call on {}", stream(hop.to_stream));
        } else if (hop.op != kNoId) {
          text += "a synchronous copy";
        } else {
          const Id sync = hop.host_sync;
          const std::string name = sync < trace.host_sync.size()
                                       ? printable(trace.text(trace.host_sync.name_id[sync]))
                                       : std::string();
          text += name.empty() ? "a host synchronization" : name;
        }
        break;
      default:
        text += "the order of a graph";
    }
  }
  return text;
}

void set_gains(Analyses& analyses, Findings& findings,
               const std::map<Findings::Key, Change>& repairs) {
  // Removing waits never makes a run longer: if all changes together gain nothing, none does.
  Change all;
  for (const auto& [key, change] : repairs) all.add(change);
  const bool brings = !repairs.empty() && analyses.replay().gain_ns(all) > 0;
  for (const auto& [key, change] : repairs) {
    Finding* finding = findings.find(key);
    if (!finding) continue;
    finding->gain_ns = brings ? std::max<Ns>(0, analyses.replay().gain_ns(change)) : 0;
    finding->repair = std::make_shared<const Change>(change);
  }
}

bool is_shared_between_processes(const Trace& trace, Id event) {
  constexpr trace::Small kInterprocess = 4;
  if (event >= trace.event.size()) return false;
  const trace::Small flags = trace.event.flags[event];
  return flags != trace::kNoSmall && (flags & kInterprocess) != 0;
}

std::vector<size_t> elapsed_times_read(const Trace& trace) {
  std::vector<size_t> counts(trace.process.size());
  for (Id call = 0; call < trace.api_call.size(); ++call) {
    if (trace.api_call.kind[call] != CallKind::kEventElapsedTime) continue;
    const Id process = trace.process_of_thread(trace.api_call.thread_id[call]);
    if (process < counts.size()) ++counts[process];
  }
  return counts;
}

std::string unless_host_reads(const Trace& trace) {
  bool managed = false, page_locked = false;
  for (Id call = 0; call < trace.api_call.size(); ++call) {
    if (trace.api_call.kind[call] != CallKind::kMalloc) continue;
    const MemorySpace space = space_by_call(trace.text(trace.api_call.name_id[call]));
    managed |= space == MemorySpace::kEither;
    page_locked |= space == MemorySpace::kHost;
  }
  for (Id op = 0; op < trace.op.size() && !managed; ++op)
    managed = trace.op.kind[op] == trace::kMemcpy && is_migration(trace.op.detail[op]);
  if (!managed && !page_locked) return "";
  return fmt::format(", unless the host reads {} memory that this work writes",
                     !page_locked ? "managed"
                     : !managed   ? "page-locked"
                                  : "managed or page-locked");
}

bool is_worth_a_line(Analyses& analyses, Ns gain_ns) {
  return gain_ns >= kLeastGainNs && gain_ns >= analyses.replay().recorded_ns() / kLeastGainShare;
}

}  // namespace streamscope::analysis
