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
  const auto conflict = [&](OperationHandle earlier, MemoryRange) {
    OperationRecord* before = live(earlier);
    if (before == nullptr || before->ended_already() || before == &record) return;
    depend(record, *before, true);
  };
  const auto forget = [&](OperationHandle reader) {
    const OperationRecord* before = live(reader);
    return before == nullptr || before->ended_already();
  };
  const OperationExtra& extra = record.more();
  for (const MemoryRange& range : extra.reads) accesses_.conflicts(range, false, conflict);
  for (const MemoryRange& range : extra.writes) accesses_.conflicts(range, true, conflict);
  for (const MemoryRange& range : extra.reads) accesses_.add(range, false, handle(record), forget);
  for (const MemoryRange& range : extra.writes) accesses_.add(range, true, handle(record), forget);
  record.more().reads.clear();
  record.more().writes.clear();
}

// Reports conflicting operations that are not ordered before an operation that has just begun.
void Coordinator::Impl::judge(const OperationRecord& record) {
  const auto conflict = [&](OperationHandle earlier, MemoryRange where) {
    OperationRecord* before = live(earlier);
    if (before == nullptr || before->ended_already() || before == &record) return;
    const bool ordered =
        !before->unsubmitted() && clocks_.implied(record.point.stream, before->point);
    if (!ordered) note_race(*before, &record, where);
  };
  const auto forget = [&](OperationHandle reader) {
    const OperationRecord* before = live(reader);
    return before == nullptr || before->ended_already();
  };
  const OperationExtra& extra = *record.extra;
  auto& self = const_cast<OperationRecord&>(record);
  for (const MemoryRange& range : extra.reads) accesses_.conflicts(range, false, conflict);
  for (const MemoryRange& range : extra.writes) accesses_.conflicts(range, true, conflict);
  for (const MemoryRange& range : extra.reads) accesses_.add(range, false, handle(self), forget);
  for (const MemoryRange& range : extra.writes) accesses_.add(range, true, handle(self), forget);
}

void Coordinator::Impl::note_race(const OperationRecord& earlier, const OperationRecord* later,
                                  MemoryRange where) {
  ++metrics_.races;
  if (observer().mark != nullptr) observer().mark("race", observer_time(*earlier.device));
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
  accesses_.conflicts(range, access == Access::kWrite, [&](OperationHandle by, MemoryRange where) {
    earlier.emplace_back(by, where);
  });
  bool safe = true;
  for (const auto& [by, where] : earlier) {
    OperationRecord* before = live(by);
    if (before == nullptr || before->ended_already()) continue;
    // The host may have synchronized without libcoord.
    if (before->state.load() == OperationState::kSubmitted && before->has_event) {
      try {
        if (ask(lock, *before, Proof::kQuery)) continue;
      } catch (const Error&) {
        continue;  // it has failed: it no longer accesses memory
      }
      before = live(by);
      if (before == nullptr || before->ended_already()) continue;
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
