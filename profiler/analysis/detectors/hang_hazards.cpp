// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Hazards that make programs hang, beyond what they wait for (hangs.cpp).
//
// sync-holding-lock (SS105): a thread is in a call that waits for the device and holds a mutex that
//   another thread waits for. If the other thread would issue what the device needs, this is a
//   deadlock. Otherwise every thread that needs the lock waits for the device as well. Evidence:
//   threads sampled during the hang (record --hang-timeout); not evaluated without such a sample.
//   Locks other than pthread mutexes are not seen.
// collective-order (SS106): streams of two devices or processes get collectives of two
//   communicators in opposite orders. Each stream may then run the one that the other has queued
//   behind its own. Evidence: collectives with their communicators; not evaluated without them.
//   False alarm: streams that the program orders in another way, so that the collectives never wait
//   for each other.
// queue-full-block (SS108): a launch is blocked because about 1,000 operations are queued in its
//   stream, and the first of them waits for something that has not come. If the blocked thread was
//   to provide it, the program hangs. Evidence: calls that had not returned.
// endless-poll (SS109): a thread polls an event or a stream that can never become ready; or its
//   last 100 queries returned the same error, which it does not check. Evidence: calls.
#include <fmt/format.h>

#include <map>

#include "../labels.h"
#include "../units.h"
#include "analysis/hang/hang_snapshot.h"
#include "analysis/hang/wait_for_words.h"
#include "analysis/usage/collectives.h"
#include "analysis/usage/host_syncs.h"
#include "families.h"
#include "vocabulary/fnv1a.h"

namespace streamscope::analysis {
namespace {

using Why = WaitFor::Why;
using Kind = WaitFor::Kind;

constexpr trace::Small kSuccess = 0;

// The call in which a thread is blocked; nullptr if it is not blocked.
const WaitFor::Blocked* call_of(const WaitFor& graph, Id thread) {
  for (const WaitFor::Blocked& call : graph.blocked()) {
    const Kind kind = graph.node(call.node).kind;
    if (call.thread == thread && (kind == Kind::kSync || kind == Kind::kCall)) return &call;
  }
  return nullptr;
}

Location place_of(Analyses& analyses, const WaitFor::Node& call) {
  return call.kind == Kind::kSync ? analyses.places().of_sync(call.id)
                                  : analyses.places().of_call(call.id);
}

}  // namespace

void find_syncs_holding_locks(Analyses& analyses, Findings& findings) {
  const Trace& trace = analyses.trace();
  const WaitFor& graph = analyses.wait_for();
  bool looked = false;
  for (const HangSnapshot& snapshot : hang_snapshots(trace)) {
    looked |= snapshot.known();
    for (const Id sample : snapshot.samples) {
      const Id owner = trace.thread_sample.lock_owner_id[sample];
      const WaitFor::Blocked* call = owner == kNoId ? nullptr : call_of(graph, owner);
      if (call == nullptr) continue;
      const Id waits = trace.thread_sample.thread_id[sample];
      const WaitFor::Node& node = graph.node(call->node);
      findings.add({owner, waits}, snapshot.at_ns, [&] {
        Finding finding;
        if (node.kind == Kind::kSync) finding.host_sync = node.id;
        finding.start_ns = snapshot.at_ns;
        finding.place = place_of(analyses, node);
        finding.title = fmt::format("{} holds a lock that {} waits for", name_of(trace, node),
                                    thread_label(trace, waits));
        finding.text = fmt::format(
            "The call had waited {} for the device while holding the lock. Release the lock before "
            "waiting for the device: if the other thread has to issue what the device needs, both "
            "wait forever.",
            format_duration(call->held_ns));
        return finding;
      });
    }
  }
  if (!looked) findings.never_reported("no threads were sampled during a hang");
}

void find_collective_orders(Analyses& analyses, Findings& findings) {
  const Trace& trace = analyses.trace();
  using Which = std::pair<std::string, uint32_t>;  // communicator and sequence
  std::map<Id, std::vector<Collective>> by_stream;
  for (const Collective& one : collectives(trace)) {
    if (one.is_named() && one.op != kNoId) by_stream[one.stream].push_back(one);
  }
  if (by_stream.empty())
    return findings.never_reported("no collective was recorded with its communicator");
  for (auto first = by_stream.begin(); first != by_stream.end(); ++first) {
    std::map<Which, size_t> place;
    for (size_t i = 0; i < first->second.size(); ++i)
      place[{first->second[i].communicator, first->second[i].sequence}] = i;
    for (auto second = std::next(first); second != by_stream.end(); ++second) {
      const Collective* before = nullptr;  // the last one that both streams have
      size_t before_place = 0;
      for (const Collective& one : second->second) {
        const auto found = place.find({one.communicator, one.sequence});
        if (found == place.end()) continue;
        if (before != nullptr && found->second < before_place) {
          const Collective earlier = *before;
          findings.add(
              {first->first, second->first, fnv1a(one.communicator), fnv1a(earlier.communicator)},
              one.issued_ns, [&] {
                Finding finding;
                finding.first_op = earlier.op;
                finding.second_op = one.op;
                finding.place = analyses.places().of_op(one.op);
                finding.title = fmt::format("streams {} and {} run collectives in opposite orders",
                                            stream_label(trace, first->first),
                                            stream_label(trace, second->first));
                finding.text = fmt::format(
                    "{} comes before {}, but after it on stream {}. Each stream may wait for the "
                    "other's second collective. Issue the collectives of all communicators in the "
                    "same order on every rank.",
                    name_of(trace, earlier), name_of(trace, one),
                    stream_label(trace, first->first));
                return finding;
              });
        }
        before = &one;
        before_place = found->second;
      }
    }
  }
}

void find_queue_full_blocks(Analyses& analyses, Findings& findings) {
  const Trace& trace = analyses.trace();
  const WaitFor& graph = analyses.wait_for();
  for (const WaitFor::Blocked& call : graph.blocked()) {
    const WaitFor::Node& node = graph.node(call.node);
    const auto links = graph.links(call.node);
    if (node.kind != Kind::kCall || links.empty() || links.front().why != Why::kQueueFull) continue;
    const WaitFor::Node& head = graph.node(links.front().to);
    if (!head.stuck) continue;  // it may be slow
    findings.add({node.id}, trace.api_call.start_ns[node.id], [&] {
      Finding finding;
      if (head.kind == Kind::kOp) finding.first_op = head.id;
      finding.start_ns = trace.api_call.start_ns[node.id];
      finding.place = analyses.places().of_call(node.id);
      finding.title = fmt::format("{} blocks on a full queue behind {}", name_of(trace, node),
                                  name_of(trace, head));
      finding.text = fmt::format(
          "A stream's queue holds about 1,000 operations. The first one waits for something that "
          "has not happened, and the launch had waited {} for it. Release it before this much work "
          "is queued, or from a thread that queues nothing behind it.",
          format_duration(call.held_ns));
      return finding;
    });
  }
}

void find_endless_polls(Analyses& analyses, Findings& findings) {
  const Trace& trace = analyses.trace();
  const WaitFor& graph = analyses.wait_for();
  const auto& syncs = trace.host_sync;
  for (const WaitFor::Blocked& call : graph.blocked()) {
    const WaitFor::Node& node = graph.node(call.node);
    if (node.kind != Kind::kSync || !node.stuck || !is_query(syncs.kind[node.id])) continue;
    findings.add({call.thread, syncs.name_id[node.id]}, syncs.start_ns[node.id], [&] {
      Finding finding;
      finding.host_sync = node.id;
      finding.start_ns = syncs.start_ns[node.id];
      finding.title = fmt::format("{} polls for work that can never finish", name_of(trace, node));
      finding.text = fmt::format(
          "It has polled for {}, and the work waits for something that never happens (streamscope "
          "hang shows it). Give such loops a timeout.",
          format_duration(call.held_ns));
      return finding;
    });
  }
  // The last results of each thread that were all the same error.
  constexpr size_t kMany = 100;
  struct Row {
    trace::Small error = kSuccess;
    size_t count = 0;
    Id last = kNoId;
  };
  std::map<Id, Row> rows;
  for (Id sync = 0; sync < syncs.size(); ++sync) {
    Row& row = rows[syncs.thread_id[sync]];
    const trace::Small result = syncs.result[sync];
    const bool failed = is_query(syncs.kind[sync]) && result != kSuccess &&
                        result != trace::kNoSmall && result != trace::kResultNotReady;
    row.count = !failed ? 0 : result == row.error ? row.count + 1 : 1;
    row.error = result;
    row.last = sync;
  }
  for (const auto& [thread, row] : rows) {
    if (row.count < kMany) continue;
    findings.add({thread, syncs.name_id[row.last]}, syncs.start_ns[row.last], [&, &row = row] {
      Finding finding;
      finding.host_sync = row.last;
      finding.start_ns = syncs.start_ns[row.last];
      finding.place = analyses.places().of_sync(row.last);
      finding.title =
          fmt::format("{} keeps polling after error {}", sync_name(trace, row.last), row.error);
      finding.text = fmt::format(
          "The last {} queries of its thread returned this error, and so will all later ones. "
          "Leave the loop when a query returns anything other than success or not-ready.",
          format_count(row.count));
      return finding;
    });
  }
}

}  // namespace streamscope::analysis
