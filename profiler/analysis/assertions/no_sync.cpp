// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// no_sync_in("nvtx:NAME"): inside of all ranges of this name, the thread of the range makes no
// call in which the host waits for the device: synchronizations of a device, stream or event, and
// synchronous copies. no_sync_in("iteration"): no thread of the process makes one in an iteration
// after start-up. Queries do not block, and cudaFree and its relatives, which may, are not
// promised to.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "analysis/iterations/marked_ranges.h"
#include "analysis/labels.h"
#include "analysis/units.h"
#include "analysis/usage/host_syncs.h"
#include "call_groups.h"
#include "kinds.h"

namespace streamscope::analysis {
namespace {

// The outermost ranges of one name of every thread.
class NamedRanges {
 public:
  NamedRanges(const Trace& trace, std::string_view name)
      : by_thread_(ranges_named(trace, name, Unended::kEndless)) {
    for (const auto& [thread, spans] : by_thread_) count_ += spans.size();
  }

  size_t count() const { return count_; }
  /// What identifies the range of a thread at an instant: its thread and start; nothing if there is
  /// none.
  std::optional<std::pair<Id, Ns>> at(Id thread, Ns ns) const {
    const auto found = by_thread_.find(thread);
    if (found == by_thread_.end() || ns == kUnknownNs) return std::nullopt;
    const auto& spans = found->second;
    auto next = std::ranges::upper_bound(spans, ns, {}, &std::pair<Ns, Ns>::first);
    if (next == spans.begin() || ns >= (--next)->second) return std::nullopt;
    return std::pair(thread, next->first);
  }

 private:
  std::map<Id, RangeSpans> by_thread_;
  size_t count_ = 0;
};

}  // namespace

AssertionResult evaluate_no_sync(const AssertionContext& context, const Assertion& assertion) {
  const Trace& trace = context.analyses.trace();
  const JudgedIterations& iterations = context.iterations;
  const bool by_iteration = assertion.first == "iteration";
  std::string_view name = assertion.first;
  name.remove_prefix(std::min(name.size(), name.find(':') + 1));
  const NamedRanges ranges(trace, by_iteration ? std::string_view() : name);
  if (by_iteration && !iterations.found()) return without_iterations(context, assertion);
  if (!by_iteration && ranges.count() == 0) {
    return not_evaluable(assertion,
                         fmt::format("the trace has no NVTX range \"{}\"", printable(name)));
  }
  CallRows blocking{.table = CallRows::kHostSync};
  std::set<std::pair<Id, Ns>> where;  // the ranges or iterations with such a call
  const auto& syncs = trace.host_sync;
  for (Id sync = 0; sync < syncs.size(); ++sync) {
    if (!blocks_host(trace, sync)) continue;
    const Id thread = syncs.thread_id[sync];
    const Ns at = syncs.start_ns[sync];
    if (by_iteration) {
      const auto iteration = iterations.at(at);
      if (!iteration || trace.process_of_thread(thread) != iterations.process()) continue;
      where.emplace(0, static_cast<Ns>(*iteration));
    } else {
      const auto range = ranges.at(thread, at);
      if (!range) continue;
      where.insert(*range);
    }
    blocking.rows.push_back(sync);
  }
  const size_t whole = by_iteration ? iterations.judged_count() : ranges.count();
  std::string measured =
      fmt::format("{} in {}", format_count(blocking.rows.size(), "blocking call"),
                  format_count(whole, by_iteration ? "iteration" : "range"));
  if (blocking.rows.empty()) return holds(assertion, std::move(measured));
  CallGroups groups = group_calls(context.analyses, blocking);
  return fails(assertion, std::move(measured),
               fmt::format("the host blocks in {} of {}: {}", format_count(where.size()),
                           format_count(whole, by_iteration ? "iteration" : "range"), groups.text),
               std::move(groups.place));
}

}  // namespace streamscope::analysis
