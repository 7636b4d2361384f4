// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Declared memory ranges: inferred dependencies, and races.

#include "coordinator_impl.h"
#include "observer.h"

namespace coord {

namespace {

constexpr std::size_t kRacesKept = 1000;

}  // namespace

// Memory ranges

void Coordinator::Impl::infer(OperationRecord& record) {
  accesses_.add(record,
                [&](OperationRecord& before, MemoryRange) { depend(record, before, true); });
  record.extra->reads.clear();
  record.extra->writes.clear();
}

// Reports conflicting operations that are not ordered before an operation that has just begun.
void Coordinator::Impl::judge(OperationRecord& record) {
  accesses_.add(record, [&](OperationRecord& before, MemoryRange where) {
    if (before.unsubmitted() || !clocks_.implied(record.point.stream, before.point))
      note_race(before, &record, where);
  });
}

void Coordinator::Impl::note_race(const OperationRecord& earlier, const OperationRecord* later,
                                  MemoryRange where) {
  ++metrics_.races;
  if (observer().mark != nullptr) observer().mark("race", earlier.device->observer_time_ns());
  if (races_.size() >= kRacesKept) return;
  Race race;
  race.earlier = OperationId{earlier.id.load()};
  if (later != nullptr) race.later = OperationId{later->id.load()};
  race.range = where;
  race.text = std::to_string(where.bytes) + " bytes are used by " + describe(earlier) + " and by " +
              (later != nullptr ? describe(*later)
                                : "host thread " + std::to_string(this_thread_number())) +
              ", and nothing orders them";
  races_.push_back(std::move(race));
}

bool Coordinator::Impl::host_access(const MemoryRange& range, Access access) {
  Lock lock(mutex_);
  std::vector<std::pair<OperationHandle, MemoryRange>> earlier;
  accesses_.conflicts(range, access == Access::kWrite, [&](OperationRecord& by, MemoryRange where) {
    earlier.emplace_back(by.handle(), where);
  });
  bool safe = true;
  for (const auto& [by, where] : earlier) {
    OperationRecord* before = OperationRecord::unended(by);
    if (before == nullptr) continue;
    // The host may have synchronized without libcoord.
    if (before->state.load() == OperationState::kSubmitted && before->has_event) {
      try {
        if (ask(lock, *before, Proof::kQuery)) continue;
      } catch (const Error&) {
        continue;  // it has failed: it no longer accesses memory
      }
      before = OperationRecord::unended(by);
      if (before == nullptr) continue;
    }
    note_race(*before, nullptr, where);
    safe = false;
  }
  lock.unlock();
  device_->backend->host_access(range.address, range.bytes, access == Access::kWrite);
  return safe;
}

std::vector<Race> Coordinator::Impl::races() const {
  const Lock lock(mutex_);
  return races_;
}

}  // namespace coord
