// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "operation_reports.h"

#include <atomic>
#include <cstring>
#include <mutex>
#include <span>
#include <unordered_map>
#include <utility>

#include "stream_table.h"

namespace coord {

namespace {

/// Whether it was reported by operation_entered, outside of any function: then the state at the end
/// of the submission also ends the assignment of the thread's calls to it.
bool ends_by_its_state(const OperationRecord& record) {
  return !record.announced && record.outer == COORD_NONE;
}

/// The innermost operation whose function runs on this thread.
struct Entered {
  std::uint32_t operation = COORD_NONE;
  std::uint64_t* end = nullptr;  // where the observer wants its end stamp, if anywhere
};
[[gnu::tls_model("initial-exec")]] thread_local constinit Entered entered;

/// Operations that ended while they were not the innermost one of their thread, for example because
/// another thread ended them; each with its enclosing operation, until its thread returns to that.
struct EndedOutOfTurn {
  std::mutex mutex;
  std::unordered_map<std::uint32_t, std::uint32_t> outer;
  std::atomic<std::size_t> count{0};  // of these

  void add(std::uint32_t operation, std::uint32_t around) {
    const std::lock_guard lock(mutex);
    outer.emplace(operation, around);
    count.store(outer.size(), std::memory_order_relaxed);
  }
  /// `operation`, which the thread is in, or the first enclosing one that has not ended.
  std::uint32_t still_open(std::uint32_t operation) {
    if (count.load(std::memory_order_relaxed) == 0) return operation;
    const std::lock_guard lock(mutex);
    while (const auto ended = outer.extract(operation)) operation = ended.mapped();
    count.store(outer.size(), std::memory_order_relaxed);
    return operation;
  }
};
EndedOutOfTurn& ended_out_of_turn() {
  static auto* const kept = new EndedOutOfTurn;  // some may end after static destructors have run
  return *kept;
}

std::uint32_t observer_id(const OperationRecord& record) {
  return static_cast<std::uint32_t>(record.id.load(std::memory_order_relaxed));
}

std::uint32_t parent_of(const OperationRecord& record) {
  if (record.extra == nullptr || record.extra->group == nullptr) [[likely]]
    return COORD_NONE;
  return observer_id(*record.extra->group);
}

}  // namespace

std::string text_of(const std::source_location& where) {
  return std::string(where.file_name()) + ":" + std::to_string(where.line()) + " " +
         where.function_name();
}

// An operation that does not begin at once. The others are reported when they begin.
void OperationReports::notify_registered(OperationRecord& record) const {
  record.announced = true;
  std::vector<std::uint32_t> ids;
  ids.reserve(record.after.size());
  for (const OperationHandle& dependency : record.after)
    ids.push_back(static_cast<std::uint32_t>(dependency.id().value));
  const std::string call_site = text_of(record.where);
  const coord_operation_facts facts{.operation = observer_id(record),
                                    .type = static_cast<std::uint32_t>(record.type),
                                    .priority = static_cast<std::uint32_t>(record.priority),
                                    .context = record.device->backend->properties().context,
                                    .stream = record.is_group ? 0 : record.entry->state->native,
                                    .parent = parent_of(record),
                                    .dependency_count = static_cast<std::uint32_t>(ids.size()),
                                    .dependencies = ids.data(),
                                    .time_ns = record.device->observer_time_ns(),
                                    .name = record.name(),
                                    .call_site = call_site.c_str()};
  observer().operation_registered(&facts);
  for (std::size_t i = record.inferred_from; record.has_ranges && i < record.inferred_to; ++i)
    dependency(record, record.after[i], true);
}

void OperationReports::dependency(const OperationRecord& record, OperationHandle on,
                                  bool inferred) const {
  if (!is_observed()) return;
  observer().dependency(observer_id(record), static_cast<std::uint32_t>(on.id().value),
                        inferred ? 1 : 0, COORD_WAITED);
}

void OperationReports::find_elisions(OperationRecord& record, const WaitSet& waits,
                                     const ClockTable& clocks) {
  // Why the operation's stream waits for `before` or does not need to.
  const auto elision = [&](const OperationRecord& before) -> std::uint8_t {
    if (waits.contains(before)) return COORD_WAITED;
    if (before.ended_already() || clocks.proved(before.point)) return COORD_ELIDED_ENDED;
    if (before.point.stream == record.point.stream) return COORD_ELIDED_SAME_STREAM;
    return clocks.implied(record.point.stream, before.point) ? COORD_ELIDED_EARLIER_WAIT
                                                             : COORD_ELIDED_OTHER_DEPENDENCY;
  };
  record.elisions.resize(record.after.size());
  auto hooks = record.elisions.begin();
  for (const OperationHandle& after : record.after) {
    OperationRecord* before = OperationRecord::of(after);
    std::uint8_t reason = COORD_ELIDED_ENDED;
    if (before != nullptr && !before->is_group) reason = elision(*before);
    if (before != nullptr && before->is_group) {
      // For a group, the waits are for its last members: the group is waited for if one of them is.
      for (const OperationRecord* last : before->more().last) {
        reason = elision(*last);
        if (reason == COORD_WAITED) break;
      }
    }
    *hooks++ = {static_cast<std::uint32_t>(after.id().value), 0, reason};
  }
  for (std::size_t i = record.inferred_from; record.has_ranges && i < record.inferred_to; ++i)
    record.elisions[i].inferred = 1;
}

// An operation that the observer already knows.
void OperationReports::notify_announced_begun(OperationRecord& record) {
  const coord_observer& hooks = observer();
  const std::uint32_t id = observer_id(record);
  if (record.after.size() > 0) {
    for (const coord_dependency_facts& one : record.elisions)
      hooks.dependency(id, one.operation, one.inferred, one.elided);
  }
  hooks.operation_begin(id, record.device->observer_time_ns());
  new_state(record);
}

namespace {

// Everything reported about it, except its dependencies.
coord_operation_begin_facts facts_of(const OperationRecord& record) {
  const coord_operation_begin_facts facts{.operation = observer_id(record),
                                          .type = static_cast<std::uint32_t>(record.type),
                                          .priority = static_cast<std::uint32_t>(record.priority),
                                          .context = record.entry->context,
                                          .stream = record.entry->state->native,
                                          .parent = parent_of(record),
                                          .clock = static_cast<std::uint32_t>(record.device->clock),
                                          .registered = record.created,
                                          .begun = record.begun,
                                          .line = record.where.line(),
                                          .name = record.name(),
                                          .name_bytes = record.name_bytes(),
                                          .file = record.where.file_name(),
                                          .function = record.where.function_name()};
  return facts;
}

// Whether two texts of `bytes` are the same. Texts of 4 to 16 bytes are read with the same access
// sizes as the copy that wrote them: a wide load over two recent stores (a store-forwarding stall)
// costs as much as everything else here.
inline bool same_text(const char* a, const char* b, std::size_t bytes) {
  const auto same_ends = [&]<class Word>(Word) {
    Word words[4];
    std::memcpy(&words[0], a, sizeof(Word));
    std::memcpy(&words[1], b, sizeof(Word));
    std::memcpy(&words[2], a + bytes - sizeof(Word), sizeof(Word));
    std::memcpy(&words[3], b + bytes - sizeof(Word), sizeof(Word));
    return words[0] == words[1] && words[2] == words[3];
  };
  if (bytes >= 4 && bytes <= 8) return same_ends(std::uint32_t{});
  if (bytes > 8 && bytes <= 16) return same_ends(std::uint64_t{});
  return std::memcmp(a, b, bytes) == 0;
}

inline bool is_of(const OperationRecord& record, const KnownKind& kind) {
  const std::size_t bytes = record.name_bytes();
  return std::memcmp(&record.where, &kind.where, sizeof record.where) == 0 &&
         record.type == kind.type && record.priority == kind.priority && bytes == kind.text_bytes &&
         (bytes == 0 || same_text(record.description.c_str(), kind.text.data(), bytes));
}

// The slot of an operation's kind, if it can be reported by number.
inline KnownKind* place_of_kind(const OperationRecord& record) {
  KnownKinds* const kinds = record.entry->known_kinds.get();
  if (kinds == nullptr || record.announced || record.extra != nullptr) return nullptr;
  return &(*kinds)[record.where.line() % kinds->size()];
}

// Makes the operation the kind of its slot, if the slot is empty and the observer accepts it.
void make_kind(const OperationRecord& record) {
  KnownKind* const kind = place_of_kind(record);
  const std::size_t bytes = record.name_bytes();
  std::uint32_t number = KnownKind::kNone;
  if (kind == nullptr || bytes > kind->text.size() ||
      kind->number.load(std::memory_order_relaxed) != KnownKind::kNone ||  // exchanges are slow
      !kind->number.compare_exchange_strong(number, KnownKind::kMaking))
    return;
  kind->type = record.type;
  kind->priority = record.priority;
  kind->where = record.where;
  kind->text_bytes = static_cast<std::uint8_t>(bytes);
  std::memcpy(kind->text.data(), record.name(), bytes);
  const coord_operation_begin_facts facts = facts_of(record);
  kind->number.store(observer().operation_kind(&facts), std::memory_order_release);
}

// Its dependencies, as left by find_elisions().
std::span<const coord_dependency_facts> dependencies_of(const OperationRecord& record) {
  if (record.after.size() == 0) return {};
  return record.elisions;
}

}  // namespace

void OperationReports::notify_begun(OperationRecord& record) {
  const std::uint32_t id = observer_id(record);
  record.outer = std::exchange(entered, {.operation = id}).operation;
  const KnownKind* const kind = place_of_kind(record);
  const std::uint32_t number =
      kind != nullptr ? kind->number.load(std::memory_order_acquire) : KnownKind::kNone;
  if (record.outer != COORD_NONE || number == KnownKind::kNone || number == KnownKind::kMaking ||
      !is_of(record, *kind)) [[unlikely]]
    return notify_begun_at_length(record);
  const auto depends_on = dependencies_of(record);
  entered.end =
      observer().operation_of_kind(number, id, record.created, record.begun, depends_on.data(),
                                   static_cast<std::uint32_t>(depends_on.size()));
}

// An operation that begins in the function of another one, or differs from earlier ones.
void OperationReports::notify_begun_at_length(OperationRecord& record) {
  if (record.outer != COORD_NONE) record.outer = ended_out_of_turn().still_open(record.outer);
  make_kind(record);
  if (record.announced) return notify_announced_begun(record);
  const auto depends_on = dependencies_of(record);
  coord_operation_begin_facts facts = facts_of(record);
  facts.dependency_count = static_cast<std::uint32_t>(depends_on.size());
  facts.dependencies = depends_on.data();
  std::uint64_t* const end = observer().operation_entered(&facts);
  if (record.outer == COORD_NONE) entered.end = end;
}

void OperationReports::notify_left(const OperationRecord& record) const {
  const coord_observer& hooks = observer();
  const std::uint32_t id = observer_id(record);
  if (entered.operation != id) {
    ended_out_of_turn().add(id, record.outer);
    return hooks.operation_end(id, record.device->observer_time_ns());
  }
  entered = {};
  if (record.outer != COORD_NONE) entered.operation = ended_out_of_turn().still_open(record.outer);
  if (ends_by_its_state(record)) return;
  const std::int64_t now_ns = record.device->observer_time_ns();
  hooks.operation_end(id, now_ns);
  if (entered.operation != COORD_NONE) hooks.operation_begin(entered.operation, now_ns);
}

void OperationReports::notify_end_of_submission(const OperationRecord& record) {
  const std::uint64_t end = record.submitted;
  if (entered.end != nullptr && entered.operation == observer_id(record) && record.capture == 0 &&
      end != 0) [[likely]] {
    entered.operation = COORD_NONE;
    std::atomic_ref(*entered.end).store(end, std::memory_order_release);
    return;
  }
  leave(record);
  new_state(record);
}

void OperationReports::notify_new_state(const OperationRecord& record) {
  const OperationState state = record.state.load(std::memory_order_relaxed);
  const coord_observer& hooks = observer();
  if (state == OperationState::kCompleted) return completed(record);
  if (state == OperationState::kCaptured) {
    // This is not a state of a trace; but its submission has ended.
    if (ends_by_its_state(record)) hooks.operation_end(observer_id(record), 0);
    return;
  }
  const std::uint64_t stamp = state == OperationState::kSubmitted ? record.submitted
                              : state == OperationState::kBegun   ? record.begun
                                                                  : record.ended;
  hooks.operation_stamp(observer_id(record), static_cast<std::uint32_t>(state),
                        static_cast<std::uint32_t>(record.device->clock), stamp);
}

// The first one of its device.
void OperationReports::notify_first_completed(const OperationRecord& record) {
  if (!is_observed()) return;
  all_completed();
  completed_device_ = record.device;
  completed(record);
}

void OperationReports::notify_all_completed() {
  observer().operations_completed(
      completed_ids_.data(), static_cast<std::uint32_t>(completed_ids_.size()),
      static_cast<std::uint32_t>(completed_device_->clock), completed_stamp_);
  completed_ids_.clear();
  completed_device_ = nullptr;
}

}  // namespace coord
