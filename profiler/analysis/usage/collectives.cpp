// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "collectives.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "analysis/labels.h"

namespace streamscope::analysis {
namespace {

// NCCL's calls by thread, ordered by start.
std::map<Id, std::vector<Id>> ranges_of_nccl(const Trace& trace) {
  std::map<Id, std::vector<Id>> found;
  for (Id range = 0; range < trace.range.size(); ++range) {
    if (trace.range.payload[range] != trace::kNoInt &&
        trace.text(trace.range.domain_id[range]) == "NCCL")
      found[trace.range.thread_id[range]].push_back(range);
  }
  for (auto& [thread, ranges] : found)
    std::ranges::sort(ranges, {}, [&](Id range) { return trace.range.start_ns[range]; });
  return found;
}

// The communicator of the NCCL call that contains `at`.
trace::Int communicator_at(const Trace& trace, const std::vector<Id>& ranges, Ns at) {
  constexpr int kDeep = 8;  // NCCL calls rarely nest
  auto range =
      std::ranges::upper_bound(ranges, at, {}, [&](Id id) { return trace.range.start_ns[id]; });
  for (int i = 0; i < kDeep && range != ranges.begin(); ++i) {
    --range;
    const Ns end = trace.range.end_ns[*range];
    if (end == trace::kUnknownNs || at <= end) return trace.range.payload[*range];
  }
  return trace::kNoInt;
}

}  // namespace

bool is_collective(const Trace& trace, Id op) {
  return trace.op.kind[op] == trace::kKernel &&
         trace.text(trace.op.name_id[op]).find("nccl") != std::string_view::npos;
}

std::vector<Collective> collectives(const Trace& trace) {
  std::vector<std::pair<Ns, Id>> launches;
  for (Id op = 0; op < trace.op.size(); ++op) {
    if (is_collective(trace, op) && trace.op.api_call_id[op] < trace.api_call.size())
      launches.push_back({trace.api_call.start_ns[trace.op.api_call_id[op]], op});
  }
  std::sort(launches.begin(), launches.end());
  const auto ranges = launches.empty() ? std::map<Id, std::vector<Id>>() : ranges_of_nccl(trace);
  std::map<std::pair<Id, trace::Int>, size_t> count;
  std::vector<Collective> found;
  for (const auto& [at, op] : launches) {
    Collective one;
    one.op = op;
    one.stream = trace.op.stream_id[op];
    const auto of_thread = ranges.find(trace.api_call.thread_id[trace.op.api_call_id[op]]);
    if (of_thread != ranges.end()) one.communicator = communicator_at(trace, of_thread->second, at);
    one.sequence = ++count[{one.stream, one.communicator}];
    found.push_back(one);
  }
  return found;
}

std::string name_of(const Trace& trace, const Collective& collective) {
  const std::string communicator =
      collective.communicator == trace::kNoInt
          ? ""
          : fmt::format(" of communicator {:#x}", static_cast<uint64_t>(collective.communicator));
  return fmt::format("collective {}{} on stream {}", collective.sequence, communicator,
                     stream_label(trace, collective.stream));
}

}  // namespace streamscope::analysis
