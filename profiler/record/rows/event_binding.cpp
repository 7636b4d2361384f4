// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "event_binding.h"

#include <algorithm>

namespace streamscope::record {

void EventHistory::add(const Record& record) {
  if (record.span.end == CallSpan::kStillOpen) {
    open_.push_back(record);
    return;
  }
  longest_ = std::max(longest_, record.span.end - record.span.begin);
  auto at = records_.end();
  while (at != records_.begin() && std::prev(at)->span.end > record.span.end) --at;
  records_.insert(at, record);
}

void EventHistory::close(trace::Id row, uint64_t end) {
  const auto open = std::ranges::find(open_, row, &Record::row);
  if (open == open_.end()) return;
  Record record = *open;
  record.span.end = end;
  remove(row);
  add(record);
}

// The first of the records that were certainly after `call`, with all that follow.
size_t EventHistory::end_of_earlier(const CallSpan& call) const {
  if (records_.empty() || records_.back().span.end <= call.end) return records_.size();
  auto end = std::partition_point(records_.begin(), records_.end(), [&](const Record& record) {
    return record.span.end - std::min(longest_, record.span.end) <= call.end;
  });
  while (end != records_.begin() && surely_before(call, std::prev(end)->span)) --end;
  return static_cast<size_t>(end - records_.begin());
}

Bound EventHistory::bind(const CallSpan& call, uint64_t complete_since) const {
  // Nearly always the newest record ended before the call began, and the one before it ended before
  // that.
  const size_t end = end_of_earlier(call);
  if (end > 0 && open_.empty()) {
    const Record& newest = records_[end - 1];
    if (surely_before(newest.span, call) && newest.span.begin > complete_since &&
        (end == 1 || records_[end - 2].span.end < newest.span.begin)) {
      if (newest.captured) return {trace::kCaptured, trace::kNoId, {}};
      return {trace::kBindingExact, newest.row, {}};
    }
  }

  // A record that overlaps the call may be the one: it can take effect before the call, and every
  // other record either before it or after the call. Of the records that ended before the call
  // began, those are possible that no other of them certainly followed.
  std::vector<const Record*> possible, last;
  for (const Record& open : open_) {
    if (!surely_before(call, open.span)) possible.push_back(&open);
  }
  bool history_known = false;
  uint64_t latest_begin = 0;  // of the records in `last`
  for (size_t i = end; i > 0; --i) {
    const Record& record = records_[i - 1];
    if (surely_before(call, record.span)) continue;
    if (!surely_before(record.span, call)) {
      possible.push_back(&record);
      continue;
    }
    if (record.span.end < latest_begin) break;  // so do all older ones
    const bool followed = std::any_of(last.begin(), last.end(), [&](const Record* later) {
      return surely_before(record.span, later->span);
    });
    if (followed) continue;
    last.push_back(&record);
    latest_begin = std::max(latest_begin, record.span.begin);
    history_known = history_known || record.span.begin > complete_since;
  }

  Bound bound;
  if (last.empty()) history_known = complete_since == 0;
  if (!history_known) return bound;
  possible.insert(possible.end(), last.begin(), last.end());
  if (possible.empty()) {
    bound.binding = trace::kNeverRecorded;
  } else if (possible.size() == 1 && !last.empty()) {
    bound.binding = possible[0]->captured ? trace::kCaptured : trace::kBindingExact;
    if (!possible[0]->captured) bound.record = possible[0]->row;
  } else {
    // One overlapping record and none before it is ambiguous too: that record or none.
    bound.binding = trace::kAmbiguous;
    for (const Record* record : possible) bound.candidates.push_back(record->row);
  }
  return bound;
}

void EventHistory::forget_before(uint64_t horizon) {
  if (records_.size() < forget_at_) return;
  uint64_t latest_begin = 0;
  for (const Record& record : records_) {
    if (record.span.end >= horizon) break;
    latest_begin = std::max(latest_begin, record.span.begin);
  }
  auto keep = std::find_if(records_.begin(), records_.end(),
                           [&](const Record& record) { return record.span.end >= latest_begin; });
  records_.erase(records_.begin(), keep);
  forget_at_ = std::max<size_t>(16, 2 * records_.size());
}

void LostHistory::add(uint64_t from, uint64_t until) {
  from = std::min(from, until);
  auto next = spans_.upper_bound(from);
  if (next != spans_.begin() && std::prev(next)->second >= from) {
    --next;
    from = next->first;
  }
  while (next != spans_.end() && next->first <= until) {
    until = std::max(until, next->second);
    next = spans_.erase(next);
  }
  spans_[from] = until;
}

uint64_t LostHistory::before(uint64_t end) const {
  const auto next = spans_.upper_bound(end);
  return next == spans_.begin() ? 0 : std::prev(next)->second;
}

}  // namespace streamscope::record
