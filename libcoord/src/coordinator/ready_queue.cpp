// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "ready_queue.h"

#include <algorithm>

#include "host/ticks.h"
#include "stream_table.h"

namespace coord {

namespace {

/// Ready operations of one priority that are searched for one whose stream is free.
constexpr std::size_t kLookAhead = 64;

}  // namespace

OperationRecord* ReadyQueue::take(std::uint64_t now, Nanoseconds ageing) {
  const auto stale = [&](const OperationHandle& ready, std::size_t level) {
    const OperationRecord* record = OperationRecord::of(ready);
    return record == nullptr || record->state.load() != OperationState::kRegistered ||
           record->missing > 0 || static_cast<std::size_t>(record->effective) != level;
  };
  OperationRecord* best = nullptr;
  std::size_t best_level = 0, best_index = 0;
  double best_rank = 0;
  for (std::size_t level = 0; level < queues_.size(); ++level) {
    std::deque<OperationHandle>& queue = queues_[level];
    for (; !queue.empty() && stale(queue.front(), level); --count_) queue.pop_front();
    for (std::size_t i = 0; i < std::min(queue.size(), kLookAhead); ++i) {
      if (stale(queue[i], level)) continue;
      OperationRecord& record = *OperationRecord::of(queue[i]);
      if (record.entry->open > 0) continue;
      const bool simulated = record.device->simulated;
      const std::uint64_t age = now > record.created ? now - record.created : 0;
      const auto waited = static_cast<double>(simulated ? static_cast<std::int64_t>(age)
                                                        : length_of_ticks(age).count());
      const double rank = static_cast<double>(level) -
                          waited / static_cast<double>(std::max<std::int64_t>(ageing.count(), 1));
      if (best == nullptr || rank < best_rank) {
        best = &record;
        best_level = level;
        best_index = i;
        best_rank = rank;
      }
      break;  // the first of a level has waited longest
    }
  }
  if (best == nullptr) return nullptr;
  --count_;
  queues_[best_level].erase(queues_[best_level].begin() + static_cast<std::ptrdiff_t>(best_index));
  return best;
}

}  // namespace coord
