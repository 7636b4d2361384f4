// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Programs that hang. All detectors here start from calls that had not returned when their process
// or the recording ended. On a GPU a call counts after a second; on the simulated device it counts
// once the device reports that it can never return.
//
// deadlock-cycle (SS101): memory waits, the work queued behind them, and host threads wait for each
//   other in a cycle. Evidence: calls with their order, records by version, addresses and values of
//   memory waits and writes; no device times. Streams, events and synchronizations alone cannot
//   form a cycle. If there is no such cycle, a deadlock that libcoord reported during the hang is
//   found. Only known false alarm: a host store that no trace shows and that would have come later.
// lost-signal (SS102): a call is held up by a memory wait for a value that no write in the trace
//   provides; or libcoord reported during the hang that a participant never reaches a barrier, or
//   that nobody signals a timeline value. Evidence: as for deadlock-cycle. A kernel, the host or
//   another device may write unseen; it had not done so when the trace ended.
// stuck-kernel (SS103): a call waits, and everything it waits for comes down to a kernel that does
//   not end. Evidence: calls, order. If several kernels were pending, device times show which one
//   it is; without them the finding is suspected. Earlier runs of a kernel show whether it is only
//   slow: it counts as stuck once the call has waited ten times as long as the longest of them.
//   Without earlier runs the finding is suspected.
// host-func-hazard (SS104): a host function does not return. It holds up its stream and, because
//   one thread runs them all, every other host function of its context. Or a host function calls
//   CUDA, which fails with code 800. Evidence: calls. A host function that is only slow is
//   recognized as in stuck-kernel.
// implicit-sync-under-spin (SS107): a call that waits for all work of the device is made while some
//   of that work waits for the host, which is a hang. Such calls are cudaFree, cudaFreeHost,
//   cudaHostUnregister, loading a module and setting a limit. On a simulated device the call
//   returns. There it is found if the same thread then makes the write that a pending memory wait
//   needs. Evidence: calls. A free of memory from a pool returns at once, and only this shows that
//   it came from a pool.
#include <fmt/format.h>

#include <algorithm>

#include "../labels.h"
#include "../units.h"
#include "analysis/hang/wait_for_words.h"
#include "families.h"
#include "steps.h"
#include "vocabulary/list_text.h"

namespace streamscope::analysis {
namespace {

using Why = WaitFor::Why;
using Kind = WaitFor::Kind;

std::string ops_wait(size_t count) {
  return count == 1 ? "1 op waits" : format_count(count) + " ops wait";
}

// What a blocked call that is not part of a deadlock ultimately waits for, if of this kind.
void find_running(Analyses& analyses, Findings& findings, trace::OpKind kind,
                  const std::function<void(Finding&, Id op, size_t held)>& describe) {
  const Trace& trace = analyses.trace();
  const WaitFor& graph = analyses.wait_for();
  for (const WaitFor::Blocked& call : graph.blocked()) {
    if (graph.node(call.node).stuck) continue;
    const std::vector<WaitFor::Index> running = graph.running(call);
    // If no time shows which of them is running, the first in each stream may have ended long ago.
    bool any_started = false;
    for (const WaitFor::Index node : running)
      any_started |= graph.node(node).kind == Kind::kOp &&
                     trace.op.start_ns[graph.node(node).id] != kUnknownNs;
    for (const WaitFor::Index node : running) {
      if (graph.node(node).kind != Kind::kOp) continue;
      const Id op = graph.node(node).id;
      const bool started = trace.op.start_ns[op] != kUnknownNs;
      if (trace.op.kind[op] != kind || (any_started && !started)) continue;
      const Ns before = longest_run(trace, op);
      if (!call.proved && call.held_ns < kTimesLonger * before) continue;
      const Findings::Key key{trace.op.name_id[op], trace.op.stream_id[op]};
      findings.add(key, trace.op.start_ns[op], [&] {
        Finding finding;
        finding.first_op = op;
        if (graph.node(call.node).kind == Kind::kSync) finding.host_sync = graph.node(call.node).id;
        finding.start_ns = started ? trace.op.start_ns[op] : issue_of(trace, op).start_ns;
        finding.place = analyses.places().of_op(op);
        const bool only_one = running.size() == 1 && graph.held_by(node) == 0;
        if (!call.proved && (before == 0 || !(started || only_one)))
          finding.confidence = Confidence::kSuspected;
        describe(finding, op, graph.held_by(node));
        finding.text +=
            fmt::format(" {} on {} had waited {} for it", call_name(trace, graph.node(call.node)),
                        thread_label(trace, call.thread), format_duration(call.held_ns));
        finding.text += before > 0
                            ? fmt::format("; earlier runs took up to {}.", format_duration(before))
                            : "; the trace has no earlier run to compare with.";
        return finding;
      });
    }
  }
}

// Hangs that were reported while the program ran and that the calls in the trace do not show: those
// of libcoord's threads, barriers and timelines.
void find_reported(Analyses& analyses, Findings& findings, std::string_view verdict) {
  const Trace& trace = analyses.trace();
  for (Id hang = 0; hang < trace.hang.size(); ++hang) {
    if (trace.text(trace.hang.verdict_id[hang]) != verdict) continue;
    const std::string_view reported = trace.text(trace.hang.text_id[hang]);
    const size_t end = std::min(reported.find('\n'), reported.size());
    const std::string_view first = reported.substr(0, end);
    findings.add(
        {trace.hang.process_id[hang], trace.hang.text_id[hang]}, trace.hang.start_ns[hang], [&] {
          Finding finding;
          finding.start_ns = trace.hang.start_ns[hang];
          finding.title = printable(first.substr(std::min(verdict.size() + 2, first.size())));
          finding.text =
              "Reported while the program hung; streamscope hang shows the threads and what they "
              "wait for.";
          for (Id node = 0; node < trace.hang_node.size(); ++node) {
            const Id operation = trace.hang_node.object_id[node];
            if (trace.hang_node.hang_id[node] != hang ||
                trace.hang_node.kind[node] != trace::kHangOperation ||
                operation >= trace.operation.size())
              continue;
            finding.place.call_site =
                printable(trace.text(trace.operation.call_site_id[operation]));
            break;
          }
          return finding;
        });
  }
}

}  // namespace

void find_deadlock_cycles(Analyses& analyses, Findings& findings) {
  const Trace& trace = analyses.trace();
  const WaitFor& graph = analyses.wait_for();
  if (graph.cycles().empty()) find_reported(analyses, findings, "deadlock");
  for (const std::vector<WaitFor::Step>& cycle : graph.cycles()) {
    std::vector<std::string> parties;
    std::vector<Id> waits;
    Findings::Key key;
    Id sync = kNoId;
    for (const WaitFor::Step& step : cycle) {
      const WaitFor::Node& node = graph.node(step.node);
      const std::string party = party_of(trace, node);
      if (std::find(parties.begin(), parties.end(), party) == parties.end()) {
        parties.push_back(party);
        key.push_back(node.stream);
      }
      if (node.kind == Kind::kSync) sync = node.id;
      if (step.why == Why::kMemory || step.why == Why::kNotIssued) waits.push_back(node.id);
    }
    std::sort(key.begin(), key.end());
    findings.add(key, kUnknownNs, [&] {
      Finding finding;
      finding.first_op = waits.empty() ? kNoId : waits.front();
      finding.second_op = waits.size() > 1 ? waits[1] : kNoId;
      finding.host_sync = sync;
      finding.title = wait_for_each_other(parties);
      finding.text = fmt::format(
          "Deadlock: {}. {} can never run. Issue one of the writes before the wait in its own "
          "stream, or on a stream that does not wait.",
          in_words(trace, graph, cycle),
          format_count(graph.held_by(cycle.front().node), "further op"));
      if (finding.first_op != kNoId) {
        finding.start_ns = issue_of(trace, finding.first_op).start_ns;
        finding.place = analyses.places().of_op(finding.first_op);
      }
      return finding;
    });
  }
}

void find_lost_signals(Analyses& analyses, Findings& findings) {
  const Trace& trace = analyses.trace();
  const WaitFor& graph = analyses.wait_for();
  find_reported(analyses, findings, "missing-participant");
  if (graph.lost_signals().empty()) find_reported(analyses, findings, "lost-signal");
  for (const WaitFor::Index node : graph.lost_signals()) {
    const Id op = graph.node(node).id, call = trace.op.api_call_id[op];
    const uint64_t address = static_cast<uint64_t>(trace.api_call.object[call]);
    const Ns at = trace.api_call.start_ns[call];
    findings.add({trace.op.stream_id[op], trace.api_call.name_id[call]}, at, [&] {
      Finding finding;
      finding.first_op = op;
      finding.start_ns = at;
      finding.title = fmt::format("stream {} waits for a value that is never written",
                                  stream_label(trace, trace.op.stream_id[op]));
      finding.text = fmt::format(
          "{} needs {} at {:#x}, and no issued write stores it. {} wait for it. Issue the write "
          "before anything that waits for this stream; if a kernel or the host is expected to "
          "store the value, it had not done so when the trace ended.",
          op_on_stream(trace, op), trace.api_call.value[call], address,
          format_count(graph.held_by(node), "op"));
      return finding;
    });
  }
}

void find_stuck_kernels(Analyses& analyses, Findings& findings) {
  const Trace& trace = analyses.trace();
  find_running(analyses, findings, trace::kKernel, [&](Finding& finding, Id op, size_t held) {
    finding.title = fmt::format("{} does not end", op_on_stream(trace, op));
    finding.text = fmt::format(
        "All pending work depends on this kernel; {} behind it.{} Look for a loop that waits for "
        "memory that is never written, or for blocks that cannot all be resident at once.",
        ops_wait(held),
        finding.confidence == Confidence::kSuspected ? " It may also be slow." : "");
  });
}

void find_host_function_hazards(Analyses& analyses, Findings& findings) {
  const Trace& trace = analyses.trace();
  find_running(analyses, findings, trace::kHostFunction, [&](Finding& finding, Id op, size_t held) {
    finding.title = fmt::format("{} does not return", op_on_stream(trace, op));
    finding.text = fmt::format(
        "It blocks its stream and every other host function of the context; {} for it. It must "
        "not wait for a lock or a flag that is released by a thread inside a CUDA call: hand the "
        "work to a thread of the program instead.",
        ops_wait(held));
  });
  // CUDA rejects calls from inside a host function.
  constexpr trace::Small kNotPermitted = 800;
  std::vector<bool> has_host_functions(trace.process.size());
  for (Id op = 0; op < trace.op.size(); ++op) {
    const Id process = trace.process_of_stream(trace.op.stream_id[op]);
    if (trace.op.kind[op] == trace::kHostFunction && process < has_host_functions.size())
      has_host_functions[process] = true;
  }
  const auto find_refused = [&](const auto& rows, auto place_of, bool are_syncs) {
    for (Id row = 0; row < rows.size(); ++row) {
      if (rows.result[row] != kNotPermitted) continue;
      const Id process = trace.process_of_thread(rows.thread_id[row]);
      if (process >= has_host_functions.size() || !has_host_functions[process]) continue;
      findings.add({rows.name_id[row], rows.thread_id[row]}, rows.start_ns[row], [&] {
        Finding finding;
        if (are_syncs) finding.host_sync = row;
        finding.start_ns = rows.start_ns[row];
        finding.place = place_of(row);
        finding.title =
            fmt::format("a host function calls {}", printable(trace.text(rows.name_id[row])));
        finding.text =
            "CUDA rejects it with error 800 (not permitted), so the call had no effect. Let the "
            "host function hand the work to a thread of the program.";
        return finding;
      });
    }
  };
  const auto unknown = [](Id) { return Location{}; };
  find_refused(
      trace.api_call, [&](Id call) { return analyses.places().of_call(call); }, false);
  find_refused(trace.host_sync, unknown, true);
  find_refused(trace.event_record, unknown, false);
  find_refused(trace.event_wait, unknown, false);
}

void find_implicit_syncs_under_spin(Analyses& analyses, Findings& findings) {
  const Trace& trace = analyses.trace();
  const WaitFor& graph = analyses.wait_for();
  const auto& calls = trace.api_call;
  const auto found = [&](Id call, Id held_by, bool hung) {
    findings.add({calls.name_id[call], calls.thread_id[call], hung}, calls.start_ns[call], [&] {
      Finding finding;
      finding.first_op = held_by;
      finding.place = analyses.places().of_call(call);
      finding.start_ns = calls.start_ns[call];
      const std::string name = printable(trace.text(calls.name_id[call]));
      finding.title =
          fmt::format("{} while {} waits for the host", name, op_on_stream(trace, held_by));
      finding.text = fmt::format(
          "{} waits for all work on the device, and most other calls wait for it meanwhile. {} "
          "Make the call before such work is launched or after it has ended, or use "
          "stream-ordered memory (cudaFreeAsync).",
          name,
          hung ? "It never returned."
               : "The thread issues the write that releases this work only after the call: on a "
                 "GPU the call would never return.");
      return finding;
    });
  };
  for (const WaitFor::Blocked& blocked : graph.blocked()) {
    const WaitFor::Node& node = graph.node(blocked.node);
    const auto links = graph.links(blocked.node);
    if (node.kind != Kind::kCall || links.empty() || links.front().why != Why::kDevice) continue;
    // What blocks it: a memory wait without a write, or work that does not end.
    Id held_by = kNoId;
    if (node.stuck) {
      for (const WaitFor::Index lost : graph.lost_signals()) held_by = graph.node(lost).id;
    } else if (const auto running = graph.running(blocked); !running.empty()) {
      held_by = graph.node(running.front()).id;
    }
    if (held_by != kNoId) found(node.id, held_by, true);
  }
  // On simulated devices the call does not block.
  if (!analyses.order().has_writers()) return;
  std::vector<Id> device_calls;
  for (Id call = 0; call < calls.size(); ++call) {
    const Id process = trace.process_of_thread(calls.thread_id[call]);
    if (waits_for_device(trace, call) && calls.end_ns[call] != kUnknownNs &&
        process < trace.process.size() && trace.process.clock[process] == trace::kVirtualClock) {
      device_calls.push_back(call);
    }
  }
  for (Id op = 0; op < trace.op.size() && !device_calls.empty(); ++op) {
    const Id writer = analyses.order().writer_of(op);
    if (writer == kNoId) continue;
    const Issue wait = issue_of(trace, op), write = issue_of(trace, writer);
    for (const Id call : device_calls) {
      if (calls.thread_id[call] == write.thread_id && calls.start_ns[call] >= wait.end_ns &&
          calls.end_ns[call] <= write.start_ns) {
        found(call, op, false);
      }
    }
  }
}

}  // namespace streamscope::analysis
