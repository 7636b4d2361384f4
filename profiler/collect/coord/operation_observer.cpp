// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "collect/coord/operation_observer.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "collect/coord/coord_observer.h"

namespace streamscope::collect {
namespace {

using ring::RecordKind;
using ring::TextHash;

// Sends `count` dependencies, several per record; `fill` supplies each.
template <class Fill>
inline void push_dependencies(ThreadState& thread, uint32_t operation, uint32_t count, Fill fill) {
  constexpr uint32_t kMost = ring::OperationDependenciesRecord::kMost;
  for (uint32_t first = 0; first < count; first += kMost) {
    ring::OperationDependenciesRecord record{};
    record.kind = RecordKind::kOperationDependencies;
    record.operation = operation;
    record.count = static_cast<uint16_t>(std::min(count - first, kMost));
    for (uint32_t i = 0; i < record.count; ++i) record.dependencies[i] = fill(first + i);
    thread.push(record);
  }
}

[[gnu::noinline]] void send_call_site(ThreadState& thread, const coord_operation_begin_facts& facts,
                                      CallSiteSlot& slot) {
  char text[512];
  const int length =
      std::snprintf(text, sizeof text, "%s:%u %s", facts.file, facts.line, facts.function);
  slot = {};
  slot.file = facts.file;
  slot.function = facts.function;
  slot.line = facts.line;
  slot.epoch = session.epoch.load(std::memory_order_relaxed);
  slot.call_site = send_text(
      thread, {text, std::min(static_cast<size_t>(std::max(length, 0)), sizeof text - 1)});
}

[[gnu::noinline]] void send_name(ThreadState& thread, std::string_view name, CallSiteSlot& slot) {
  slot.name = name.empty() ? 0 : send_text(thread, name);
  // A long name is remembered as an empty one.
  slot.text_bytes = static_cast<uint32_t>(name.size() <= sizeof slot.text ? name.size() : 0);
  std::memcpy(slot.text, name.data(), slot.text_bytes);
}

// The texts of an operation that were sent.
struct Texts {
  TextHash name, call_site;
};

// Call sites are literals and most names repeat at one call site, so the thread caches them.
Texts texts_of(ThreadState& thread, const coord_operation_begin_facts& facts) {
  const auto place = reinterpret_cast<uintptr_t>(facts.file) + facts.line;
  CallSiteSlot& slot = thread.call_sites[(place * 0x9e3779b97f4a7c15ull) >> 60];
  if (slot.file != facts.file || slot.line != facts.line || slot.function != facts.function ||
      slot.epoch != session.epoch.load(std::memory_order_relaxed)) [[unlikely]]
    send_call_site(thread, facts, slot);
  const std::string_view name(facts.name, facts.name_bytes);
  if (name != std::string_view(slot.text, slot.text_bytes) || (name.empty() && slot.name != 0))
      [[unlikely]]
    send_name(thread, name, slot);
  return {slot.name, slot.call_site};
}

// True if the end of a submission fits into a record that begins this many ticks later.
bool fits(uint64_t ended_before) { return ended_before - 1 < UINT32_MAX; }

// Fills in the record of an operation, except for its stamps, in place: a copy would immediately
// read back what was just written in pieces.
void describe(ring::OperationRecord& record, const coord_operation_begin_facts& facts,
              const Texts& texts, uint8_t flags) {
  record.kind = RecordKind::kOperation;
  record.flags = flags;
  record.type = static_cast<uint8_t>(facts.type);
  record.priority = static_cast<uint8_t>(facts.priority);
  record.operation = facts.operation;
  record.stream = facts.stream;
  record.name = texts.name;
  record.call_site = texts.call_site;
  record.context = facts.context;
  record.parent = facts.parent;
}

// An operation that the thread begins to submit. Its record also contains the end of the previous
// submission, so most operations are one record.
void push_operation(ThreadState& thread, const coord_operation_begin_facts& facts,
                    const Texts& texts, const Stamp& registered, uint64_t begun) {
  const ring::Submission& before = thread.submission();
  const uint64_t ended = before.ended.load(std::memory_order_relaxed);
  const uint64_t ended_before = registered.begin - ended;
  const bool tells_end = ended != 0 && fits(ended_before) &&
                         before.flags.load(std::memory_order_relaxed) == registered.flags;
  if (!tells_end) thread.push_submission_end();
  thread.push_in_place<ring::OperationRecord>([&](ring::OperationRecord& record) {
    describe(record, facts, texts, registered.flags);
    record.begin = registered.begin;
    record.begun = begun;
    record.ended = tells_end ? before.operation.load(std::memory_order_relaxed) : 0;
    record.ended_before = tells_end ? static_cast<uint32_t>(ended_before) : 0;
  });
  thread.submission().begin(facts.operation, registered.flags);
}

[[gnu::noinline]] void push_reasons(ThreadState& thread, uint32_t operation,
                                    const coord_dependency_facts* dependencies, uint32_t count) {
  push_dependencies(thread, operation, count, [&](uint32_t i) {
    const coord_dependency_facts& one = dependencies[i];
    return ring::OperationDependenciesRecord::Dependency{one.operation, one.inferred, one.elided};
  });
}

// Where libcoord stores the end of the submission: the same eight bytes, written by the same
// thread.
uint64_t* place_of_end(ThreadState& thread) {
  return reinterpret_cast<uint64_t*>(&thread.submission().ended);
}

// `known`: its texts, if they were sent to this session.
uint64_t* enter(const coord_operation_begin_facts& facts, const Texts* known) {
  ThreadState* const thread = running_thread();
  if (thread == nullptr) return nullptr;
  if (!collecting()) [[unlikely]] {
    thread->begin_submission(facts.operation, 0);
    return nullptr;
  }
  const Stamp registered(facts.clock, facts.registered);
  const bool same_clock = registered.begin == facts.registered;
  const Texts texts = known != nullptr ? *known : texts_of(*thread, facts);
  push_operation(*thread, facts, texts, registered, same_clock ? facts.begun : registered.begin);
  if (facts.dependency_count != 0)
    push_reasons(*thread, facts.operation, facts.dependencies, facts.dependency_count);
  return same_clock ? place_of_end(*thread) : nullptr;
}

// The common part of operations for which libcoord reports only number, stamps and dependencies.
struct alignas(64) OperationKind {
  ring::OperationRecord record;  // of each of them, except for number and stamps
  std::atomic<uint32_t> epoch;   // of the session to which its texts were sent
  coord_operation_begin_facts facts;
  char name[48];
};
constexpr uint32_t kMaxOperationKinds = 2048;
constinit OperationKind operation_kinds[kMaxOperationKinds] = {};
constinit std::atomic<uint32_t> operation_kind_count{1};  // 0 is none

// The slow path of an operation of a kind: the thread has no submission to end or no free place,
// nothing is being recorded, or the texts were sent to the process from which this one was forked.
[[gnu::noinline]] uint64_t* enter_one_of(OperationKind& kind, uint32_t operation,
                                         uint64_t registered, uint64_t begun,
                                         const coord_dependency_facts* dependencies,
                                         uint32_t dependency_count) {
  coord_operation_begin_facts facts = kind.facts;
  facts.operation = operation;
  facts.registered = registered;
  facts.begun = begun;
  facts.dependencies = dependencies;
  facts.dependency_count = dependency_count;
  const uint32_t epoch = session.epoch.load(std::memory_order_relaxed);
  const Texts known{kind.record.name, kind.record.call_site};
  if (kind.epoch.load(std::memory_order_relaxed) == epoch) return enter(facts, &known);
  uint64_t* const end = enter(facts, nullptr);
  if (end != nullptr) kind.epoch.store(epoch, std::memory_order_relaxed);
  return end;
}

}  // namespace

void on_operation_registered(const coord_operation_facts* facts) {
  ThreadState* thread = recording_thread();
  if (thread == nullptr) return;
  const Stamp stamp(facts->time_ns);
  ring::OperationRecord record{};
  record.kind = RecordKind::kOperation;
  record.flags = stamp.flags;
  record.type = static_cast<uint8_t>(facts->type);
  record.priority = static_cast<uint8_t>(facts->priority);
  record.operation = facts->operation;
  record.begin = stamp.begin;
  record.stream = facts->stream;
  record.name = send_text(*thread, view(facts->name));
  record.call_site = send_text(*thread, view(facts->call_site));
  record.context = facts->context;
  record.parent = facts->parent;
  record.begun = ring::kNotYet;
  thread->push(record);
  push_dependencies(*thread, facts->operation, facts->dependency_count, [&](uint32_t i) {
    return ring::OperationDependenciesRecord::Dependency{facts->dependencies[i], 0, 0};
  });
}

uint64_t* on_operation_entered(const coord_operation_begin_facts* facts) {
  return enter(*facts, nullptr);
}

uint32_t on_operation_kind(const coord_operation_begin_facts* facts) {
  ThreadState* const thread = recording_thread();
  const bool is_virtual = facts->clock == COORD_CLOCK_VIRTUAL;
  if (thread == nullptr || (!is_virtual && facts->clock != recording_clock()) ||
      facts->name_bytes > sizeof OperationKind::name ||
      operation_kind_count.load(std::memory_order_relaxed) >= kMaxOperationKinds)
    return 0;
  const uint32_t number = operation_kind_count.fetch_add(1, std::memory_order_relaxed);
  if (number >= kMaxOperationKinds) return 0;
  OperationKind& kind = operation_kinds[number];
  describe(kind.record, *facts, texts_of(*thread, *facts), is_virtual ? ring::kVirtualTime : 0);
  kind.facts = *facts;
  std::memcpy(kind.name, facts->name, facts->name_bytes);
  kind.facts.name = kind.name;
  kind.epoch.store(session.epoch.load(std::memory_order_relaxed), std::memory_order_relaxed);
  return number;
}

uint64_t* on_operation_of_kind(uint32_t number, uint32_t operation, uint64_t registered,
                               uint64_t begun, const coord_dependency_facts* dependencies,
                               uint32_t dependency_count) {
  OperationKind& kind = operation_kinds[number];
  ThreadState* const thread = running() ? existing_thread() : nullptr;
  if (thread == nullptr || !collecting() ||
      kind.epoch.load(std::memory_order_relaxed) != session.epoch.load(std::memory_order_relaxed))
      [[unlikely]]
    return enter_one_of(kind, operation, registered, begun, dependencies, dependency_count);
  ring::Submission& submission = thread->submission();
  const uint64_t ended = submission.ended.load(std::memory_order_relaxed);
  if (ended == 0 || !fits(registered - ended) ||
      submission.flags.load(std::memory_order_relaxed) != kind.record.flags ||
      !thread->ring.has_room()) [[unlikely]]
    return enter_one_of(kind, operation, registered, begun, dependencies, dependency_count);
  ring::OperationRecord& record = *thread->ring.claim_room<ring::OperationRecord>();
  record = kind.record;
  record.operation = operation;
  record.begin = registered;
  record.begun = begun;
  record.ended = submission.operation.load(std::memory_order_relaxed);
  record.ended_before = static_cast<uint32_t>(registered - ended);
  thread->ring.publish(&record);
  submission.begin(operation, kind.record.flags);
  if (dependency_count != 0) push_reasons(*thread, operation, dependencies, dependency_count);
  return place_of_end(*thread);
}

void on_operation_begin(uint32_t operation, int64_t) {
  if (ThreadState* thread = running_thread())
    thread->begin_submission(operation, coord_is_simulated() ? ring::kVirtualTime : 0);
}

void on_operation_end(uint32_t operation, int64_t) {
  ThreadState* const thread = running_thread();
  if (thread == nullptr) return;
  if (thread->operation() == operation) {
    thread->begin_submission(ring::kNone32, 0);
  } else {
    end_submission_of_another_thread(operation);
  }
}

void on_operation_stamp(uint32_t operation, uint32_t state, uint32_t clock, uint64_t stamp) {
  ThreadState* thread = running_thread();
  if (thread == nullptr) return;
  const bool entered = thread->operation() == operation && state != COORD_OPERATION_BEGUN;
  const Stamp at(clock, stamp);
  if (entered && state == COORD_OPERATION_SUBMITTED && at.begin != 0 && collecting() &&
      thread->submission().flags.load(std::memory_order_relaxed) == at.flags) {
    thread->submission().end(at.begin);
    return;
  }
  if (entered) thread->submission().begin(ring::kNone32, 0);
  if (collecting()) thread->push_state(operation, state, at.flags, at.begin);
}

void on_operations_completed(const uint32_t* operations, uint32_t count, uint32_t clock,
                             uint64_t at) {
  ThreadState* thread = recording_thread();
  if (thread == nullptr) return;
  const Stamp stamp(clock, at);
  constexpr uint32_t kMost = ring::OperationsCompletedRecord::kMost;
  for (uint32_t first = 0; first < count; first += kMost) {
    ring::OperationsCompletedRecord record{};
    record.kind = RecordKind::kOperationsCompleted;
    record.flags = stamp.flags;
    record.count = static_cast<uint16_t>(std::min(count - first, kMost));
    record.begin = stamp.begin;
    std::copy_n(operations + first, record.count, record.operations);
    thread->push(record);
  }
}

void on_dependency(uint32_t operation, uint32_t depends_on, uint32_t inferred, uint32_t elided) {
  ThreadState* thread = recording_thread();
  if (thread == nullptr) return;
  push_dependencies(*thread, operation, 1, [&](uint32_t) {
    return ring::OperationDependenciesRecord::Dependency{
        depends_on, static_cast<uint16_t>(inferred), static_cast<uint16_t>(elided)};
  });
}

}  // namespace streamscope::collect
