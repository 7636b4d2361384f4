// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// libcoord's facts -> ring records. The hooks are called from any thread of the program and never
// call back.
#include "collect/coord_observer.h"

#include <coord/observer.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>

#include "collect/inject.h"
#include "collect/stacks.h"
#include "collect/task_observer.h"
#include "ring/calls.h"

namespace streamscope::collect {
namespace {

using ring::RecordKind;
using ring::TextHash;

constexpr const char kDomain[] = "coord";

std::string_view view(const char* text) { return text != nullptr ? text : ""; }

// A process has simulated devices or real ones; libcoord gives no kind with later facts.
constinit std::atomic<bool> simulated{false};
// The latest end of a simulated call: the time of facts that are of no device.
constinit std::atomic<int64_t> virtual_now{0};

// Simulated devices give their virtual time, real ones leave the stamp to us.
struct Stamp {
  uint64_t begin;
  uint8_t flags;
  explicit Stamp(int64_t time_ns) : begin(0), flags(0) {
    if (!simulated.load(std::memory_order_relaxed)) {
      begin = ticks();
      return;
    }
    if (time_ns == 0) time_ns = virtual_now.load(std::memory_order_relaxed);
    begin = static_cast<uint64_t>(time_ns);
    flags = ring::kVirtualTime;
  }
  // One of libcoord's, if both read the same clock.
  Stamp(uint32_t clock, uint64_t stamp) : begin(stamp), flags(0) {
    if (clock == COORD_CLOCK_VIRTUAL) {
      flags = ring::kVirtualTime;
    } else if (clock != recording_clock()) [[unlikely]] {
      begin = ticks();
    }
  }
};

void on_device(const coord_device_facts* facts) {
  if (facts->simulated == 0) return;  // CUPTI tells of real devices
  simulated.store(true, std::memory_order_relaxed);
  ThreadState* thread = running_thread();
  if (thread == nullptr) return;
  ring::DeviceRecord device{};
  device.kind = RecordKind::kDevice;
  device.flags = ring::kVirtualTime;
  device.compute_capability = static_cast<uint16_t>(facts->compute_capability);
  device.ordinal = facts->device;
  device.name = send_text(*thread, view(facts->name));
  device.uuid = send_text(*thread, view(facts->uuid));
  device.memory_bytes = facts->memory_bytes;
  device.sm_count = facts->sm_count;
  device.copy_engines = facts->copy_engines;
  device.max_connections = facts->max_connections;
  device.simulated = 1;
  thread->push(device);

  ring::ContextRecord context{};
  context.kind = RecordKind::kContext;
  context.flags = ring::kVirtualTime;
  context.context = facts->context;
  context.device = facts->device;
  context.null_stream = ring::kNone32;
  thread->push(context);
}

void on_stream(const coord_stream_facts* facts) {
  ThreadState* thread = running_thread();
  if (thread == nullptr) return;
  if (!simulated.load(std::memory_order_relaxed)) {
    // CUPTI tells of the stream itself; its name only we know.
    if (facts->destroyed != 0 || view(facts->name).empty()) return;
    ring::NameRecord name{};
    name.kind = RecordKind::kName;
    name.object_kind = static_cast<uint8_t>(ring::ObjectKind::kStream);
    name.context = ring::kNone32;
    name.object = facts->handle;
    name.name = send_text(*thread, view(facts->name));
    name.begin = ticks();
    thread->push(name);
    return;
  }
  ring::StreamRecord record{};
  record.kind = RecordKind::kStream;
  record.flags = ring::kVirtualTime;
  record.stream_kind = static_cast<uint8_t>(facts->kind);
  record.destroyed = facts->destroyed != 0 ? 1 : 0;
  record.context = facts->context;
  record.handle = facts->handle;
  record.begin = static_cast<uint64_t>(facts->time_ns);
  record.stream = facts->stream;
  record.priority = facts->priority;
  record.tid =
      facts->kind == static_cast<uint32_t>(ring::StreamKind::kPerThreadDefault) ? thread->tid : 0;
  record.name = send_text(*thread, view(facts->name));
  thread->push(record);
}

void on_event_name(uint32_t context, uint64_t event, const char* name) {
  ThreadState* thread = running_thread();
  if (thread == nullptr) return;
  ring::NameRecord record{};
  record.kind = RecordKind::kName;
  record.object_kind = static_cast<uint8_t>(ring::ObjectKind::kEvent);
  record.context = simulated.load(std::memory_order_relaxed) ? context : ring::kNone32;
  record.object = event;
  record.name = send_text(*thread, view(name));
  record.begin = ticks();
  thread->push(record);
}

// Sends `count` dependencies, so many to a record; `fill` gives each.
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

// The texts of an operation, which were sent.
struct Texts {
  TextHash name, call_site;
};

// Call sites are literals and most names repeat at one call site, so the thread remembers them.
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

// Whether the end of a submission, told by a record that begins so many ticks later, fits into it.
bool fits(uint64_t ended_before) { return ended_before - 1 < UINT32_MAX; }

// Writes the record of an operation but for its stamps, where it is to lie: a copy would read at
// once what was written in pieces just now.
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

// An operation that the thread begins to submit. Its record tells the end of the submission before
// as well, so most operations are one record.
void push_operation(ThreadState& thread, const coord_operation_begin_facts& facts,
                    const Texts& texts, const Stamp& registered, uint64_t begun) {
  const ring::Submission& before = *thread.submission;
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
  thread.submission->begin(facts.operation, registered.flags);
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
  return reinterpret_cast<uint64_t*>(&thread.submission->ended);
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

uint64_t* on_operation_entered(const coord_operation_begin_facts* facts) {
  return enter(*facts, nullptr);
}

// What operations have in common of which libcoord tells no more than number, stamps and
// dependencies.
struct alignas(64) OperationKind {
  ring::OperationRecord record;  // of each of them, but for number and stamps
  std::atomic<uint32_t> epoch;   // of the session to which its texts were sent
  coord_operation_begin_facts facts;
  char name[48];
};
constexpr uint32_t kMaxOperationKinds = 2048;
constinit OperationKind operation_kinds[kMaxOperationKinds] = {};
constinit std::atomic<uint32_t> operation_kind_count{1};  // 0 is none

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

// One of a kind where that does not suffice: the thread has nothing to end or no room, nothing is
// recorded just now, or the texts went to the process that this one was forked from.
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

uint64_t* on_operation_of_kind(uint32_t number, uint32_t operation, uint64_t registered,
                               uint64_t begun, const coord_dependency_facts* dependencies,
                               uint32_t dependency_count) {
  OperationKind& kind = operation_kinds[number];
  ThreadState* const thread = running() ? existing_thread() : nullptr;
  if (thread == nullptr || !collecting() ||
      kind.epoch.load(std::memory_order_relaxed) != session.epoch.load(std::memory_order_relaxed))
      [[unlikely]]
    return enter_one_of(kind, operation, registered, begun, dependencies, dependency_count);
  ring::Submission& submission = *thread->submission;
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

void on_operation_begun(const coord_operation_begin_facts* facts) {
  (void)on_operation_entered(facts);
}

void on_operation_begin(uint32_t operation, int64_t) {
  if (ThreadState* thread = running_thread())
    thread->begin_submission(operation,
                             simulated.load(std::memory_order_relaxed) ? ring::kVirtualTime : 0);
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

void on_operation_state(uint32_t operation, uint32_t state, int64_t time_ns) {
  ThreadState* thread = recording_thread();
  if (thread == nullptr) return;
  const Stamp stamp(time_ns);
  thread->push_state(operation, state, stamp.flags, stamp.begin);
}

void on_operation_stamp(uint32_t operation, uint32_t state, uint32_t clock, uint64_t stamp) {
  ThreadState* thread = running_thread();
  if (thread == nullptr) return;
  const bool entered = thread->operation() == operation && state != COORD_OPERATION_BEGUN;
  const Stamp at(clock, stamp);
  if (entered && state == COORD_OPERATION_SUBMITTED && at.begin != 0 && collecting() &&
      thread->submission->flags.load(std::memory_order_relaxed) == at.flags) {
    thread->submission->end(at.begin);
    return;
  }
  if (entered) thread->submission->begin(ring::kNone32, 0);
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

// Names of calls are literals: a small cache by address spares the search.
bool call_id(const char* name, ring::CallId* id) {
  struct Known {
    std::atomic<const char*> name;
    std::atomic<ring::CallId> id;
  };
  static constinit Known known[256] = {};
  Known& slot = known[(reinterpret_cast<uintptr_t>(name) * 0x9e3779b97f4a7c15ull) >> 56];
  if (slot.name.load(std::memory_order_acquire) == name) {
    *id = slot.id.load(std::memory_order_relaxed);
    // Another name may have taken the slot in between.
    if (ring::call_info(*id).name == name) return true;
  }
  const auto found = ring::find_call(name);
  if (!found) return false;
  *id = *found;
  slot.id.store(*found, std::memory_order_relaxed);
  slot.name.store(name, std::memory_order_release);
  return true;
}

void on_sim_call(const coord_sim_call* call) {
  ThreadState* thread = running_thread();
  if (thread == nullptr) return;
  ring::CallRecord record{};
  if (call->name == nullptr || !call_id(call->name, &record.call)) {
    report_loss(ring::Loss::kBadObserverFact, 1,
                call->name != nullptr ? call->name : "a call without a name");
    return;
  }
  if (!collecting() && !ring::changes_identity(ring::call_info(record.call).kind)) return;
  ++thread->calls;
  record.kind = RecordKind::kCall;
  record.flags =
      static_cast<uint8_t>(ring::kVirtualTime | ((call->flags & 1) != 0 ? ring::kPerThread : 0) |
                           ((call->flags & 2) != 0 ? ring::kCapturing : 0));
  record.correlation_id = call->correlation_id;
  record.begin = static_cast<uint64_t>(call->begin_ns);
  record.end = static_cast<uint64_t>(call->end_ns);
  record.stream = call->stream;
  record.object = call->object;
  record.value = call->value;
  record.context = call->context;
  record.result = call->result;
  record.operation = thread->operation();
  const ring::CallKind kind = ring::call_info(record.call).kind;
  const bool legacy =
      ring::issues_work(kind) && call->stream == 0 && (record.flags & ring::kPerThread) == 0;
  const ring::StackMode stacks = session.control->stacks;
  if (stacks == ring::StackMode::kAll ||
      (stacks == ring::StackMode::kSyncs &&
       (ring::blocks_host(kind) || (legacy && is_early_legacy_call(*thread)))))
    record.stack = take_stack(*thread);
  virtual_now.store(call->end_ns, std::memory_order_relaxed);
  thread->virtual_now = record.end;
  thread->push(record);
}

void on_sim_op(const coord_sim_op* op) {
  ThreadState* thread = recording_thread();
  if (thread == nullptr) return;
  ring::OpRecord record{};
  record.flags = ring::kVirtualTime;
  switch (op->kind) {
    case COORD_SIM_KERNEL:
      record.kind = RecordKind::kKernel;
      break;
    case COORD_SIM_MEMCPY:
      record.kind = RecordKind::kMemcpy;
      break;
    case COORD_SIM_MEMSET:
      record.kind = RecordKind::kMemset;
      break;
    case COORD_SIM_GRAPH_LAUNCH:
      record.kind = RecordKind::kGraphLaunch;
      break;
    case COORD_SIM_HOST_FUNCTION:
    case COORD_SIM_MEMORY_WAIT:
    case COORD_SIM_MEMORY_WRITE:
      record.kind = RecordKind::kDeviceWork;
      break;
    default:
      report_loss(ring::Loss::kBadObserverFact, 1, "an operation of an unknown kind");
      return;
  }
  if (record.kind == RecordKind::kMemcpy) {
    record.detail = static_cast<uint8_t>(op->copy_kind);
    record.memory_kinds = static_cast<uint8_t>(op->memory_kinds);
  } else if (record.kind == RecordKind::kDeviceWork) {
    record.detail = static_cast<uint8_t>(op->kind);
  }
  record.correlation_id = op->correlation_id;
  record.begin_ns = op->begin_ns < 0 ? 0 : op->begin_ns;
  record.end_ns = op->end_ns < 0 ? 0 : op->end_ns;
  if (op->begin_ns < 0 || op->end_ns < 0) record.flags |= ring::kUnfinished;
  // As of real devices, whose other work has no name either.
  if (record.kind == RecordKind::kKernel) record.name = send_text(*thread, view(op->name));
  record.context = op->context;
  record.stream = op->stream;
  record.bytes = op->bytes;
  record.graph_node = op->graph_node;
  record.shape = ring::kNone32;
  record.channel = 0xffff;
  if (record.kind == RecordKind::kKernel && op->grid[0] != 0) {
    ring::LaunchShapeRecord shape{};
    shape.kind = RecordKind::kLaunchShape;
    std::memcpy(shape.grid, op->grid, sizeof shape.grid);
    std::memcpy(shape.block, op->block, sizeof shape.block);
    record.shape = shape.shape = ring::shape_number(shape);
    thread->push(shape);
  }
  thread->push(record);
}

void on_mark(const char* name, int64_t time_ns) {
  ThreadState* thread = recording_thread();
  if (thread == nullptr) return;
  const Stamp stamp(time_ns);
  ring::RangeRecord record{};
  record.kind = RecordKind::kMark;
  record.flags = stamp.flags;
  record.begin = stamp.begin;
  record.name = send_text(*thread, view(name));
  record.domain = send_text(*thread, kDomain);
  record.tid = thread->tid;
  record.operation = thread->operation();
  thread->push(record);
}

void on_pool(const coord_pool_facts* facts) {
  ThreadState* thread = running_thread();
  if (thread == nullptr) return;
  ring::PoolRecord record{};
  record.kind = RecordKind::kPool;
  record.pool_kind = static_cast<uint16_t>(facts->kind);
  record.pool = facts->pool;
  record.capacity = facts->capacity;
  record.name = send_text(*thread, view(facts->name));
  thread->push(record);
}

void on_pool_sample(const coord_pool_sample_facts* facts) {
  ThreadState* thread = recording_thread();
  if (thread == nullptr) return;
  const Stamp stamp(facts->time_ns);
  ring::PoolSampleRecord record{};
  record.kind = RecordKind::kPoolSample;
  record.flags = stamp.flags;
  record.pool = facts->pool;
  record.begin = stamp.begin;
  record.available = facts->available;
  record.in_use = facts->in_use;
  record.high_water = facts->high_water;
  record.waited_ns = facts->waited_ns;
  thread->push(record);
}

void on_barrier(const coord_barrier_facts* facts) {
  ThreadState* thread = recording_thread();
  if (thread == nullptr) return;
  const Stamp stamp(facts->time_ns);
  ring::BarrierRecord record{};
  record.kind = RecordKind::kBarrier;
  record.flags = stamp.flags;
  record.operation = facts->operation;
  record.begin = stamp.begin;
  record.name = send_text(*thread, view(facts->name));
  thread->push(record);
  for (uint32_t i = 0; i < facts->stream_count; ++i) {
    ring::BarrierStreamRecord member{};
    member.kind = RecordKind::kBarrierStream;
    member.flags = stamp.flags;
    member.elided = facts->streams[i].elided != 0 ? 1 : 0;
    member.operation = facts->operation;
    member.begin = stamp.begin;
    member.stream = facts->streams[i].stream;
    member.context = facts->streams[i].context;
    thread->push(member);
  }
}

void on_access(const coord_access_facts* facts) {
  ThreadState* thread = recording_thread();
  if (thread == nullptr) return;
  const Stamp stamp(facts->time_ns);
  ring::AccessRecord record{};
  record.kind = RecordKind::kAccess;
  record.flags = stamp.flags;
  record.source =
      static_cast<uint8_t>(facts->operation != COORD_NONE        ? ring::AccessSource::kOperation
                           : facts->correlation_id != COORD_NONE ? ring::AccessSource::kArgument
                                                                 : ring::AccessSource::kHost);
  record.writes = facts->writes != 0 ? 1 : 0;
  record.correlation_id = facts->correlation_id;
  record.begin = stamp.begin;
  record.ranges[0] = {facts->address, facts->bytes};
  record.rows = 1;
  record.operation = facts->operation;
  thread->push(record);
}

void on_barrier_arrival(const coord_barrier_arrival_facts* facts) {
  ThreadState* thread = recording_thread();
  if (thread == nullptr) return;
  ring::BarrierArrivalRecord record{};
  record.kind = RecordKind::kBarrierArrival;
  if (simulated.load(std::memory_order_relaxed)) record.flags = ring::kVirtualTime;
  record.operation = facts->operation;
  record.arrival_ns = facts->arrival_ns;
  record.stream = facts->stream;
  record.context = facts->context;
  thread->push(record);
}

void on_timeline(const coord_timeline_facts* facts) {
  ThreadState* thread = running_thread();
  if (thread == nullptr) return;
  ring::TimelineRecord record{};
  record.kind = RecordKind::kTimeline;
  record.timeline = facts->timeline;
  record.initial = facts->initial;
  record.name = send_text(*thread, view(facts->name));
  thread->push(record);
}

void on_timeline_act(const coord_timeline_act_facts* facts) {
  ThreadState* thread = recording_thread();
  if (thread == nullptr) return;
  const Stamp stamp(facts->time_ns);
  ring::TimelinePointRecord record{};
  record.kind = RecordKind::kTimelinePoint;
  record.flags = stamp.flags;
  record.act = static_cast<uint16_t>(facts->act);
  record.timeline = facts->timeline;
  record.begin = stamp.begin;
  record.value = facts->value;
  record.stream = facts->stream;
  record.context = facts->context;
  thread->push(record);
}

// libcoord's own function, from its first call to the end of the process.
constinit std::atomic<void (*)()> tell_waits{nullptr};

void on_waits(const coord_waits_facts* facts) {
  ThreadState* thread = running_thread();
  if (thread == nullptr) return;
  const Stamp stamp(facts->time_ns);
  ring::WaitsRecord record{};
  record.kind = RecordKind::kWaits;
  record.flags = stamp.flags;
  record.given_up = facts->given_up != 0 ? 1 : 0;
  record.party_count = facts->party_count;
  record.begin = stamp.begin;
  record.link_count = facts->link_count;
  thread->push(record);
  for (uint32_t i = 0; i < facts->party_count; ++i) {
    ring::WaitPartyRecord party{};
    party.kind = RecordKind::kWaitParty;
    party.party = static_cast<uint8_t>(facts->parties[i].kind);
    party.state = static_cast<uint8_t>(facts->parties[i].flags);
    party.index = i;
    party.object = facts->parties[i].object;
    party.label = send_text(*thread, view(facts->parties[i].label));
    thread->push(party);
  }
  constexpr uint32_t kMost = ring::WaitLinksRecord::kMost;
  for (uint32_t first = 0; first < facts->link_count; first += kMost) {
    ring::WaitLinksRecord links{};
    links.kind = RecordKind::kWaitLinks;
    links.count = static_cast<uint16_t>(std::min(facts->link_count - first, kMost));
    for (uint32_t i = 0; i < links.count; ++i)
      links.links[i] = {facts->links[first + i].from, facts->links[first + i].to};
    thread->push(links);
  }
}

void on_waits_on_request(void (*tell)()) { tell_waits.store(tell, std::memory_order_release); }

constexpr coord_observer_v1 kObserver = {
    .size = sizeof(coord_observer_v1),
    .version = COORD_OBSERVER_VERSION,
    .device = on_device,
    .stream = on_stream,
    .event_name = on_event_name,
    .operation_registered = on_operation_registered,
    .operation_begin = on_operation_begin,
    .operation_end = on_operation_end,
    .operation_state = on_operation_state,
    .dependency = on_dependency,
    .sim_call = on_sim_call,
    .sim_op = on_sim_op,
    .mark = on_mark,
    .pool = on_pool,
    .pool_sample = on_pool_sample,
    .barrier = on_barrier,
    .access = on_access,
    .barrier_arrival = on_barrier_arrival,
    .timeline = on_timeline,
    .timeline_act = on_timeline_act,
    .operation_begun = on_operation_begun,
    .operation_stamp = on_operation_stamp,
    .operations_completed = on_operations_completed,
    .waits = on_waits,
    .waits_on_request = on_waits_on_request,
    .task_queue = on_task_queue,
    .task_run = on_task_run,
    .task_stamp = on_task_stamp,
    .tasks = on_tasks,
    .operation_entered = on_operation_entered,
    .operation_kind = on_operation_kind,
    .operation_of_kind = on_operation_of_kind,
};

}  // namespace

bool coord_is_simulated() { return simulated.load(std::memory_order_relaxed); }

uint64_t coord_virtual_now() {
  const ThreadState* thread = existing_thread();
  return thread != nullptr ? thread->virtual_now : 0;
}

void ask_coord() {
  if (const auto tell = tell_waits.load(std::memory_order_acquire)) tell();
}

}  // namespace streamscope::collect

/// libcoord asks for this when it opens its first device.
extern "C" __attribute__((visibility("default"))) const coord_observer_v1* streamscope_observer_v1(
    void) {
  return streamscope::collect::record_coord() ? &streamscope::collect::kObserver : nullptr;
}
