// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// over-broad-sync (SS203): the host blocks in a synchronization and then issues more work, although
//   it reads nothing that the call covers, or only a copy that ended earlier. Meanwhile it issues
//   nothing, so the device runs out of work. An event record and a stream wait keep the order
//   without the host. For what the host reads, an event after the copy is enough. Evidence: calls,
//   records, times. The gain comes from a replay in which the device does all the waiting: all
//   later work of the thread still runs after everything that the call covered. Ignored: calls
//   after which nothing is issued, a single call that costs little, calls after which the thread
//   reads a measured time (or may do so: nsys leaves those calls out) or pages of managed memory
//   move to the host, and gains that are lost in the noise. Known false alarms: host code that
//   reads files and sockets that a host function fills, or, without a copy, managed memory that is
//   there already or page-locked memory; the trace shows neither, but the advice says so where
//   there is such memory (imported files show __managed__ variables only by pages that move).
#include <fmt/format.h>

#include <optional>

#include "../labels.h"
#include "../units.h"
#include "analysis/usage/host_syncs.h"
#include "families.h"
#include "steps.h"
#include "trace/ns_math.h"
#include "vocabulary/copy_kind.h"

namespace streamscope::analysis {
namespace {

constexpr size_t kCopiesRemembered = 64;  // whose memory the host may still use
constexpr Ns kShareOfOne = 20;            // a single call must cost more than 1/20 of the run

// Copies that access host memory, which the host may use again after a synchronization.
bool touches_host(const Trace& trace, Id op) {
  return trace.op.kind[op] == trace::kMemcpy &&
         (trace.op.detail[op] == CopyKind::kHostToDevice ||
          trace.op.detail[op] == CopyKind::kDeviceToHost) &&
         is_timed(trace, op);
}

struct Site {
  Id example = kNoId;  // the longest
  Change change;
  Id copy = kNoId;  // what the host reads after the example
  size_t count = 0;
  Ns first_ns = kUnknownNs, last_ns = kUnknownNs, blocked_ns = 0;
};

// The op that ended last of those that a synchronization waited for.
Id last_awaited(Analyses& analyses, Id sync) {
  const Trace& trace = analyses.trace();
  const auto& syncs = trace.host_sync;
  Id last = kNoId;
  for (Id stream = 0; stream < trace.stream.size(); ++stream) {
    if (trace.process_of_stream(stream) != trace.process_of_thread(syncs.thread_id[sync])) continue;
    const auto ops = analyses.stream_ops().ops(stream);
    for (auto op = ops.rbegin(); op != ops.rend(); ++op) {
      if (!is_timed(trace, *op) || trace.op.start_ns[*op] >= syncs.end_ns[sync]) continue;
      if (!analyses.before().known_at_return(*op, sync)) continue;
      if (last == kNoId || trace.op.end_ns[*op] > trace.op.end_ns[last]) last = *op;
      break;
    }
  }
  return last;
}

// `copy`: what the host may read after the synchronization, or kNoId.
void add_to_site(Site& site, const Trace& trace, Id sync, Id copy) {
  const auto& syncs = trace.host_sync;
  const Ns start = syncs.start_ns[sync], end = syncs.end_ns[sync];
  ++site.count;
  trace::add_to(site.blocked_ns, trace::between(start, end));
  if (copy != kNoId) {
    site.change.narrowed_sync[sync] = copy;
  } else {
    site.change.deferred_sync.add(sync);
  }
  if (site.first_ns == kUnknownNs) site.first_ns = start;
  site.last_ns = start;
  if (site.example == kNoId ||
      end - start > syncs.end_ns[site.example] - syncs.start_ns[site.example]) {
    site.example = sync;
    site.copy = copy;
  }
}

// When the driver moved managed memory to the host, whose code used it then; by process.
Acts pages_moved_to_host(const Trace& trace) {
  Acts moves(trace.process.size());
  for (Id op = 0; op < trace.op.size(); ++op) {
    if (trace.op.kind[op] == trace::kMemcpy && trace.op.detail[op] == CopyKind::kPagesToHost)
      moves.add(trace.process_of_stream(trace.op.stream_id[op]), trace.op.start_ns[op]);
  }
  moves.sort();
  return moves;
}

std::map<Findings::Key, Site> find_sites(Analyses& analyses) {
  const Trace& trace = analyses.trace();
  const ThreadActs& acts = analyses.thread_acts();
  const HappensBefore& before = analyses.before();
  const auto& syncs = trace.host_sync;
  const Acts page_moves = pages_moved_to_host(trace);
  const auto host_uses_pages = [&](Id thread, Ns from, Ns to) {
    const Ns move = page_moves.next(trace.process_of_thread(thread), from).first;
    return move != kUnknownNs && move < to;
  };
  std::map<Findings::Key, Site> sites;
  std::vector<Id> copies;  // asynchronous ones that no synchronization has covered yet
  for (const Issued item : analyses.order().items()) {
    if (item.kind() == Issued::kOp && touches_host(trace, item.id()) &&
        analyses.order().copy_sync(item.id()) == kNoId) {
      if (copies.size() == kCopiesRemembered) copies.erase(copies.begin());
      copies.push_back(item.id());
    }
    if (item.kind() != Issued::kSync || !is_blocking_sync(trace, item.id())) continue;
    const Id sync = item.id(), thread = syncs.thread_id[sync];
    Id copy = kNoId;  // the one that ended last of those that this sync covers
    std::erase_if(copies, [&](Id op) {
      if (!before.known_at_return(op, sync)) return false;
      if (copy == kNoId || trace.op.end_ns[op] > trace.op.end_ns[copy]) copy = op;
      return true;
    });
    const Ns end = syncs.end_ns[sync];
    const auto [issue_ns, issued] = acts.issues.next(thread, end);
    if (before.is_redundant_sync(sync) || issued == kNoId || acts.may_measure_after(sync) ||
        host_uses_pages(thread, end, issue_ns))
      continue;
    const Id stream = syncs.kind[sync] == trace::kEventSynchronize ? kNoId : syncs.stream_id[sync];
    const Findings::Key key{thread, syncs.name_id[sync], stream, syncs.stack_id[sync],
                            copy != kNoId};
    add_to_site(sites[key], trace, sync, copy);
  }
  return sites;
}

std::string advice(const Trace& trace, const Site& site, const Finding& finding,
                   const std::string& unless) {
  if (site.copy != kNoId) {
    return fmt::format(
        "Of the work it covers, only {} accesses host memory: record an event after it, wait for "
        "that event on the host, and let the streams wait for the rest{}.",
        op_on_stream(trace, site.copy), unless);
  }
  if (finding.first_op != kNoId && finding.second_op != kNoId &&
      trace.op.stream_id[finding.first_op] == trace.op.stream_id[finding.second_op]) {
    return fmt::format(
        "No copy that it covers accesses host memory, and a stream runs its work in order: remove "
        "the call{}.",
        unless);
  }
  return fmt::format(
      "No copy that it covers accesses host memory: record an event after that work and let the "
      "stream that uses it wait for the event, not the host{}.",
      unless);
}

Finding describe_site(Analyses& analyses, const Site& site, Ns gain, const std::string& unless) {
  const Trace& trace = analyses.trace();
  const auto& syncs = trace.host_sync;
  const Id sync = site.example;
  Finding finding;
  finding.host_sync = sync;
  finding.event_record = syncs.record_id[sync];
  finding.start_ns = site.first_ns;
  finding.end_ns = syncs.end_ns[sync];
  finding.first_op = last_awaited(analyses, sync);
  finding.second_op =
      analyses.thread_acts().issues.next(syncs.thread_id[sync], syncs.end_ns[sync]).second;
  finding.title = fmt::format("the host waits for {} before it issues more work",
                              syncs.kind[sync] == trace::kDeviceSynchronize ? "the whole device"
                              : syncs.kind[sync] == trace::kStreamSynchronize
                                  ? "stream " + stream_label(trace, syncs.stream_id[sync])
                                  : "an event");
  finding.text = fmt::format(
      "{} ended with {}, and only then did the host issue {}; it was blocked for {} in total. {}",
      sync_name(trace, sync), op_on_stream(trace, finding.first_op),
      op_on_stream(trace, finding.second_op), format_duration(site.blocked_ns),
      advice(trace, site, finding, unless));
  finding.count = site.count;
  finding.gain_ns = gain;
  finding.repair = std::make_shared<const Change>(site.change);
  return finding;
}

}  // namespace

void find_over_broad_syncs(Analyses& analyses, Findings& findings) {
  std::optional<std::string> unless;
  for (const auto& [key, site] : find_sites(analyses)) {
    // The gain cannot exceed the time that the host was blocked.
    if (!is_worth_a_line(analyses, site.blocked_ns)) continue;
    const Ns gain = analyses.replay().gain_ns(site.change);
    if (!is_worth_a_line(analyses, gain)) continue;
    // A single call may end a warm-up before a measurement.
    if (site.count == 1 && gain * kShareOfOne < analyses.replay().recorded_ns()) continue;
    if (!unless) unless = unless_host_reads(analyses.trace());
    findings.add(key, site.last_ns,
                 [&, &site = site] { return describe_site(analyses, site, gain, *unless); });
  }
}

}  // namespace streamscope::analysis
