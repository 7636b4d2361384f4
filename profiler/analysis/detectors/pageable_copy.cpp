// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// pageable-copy (SS206): a copy from or to pageable host memory, which the driver stages through a
//   buffer of its own, so that it is slower and overlaps with nothing. An asynchronous one blocks
//   the host like any other (always to the host, from about 64 KiB on to the device). Evidence:
//   memory kinds of copies, times. Ignored: small copies to the device, which return at once, and
//   small blocking ones; asynchronous copies after which the thread issues nothing before it
//   synchronizes, and blocking ones, unless the faster copy alone is worth reporting; blocking ones
//   that are not made in each iteration, as page-locking memory for one copy costs more than it
//   brings. Those of each iteration are one finding a direction, with its places. The gain assumes
//   that an asynchronous call returns at once if its thread goes on issuing, and that the copy runs
//   as fast as the fastest page-locked copy of the trace in the same direction; if there is none,
//   at 87 % of what 16 lanes of the device's generation of PCIe carry.
#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "../call_sites.h"
#include "../labels.h"
#include "../units.h"
#include "families.h"
#include "in_iterations.h"
#include "trace/ns_math.h"
#include "vocabulary/call_kind.h"
#include "vocabulary/copy_kind.h"
#include "vocabulary/memory_kind.h"

namespace streamscope::analysis {
namespace {

constexpr trace::Int kReturnsAtOnce = 64
                                      << 10;  // bytes: CUDA documents it for copies to the device
constexpr trace::Int kTellsBandwidth = 64 << 10;

trace::Small host_memory(const Trace& trace, Id op) {
  const trace::Small kinds = trace.op.memory_kinds[op];
  if (trace.op.kind[op] != trace::kMemcpy || kinds == trace::kNoSmall) return 0;
  if (trace.op.detail[op] == CopyKind::kHostToDevice) return source_of(kinds);
  return trace.op.detail[op] == CopyKind::kDeviceToHost ? destination_of(kinds) : 0;
}

// ns per byte over 16 lanes of PCIe 5, 4 or 3, at 87 % of 63, 31.5 or 15.8 GB/s, as measured on an
// H100; 0 if the device is unknown.
double usual_pace(const Trace& trace, Id op) {
  const Id device = trace.device_of_stream(trace.op.stream_id[op]);
  if (device >= trace.device.size() || trace.device.simulated[device] == 1) return 0;
  const trace::Small capability = trace.device.compute_capability[device];
  if (capability == trace::kNoSmall) return 0;
  return capability >= 90 ? 1 / 55.0 : capability >= 80 ? 1 / 27.5 : 1 / 13.7;
}

// ns per byte of the fastest page-locked copy in a direction; 0 if there is none.
double pinned_pace(const Trace& trace, CopyKind direction) {
  double best = 0;
  for (Id op = 0; op < trace.op.size(); ++op) {
    if (trace.op.detail[op] != direction || host_memory(trace, op) != MemoryKind::kPinned ||
        !is_timed(trace, op) || trace.op.bytes[op] < kTellsBandwidth) {
      continue;
    }
    const double pace = static_cast<double>(trace.op.end_ns[op] - trace.op.start_ns[op]) /
                        static_cast<double>(trace.op.bytes[op]);
    if (pace > 0 && (best == 0 || pace < best)) best = pace;
  }
  return best;
}

// Large copies from or to pageable memory; those that block by contract of the steady part only.
std::vector<Id> pageable_copies(Analyses& analyses) {
  const Trace& trace = analyses.trace();
  const IterationModel& model = analyses.iteration_model();
  const auto is_steady = [&](Id op) {
    if (!model.found()) return false;
    const Ns issued = analyses.order().issue(op).start_ns;
    return issued >= model.iterations().issued_from_ns() &&
           issued < model.iterations().issued_to_ns();
  };
  std::vector<Id> found;
  for (Id op = 0; op < trace.op.size(); ++op) {
    if (host_memory(trace, op) != MemoryKind::kPageable || !is_timed(trace, op)) continue;
    const Id call = trace.op.api_call_id[op];
    const bool is_async =
        call < trace.api_call.size() && trace.api_call.kind[call] == CallKind::kMemcpyAsync;
    const bool blocks = analyses.order().copy_sync(op) != kNoId;
    if (!is_async && !(blocks && is_steady(op))) continue;
    if ((blocks || trace.op.detail[op] == CopyKind::kHostToDevice) &&
        trace.op.bytes[op] < kReturnsAtOnce)
      continue;
    found.push_back(op);
  }
  return found;
}

struct CopyGroup {
  Id first = kNoId, last = kNoId;
  uint64_t count = 0;
  trace::Int bytes = 0;
  Ns call_ns = 0;
  bool overlaps = false;  // if it did not block
  bool blocks_by_contract = false;
  Change change;
  std::map<Id, SiteInIterations> sites;  // by stack, of those that block by contract
};

// By stream and direction, and those that do not block by contract by call site; a copy without a
// stack belongs to one of the same size with a stack, as only a thread's first copies have one.
// `pace`: by CopyKind, 0 if unknown.
std::map<Findings::Key, CopyGroup> group_copies(Analyses& analyses, const std::vector<Id>& copies,
                                                const double (&pace)[3]) {
  const Trace& trace = analyses.trace();
  const ThreadActs& acts = analyses.thread_acts();
  const std::vector<std::string> call_sites = analysis::call_sites(trace);
  std::map<std::string_view, Id> first_stacks;  // by call site
  std::map<Findings::Key, CopyGroup> groups;
  std::map<Findings::Key, Id> stacks;
  for (const Id op : copies) {
    const Id sync = analyses.order().copy_sync(op);
    const bool blocks = sync != kNoId;
    const Id stack =
        blocks ? trace.host_sync.stack_id[sync] : trace.api_call.stack_id[trace.op.api_call_id[op]];
    const trace::Small direction = trace.op.detail[op];
    const Issue issue = analyses.order().issue(op);
    Id& known = stacks
                    .try_emplace({trace.op.stream_id[op], static_cast<uint64_t>(direction),
                                  static_cast<uint64_t>(trace.op.bytes[op])},
                                 kNoId)
                    .first->second;
    if (stack < call_sites.size())
      known = first_stacks.try_emplace(call_sites[stack], stack).first->second;
    CopyGroup& group = groups[{trace.op.stream_id[op], static_cast<uint64_t>(direction),
                               blocks ? kNoId : known, blocks}];
    if (group.count++ == 0) group.first = op;
    group.last = op;
    group.blocks_by_contract = blocks;
    trace::add_to(group.bytes, trace.op.bytes[op]);
    trace::add_to(group.call_ns, trace::between(issue.start_ns, issue.end_ns));
    const bool overlaps = !blocks && acts.issues_after(issue.thread_id, issue.end_ns);
    group.overlaps |= overlaps;
    const Ns length = trace.op.end_ns[op] - trace.op.start_ns[op];
    const double of_byte = pace[direction] > 0 ? pace[direction] : usual_pace(trace, op);
    const auto pinned = static_cast<Ns>(of_byte * static_cast<double>(trace.op.bytes[op]));
    const auto lock_pages = [&](Change& change) {
      (overlaps ? change.async_op : change.page_locked_op).add(op);
      if (pinned > 0) change.length_ns[op] = std::min(length, pinned);
    };
    lock_pages(group.change);
    if (!blocks) continue;
    SiteInIterations& site = group.sites[known];
    if (site.count++ == 0) site.first = op;
    if (known < call_sites.size()) site.line = call_sites[known];
    lock_pages(site.change);
  }
  return groups;
}

std::string title_of(const Trace& trace, const CopyGroup& group, const Iterations& iterations) {
  const std::string copies =
      fmt::format("copies {} pageable memory on stream {}",
                  trace.op.detail[group.first] == CopyKind::kHostToDevice ? "from" : "to",
                  stream_label(trace, trace.op.stream_id[group.first]));
  if (!group.blocks_by_contract) return "asynchronous " + copies + " block the host";
  return group.sites.size() == 1 ? "each iteration waits for " + copies
                                 : fmt::format("each iteration waits for {} {} at {}",
                                               format_each(group.count, iterations), copies,
                                               format_count(group.sites.size(), "place"));
}

// Those that block by contract are of the steady part, the others of the whole run.
std::string what_it_costs(const CopyGroup& group, const Iterations& iterations) {
  if (!group.blocks_by_contract) {
    return fmt::format(
        "The driver stages {} through its own buffer; the host was blocked in the calls for {}.",
        format_bytes(group.bytes), format_duration(group.call_ns));
  }
  const auto count = static_cast<Ns>(iterations.steady_count());
  return fmt::format(
      "In an iteration the driver stages {} through its own buffer, and the host is blocked in the "
      "calls for {}.",
      format_bytes(group.bytes / count), format_duration(group.call_ns / count));
}

std::string text_of(const Trace& trace, const CopyGroup& group, const Iterations& iterations,
                    bool knows_pinned_pace) {
  const bool is_python = language_of(trace) == Language::kPython;
  std::string text =
      fmt::format("{} {}", what_it_costs(group, iterations),
                  is_python ? "Use page-locked memory (in PyTorch pin_memory() or "
                              "DataLoader(pin_memory=True))"
                            : "Allocate the memory with cudaMallocHost, or register it");
  if (group.blocks_by_contract) {
    text += fmt::format(
        "; then it can also be copied beside other work ({}). Or do not copy what the device can "
        "keep or make itself",
        is_python ? "non_blocking=True" : "cudaMemcpyAsync");
  }
  text += ".";
  if (const double pace = usual_pace(trace, group.first); !knows_pinned_pace)
    text += pace > 0 ? fmt::format(" The gain assumes that page-locked copies run at {:.3g} GB/s.",
                                   1 / pace)
                     : " The gain does not include that page-locked copies are faster.";
  if (!group.overlaps && !group.blocks_by_contract)
    text += " The gain is only from the faster copy, as the host synchronizes right after it.";
  return text;
}

}  // namespace

void find_pageable_copies(Analyses& analyses, Findings& findings) {
  const Trace& trace = analyses.trace();
  const std::vector<Id> copies = pageable_copies(analyses);
  if (copies.empty()) return;
  const double pace[] = {0, pinned_pace(trace, CopyKind::kHostToDevice),
                         pinned_pace(trace, CopyKind::kDeviceToHost)};
  for (const auto& [key, group] : group_copies(analyses, copies, pace)) {
    const IterationModel& model = analyses.iteration_model();
    if (group.blocks_by_contract && group.count * 2 < model.iterations().steady_count()) continue;
    const Ns gain = std::max<Ns>(0, analyses.replay().gain_ns(group.change));
    if (!group.overlaps && !is_worth_a_line(analyses, gain)) continue;
    findings.add(key, trace.op.start_ns[group.last], [&, &group = group] {
      std::vector<SiteInIterations> sites;
      sites.reserve(group.sites.size());
      for (const auto& [stack, site] : group.sites) sites.push_back(site);
      std::ranges::stable_sort(sites, std::greater{}, &SiteInIterations::count);
      const std::string places = sites.size() > 1 ? " " + name_places(model, 0, sites) : "";
      Finding finding;
      finding.first_op = sites.empty() ? group.first : sites.front().first;
      finding.host_sync = analyses.order().copy_sync(finding.first_op);  // which has the stack
      finding.title = title_of(trace, group, model.iterations());
      finding.text =
          text_of(trace, group, model.iterations(), pace[trace.op.detail[group.first]] > 0) +
          places;
      finding.count = group.count;
      finding.gain_ns = gain;
      finding.repair = std::make_shared<const Change>(group.change);
      return finding;
    });
  }
}

}  // namespace streamscope::analysis
