// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "job/hang_state.h"

#include <fmt/format.h>

#include <cstring>
#include <map>

#include "analysis/hang/hang.h"
#include "analysis/usage/collectives.h"

namespace streamscope::job {
namespace {

using trace::Id;
using trace::Trace;

// The process of the rank: the one that says so, or else the one with most collectives.
Id process_of(const Trace& trace, int32_t rank, const std::vector<analysis::Collective>& all) {
  std::map<Id, size_t> counts;
  for (const analysis::Collective& collective : all) ++counts[collective.process];
  Id found = trace.process.size() > 0 ? 0 : trace::kNoId;
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

void find_state(analysis::Analyses& analyses, Id process, RankHang& hang) {
  const Trace& trace = analyses.trace();
  if (trace.process.end_ns[process] != trace::kUnknownNs) {
    const auto signal = trace.process.exit_signal[process], code = trace.process.exit_code[process];
    const bool signaled = signal != trace::kNoSmall && signal != 0;
    const bool failed = code != trace::kNoSmall && code != 0;
    hang.state = signaled || failed ? RankState::kDied : RankState::kEnded;
    hang.reason = signaled ? fmt::format("was ended by signal {} ({})", signal, strsignal(signal))
                  : failed ? fmt::format("ended with exit code {}", code)
                           : "ended";
    return;
  }
  for (const trace::HangReport& report : analysis::explain_hangs(analyses)) {
    if (!report.alarm) continue;
    hang.state = RankState::kHangs;
    hang.reason = "hangs: " + report.headline;
    return;
  }
}

}  // namespace

RankHang hang_state(analysis::Analyses& analyses, RankIdentity identity) {
  const Trace& trace = analyses.trace();
  const std::vector<analysis::Collective> all = analysis::collectives(trace);
  RankHang hang{.identity = std::move(identity)};
  const Id process = process_of(trace, hang.identity.rank, all);
  if (process == trace::kNoId) return hang;
  find_state(analyses, process, hang);
  std::map<std::string, LastCall> calls;
  for (const analysis::Collective& collective : all) {
    if (collective.process != process) continue;
    const auto [at, is_new] = calls.try_emplace(collective.communicator);
    LastCall& call = at->second;
    call.issued = collective.sequence;
    call.size = std::max(call.size, collective.communicator_size);
    if (!is_new && !call.ended) continue;  // it has not left that one
    call.sequence = collective.sequence;
    call.kind = collective.kind;
    call.bytes = static_cast<uint64_t>(std::max<trace::Int>(collective.bytes, 0));
    call.started = collective.start_ns != trace::kUnknownNs;
    call.ended = collective.end_ns != trace::kUnknownNs;
  }
  for (auto& [name, call] : calls) {
    call.communicator = name;
    hang.calls.push_back(std::move(call));
  }
  return hang;
}

}  // namespace streamscope::job
