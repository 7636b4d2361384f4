// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "issued_work.h"

#include <numeric>
#include <tuple>

#include "trace/ns_math.h"

namespace streamscope::analysis {

IssuedWork::IssuedWork(Analyses& analyses, With with) : trace_(analyses.trace()) {
  if (with == With::kGroups) groups_.emplace(trace_);
  std::vector<Ns> device(trace_.process.size(), 0);
  std::vector<size_t> counts(device.size(), 0);
  std::vector<Id> process_of_stream(trace_.stream.size());
  for (Id stream = 0; stream < process_of_stream.size(); ++stream)
    process_of_stream[stream] = trace_.process_of_stream(stream);
  const auto owner = [&](Id op) {
    const Id stream = trace_.op.stream_id[op];
    return stream < process_of_stream.size() && is_timed(trace_, op) ? process_of_stream[stream]
                                                                     : kNoId;
  };
  for (Id op = 0; op < trace_.op.size(); ++op) {
    const Id process = owner(op);
    if (process >= device.size()) continue;
    trace::add_to(device[process], trace_.op.end_ns[op] - trace_.op.start_ns[op]);
    ++counts[process];
  }
  for (Id process = 0; process < device.size(); ++process) {
    if (counts[process] == 0 || (process_ != kNoId && device[process] <= device_ns_)) continue;
    process_ = process;
    device_ns_ = device[process];
  }
  if (process_ == kNoId) return;
  ops_.reserve(counts[process_]);
  issued_.reserve(counts[process_]);
  const IssueOrder& order = analyses.order();
  for (Id op = 0; op < trace_.op.size(); ++op) {
    if (owner(op) != process_) continue;
    const Ns issued = order.issue(op).start_ns;
    ops_.push_back(op);
    issued_.push_back(issued == kUnknownNs ? trace_.op.start_ns[op] : issued);
  }
  const auto key = [&](uint32_t i) {
    return std::tuple(issued_[i], groups_ ? group(i) : 0, ops_[i]);
  };
  std::vector<uint32_t> sorted(ops_.size());
  std::iota(sorted.begin(), sorted.end(), 0);
  if (std::ranges::is_sorted(sorted, {}, key)) return;
  std::ranges::sort(sorted, {}, key);
  std::vector<Id> ops(ops_.size());
  std::vector<Ns> issued(ops_.size());
  for (size_t i = 0; i < sorted.size(); ++i) {
    ops[i] = ops_[sorted[i]];
    issued[i] = issued_[sorted[i]];
  }
  ops_ = std::move(ops);
  issued_ = std::move(issued);
}

}  // namespace streamscope::analysis
