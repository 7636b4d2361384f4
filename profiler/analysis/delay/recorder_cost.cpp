// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "recorder_cost.h"

#include <algorithm>

#include "vocabulary/copy_kind.h"
#include "vocabulary/memory_kind.h"

namespace streamscope::analysis {
namespace {

constexpr size_t kFewest = 32;     // gaps needed for an estimate
constexpr size_t kMost = 1 << 16;  // more do not improve it
constexpr double kSlowest = 2;     // longer gaps are due to the program

// Gaps between consecutive calls, by thread. A synchronization ends the sequence: its stack is
// taken, and the host was idle.
class Gaps {
 public:
  explicit Gaps(const IssueOrder& order) : order_(order), threads_(order.trace().thread.size()) {}

  void add(Issued item) {
    const Trace& trace = order_.trace();
    const Id id = item.id();
    if (item.kind() == Issued::kOp) {
      const Issue issue = order_.issue(id);
      add(issue.thread_id, issue.start_ns, issue.end_ns);
    } else if (item.kind() == Issued::kRecord) {
      add_row(trace.event_record, id);
    } else if (item.kind() == Issued::kWait) {
      add_row(trace.event_wait, id);
    } else if (item.kind() == Issued::kSync && trace.host_sync.thread_id[id] < threads_.size()) {
      threads_[trace.host_sync.thread_id[id]].end = kUnknownNs;
    }
  }

  double pace(Id thread) {
    std::vector<Ns>& gaps = threads_[thread].gaps;
    if (gaps.size() < kFewest) return 1;
    const auto quartile = gaps.begin() + static_cast<ptrdiff_t>(gaps.size() / 4);
    std::nth_element(gaps.begin(), quartile, gaps.end());
    return std::clamp(static_cast<double>(*quartile) / kRecorderBetweenNs, 1.0, kSlowest);
  }

 private:
  struct Thread {
    Ns start = kUnknownNs, end = kUnknownNs;  // of its last call
    std::vector<Ns> gaps{};
  };

  void add(Id id, Ns start, Ns end) {
    if (id >= threads_.size() || start == kUnknownNs || end == kUnknownNs) return;
    Thread& thread = threads_[id];
    if (start == thread.start) return;  // another op of the same call
    if (thread.end != kUnknownNs && start >= thread.end && thread.gaps.size() < kMost)
      thread.gaps.push_back(start - thread.end);
    thread.start = start;
    thread.end = end;
  }
  template <class Rows>
  void add_row(const Rows& rows, Id row) {
    add(rows.thread_id[row], rows.start_ns[row], rows.end_ns[row]);
  }

  const IssueOrder& order_;
  std::vector<Thread> threads_;
};

}  // namespace

std::vector<double> recorder_paces(const IssueOrder& order) {
  const Trace& trace = order.trace();
  Gaps gaps(order);
  for (const Issued item : order.items()) gaps.add(item);
  std::vector<double> paces(trace.thread.size());
  for (Id thread = 0; thread < paces.size(); ++thread) {
    const Id process = trace.process_of_thread(thread);
    if (process < trace.process.size() && trace.process.clock[process] != trace::kVirtualClock)
      paces[thread] = gaps.pace(thread);
  }
  return paces;
}

Ns recorder_of_copy(const Trace& trace, Id op) {
  constexpr double kPageableNsPerMiB = 5'000, kMiB = 1 << 20;  // an H200 host
  const trace::Small kinds = trace.op.memory_kinds[op];
  if (trace.op.kind[op] != trace::kMemcpy || trace.op.detail[op] != CopyKind::kDeviceToHost ||
      kinds == trace::kNoSmall || destination_of(kinds) != MemoryKind::kPageable ||
      trace.op.bytes[op] <= 0) {
    return 0;
  }
  const auto extra =
      static_cast<Ns>(static_cast<double>(trace.op.bytes[op]) / kMiB * kPageableNsPerMiB);
  return std::min(extra, (trace.op.end_ns[op] - trace.op.start_ns[op]) / 2);
}

}  // namespace streamscope::analysis
