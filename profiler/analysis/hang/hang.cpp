// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "hang.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "analysis/call_sites.h"
#include "analysis/labels.h"
#include "analysis/units.h"
#include "analysis/usage/collectives.h"
#include "hang_snapshot.h"
#include "presumed_ended.h"
#include "vocabulary/list_text.h"
#include "wait_for_words.h"

namespace streamscope::analysis {
namespace {

using Index = WaitFor::Index;
using Kind = WaitFor::Kind;
using Why = WaitFor::Why;
using trace::HangReport;

constexpr size_t kFramesShown = 10, kThreadsShown = 8;

struct Verdict {
  std::string name, headline, why, remedy;
  std::vector<WaitFor::Step> cycle;
  std::vector<Index> culprits;
};

bool is_ours_or_coords(std::string_view thread_name) {
  return thread_name.starts_with("streamscope") || thread_name == "coord-poller";
}

class Explainer {
 public:
  Explainer(Analyses& analyses, Id process, const HangReport* coord)
      : trace_(analyses.trace()), graph_(analyses.wait_for()), process_(process), coord_(coord) {
    for (const WaitFor::Blocked& call : graph_.blocked()) {
      if (trace_.process_of_thread(call.thread) == process) blocked_.push_back(call);
    }
    std::vector<HangSnapshot> all = hang_snapshots(trace_);
    if (process < all.size()) snapshot_ = std::move(all[process]);
  }

  HangReport report() {
    Verdict verdict = judge();
    const bool by_coord = coord_ != nullptr && judge_coord(verdict);
    HangReport report;
    report.verdict = verdict.name;
    report.headline = verdict.headline;
    report.alarm = trace::is_alarm(verdict.name);
    report.text = verdict.name + ": " + verdict.headline + "\n";
    if (!verdict.why.empty()) report.text += "  why: " + verdict.why + "\n";
    if (coord_ != nullptr && !by_coord) report.text += "  libcoord: " + coord_->headline + "\n";
    report.text += words_waited_for();
    report.text += threads();
    if (!verdict.remedy.empty()) report.text += "  what to do: " + verdict.remedy + "\n";
    add_graph(report, verdict);
    return report;
  }

 private:
  bool is_ours(Index node) const {
    const WaitFor::Node& it = graph_.node(node);
    if (it.stream != kNoId) return trace_.process_of_stream(it.stream) == process_;
    return !it.on_host() || trace_.process_of_thread(thread_of_call(trace_, it)) == process_;
  }
  std::string held(Index node) const {
    return format_count(graph_.held_by(node), "op") + " behind it";
  }
  Id sample_of(Id thread) const {
    for (const Id sample : snapshot_.samples) {
      if (trace_.thread_sample.thread_id[sample] == thread) return sample;
    }
    return kNoId;
  }

  // The longest call of this process that waits for this reason.
  const WaitFor::Blocked* blocked_by(Why why) const {
    const WaitFor::Blocked* found = nullptr;
    for (const WaitFor::Blocked& call : blocked_) {
      const auto links = graph_.links(call.node);
      const bool so = graph_.node(call.node).kind == Kind::kCall &&
                      std::ranges::find(links, why, &WaitFor::Link::why) != links.end();
      if (so && (found == nullptr || call.held_ns > found->held_ns)) found = &call;
    }
    return found;
  }

  Verdict judge() const {
    Verdict verdict;
    if (!judge_cycle(verdict) && !judge_lost_signal(verdict) && !judge_host_thread(verdict) &&
        !judge_running(verdict))
      return idle();
    // A blocked call in front of the cause may show the problem best.
    if (const WaitFor::Blocked* full = blocked_by(Why::kQueueFull);
        full && trace::is_alarm(verdict.name)) {
      const Id stream = trace_.api_call.stream_id[graph_.node(full->node).id];
      verdict.name = "launch-queue-full";
      verdict.headline = fmt::format("{} is blocked: the queue of stream {} is full, and {}",
                                     name_of(trace_, graph_.node(full->node)),
                                     stream_label(trace_, stream), verdict.headline);
      verdict.remedy =
          "A stream's queue holds about 1,000 operations; the thread that releases the first of "
          "them must not issue more behind it. " +
          verdict.remedy;
      verdict.culprits.push_back(full->node);
    } else if (const WaitFor::Blocked* device = blocked_by(Why::kDevice);
               device && trace::is_alarm(verdict.name)) {
      const WaitFor::Node& call = graph_.node(device->node);
      verdict.name = "implicit-sync";
      verdict.headline = fmt::format("{} waits for all work on the device, and {}",
                                     name_of(trace_, call), verdict.headline);
      verdict.remedy =
          waits_for_device(trace_, call.id)
              ? "Make this call before such work is launched or after it has ended, or use "
                "stream-ordered memory (cudaFreeAsync)."
              : "Load the code before such work is launched: launch each kernel once at the "
                "start, or set CUDA_MODULE_LOADING=EAGER.";
      verdict.culprits.push_back(device->node);
    }
    return verdict;
  }

  bool judge_cycle(Verdict& verdict) const {
    for (const std::vector<WaitFor::Step>& cycle : graph_.cycles()) {
      if (!std::ranges::all_of(cycle, [&](const auto& step) { return is_ours(step.node); }))
        continue;
      std::vector<std::string> parties;
      bool has_lock = false, has_memory = false;
      for (const WaitFor::Step& step : cycle) {
        const std::string party = party_of(trace_, graph_.node(step.node));
        if (std::find(parties.begin(), parties.end(), party) == parties.end())
          parties.push_back(party);
        has_lock |= step.why == Why::kLock;
        has_memory |= step.why == Why::kMemory || step.why == Why::kNotIssued;
        verdict.culprits.push_back(step.node);
      }
      verdict.name = "deadlock";
      verdict.headline = wait_for_each_other(parties);
      verdict.why = in_words(trace_, graph_, cycle) + ".";
      if (has_lock)
        verdict.remedy =
            "Do not hold the lock while waiting for the device, or always take the locks in the "
            "same order. ";
      if (has_memory)
        verdict.remedy += "Issue one of the writes before the wait in its own stream or thread.";
      verdict.cycle = cycle;
      return true;
    }
    return false;
  }

  bool judge_lost_signal(Verdict& verdict) const {
    for (const Index node : graph_.lost_signals()) {
      if (!is_ours(node)) continue;
      const Id op = graph_.node(node).id, call = trace_.op.api_call_id[op];
      const auto address = static_cast<uint64_t>(trace_.api_call.object[call]);
      verdict.name = "lost-signal";
      verdict.headline =
          fmt::format("{} waits for a value that is never written", op_on_stream(trace_, op));
      verdict.why = fmt::format("it needs {} at {:#x}", trace_.api_call.value[call], address);
      for (const Id probe : snapshot_.probes) {
        if (trace_.probe.kind[probe] == trace::kWordProbe &&
            static_cast<uint64_t>(trace_.probe.address[probe]) == address &&
            trace_.probe.value[probe] != trace::kNoInt)
          verdict.why += fmt::format(", which holds {}", trace_.probe.value[probe]);
      }
      verdict.why += fmt::format(", and no issued write stores it; {}.", held(node));
      verdict.remedy =
          "Issue the write before anything that waits for this stream; if a kernel, the "
          "host or another process is expected to store the value, check why it has not.";
      verdict.culprits.push_back(node);
      return true;
    }
    return false;
  }

  // What a call ultimately waits for. If no time shows which op is running, the first one counts.
  bool judge_running(Verdict& verdict) const {
    bool alive = false;
    for (const WaitFor::Blocked& call : blocked_) {
      if (graph_.node(call.node).stuck) continue;
      std::vector<Index> running = running_for(call);
      std::stable_partition(running.begin(), running.end(), [&](Index node) {
        return graph_.node(node).kind == Kind::kOp &&
               trace_.op.start_ns[graph_.node(node).id] != kUnknownNs;
      });
      for (const Index node : running) {
        if (graph_.node(node).kind != Kind::kOp) continue;
        const Id op = graph_.node(node).id;
        // These do not run: they end with the write, or immediately.
        if (trace_.op.kind[op] == trace::kMemoryWait || trace_.op.kind[op] == trace::kMemoryWrite)
          continue;
        const Ns before = longest_run(trace_, op);
        verdict = {};
        verdict.culprits.push_back(node);
        const std::string waited =
            fmt::format("{} has waited {} for it", name_of(trace_, graph_.node(call.node)),
                        format_duration(call.held_ns));
        const std::string earlier =
            before > 0 ? fmt::format("earlier runs took up to {}", format_duration(before))
                       : std::string("the trace has no earlier run to compare with");
        verdict.why = fmt::format("{}; {}; {}.", waited, earlier, held(node));
        if (!call.proved && call.held_ns < kTimesLonger * before) {
          alive = true;
          verdict.name = "alive";
          verdict.headline = op_on_stream(trace_, op) + " is slow, as in earlier runs";
          continue;
        }
        if (trace_.op.kind[op] == trace::kHostFunction) {
          verdict.name = "host-function-blocked";
          verdict.headline = op_on_stream(trace_, op) + " does not return";
          verdict.remedy =
              "A host function must not wait for a lock or a flag that is released by a thread "
              "inside a CUDA call or by later work in its own stream: hand the work to a thread of "
              "the program.";
        } else if (is_collective(trace_, op)) {
          verdict.name = "collective";
          verdict.headline = op_on_stream(trace_, op) + " waits for the other ranks";
          verdict.why += ranks_in_collectives();
          verdict.remedy =
              "Check that every rank issues the same collectives in the same order on "
              "every communicator, and that two communicators can run at once.";
        } else {
          verdict.name = "stuck-kernel";
          if (is_first_to_end(call, running, node)) {
            verdict.headline = op_on_stream(trace_, op) + " does not end";
          } else {
            verdict.headline = op_on_stream(trace_, op) + " or what waits for it does not end";
            verdict.why += " Nothing says which of them runs.";
          }
          verdict.remedy = before > 0 ? "" : "It may also be slow. ";
          verdict.remedy +=
              "Look for a loop that waits for memory that is never written, or for blocks "
              "that cannot all be resident at once.";
        }
        return true;
      }
    }
    return alive;
  }

  // Where nothing says that the first of several ops runs, and a collective is the next of which it
  // can be said that it waits, that one.
  std::vector<Index> running_for(const WaitFor::Blocked& call) const {
    std::vector<Index> running = graph_.running(call);
    const auto is_op = [&](Index node) { return graph_.node(node).kind == Kind::kOp; };
    if (call.proved || std::ranges::any_of(running, [&](Index node) {
          return is_op(node) && trace_.op.start_ns[graph_.node(node).id] != kUnknownNs;
        }))
      return running;
    std::vector<Index> likely = graph_.running(call, PresumedEnded(trace_, call.held_ns));
    const auto rest = std::ranges::stable_partition(likely, [&](Index node) {
      return is_op(node) && is_collective(trace_, graph_.node(node).id);
    });
    return rest.begin() == likely.begin() ? running : likely;
  }

  // The times of what ended last may be lost with a process that is killed, or not be delivered
  // yet; then the first of several ops may have ended, unless its start says that it runs.
  bool is_first_to_end(const WaitFor::Blocked& call, const std::vector<Index>& running,
                       Index node) const {
    return call.proved || trace_.op.start_ns[graph_.node(node).id] != kUnknownNs ||
           (running.size() == 1 && graph_.held_by(node) == 0);
  }

  // Which collective each stream is at.
  std::string ranks_in_collectives() const {
    std::string text;
    std::set<Id> reported;
    for (const Collective& one : collectives(trace_)) {
      if (one.op == kNoId || one.end_ns != kUnknownNs ||
          trace_.process_of_stream(one.stream) != process_ || !reported.insert(one.stream).second)
        continue;
      text += fmt::format(" It waits in {}.", name_of(trace_, one));
    }
    return text;
  }

  // The thread that issued earlier releasing writes but not this one.
  bool judge_host_thread(Verdict& verdict) const {
    for (Index node = 0; node < graph_.size(); ++node) {
      if (!is_ours(node)) continue;
      for (const WaitFor::Link& link : graph_.links(node)) {
        const WaitFor::Node& writer = graph_.node(link.to);
        if (link.why != Why::kNotIssued || writer.kind != Kind::kThread) continue;
        const Id sample = sample_of(writer.id);
        const bool busy = sample != kNoId && is_busy(trace_, sample);
        verdict.name = busy ? "alive" : "host-not-feeding";
        verdict.headline =
            fmt::format("{} needs another write from {}, which {} outside of CUDA",
                        name_of(trace_, graph_.node(node)), thread_label(trace_, writer.id),
                        busy ? "computes" : "sleeps");
        verdict.why = held(node) + ".";
        verdict.remedy = "Check what this thread is waiting for; see its stack.";
        verdict.culprits = {node, link.to};
        return true;
      }
    }
    return false;
  }

  // A thread of the program that is computing.
  Id busy_thread() const {
    for (const Id sample : snapshot_.samples) {
      const Id thread = trace_.thread_sample.thread_id[sample];
      const std::string_view name = trace_.text(trace_.thread.name_id[thread]);
      if (is_busy(trace_, sample) && !is_ours_or_coords(name)) return thread;
    }
    return kNoId;
  }

  // libcoord names the waits inside it. Stuck work on the device is their cause, unless the device
  // only lacks input from the host. False if libcoord adds nothing to the verdict.
  bool judge_coord(Verdict& verdict) const {
    constexpr std::string_view kByHost[] = {"idle", "unexplained", "lost-signal",
                                            "host-not-feeding"};
    const bool deadlock = coord_->verdict == "deadlock";
    if (!deadlock &&
        std::find(std::begin(kByHost), std::end(kByHost), verdict.name) == std::end(kByHost))
      return false;
    verdict = {};
    verdict.name = coord_->verdict;
    verdict.headline = coord_->headline;
    const Id busy = busy_thread();
    if (!deadlock && busy != kNoId) {
      verdict.name = "alive";
      verdict.headline += fmt::format("; {} computes", thread_label(trace_, busy));
    } else if (deadlock) {
      verdict.remedy =
          "Break the cycle: one of them must not wait for the others or must run first.";
    } else if (coord_->verdict == "missing-participant") {
      verdict.remedy =
          "Check why the thread that feeds the missing stream does not reach the barrier: it may "
          "have exited early, failed, or be waiting for one that has arrived.";
    } else {
      verdict.remedy = "Signal the value, or check why the thread that should signal it does not.";
    }
    return true;
  }

  Verdict idle() const {
    Verdict verdict;
    for (const WaitFor::Blocked& call : blocked_) {
      const Id sample = sample_of(call.thread);
      const bool busy =
          graph_.node(call.node).kind == Kind::kCall && sample != kNoId && is_busy(trace_, sample);
      verdict.name = busy ? "alive" : "unexplained";
      verdict.headline =
          fmt::format("{} has not returned for {}", name_of(trace_, graph_.node(call.node)),
                      format_duration(call.held_ns));
      verdict.why =
          busy ? "its thread is computing." : "the recording does not show what it waits for.";
      verdict.culprits.push_back(call.node);
      return verdict;
    }
    verdict.name = "idle";
    verdict.headline = "nothing is pending and no call is in progress";
    return verdict;
  }

  // A note on missing device times.
  std::string words_waited_for() const {
    std::string text;
    for (const Id probe : snapshot_.probes) {
      if (trace_.probe.kind[probe] == trace::kFlushProbe && trace_.probe.result[probe] != 0)
        text = "  note: the driver blocked CUPTI's flush, so device times may be missing\n";
    }
    return text;
  }

  Id stack_of(Id thread, const WaitFor::Node* call) const {
    const Id sample = sample_of(thread);
    if (sample != kNoId && trace_.thread_sample.stack_id[sample] != kNoId)
      return trace_.thread_sample.stack_id[sample];
    if (call == nullptr) return kNoId;
    if (call->kind == Kind::kSync) return trace_.host_sync.stack_id[call->id];
    return call->kind == Kind::kCall ? trace_.api_call.stack_id[call->id] : kNoId;
  }

  std::string stack(Id stack, const char* indent) const {
    std::string text;
    size_t shown = 0;
    for (const std::string& line : stack_lines(trace_, stack)) {
      if (shown++ == kFramesShown) break;
      text += indent + line + "\n";
    }
    return text;
  }

  std::string threads() const {
    std::string text;
    std::set<Id> reported;
    size_t shown = 0;
    for (const WaitFor::Blocked& call : blocked_) {
      if (shown++ == kThreadsShown) return text + "  and more threads\n";
      const WaitFor::Node& node = graph_.node(call.node);
      reported.insert(call.thread);
      text += fmt::format("  {}: {} in {}\n", thread_label(trace_, call.thread),
                          format_duration(call.held_ns), call_name(trace_, node));
      const Id seen = stack_of(call.thread, &node);
      text += stack(seen, "      ");
      // The native stack has the interpreter's frames; the Python frames were read on entry.
      const Id at_entry = node.kind == Kind::kSync ? trace_.host_sync.stack_id[node.id] : kNoId;
      if (at_entry != kNoId && at_entry != seen) {
        for (Id frame = 0; frame < trace_.stack_frame.size(); ++frame) {
          if (trace_.stack_frame.stack_id[frame] == at_entry &&
              trace_.stack_frame.kind[frame] == trace::kPythonFrame) {
            text += "    called from Python:\n" + stack(at_entry, "      ");
            break;
          }
        }
      }
    }
    for (const Id sample : snapshot_.samples) {
      const Id thread = trace_.thread_sample.thread_id[sample];
      const bool serves = serves_the_driver(trace_, sample);
      const bool locked = trace_.thread_sample.lock_owner_id[sample] != kNoId;
      const bool recorded = trace_.thread.start_ns[thread] != kUnknownNs;
      const bool in_coord =
          coord_ != nullptr && std::any_of(coord_->nodes.begin(), coord_->nodes.end(),
                                           [&](const HangReport::Node& node) {
                                             return node.kind == trace::kHangThread &&
                                                    node.object == thread;
                                           });
      if (reported.contains(thread) ||
          is_ours_or_coords(trace_.text(trace_.thread.name_id[thread])) ||
          (!serves && !locked && !recorded && !in_coord))
        continue;
      if (shown++ == kThreadsShown) return text + "  and more threads\n";
      text += fmt::format("  {}: {}\n", thread_label(trace_, thread),
                          serves                    ? "runs a host function"
                          : locked                  ? "waits for a lock"
                          : in_coord                ? "waits in libcoord"
                          : is_busy(trace_, sample) ? "computes outside of CUDA"
                                                    : "sleeps outside of CUDA");
      text += stack(trace_.thread_sample.stack_id[sample], "      ");
    }
    return text;
  }

  void add_graph(HangReport& report, const Verdict& verdict) const {
    std::map<Index, size_t> number;
    const auto add = [&](Index index) {
      const auto [known, is_new] = number.try_emplace(index, report.nodes.size());
      if (!is_new) return known->second;
      const WaitFor::Node& node = graph_.node(index);
      constexpr trace::HangNodeKind kKinds[] = {trace::kHangOp,        trace::kHangEventRecord,
                                                trace::kHangEventWait, trace::kHangHostSync,
                                                trace::kHangThread,    trace::kHangThread};
      HangReport::Node row;
      row.name = name_of(trace_, node);
      row.kind = kKinds[static_cast<size_t>(node.kind)];
      row.object = row.kind == trace::kHangThread ? thread_of_call(trace_, node) : node.id;
      if (node.on_host()) row.stack = stack_of(thread_of_call(trace_, node), &node);
      row.in_cycle =
          std::ranges::find(verdict.cycle, index, &WaitFor::Step::node) != verdict.cycle.end();
      report.nodes.push_back(std::move(row));
      return known->second;
    };
    // From the blocked calls along everything they wait for, up to a readable size.
    constexpr size_t kMostNodes = 200;
    std::vector<Index> next = verdict.culprits;
    for (const WaitFor::Blocked& call : blocked_) next.push_back(call.node);
    std::set<Index> seen;
    for (size_t i = 0; i < next.size() && report.nodes.size() < kMostNodes; ++i) {
      if (!seen.insert(next[i]).second) continue;
      const size_t from = add(next[i]);
      for (const WaitFor::Link& link : graph_.links(next[i])) {
        const bool any = link.why == Why::kMemory || link.why == Why::kNotIssued;
        report.edges.push_back({from, add(link.to), any ? trace::kNeedsAny : trace::kNeedsAll,
                                std::string(reason(link.why))});
        next.push_back(link.to);
      }
    }
    if (coord_ == nullptr) return;
    const size_t first = report.nodes.size();
    for (HangReport::Node node : coord_->nodes) {
      if (node.kind == trace::kHangThread) node.stack = stack_of(node.object, nullptr);
      report.nodes.push_back(std::move(node));
    }
    for (HangReport::Edge edge : coord_->edges) {
      edge.from += first;
      edge.to += first;
      report.edges.push_back(std::move(edge));
    }
  }

  const Trace& trace_;
  const WaitFor& graph_;
  Id process_;
  const HangReport* coord_;
  std::vector<WaitFor::Blocked> blocked_;
  HangSnapshot snapshot_;
};

}  // namespace

HangReport explain_hang(Analyses& analyses, Id process, const HangReport* coord) {
  return Explainer(analyses, process, coord).report();
}

std::map<Id, HangReport> proved_hangs(Analyses& analyses) {
  const Trace& trace = analyses.trace();
  std::map<Id, HangReport> found;
  if (!trace.hang.empty()) return found;
  for (const WaitFor::Blocked& call : analyses.wait_for().blocked()) {
    const Id process = trace.process_of_thread(call.thread);
    if (!call.proved || found.contains(process)) continue;
    HangReport report = explain_hang(analyses, process);
    if (report.alarm) found.emplace(process, std::move(report));
  }
  return found;
}

std::vector<HangReport> explain_hangs(Analyses& analyses) {
  const Trace& trace = analyses.trace();
  std::vector<HangReport> reports;
  std::vector<bool> stored(trace.process.size());
  for (Id hang = 0; hang < trace.hang.size(); ++hang) {
    HangReport report;
    report.verdict = printable(trace.text(trace.hang.verdict_id[hang]));
    constexpr bool kKeepLines = true;
    report.text = printable(trace.text(trace.hang.text_id[hang]), kKeepLines);
    report.headline = report.text.substr(0, report.text.find('\n'));
    report.alarm = trace::is_alarm(report.verdict);
    reports.push_back(std::move(report));
    if (trace.hang.process_id[hang] < stored.size()) stored[trace.hang.process_id[hang]] = true;
  }
  for (Id process = 0; process < trace.process.size(); ++process) {
    if (stored[process]) continue;
    HangReport report = explain_hang(analyses, process);
    if (report.alarm) reports.push_back(std::move(report));
  }
  return reports;
}

}  // namespace streamscope::analysis
