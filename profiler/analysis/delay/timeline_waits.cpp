// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "timeline_waits.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/labels.h"

namespace streamscope::analysis {
namespace {

// libcoord makes the calls of a wait right after it reports it, within some microseconds.
constexpr Ns kFollowsNs = 20'000;

}  // namespace

TimelineWaits::TimelineWaits(const Trace& trace) : trace_(trace) {
  const auto& points = trace.timeline_point;
  for (Id row = 0; row < points.size(); ++row) {
    const Id stream = points.stream_id[row], timeline = points.timeline_id[row];
    if (stream >= trace.stream.size() || timeline >= trace.timeline.size()) continue;
    if (points.act[row] == trace::kTimelineWait) {
      waits_[{points.thread_id[row], stream}].push_back(
          {points.start_ns[row], {timeline, points.value[row]}});
    } else if (points.act[row] == trace::kTimelineSignal) {
      const auto [known, is_new] =
          first_signal_.try_emplace({timeline, stream}, points.start_ns[row]);
      if (!is_new) known->second = std::min(known->second, points.start_ns[row]);
    }
  }
  for (auto& [key, of_stream] : waits_) std::ranges::stable_sort(of_stream, {}, &Point::at_ns);
}

std::optional<TimelineValue> TimelineWaits::before(Id thread, Id stream, Ns at) const {
  const auto found = waits_.find({thread, stream});
  if (found == waits_.end() || at == kUnknownNs) return std::nullopt;
  const auto next = std::ranges::upper_bound(found->second, at, {}, &Point::at_ns);
  if (next == found->second.begin() || std::prev(next)->at_ns < at - kFollowsNs)
    return std::nullopt;
  return std::prev(next)->wanted;
}

std::optional<TimelineValue> TimelineWaits::of_wait(Id event_wait) const {
  if (waits_.empty() || event_wait >= trace_.event_wait.size()) return std::nullopt;
  const auto& rows = trace_.event_wait;
  const auto wanted =
      before(rows.thread_id[event_wait], rows.stream_id[event_wait], rows.start_ns[event_wait]);
  const Id record = rows.record_id[event_wait];
  if (!wanted || record >= trace_.event_record.size()) return std::nullopt;
  // The event must belong to a stream that promised a value of this timeline.
  const auto signal = first_signal_.find({wanted->timeline, trace_.event_record.stream_id[record]});
  if (signal == first_signal_.end() || signal->second > rows.end_ns[event_wait])
    return std::nullopt;
  return wanted;
}

std::optional<TimelineValue> TimelineWaits::of_op(Id op) const {
  if (waits_.empty() || op >= trace_.op.size() || trace_.op.kind[op] != trace::kMemoryWait)
    return std::nullopt;
  const Id call = trace_.op.api_call_id[op];
  if (call >= trace_.api_call.size()) return std::nullopt;
  return before(trace_.api_call.thread_id[call], trace_.op.stream_id[op],
                trace_.api_call.start_ns[call]);
}

std::string timeline_label(const Trace& trace, const TimelineValue& wanted) {
  return fmt::format("value {} of timeline {}", static_cast<uint64_t>(wanted.value),
                     printable(trace.text(trace.timeline.name_id[wanted.timeline])));
}

}  // namespace streamscope::analysis
