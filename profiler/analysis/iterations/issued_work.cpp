// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "issued_work.h"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "analysis/stream_owners.h"
#include "iterations.h"
#include "trace/ns_math.h"

namespace streamscope::analysis {
namespace {

// Of ascending instants.
size_t count_between(const std::vector<Ns>& instants, Ns from, Ns until) {
  return static_cast<size_t>(std::ranges::lower_bound(instants, std::max(from, until)) -
                             std::ranges::lower_bound(instants, from));
}

}  // namespace

// PyTorch has its element-wise kernels for aligned data (vectorized_elementwise_kernel) and for
// other.
std::string without_alignment(std::string label) {
  constexpr std::string_view kAligned = "vectorized_elementwise_kernel",
                             kOther = "unrolled_elementwise_kernel";
  if (label.starts_with(kOther)) label.replace(0, kOther.size(), kAligned);
  return label;
}

IssuedWork::IssuedWork(Analyses& analyses, With with) : trace_(analyses.trace()) {
  if (with == With::kGroups) groups_ = std::make_unique<const WorkGroups>(trace_);
  const StreamOwners owners(trace_);
  process_ = owners.only_one();
  if (process_ == kNoId) process_ = busiest_process(owners);
  if (process_ == kNoId) return;
  const IssueOrder& order = analyses.order();
  using Key = std::tuple<Ns, uint32_t, Id>;  // by which ops are sorted
  const auto key = [&](Ns issued, Id op) { return Key(issued, groups_ ? groups_->of(op) : 0, op); };
  const auto append = [&](const Key& of_op) {
    const auto& [issued, group, op] = of_op;
    issued_.push(issued);
    ops_.push(op);
  };
  const auto finish = [&] {
    issued_.finish();
    ops_.finish();
  };
  std::optional<Key> last;
  bool is_sorted = true;
  for (Id op = 0; op < trace_.op.size(); ++op) {
    if (owners.of_op(op) != process_) continue;
    const Ns issued = order.issue(op).start_ns;
    const Ns start = trace_.op.start_ns[op], end = trace_.op.end_ns[op];
    if (!is_timed(start, end)) {
      if (is_measurable(trace_.op.kind[op]) && issued != kUnknownNs)
        untimed_issued_.push_back(issued);
      continue;
    }
    if (issued == kUnknownNs) uncalled_starts_.push_back(start);
    const auto next = key(issued == kUnknownNs ? start : issued, op);
    append(next);
    is_sorted = is_sorted && (!last || *last < next);
    last = next;
  }
  finish();
  if (ops_.empty()) process_ = kNoId;
  std::ranges::sort(untimed_issued_);
  std::ranges::sort(uncalled_starts_);
  if (!is_sorted) {
    std::vector<Key> keys;
    keys.reserve(ops_.size());
    for (size_t i = 0; i < ops_.size(); ++i) keys.push_back(key(issued_[i], ops_[i]));
    std::ranges::sort(keys);
    ops_ = {};
    issued_ = {};
    std::ranges::for_each(keys, append);
    finish();
  }
  if (groups_) find_symbols();
}

Id IssuedWork::busiest_process(const StreamOwners& owners) const {
  std::vector<Ns> device_ns(trace_.process.size(), kUnknownNs);
  for (Id op = 0; op < trace_.op.size(); ++op) {
    const Id process = owners.of_op(op);
    if (process >= device_ns.size() || !is_timed(trace_, op)) continue;
    Ns& sum = device_ns[process];
    sum = trace::sum_of(std::max<Ns>(sum, 0), trace_.op.end_ns[op] - trace_.op.start_ns[op]);
  }
  const auto most = std::ranges::max_element(device_ns);
  return most == device_ns.end() || *most == kUnknownNs ? kNoId
                                                        : static_cast<Id>(most - device_ns.begin());
}

size_t IssuedWork::untimed_between(Ns from, Ns until) const {
  return count_between(untimed_issued_, from, until);
}

bool IssuedWork::has_uncalled(Ns from, Ns until) const {
  return count_between(uncalled_starts_, from, until) > 0;
}

bool IssuedWork::is_copy(size_t i, CopyKind kind) const {
  const Id op = ops_[i];
  return trace_.op.kind[op] == trace::kMemcpy && trace_.op.detail[op] == kind;
}

Ns IssuedWork::device_ns_around(size_t from, size_t first, size_t last) const {
  Ns sum = 0;
  for (size_t i = from; i < size(); ++i) {
    if ((i < first && is_copy(i, CopyKind::kHostToDevice)) ||
        (i >= last && is_copy(i, CopyKind::kDeviceToHost)))
      continue;
    trace::add_to(sum, duration_ns(i));
  }
  return sum;
}

void IssuedWork::find_symbols() {
  std::map<std::pair<std::string, std::string_view>, uint32_t> known;
  for (const WorkGroup& group : groups_->all())
    symbol_of_group_.push_back(known
                                   .try_emplace({without_alignment(group.label), group.stream},
                                                static_cast<uint32_t>(known.size()))
                                   .first->second);
  symbol_count_ = known.size();
}

size_t most_pauses(double repetitions, double device_share) {
  constexpr double kRepetitionsPerPause = 16;
  constexpr double kNearlyAll = 0.95;
  if (device_share < kNearlyAll) return 0;
  return std::min<size_t>(kFewestIterations - 1,
                          static_cast<size_t>(repetitions / kRepetitionsPerPause));
}

bool fills_the_time(double repetitions, Ns usual_ns, std::vector<Ns> steps_ns, size_t pauses) {
  const auto other = steps_ns.begin() + static_cast<ptrdiff_t>(std::min(pauses, steps_ns.size()));
  std::nth_element(steps_ns.begin(), other, steps_ns.end(), std::greater<>());
  Ns time = 0;
  for (auto step = other; step != steps_ns.end(); ++step) trace::add_to(time, *step);
  return repetitions * static_cast<double>(usual_ns) >= kLeastCovered * static_cast<double>(time);
}

}  // namespace streamscope::analysis
