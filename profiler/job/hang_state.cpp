// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "job/hang_state.h"

#include <fmt/format.h>

#include <cstring>
#include <map>
#include <set>
#include <tuple>

#include "analysis/hang/hang.h"
#include "analysis/hang/presumed_ended.h"
#include "analysis/usage/collectives.h"
#include "vocabulary/tier.h"

namespace streamscope::job {
namespace {

using trace::Id;
using trace::kNoId;
using trace::Ns;
using trace::Trace;

// The process of the rank: the one that says so, or else the one with most collectives.
Id process_of(const Trace& trace, int32_t rank, const std::vector<analysis::Collective>& all) {
  std::map<Id, size_t> counts;
  for (const analysis::Collective& collective : all) ++counts[collective.process];
  Id found = trace.process.size() > 0 ? 0 : kNoId;
  size_t most = 0;
  bool named = false;
  for (Id process = 0; process < trace.process.size(); ++process) {
    const bool is_it = rank >= 0 && trace.process.rank[process] == rank;
    const size_t count = counts.contains(process) ? counts.at(process) : 0;
    if (is_it < named || (is_it == named && count <= most && process > 0)) continue;
    found = process;
    most = count;
    named = is_it;
  }
  return found;
}

// False if it runs.
bool find_end(const Trace& trace, Id process, RankHang& hang) {
  if (trace.process.end_ns[process] == trace::kUnknownNs) return false;
  const auto signal = trace.process.exit_signal[process], code = trace.process.exit_code[process];
  const bool signaled = signal != trace::kNoSmall && signal != 0;
  const bool failed = code != trace::kNoSmall && code != 0;
  const bool unknown = !signaled && code == trace::kNoSmall && trace.process.complete[process] == 0;
  hang.state = signaled || failed || unknown ? RankState::kDied : RankState::kEnded;
  hang.reason = signaled  ? fmt::format("was ended by signal {} ({})", signal, strsignal(signal))
                : failed  ? fmt::format("ended with exit code {}", code)
                : unknown ? "ended abruptly, and may have been killed"
                          : "ended";
  return true;
}

// "at loader.py:12 load", of the thread that began the process if that was sampled; "" if nothing
// was.
std::string last_seen(analysis::Analyses& analyses, Id process) {
  const Trace& trace = analyses.trace();
  const auto& samples = trace.host_sample;
  Id last = kNoId;
  for (Id sample = 0; sample < samples.size(); ++sample) {
    if (samples.stack_id[sample] >= trace.stack.size() ||
        trace.process_of_thread(samples.thread_id[sample]) != process)
      continue;
    const auto rank = [&](Id one) {
      const Id thread = samples.thread_id[one];
      return std::pair(trace.thread.os_tid[thread] == trace.process.os_pid[process],
                       samples.at_ns[one]);
    };
    if (last == kNoId || rank(sample) > rank(last)) last = sample;
  }
  if (last == kNoId) return "";
  const std::string& site = analyses.places().call_site(samples.stack_id[last]);
  return site.empty() ? "" : "at " + site;
}

void find_hang(analysis::Analyses& analyses, RankHang& hang) {
  for (const trace::HangReport& report : analysis::explain_hangs(analyses)) {
    if (!report.alarm) continue;
    hang.state = RankState::kHangs;
    hang.reason = "hangs: " + report.headline;
    return;
  }
}

void find_quiet(analysis::Analyses& analyses, Id process, RankHang& hang) {
  const trace::HangReport report = analysis::explain_hang(analyses, process);
  hang.state = RankState::kQuiet;
  hang.reason = report.alarm ? "makes no progress: " + report.headline : "is outside CUDA";
  const std::string seen = last_seen(analyses, process);
  if (!report.alarm && !seen.empty())
    hang.reason += " and was " + seen + " when it was sampled last";
}

// How far the streams of a trace came, as far as device times tell.
class Reached {
 public:
  explicit Reached(analysis::Analyses& analyses)
      : trace_(analyses.trace()), ops_(analyses.stream_ops()), graph_(analyses.wait_for()) {
    const auto tier = trace_.meta.find("tier");
    has_times_ = tier == trace_.meta.end() || tier->second != to_string(Tier::kStructure);
    place_.resize(trace_.op.size());
    last_timed_.resize(ops_.stream_count());
    for (Id stream = 0; stream < ops_.stream_count(); ++stream) {
      size_t place = 0;
      for (const Id op : ops_.ops(stream)) {
        place_[op] = ++place;
        if (analysis::is_timed(trace_, op)) last_timed_[stream] = place;
      }
    }
    for (WaitFor::Index node = 0; node < graph_.size(); ++node) {
      if (graph_.node(node).kind != WaitFor::Kind::kOp) continue;
      pending_.insert(graph_.node(node).id);
    }
    Ns waited = 0;
    for (const WaitFor::Blocked& call : graph_.blocked()) waited = std::max(waited, call.held_ns);
    for (const WaitFor::Index node : graph_.running(analysis::PresumedEnded(trace_, waited))) {
      if (graph_.node(node).kind == WaitFor::Kind::kOp) running_.insert(graph_.node(node).id);
    }
  }

  bool has_ended(const analysis::Collective& one) const {
    return one.end_ns != trace::kUnknownNs || has_ended(one.last_op);
  }
  // CUPTI reports a kernel when it has ended, so one that runs is known by what it does not wait
  // for. A call that does not return and has launched nothing waits for the others on the host.
  bool has_begun(const analysis::Collective& one) const {
    if (one.start_ns != trace::kUnknownNs || has_ended(one) || one.op == kNoId) return true;
    if (!has_times_ || !has_place(one.op)) return false;
    if (pending_.contains(one.op)) return running_.contains(one.op);
    const Id before = ops_.predecessor(one.op);
    return before == kNoId || has_ended(before);
  }

 private:
  using WaitFor = analysis::WaitFor;
  bool has_place(Id op) const {
    return op < place_.size() && trace_.op.stream_id[op] < last_timed_.size();
  }
  // Its own report may be lost, or not be delivered as long as later work runs; then a report of a
  // later one on its stream shows that it ended, or what the host or an answer of the device says.
  bool has_ended(Id op) const {
    if (op >= trace_.op.size()) return false;
    if (trace_.op.end_ns[op] != trace::kUnknownNs) return true;
    if (!has_place(op)) return false;
    return place_[op] <= last_timed_[trace_.op.stream_id[op]] ||
           (graph_.covers(trace_.process_of_stream(trace_.op.stream_id[op])) &&
            trace_.op.api_call_id[op] < trace_.api_call.size() && !pending_.contains(op));
  }

  const Trace& trace_;
  const analysis::StreamOps& ops_;
  const WaitFor& graph_;
  std::vector<size_t> place_;       // by op: in its stream, from 1
  std::vector<size_t> last_timed_;  // by stream: the last place whose times are known; 0: none
  std::set<Id> pending_, running_;  // ops, as far as the graph has them
  bool has_times_ = false;
};

void find_positions(analysis::Analyses& analyses, Id process,
                    const std::vector<analysis::Collective>& all, RankHang& hang) {
  const Reached reached(analyses);
  std::map<std::string, Membership> memberships;
  for (const analysis::Collective& collective : all) {
    if (collective.process != process) continue;
    Membership& one = memberships[collective.communicator];
    one.size = std::max<int32_t>(one.size, collective.communicator_size);
    one.rank = std::max<int32_t>(one.rank, collective.rank);
  }
  for (auto& [name, one] : memberships) one.rank = rank_in(one, hang.identity);
  // The sends to a rank, the receives from one, and all collectives of a communicator.
  std::map<std::tuple<std::string, CollectiveKind, int32_t>, LastCall> calls;
  for (const analysis::Collective& collective : all) {
    if (collective.process != process) continue;
    const Membership& membership = memberships.at(collective.communicator);
    const bool started = reached.has_begun(collective), ended = reached.has_ended(collective);
    const bool message = is_message(collective.kind);
    if (message && (membership.rank < 0 || collective.peer < 0)) {
      hang.in_message |= started && !ended;
      continue;
    }
    const auto [at, is_new] =
        calls.try_emplace({collective.communicator, message ? collective.kind : CollectiveKind{},
                           message ? collective.peer : -1});
    LastCall& call = at->second;
    if (is_new) {
      call.size = membership.size;
      call.rank = membership.rank;
      call.peer = std::get<2>(at->first);
    }
    const uint32_t number = !message ? collective.sequence : is_new ? 0 : call.issued + 1;
    call.issued = std::max(call.issued, number);
    if (!is_new && !call.ended) continue;  // it has not left that one
    call.sequence = number;
    call.kind = collective.kind;
    call.bytes = static_cast<uint64_t>(std::max<trace::Int>(collective.bytes, 0));
    call.started = started;
    call.ended = ended;
  }
  for (auto& [key, call] : calls) {
    call.communicator = std::get<0>(key);
    hang.calls.push_back(std::move(call));
  }
}

template <class Find>
RankHang state_of(analysis::Analyses& analyses, RankIdentity identity, const Find& find) {
  const std::vector<analysis::Collective> all = analysis::collectives(analyses.trace());
  RankHang hang{.identity = std::move(identity)};
  const Id process = process_of(analyses.trace(), hang.identity.rank, all);
  if (process == kNoId) return hang;
  if (!find_end(analyses.trace(), process, hang)) {
    find(process, hang);
  } else if (const std::string seen = last_seen(analyses, process);
             hang.state == RankState::kDied && !seen.empty()) {
    hang.reason += ", and was " + seen + " when it was sampled last";
  }
  find_positions(analyses, process, all, hang);
  return hang;
}

}  // namespace

RankHang hang_state(analysis::Analyses& analyses, RankIdentity identity) {
  return state_of(analyses, std::move(identity),
                  [&](Id, RankHang& hang) { find_hang(analyses, hang); });
}

RankHang present_state(analysis::Analyses& analyses, RankIdentity identity) {
  return state_of(analyses, std::move(identity),
                  [&](Id process, RankHang& hang) { find_quiet(analyses, process, hang); });
}

}  // namespace streamscope::job
