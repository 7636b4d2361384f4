// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "value_reads.h"

#include <algorithm>

#include "vocabulary/copy_kind.h"

namespace streamscope::analysis {
namespace {

constexpr trace::Int kMostReadBytes = 64 << 10;
constexpr Ns kRightBeforeNs = 50'000;

}  // namespace

ValueReads::ValueReads(Analyses& analyses) {
  const Trace& trace = analyses.trace();
  for (Id op = 0; op < trace.op.size(); ++op) {
    if (trace.op.kind[op] != trace::kMemcpy || trace.op.detail[op] != CopyKind::kDeviceToHost ||
        trace.op.bytes[op] < 0 || trace.op.bytes[op] > kMostReadBytes) {  // kNoInt is negative
      continue;
    }
    const Issue issue = analyses.order().issue(op);
    if (issue.thread_id != kNoId)
      by_thread_[issue.thread_id].push_back({issue.start_ns, issue.end_ns, op});
  }
  for (auto& [thread, reads] : by_thread_) std::ranges::sort(reads, {}, &Read::start_ns);
}

const ValueReads::Read* ValueReads::before(const Trace& trace, Id host_sync) const {
  const auto of_thread = by_thread_.find(trace.host_sync.thread_id[host_sync]);
  if (of_thread == by_thread_.end()) return nullptr;
  const Ns at = trace.host_sync.start_ns[host_sync];
  const auto after = std::ranges::upper_bound(of_thread->second, at, {}, &Read::start_ns);
  if (after == of_thread->second.begin()) return nullptr;
  const Read& read = *std::prev(after);
  return at - read.end_ns > kRightBeforeNs ? nullptr : &read;
}

Id ValueReads::read_by(const Trace& trace, Id host_sync) const {
  const Read* read = before(trace, host_sync);
  return read == nullptr ? kNoId : read->op;
}

bool ValueReads::remove(const Trace& trace, Id host_sync, Change& change) const {
  change.without_sync.add(host_sync);
  const Read* read = before(trace, host_sync);
  if (read == nullptr) return false;
  change.without_op.add(read->op);
  change.cuts.add(trace.host_sync.thread_id[host_sync], read->start_ns,
                  trace.host_sync.end_ns[host_sync]);
  return true;
}

}  // namespace streamscope::analysis
