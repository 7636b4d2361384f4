// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// sync-in-iteration (SS302): a synchronization in each iteration, by the line that makes it. While
//   the host waits it launches nothing, so that the device has nothing to do afterwards: what it
//   costs is not the time inside the call but the run-ahead that is lost. Evidence: calls, times,
//   and stacks for the line. The gain comes from a replay of the steady part without these calls;
//   if a copy of at most 64 KiB to the host comes right before (the value of a tensor is read), it
//   and its call are gone too. An iteration takes at least as long as the device is busy in it: a
//   host that waits while the device works loses nothing. Known false alarm: a value without which
//   the host cannot go on.
#include <fmt/format.h>

#include "../call_sites.h"
#include "../labels.h"
#include "../units.h"
#include "families.h"
#include "in_iterations.h"
#include "trace/ns_math.h"
#include "vocabulary/copy_kind.h"

namespace streamscope::analysis {
namespace {

constexpr trace::Int kMostReadBytes = 64 << 10;
constexpr Ns kRightBeforeNs = 50'000;

// Small copies to the host, by thread and time of their calls.
struct Read {
  Ns start_ns, end_ns;
  Id op;
};
std::map<Id, std::vector<Read>> reads_of(Analyses& analyses) {
  const Trace& trace = analyses.trace();
  std::map<Id, std::vector<Read>> reads;
  for (Id op = 0; op < trace.op.size(); ++op) {
    if (trace.op.kind[op] != trace::kMemcpy || trace.op.detail[op] != CopyKind::kDeviceToHost ||
        trace.op.bytes[op] > kMostReadBytes) {
      continue;
    }
    const Issue issue = analyses.order().issue(op);
    if (issue.thread_id != kNoId)
      reads[issue.thread_id].push_back({issue.start_ns, issue.end_ns, op});
  }
  for (auto& [thread, of_thread] : reads) std::ranges::sort(of_thread, {}, &Read::start_ns);
  return reads;
}

struct SyncSite {
  Id first = kNoId;
  size_t count = 0, read_count = 0;
  Ns blocked_ns = 0, last_ns = kUnknownNs;
  Change change;
};

}  // namespace

void find_syncs_in_iterations(Analyses& analyses, Findings& findings) {
  const IterationModel& model = analyses.iteration_model();
  if (!model.found()) return;
  const Trace& trace = analyses.trace();
  const Iterations& iterations = model.iterations();
  const std::vector<Id> all = steady_syncs(trace, iterations);
  if (all.size() * 2 < iterations.steady_count()) return;  // not in each iteration
  const std::map<Id, std::vector<Read>> reads = reads_of(analyses);
  const std::vector<std::string> call_sites = analysis::call_sites(trace);
  std::map<std::pair<Id, std::string>, SyncSite> sites;  // by name and line
  const auto& syncs = trace.host_sync;
  for (const Id sync : all) {
    const Id stack = syncs.stack_id[sync], thread = syncs.thread_id[sync];
    SyncSite& site =
        sites[{syncs.name_id[sync], stack < call_sites.size() ? call_sites[stack] : ""}];
    if (site.count++ == 0) site.first = sync;
    trace::add_to(site.blocked_ns, trace::between(syncs.start_ns[sync], syncs.end_ns[sync]));
    site.last_ns = syncs.start_ns[sync];
    site.change.without_sync.add(sync);
    const auto of_thread = reads.find(thread);
    if (of_thread == reads.end()) continue;
    auto read =
        std::ranges::upper_bound(of_thread->second, syncs.start_ns[sync], {}, &Read::start_ns);
    if (read == of_thread->second.begin()) continue;
    --read;
    if (syncs.start_ns[sync] - read->end_ns > kRightBeforeNs) continue;
    ++site.read_count;
    site.change.length_ns[read->op] = 0;
    site.change.cuts.add(thread, read->start_ns, syncs.end_ns[sync]);
  }
  for (const auto& [key, site] : sites) {
    if (site.count * 2 < iterations.steady_count()) continue;
    Finding finding;
    if (!set_iteration_gain(model, site.change, model.shares().busy_ns, finding)) continue;
    const bool reads_values = site.read_count * 2 > site.count;
    finding.host_sync = site.first;
    finding.title = fmt::format("each iteration calls {} {}, so the host cannot run ahead",
                                sync_name(trace, site.first), times_each(site.count, iterations));
    finding.text = fmt::format(
        "{}The host is blocked for {} of an iteration; the rest is lost because it launches "
        "nothing meanwhile. {}",
        reads_values ? "It reads a value that the device computed. " : "",
        format_duration(site.blocked_ns / static_cast<Ns>(iterations.steady_count())),
        reads_values
            ? "Keep the value on the device, add several up and read them together, or read it "
              "from pinned memory one iteration later."
            : "Remove it, or order the work with an event and a stream wait.");
    finding.count = site.count;
    findings.add({key.first, site.first}, site.last_ns, [&] { return finding; });
  }
}

}  // namespace streamscope::analysis
