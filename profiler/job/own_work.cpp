// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "job/own_work.h"

#include <algorithm>
#include <unordered_set>

namespace streamscope::job {

using trace::Id;
using trace::kUnknownNs;
using trace::Ns;

namespace {

// Those that overlap or touch become one.
void merge(std::vector<OwnWork::Span>& spans) {
  std::ranges::sort(spans);
  size_t last = 0;
  for (size_t i = 1; i < spans.size(); ++i) {
    if (spans[i].first <= spans[last].second) {
      spans[last].second = std::max(spans[last].second, spans[i].second);
    } else {
      spans[++last] = spans[i];
    }
  }
  if (!spans.empty()) spans.resize(last + 1);
}

}  // namespace

OwnWork::OwnWork(analysis::Analyses& analyses, Id process,
                 const std::vector<analysis::Collective>& collectives) {
  const trace::Trace& trace = analyses.trace();
  std::unordered_set<Id> graphs;
  for (const analysis::Collective& one : collectives) {
    if (one.op != trace::kNoId && trace.op.kind[one.op] == trace::kGraphLaunch)
      graphs.insert(one.op);
  }
  for (Id op = 0; op < trace.op.size(); ++op) {
    if (trace.process_of_stream(trace.op.stream_id[op]) != process ||
        !analysis::is_timed(trace, op) || analysis::is_collective(trace, op) || graphs.contains(op))
      continue;
    const Ns start = trace.op.start_ns[op], end = trace.op.end_ns[op];
    busy_.emplace_back(start, end);
    const Ns issued = analyses.order().issue(op).start_ns;
    is_issue_known_ &= issued != kUnknownNs;
    issued_.emplace_back(issued, end - start);
  }
  std::ranges::sort(issued_);
  Ns sum = 0;
  for (Span& one : issued_) one.second = sum += one.second;
  merge(busy_);
  sum = 0;
  for (const auto& [start, end] : busy_) {
    busy_before_.push_back(sum);
    sum += end - start;
  }
}

Ns OwnWork::issued_between(Ns from, Ns to) const {
  const auto until = [&](Ns at) {
    const auto next = std::ranges::lower_bound(issued_, at, {}, &Span::first);
    return next == issued_.begin() ? 0 : std::prev(next)->second;
  };
  if (!is_issue_known_) return kUnknownNs;
  return to <= from ? 0 : until(to) - until(from);
}

Ns OwnWork::busy_until(Ns at) const {
  const auto next = std::ranges::upper_bound(busy_, at, {}, &Span::first);
  if (next == busy_.begin()) return 0;
  const auto index = static_cast<size_t>(next - busy_.begin()) - 1;
  return busy_before_[index] + std::min(at, busy_[index].second) - busy_[index].first;
}

Ns OwnWork::without(std::vector<Span> spans) const {
  merge(spans);
  Ns alone = 0;
  for (const auto& [start, end] : spans)
    alone += end - start - (busy_until(end) - busy_until(start));
  return alone;
}

}  // namespace streamscope::job
