// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What waits for what: the waits that a submission needs, deferred operations and their priorities,
// cycles, memory ranges, captures.

#include <algorithm>
#include <mutex>
#include <set>

#include "codes.h"
#include "coordinator_impl.h"
#include "observer.h"
#include "ticks.h"

namespace coord {

namespace {

constexpr std::size_t kRacesKept = 1000;
/// With more streams blocked than the hardware allows, the device is asked at most every so many
/// submissions whether some of them have gone on.
constexpr std::uint64_t kConnectionCheck = 32;
/// Ready operations of one priority that are looked at for one whose stream is free.
constexpr std::size_t kLookAhead = 64;

}  // namespace

void Coordinator::Impl::depend(OperationRecord& record, OperationRecord& on, bool inferred) {
  const OperationHandle dependency = handle(on);
  if (&record == &on ||
      std::find(record.after.begin(), record.after.end(), dependency) != record.after.end())
    return;
  record.after.push_back(dependency);
  if (inferred) ++metrics_.inferred;
  if (!on.unsubmitted()) return;
  ++record.missing;
  ++record.users;  // `on` holds a pointer to it
  on.dependants.push_back(&record);
  raise(on, record.effective);
}

// What the stream has to wait for, in candidates_; the rest is implied.
void Coordinator::Impl::find_candidates(OperationRecord& record) {
  candidates_.clear();
  const auto consider = [&](OperationRecord& before) {
    if (before.state.load(std::memory_order_relaxed) == OperationState::kCaptured) {
      if (before.capture != record.capture) {
        throw Error(ErrorKind::kCapture, 905, "CUDA_ERROR_STREAM_CAPTURE_ISOLATION",
                    "Coordinator::submit",
                    describe(record) + " depends on " + describe(before) +
                        ", which is part of another graph");
      }
    } else if (before.ended_already()) {
      return;
    } else if (record.capture != 0) {
      throw Error(ErrorKind::kCapture, 905, "CUDA_ERROR_STREAM_CAPTURE_ISOLATION",
                  "Coordinator::submit",
                  describe(record) + " is being captured and depends on " + describe(before) +
                      ", which is not part of the graph; wait for it before the capture");
    }
    if (clocks_.implied(record.stream, before.point)) return;
    if (std::find(candidates_.begin(), candidates_.end(), &before) == candidates_.end())
      candidates_.push_back(&before);
  };
  for (OperationHandle after : record.after) {
    OperationRecord* before = live(after);
    if (before == nullptr) continue;
    if (before->is_group) {
      for (OperationRecord* member : before->more().last) consider(*member);
    } else {
      consider(*before);
    }
  }
  // Of what is left, drop what another one brings along.
  const auto brings = [](const OperationRecord& other, const OperationRecord& before) {
    return other.clock.covers(before.point) ||
           (other.point.stream == before.point.stream && other.point.ticket > before.point.ticket);
  };
  std::vector<OperationRecord*> kept;
  if (candidates_.size() > 1) {
    for (OperationRecord* before : candidates_) {
      const bool brought = std::any_of(
          candidates_.begin(), candidates_.end(),
          [&](OperationRecord* other) { return other != before && brings(*other, *before); });
      if (!brought) kept.push_back(before);
    }
    candidates_.swap(kept);
  }
}

// Fixes the waits of an operation whose dependencies are all submitted, and begins it.
void Coordinator::Impl::place(OperationRecord& record) {
  StreamEntry& stream = streams_[record.stream];
  enter_capture(record);
  find_candidates(record);
  note_elisions(record);
  record.waits.clear();
  for (OperationRecord* before : candidates_) {
    clocks_.join(record.stream, before->point, before->clock);
    ++before->users;
    record.waits.push_back(before);
  }
  metrics_.waits_placed += candidates_.size();
  metrics_.waits_elided += record.after.size() - std::min(record.after.size(), candidates_.size());
  if (!candidates_.empty() && record.capture == 0) {
    std::erase_if(stream.held_by, [&](OperationHandle by) {
      const OperationRecord* before = live(by);
      return before == nullptr || before->ended_already();
    });
    for (OperationRecord* before : candidates_) stream.held_by.push_back(handle(*before));
  }
  record.begun = record.created;
  if (record.dispatched || record.missing > 0) record.begun = stamp(*record.device);
  record.order = take_order();
  record.runner = this_thread_number();
  record.state.store(OperationState::kBegun, std::memory_order_release);
  ++stream.open;
  ++metrics_.begun;
}

// Whether the operation becomes part of a graph. What a stream comes after outside of a capture
// says nothing about the order inside, and the other way round.
void Coordinator::Impl::enter_capture(OperationRecord& record) {
  StreamEntry& stream = streams_[record.stream];
  std::uint64_t capture = 0;
  if (stream.device->backend->capture_status(stream.state->native) != CaptureStatus::kNone)
    capture = stream.capture != 0 ? stream.capture : next_capture_++;
  for (OperationHandle after : record.after) {
    const OperationRecord* before = live(after);
    if (capture == 0 && before != nullptr &&
        before->state.load(std::memory_order_relaxed) == OperationState::kCaptured) {
      // Waiting for it makes the stream part of the capture, if that is still going on.
      const StreamEntry& origin = streams_[before->stream];
      if (origin.capture == before->capture &&
          origin.device->backend->capture_status(origin.state->native) != CaptureStatus::kNone)
        capture = before->capture;
    }
  }
  record.capture = capture;
  if (capture == stream.capture) return;
  const std::uint64_t left = std::exchange(stream.capture, capture);
  if (left == 0) {
    stream.outside = clocks_.exchange_row(record.stream, ClockRef());
  } else {
    clocks_.exchange_row(record.stream,
                         capture == 0 ? std::exchange(stream.outside, ClockRef()) : ClockRef());
    const auto inside = [&](const StreamEntry& other) {
      return other.capture == left &&
             other.device->backend->capture_status(other.state->native) != CaptureStatus::kNone;
    };
    if (std::none_of(streams_.begin(), streams_.end(), inside)) end_captured(left);
  }
}

// The hardware queues

std::size_t Coordinator::Impl::blocked_streams(const DeviceState& device) {
  std::size_t blocked = 0;
  for (StreamEntry& stream : streams_) {
    if (stream.held_by.empty() || stream.device != &device) continue;
    std::erase_if(stream.held_by, [&](OperationHandle by) {
      const OperationRecord* before = live(by);
      return before == nullptr || before->ended_already();
    });
    if (!stream.held_by.empty()) ++blocked;
  }
  return blocked;
}

bool Coordinator::Impl::waits_needed(const OperationRecord& record) {
  return std::any_of(record.after.begin(), record.after.end(), [&](OperationHandle after) {
    const OperationRecord* before = live(after);
    return before != nullptr && !before->ended_already() &&
           (before->is_group || !clocks_.implied(record.stream, before->point));
  });
}

// Whether the operation's waits would block more streams than connections - 2, as far as the device
// can tell. The lock may be open meanwhile.
bool Coordinator::Impl::over_connections(Lock& lock, OperationRecord& record) {
  const std::uint32_t connections = record.device->max_connections;
  const std::size_t limit = connections > 3 ? connections - 2 : 1;
  if (streams_.size() <= limit || !waits_needed(record)) return false;
  const auto blocked = [&] {
    const std::size_t mine = streams_[record.stream].held_by.empty() ? 1 : 0;
    return blocked_streams(*record.device) + mine;
  };
  bool over = blocked() > limit;
  if (over && connection_checks_++ % kConnectionCheck == 0) {
    std::vector<OperationHandle> held_by;
    for (const StreamEntry& stream : streams_)
      held_by.insert(held_by.end(), stream.held_by.begin(), stream.held_by.end());
    for (OperationHandle by : held_by) {
      OperationRecord* before = live(by);
      if (before == nullptr || before->ended_already()) continue;
      try {
        ask(lock, *before, Proof::kQuery);
      } catch (const Error&) {
        break;  // the device has failed: the submission will say so
      }
    }
    over = blocked() > limit;
  }
  if (over) {
    ++metrics_.over_connections;
    if (!was_over_ && observer().mark != nullptr)
      observer().mark("more streams blocked than hardware queues", observer_time(*record.device));
  }
  was_over_ = over;
  return over;
}

// Deferred operations

void Coordinator::Impl::raise(OperationRecord& record, OperationPriority priority) {
  if (!record.unsubmitted() || record.effective <= priority) return;
  record.effective = priority;
  ++metrics_.priority_inversions;
  if (record.state.load() == OperationState::kRegistered && record.missing == 0 &&
      record.extra != nullptr && record.extra->function)
    make_ready(record);  // its older entry is passed over
  for (OperationHandle after : record.after) {
    if (OperationRecord* before = live(after); before != nullptr) raise(*before, priority);
  }
}

// The submission of `record` has ended: those who waited for it may go on.
void Coordinator::Impl::submitted_one(OperationRecord& record) {
  std::vector<OperationRecord*> dependants;
  dependants.swap(record.dependants);
  for (OperationRecord* dependant : dependants) {
    if (dependant->state.load() == OperationState::kRegistered && --dependant->missing == 0) {
      --metrics_.blocked_now;
      if (dependant->extra != nullptr && dependant->extra->function) make_ready(*dependant);
    }
    drop_user(*dependant);
  }
  dependants.clear();
  record.dependants.swap(dependants);  // keeps its memory
  if (record.extra == nullptr || record.extra->group == nullptr) return;
  OperationRecord& group = *record.extra->group;
  OperationExtra& extra = group.more();
  --extra.unsubmitted;
  if (!record.ended_already() && record.point.ticket != 0) {
    const auto same = [&](const OperationRecord* last) { return last->stream == record.stream; };
    auto last = std::find_if(extra.last.begin(), extra.last.end(), same);
    ++record.users;
    if (last == extra.last.end()) {
      extra.last.push_back(&record);
    } else {
      drop_user(**last);
      *last = &record;
    }
  }
  if (extra.open || extra.unsubmitted > 0 || group.ended_already()) return;
  group.state.store(OperationState::kSubmitted, std::memory_order_release);
  group.submitted = stamp(*group.device);
  ++metrics_.submitted;
  tell_state(group);
  submitted_one(group);
}

void Coordinator::Impl::make_ready(OperationRecord& record) {
  ready_[static_cast<std::size_t>(record.effective)].push_back(handle(record));
}

// The most urgent operation that is ready and whose stream is free, each step of urgency being
// worth `ageing` of waiting.
OperationRecord* Coordinator::Impl::next_ready() {
  const auto stale = [&](OperationHandle ready, std::size_t level) {
    const OperationRecord* record = live(ready);
    return record == nullptr || record->state.load() != OperationState::kRegistered ||
           record->missing > 0 || static_cast<std::size_t>(record->effective) != level;
  };
  OperationRecord* best = nullptr;
  std::size_t best_level = 0, best_index = 0;
  double best_rank = 0;
  const std::uint64_t now = stamp(*device_);
  for (std::size_t level = 0; level < ready_.size(); ++level) {
    std::deque<OperationHandle>& queue = ready_[level];
    while (!queue.empty() && stale(queue.front(), level)) queue.pop_front();
    for (std::size_t i = 0; i < std::min(queue.size(), kLookAhead); ++i) {
      if (stale(queue[i], level)) continue;
      OperationRecord& record = *queue[i].record_;
      if (streams_[record.stream].open > 0) continue;
      const bool simulated = record.device->simulated;
      const std::uint64_t age = now > record.created ? now - record.created : 0;
      const auto waited = static_cast<double>(simulated ? static_cast<std::int64_t>(age)
                                                        : length_of_ticks(age).count());
      const double rank =
          static_cast<double>(level) -
          waited / static_cast<double>(std::max<std::int64_t>(options_.ageing.count(), 1));
      if (best == nullptr || rank < best_rank) {
        best = &record;
        best_level = level;
        best_index = i;
        best_rank = rank;
      }
      break;  // the first of a level has waited longest
    }
  }
  if (best != nullptr)
    ready_[best_level].erase(ready_[best_level].begin() + static_cast<std::ptrdiff_t>(best_index));
  return best;
}

// Submits what is ready. The lock may be open meanwhile.
void Coordinator::Impl::dispatch(Lock& lock) {
  // A function that is run from here and finishes leaves the rest to this loop: a long chain of
  // deferred operations must not become as deep a recursion.
  thread_local const Impl* dispatching = nullptr;
  const auto any = [&] {
    return std::any_of(ready_.begin(), ready_.end(),
                       [](const auto& queue) { return !queue.empty(); });
  };
  if (dispatching == this || !any()) return;
  const Impl* const outer = std::exchange(dispatching, this);
  while (OperationRecord* record = next_ready()) {
    ++record->users;
    const bool over = over_connections(lock, *record);
    --record->users;
    if (record->state.load() != OperationState::kRegistered) {
      retire_if_over(*record);
      continue;  // cancelled meanwhile
    }
    if (over && options_.connections == Connections::kHold) {
      held_.push_back(handle(*record));
      wake_poller();
      continue;
    }
    run_deferred(lock, *record);
  }
  dispatching = outer;
}

// Cycles and cancelling

// Whether `record` waits, through operations that are not submitted, for `on`; `path` from the one
// to the other.
bool Coordinator::Impl::depends_on(OperationRecord& record, const OperationRecord& on,
                                   std::vector<const OperationRecord*>& path) const {
  std::set<const OperationRecord*> seen;
  const std::function<bool(OperationRecord&)> search = [&](OperationRecord& at) {
    if (!at.unsubmitted() || !seen.insert(&at).second) return false;
    path.push_back(&at);
    if (&at == &on) return true;
    for (OperationHandle after : at.after) {
      OperationRecord* before = live(after);
      if (before != nullptr && search(*before)) return true;
    }
    if (at.is_group) {
      for (OperationRecord& member : const_cast<OperationTable&>(operations_).all()) {
        if (member.extra != nullptr && member.extra->group == &at && search(member)) return true;
      }
    }
    path.pop_back();
    return false;
  };
  return search(record);
}

void Coordinator::Impl::add_dependency(OperationHandle operation, OperationHandle after) {
  constexpr const char* kCall = "Coordinator::add_dependency";
  const Lock lock(mutex_);
  OperationRecord* record = find(operation, kCall);
  OperationRecord* before = find(after, kCall);
  throw_failure(operation);
  throw_failure(after);
  if (record == nullptr || record->state.load() != OperationState::kRegistered) {
    throw make_error(
        kCodeNotPermitted, kCall,
        record == nullptr ? "the operation has ended" : describe(*record) + " was begun already");
  }
  if (before == nullptr || before->ended_already()) return;
  if (before->unsubmitted() && options_.unsubmitted == Unsubmitted::kRefuse) {
    throw make_error(kCodeNotPermitted, kCall, describe(*before) + " is not submitted");
  }
  std::vector<const OperationRecord*> path;
  if (depends_on(*before, *record, path)) {
    std::string text = "it would close a cycle: " + describe(*record);
    for (const OperationRecord* step : path) text += " waits for " + describe(*step);
    throw Error(ErrorKind::kCycle, kCodeInvalidValue, name_of_code(kCodeInvalidValue), kCall, text);
  }
  if (record->is_group) {
    record->after.push_back(after);  // for members to come
    for (OperationRecord& member : operations_.all()) {
      if (member.extra != nullptr && member.extra->group == record &&
          member.state.load() == OperationState::kRegistered)
        depend(member, *before, false);
    }
    return;
  }
  const std::uint32_t missing = record->missing;
  depend(*record, *before, false);
  if (missing == 0 && record->missing > 0) {
    ++metrics_.blocked_now;
    ++metrics_.deferred;
  }
  tell_dependency(*record, after, false);
}

bool Coordinator::Impl::cancel(OperationHandle operation) {
  Lock lock(mutex_);
  OperationRecord* record = find(operation, "Coordinator::cancel");
  if (record == nullptr || record->state.load() != OperationState::kRegistered) return false;
  const auto error =
      std::make_exception_ptr(Error(ErrorKind::kCancelled, kCodeUnknown, name_of_code(kCodeUnknown),
                                    "Coordinator::cancel", describe(*record) + " was cancelled"));
  if (record->is_group) {
    record->more().open = false;
    for (OperationRecord& member : operations_.all()) {
      if (member.extra != nullptr && member.extra->group == record &&
          member.state.load() == OperationState::kRegistered)
        end(member, OperationState::kCancelled, error);
    }
    if (!record->ended_already() && record->more().unsubmitted == 0)
      end(*record, OperationState::kCancelled, error);
  } else {
    end(*record, OperationState::kCancelled, error);
  }
  changed_.notify_all();
  deliver(lock);
  return true;
}

// Those that wait for the submission of an operation that will never be.
void Coordinator::Impl::fail_dependants(OperationRecord& record) {
  std::vector<OperationRecord*> dependants;
  dependants.swap(record.dependants);
  for (OperationRecord* dependant : dependants) {
    if (dependant->state.load() == OperationState::kRegistered) {
      const OperationState state = record.state.load() == OperationState::kCancelled
                                       ? OperationState::kCancelled
                                       : OperationState::kFailed;
      const auto found = failures_.find(record.id.load());
      end(*dependant, state, found != failures_.end() ? found->second : nullptr);
    }
    drop_user(*dependant);
  }
}

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

// Reports what conflicts with an operation that has just begun and is not ordered before it.
void Coordinator::Impl::judge(const OperationRecord& record) {
  const auto conflict = [&](OperationHandle earlier, MemoryRange where) {
    OperationRecord* before = live(earlier);
    if (before == nullptr || before->ended_already() || before == &record) return;
    const bool ordered = !before->unsubmitted() && clocks_.implied(record.stream, before->point);
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
              ", and nothing orders the two";
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
    // The host may have synchronized without us.
    if (before->state.load() == OperationState::kSubmitted && before->has_event) {
      try {
        if (ask(lock, *before, Proof::kQuery)) continue;
      } catch (const Error&) {
        continue;  // it has failed: it touches nothing any more
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

}  // namespace coord
