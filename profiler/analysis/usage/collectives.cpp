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

CollectiveKind collective_kind(std::string_view name) {
  struct Row {
    std::string_view text;
    CollectiveKind kind;
  };
  // Names that contain others come first. NCCL has one kernel for sends, receives and all-to-all.
  static constexpr Row kRows[] = {
      {"sendrecv", CollectiveKind::kOther},      {"allreduce", CollectiveKind::kAllReduce},
      {"allgather", CollectiveKind::kAllGather}, {"reducescatter", CollectiveKind::kReduceScatter},
      {"alltoall", CollectiveKind::kAllToAll},   {"barrier", CollectiveKind::kBarrier},
      {"broadcast", CollectiveKind::kBroadcast}, {"reduce", CollectiveKind::kReduce},
      {"scatter", CollectiveKind::kScatter},     {"gather", CollectiveKind::kGather},
      {"send", CollectiveKind::kSend},           {"recv", CollectiveKind::kReceive},
  };
  std::string plain;
  for (const char c : name.substr(0, name.find('('))) {
    if (c >= 'A' && c <= 'Z') plain += static_cast<char>(c - 'A' + 'a');
    if (c >= 'a' && c <= 'z') plain += c;
  }
  const auto row = std::ranges::find_if(
      kRows, [&](const Row& each) { return plain.find(each.text) != plain.npos; });
  return row == std::end(kRows) ? CollectiveKind::kOther : row->kind;
}

std::vector<Collective> collectives(const Trace& trace) {
  std::vector<Collective> found;
  for (Id op = 0; op < trace.op.size(); ++op) {
    if (!is_collective(trace, op)) continue;
    Collective one{.op = op,
                   .last_op = op,
                   .process = trace.process_of_stream(trace.op.stream_id[op]),
                   .stream = trace.op.stream_id[op],
                   .kind = collective_kind(trace.text(trace.op.name_id[op])),
                   .issued_ns = issue_of(trace, op).start_ns};
    if (is_timed(trace, op)) {
      one.start_ns = trace.op.start_ns[op];
      one.end_ns = trace.op.end_ns[op];
    }
    if (one.issued_ns == kUnknownNs) one.issued_ns = one.start_ns;
    if (one.issued_ns != kUnknownNs) found.push_back(std::move(one));
  }
  std::ranges::stable_sort(found, {}, &Collective::issued_ns);
  const auto ranges = found.empty() ? std::map<Id, std::vector<Id>>() : ranges_of_nccl(trace);
  std::map<std::pair<Id, std::string>, uint32_t> count;
  for (Collective& one : found) {
    const auto of_thread = ranges.find(issue_of(trace, one.op).thread_id);
    if (of_thread != ranges.end()) {
      const trace::Int hash = communicator_at(trace, of_thread->second, one.issued_ns);
      if (hash != trace::kNoInt)
        one.communicator = fmt::format("{:#x}", static_cast<uint64_t>(hash));
    }
    one.sequence = count[{trace.device_of_stream(one.stream), one.communicator}]++;
  }
  return found;
}

std::string name_of(const Trace& trace, const Collective& collective) {
  const std::string communicator =
      collective.is_named() ? fmt::format(" of communicator {}", collective.communicator) : "";
  return fmt::format("{} {}{} on stream {}",
                     streamscope::name_of(kCollectiveKinds, collective.kind), collective.sequence,
                     communicator, stream_label(trace, collective.stream));
}

}  // namespace streamscope::analysis
