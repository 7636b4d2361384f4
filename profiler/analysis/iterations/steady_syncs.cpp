// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "steady_syncs.h"

#include <algorithm>
#include <span>

#include "analysis/usage/host_syncs.h"
#include "vocabulary/copy_kind.h"

namespace streamscope::analysis {
namespace {

constexpr Ns kRightBeforeNs = 50'000;

}  // namespace

bool is_large_synchronous_copy(const IssueOrder& order, Id op) {
  return order.copy_sync(op) != kNoId && !is_small_copy(order.trace(), op);
}

SteadySyncs::SteadySyncs(Analyses& analyses, const Iterations& iterations)
    : trace_(&analyses.trace()) {
  const IssueOrder& order = analyses.order();
  const auto& syncs = trace_->host_sync;
  const auto is_steady = [&](Id sync) {
    return syncs.start_ns[sync] >= iterations.issued_from_ns() &&
           syncs.start_ns[sync] < iterations.issued_to_ns() && syncs.end_ns[sync] != kUnknownNs &&
           trace_->process_of_thread(syncs.thread_id[sync]) == iterations.process_id;
  };
  for (Id op = 0; op < trace_->op.size(); ++op) {
    const Id sync = order.copy_sync(op);
    if (sync != kNoId && is_steady(sync)) {
      if (is_small_copy(*trace_, op))
        copies_.emplace(sync, op);
      else
        large_copies_ns_.push_back(syncs.start_ns[sync]);
    } else if (sync == kNoId && reads_value(*trace_, op)) {
      const Issue issue = order.issue(op);
      if (issue.thread_id != kNoId)
        by_thread_[issue.thread_id].push_back({issue.start_ns, issue.end_ns, op});
    }
  }
  for (auto& [thread, reads] : by_thread_) std::ranges::sort(reads, {}, &Read::start_ns);
  for (Id sync = 0; sync < syncs.size(); ++sync) {
    const Id copy = copy_of(sync);
    if (copy == kNoId && !(is_blocking(syncs.kind[sync]) && is_steady(sync))) continue;
    all_.push_back(sync);
    const auto awaited =
        copy == kNoId ? analyses.edges().sync_sources(sync) : std::span<const Id>(&copy, 1);
    if (awaited.size() == 1 && trace_->op.kind[awaited[0]] == trace::kMemcpy &&
        trace_->op.detail[awaited[0]] == CopyKind::kHostToDevice)
      uploads_.add(sync);
  }
}

const SteadySyncs::Read* SteadySyncs::before(Id host_sync) const {
  const auto of_thread = by_thread_.find(trace_->host_sync.thread_id[host_sync]);
  if (of_thread == by_thread_.end()) return nullptr;
  const Ns at = trace_->host_sync.start_ns[host_sync];
  const auto after = std::ranges::upper_bound(of_thread->second, at, {}, &Read::start_ns);
  if (after == of_thread->second.begin()) return nullptr;
  const Read& read = *std::prev(after);
  return at - read.end_ns > kRightBeforeNs ? nullptr : &read;
}

Id SteadySyncs::copy_of(Id host_sync) const {
  const auto copy = copies_.find(host_sync);
  return copy == copies_.end() ? kNoId : copy->second;
}

Id SteadySyncs::read_by(Id host_sync) const {
  if (const Id copy = copy_of(host_sync); copy != kNoId)
    return reads_value(*trace_, copy) ? copy : kNoId;
  const Read* read = before(host_sync);
  return read == nullptr ? kNoId : read->op;
}

void SteadySyncs::unblock(Id host_sync, Change& change) const {
  if (const Id copy = copy_of(host_sync); copy != kNoId)
    change.async_op.add(copy);
  else
    change.without_sync.add(host_sync);
}

bool SteadySyncs::are_removed(const Change& change) const {
  if (all_.empty()) return false;
  const Id copy = copy_of(all_.front());
  return copy == kNoId ? change.without_sync.has(all_.front()) : change.without_op.has(copy);
}

void SteadySyncs::remove(Id host_sync, Change& change) const {
  const auto& syncs = trace_->host_sync;
  Ns from = syncs.start_ns[host_sync];
  if (const Id copy = copy_of(host_sync); copy != kNoId) {
    change.without_op.add(copy);
  } else {
    change.without_sync.add(host_sync);
    const Read* read = before(host_sync);
    if (read == nullptr) return;
    change.without_op.add(read->op);
    from = read->start_ns;
  }
  change.cuts.add(syncs.thread_id[host_sync], from, syncs.end_ns[host_sync]);
}

}  // namespace streamscope::analysis
